// SPDX-License-Identifier: MIT
// load_cycles DEVICE FILE CYCLES: so many times opens the device, loads the NEFF, unloads it and
// closes the device. The addresses must be those of the first time, and the counters must end where
// they began: in process those of the model, on a node of the module the memory it holds.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "neffld/back_ends.hpp"
#include "neffld/session.hpp"

namespace {

using namespace neffld;

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "load_cycles: {}\n", why);
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) stop(to_sentence(result.error()));
  return std::move(*result);
}

/// What must not grow.
struct Counters {
  std::uint64_t handles = 0, bytes = 0;
  bool operator==(const Counters&) const = default;
};

/// A device that can be opened again and again.
class Device {
 public:
  explicit Device(const std::string& name) : name_(name) {
    if (name.find('/') != std::string::npos) return;
    SimOptions options;
    options.architecture = name == "sim:v2" ? 2 : 3;
    sim_ = need(SimDevice::create(options));
  }

  std::unique_ptr<DeviceFile> open() const {
    return sim_ ? need(sim_->open()) : need(open_node(name_));
  }

  Counters counters() const {
    if (!sim_) return {0, held_by_module()};
    const auto now = sim_->counters();
    return {now.live_handles, now.live_device_bytes};
  }

 private:
  static std::uint64_t held_by_module() {
    std::ifstream file("/sys/module/neuron_sim/parameters/mem_used");
    std::uint64_t bytes = 0;
    if (!(file >> bytes)) stop("cannot read the module's mem_used");
    return bytes;
  }

  std::string name_;
  std::shared_ptr<SimDevice> sim_;
};

/// The addresses the load got.
std::vector<std::uint64_t> cycle(const Device& device, Bytes file) {
  auto session = need(Session::open(device.open()));
  LoadedModel* model = need(session->load(need(parse_model(file, session->arch()))));
  std::vector<std::uint64_t> addresses;
  for (const AllocationInfo& info : model->allocations) addresses.push_back(info.pa);
  if (const auto unloaded = session->unload(*model); !unloaded) {
    stop(to_sentence(unloaded.error()));
  }
  return addresses;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "usage: load_cycles DEVICE FILE CYCLES\n");
    return 2;
  }
  const Device device(words[1]);
  const auto file = need(read_file(words[2]));
  const int cycles = std::atoi(words[3]);
  // The first load makes what the device keeps: the table of handles, the pages of its registers.
  const auto addresses = cycle(device, file);
  const Counters before = device.counters();
  for (int done = 0; done < cycles; ++done) {
    if (cycle(device, file) != addresses) stop(fmt::format("cycle {}: other addresses", done));
  }
  const Counters after = device.counters();
  if (after != before) {
    stop(fmt::format("{} handles and {} bytes after {} cycles, {} and {} before", after.handles,
                     after.bytes, cycles, before.handles, before.bytes));
  }
  fmt::print("{} cycles on {}: {} handles and {} bytes held, as before\n", cycles, words[1],
             after.handles, after.bytes);
}
