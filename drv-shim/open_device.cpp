// SPDX-License-Identifier: MIT
// From a device's name (decision 43) to an open file with everything around it.
#include <fmt/format.h>
#include <unistd.h>

#include "neffld/back_ends.hpp"
#include "neuron_abi/ioctl.h"
#include "no_throw.hpp"

namespace neffld {
namespace {

using namespace shim;

/// A file, and the device behind it if that is in this process.
struct Opened {
  std::unique_ptr<DeviceFile> file;
  std::shared_ptr<SimDevice> sim;
};

Result<Opened> open_sim(const DeviceOptions& options, std::uint32_t architecture) {
  SimOptions sim;
  sim.architecture = architecture;
  sim.compute = options.sim_compute;
  Opened opened;
  NEFFLD_ASSIGN(opened.sim, SimDevice::create(sim));
  NEFFLD_ASSIGN(opened.file, opened.sim->open());
  return opened;
}

Result<Opened> open_path(const DeviceOptions& options) {
  Opened opened;
  NEFFLD_ASSIGN(opened.file, open_node(options.name, options.nodes));
  return opened;
}

std::string in_short(const Error& error) {
  return fmt::format("{}: {}", error.where.member, error.text);
}

/// The first node that can be used. Numbers may have gaps.
Result<Opened> open_first(const DeviceOptions& options) {
  const NodeOptions& nodes = options.nodes;
  bool any = false;
  for (std::uint32_t number = 0; number < NEURON_MAX_DEVICES; ++number) {
    const std::string path = fmt::format("{}/{}{}", nodes.dev_folder, nodes.prefix, number);
    if (access(path.c_str(), F_OK) != 0) continue;
    any = true;
    auto file = open_node(path, nodes);
    if (file) {
      options.print(fmt::format("device auto: using {}", path));
      return Opened{std::move(*file), nullptr};
    }
    options.print(fmt::format("device auto: {}", in_short(file.error())));
  }
  options.print(fmt::format("device auto: {} node {}/{}N, using sim", any ? "no usable" : "no",
                            nodes.dev_folder, nodes.prefix));
  return open_sim(options, options.sim_architecture);
}

Result<Opened> open_named(const DeviceOptions& options) {
  if (options.name == "sim") return open_sim(options, options.sim_architecture);
  if (options.name == "sim:v2") return open_sim(options, 2);
  if (options.name == "sim:v3") return open_sim(options, 3);
  if (options.name == "auto") return open_first(options);
  if (options.name.find('/') != std::string::npos) return open_path(options);
  return fail(Status::invalid, ErrorClass::usage, {.path = "--device"},
              fmt::format("'{}' is no device, expected sim, sim:v2, sim:v3, auto or the path of a "
                          "node such as {}/{}0",
                          options.name, options.nodes.dev_folder, options.nodes.prefix));
}

}  // namespace

Result<OpenedDevice> open_device(const DeviceOptions& given) {
  return no_throw([&]() -> Result<OpenedDevice> {
    DeviceOptions options = given;
    if (!options.print) options.print = [](std::string_view) {};
    OpenedDevice opened;
    NEFFLD_ASSIGN(Opened named, open_named(options));
    opened.file = std::move(named.file);
    opened.sim = std::move(named.sim);
    const bool is_node = opened.file->traits().name.find('/') != std::string::npos;
    if (options.dry_run) {
      NEFFLD_ASSIGN(opened.file, dry_run(std::move(opened.file), options.print));
    }
    if (!opened.file->traits().simulated) {
      NEFFLD_ASSIGN(opened.file, gate_hardware(std::move(opened.file), {options.experimental}));
    }
    if (options.record.empty()) return opened;
    NEFFLD_ASSIGN(opened.trace,
                  TraceWriter::create(options.record, {options.record_data, is_node}));
    opened.file = record_calls(std::move(opened.file), opened.trace);
    return opened;
  });
}

}  // namespace neffld
