// SPDX-License-Identifier: MIT
#include "topology.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <array>
#include <fstream>

#include "device_calls.hpp"
#include "log.hpp"
#include "neffld/back_ends.hpp"
#include "nrt/nrt.h"

namespace neffld::nrt {
namespace {

/// Product names as the instances carry them [ours], spec 07 section 9.
struct InstanceType {
  const char* name;
  Arch arch;
  std::uint32_t devices;
  std::uint32_t family, size;
};
constexpr std::array instance_types = {
    InstanceType{"trn1.2xlarge", Arch::v2, 1, NRT_INSTANCE_TRN1, NRT_INSTANCE_SIZE_2XL},
    InstanceType{"trn1.32xlarge", Arch::v2, 16, NRT_INSTANCE_TRN1, NRT_INSTANCE_SIZE_32XL},
    InstanceType{"trn1n.32xlarge", Arch::v2, 16, NRT_INSTANCE_TRN1N, NRT_INSTANCE_SIZE_32XL},
    InstanceType{"inf2.xlarge", Arch::v2, 1, NRT_INSTANCE_INF2, NRT_INSTANCE_SIZE_1XL},
    InstanceType{"inf2.8xlarge", Arch::v2, 1, NRT_INSTANCE_INF2, NRT_INSTANCE_SIZE_8XL},
    InstanceType{"inf2.24xlarge", Arch::v2, 6, NRT_INSTANCE_INF2, NRT_INSTANCE_SIZE_24XL},
    InstanceType{"inf2.48xlarge", Arch::v2, 12, NRT_INSTANCE_INF2, NRT_INSTANCE_SIZE_48XL},
    InstanceType{"trn2.3xlarge", Arch::v3, 1, NRT_INSTANCE_TRN2, NRT_INSTANCE_SIZE_3XL},
    InstanceType{"trn2.48xlarge", Arch::v3, 16, NRT_INSTANCE_TRN2, NRT_INSTANCE_SIZE_48XL},
    InstanceType{"trn2u.48xlarge", Arch::v3, 16, NRT_INSTANCE_TRN2U, NRT_INSTANCE_SIZE_48XL},
};
/// The one-device instance a simulated device stands for when none is named.
constexpr const char* default_v2 = "trn1.2xlarge";
constexpr const char* default_v3 = "trn2.3xlarge";

const InstanceType* find_instance(const std::string& name) {
  for (const InstanceType& type : instance_types) {
    if (strcasecmp(type.name, name.c_str()) == 0) return &type;
  }
  return nullptr;
}

tl::unexpected<Error> no_devices(const std::string& why) {
  return fail(Status::invalid, ErrorClass::device, {}, "Cannot find Neuron devices: " + why);
}

std::string sim_name(Arch arch) {
  return fmt::format("sim:{}", arch_name(arch));
}

Result<Topology> simulated_topology(const Config& config) {
  const bool any = config.device == "sim" || config.device == "auto";
  const InstanceType* type = find_instance(config.device == "sim:v2" ? default_v2 : default_v3);
  if (config.fake_instance) {
    const InstanceType* named = find_instance(*config.fake_instance);
    if (named == nullptr) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "NEURON_RT_FAKE_INSTANCE_TYPE"},
                  fmt::format("Unknown instance type '{}', expected a product name such as "
                              "trn1.32xlarge or trn2.48xlarge",
                              *config.fake_instance));
    }
    if (!any && named->arch != type->arch) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "NEURON_RT_FAKE_INSTANCE_TYPE"},
                  fmt::format("{} has {} devices, NEFFLD_DEVICE asks for {}", named->name,
                              arch_name(named->arch), config.device));
    }
    type = named;
  }
  Topology topology;
  topology.device = sim_name(type->arch);
  topology.arch = type->arch;
  topology.devices = type->devices;
  topology.family = type->family;
  topology.size = type->size;
  return topology;
}

/// Instance family and size as the machine's firmware tells them.
void read_product(Topology& topology) {
  std::ifstream file("/sys/devices/virtual/dmi/id/product_name");
  std::string name;
  if (!std::getline(file, name)) return;
  if (const InstanceType* type = find_instance(name)) {
    topology.family = type->family;
    topology.size = type->size;
  }
}

/// Asks a device node, or for "auto" whatever there is.
Result<Topology> node_topology(const Config& config) {
  DeviceOptions options;
  options.name = config.device;
  options.print = [](std::string_view line) { log(Level::info, "NRT", "find_topology", line); };
  auto opened = open_device(options);
  if (!opened) return no_devices(to_sentence(opened.error()));
  const std::string name = opened->file->traits().name;
  if (name.starts_with("sim")) return simulated_topology(config);
  DeviceCalls calls(*opened->file);
  const auto facts = calls.driver_facts();
  if (!facts) return no_devices(to_sentence(facts.error()));
  Topology topology;
  topology.device = name;
  topology.simulated = opened->file->traits().simulated;
  topology.arch = facts->arch;
  read_product(topology);
  return topology;
}

constexpr const char* sim_core_size_name = "NEFFLD_SIM_LNC";

/// Sizes no hardware has, for tests (decision 41).
Result<void> set_simulated_core_size(std::uint32_t size, Topology& topology) {
  if (!topology.device.starts_with("sim") || size == 0 || topology.cores_per_device % size != 0) {
    return fail(Status::invalid, ErrorClass::usage, {.path = sim_core_size_name},
                fmt::format("found {} for {}, expected a divisor of the {} cores of a simulated "
                            "device in the process",
                            size, topology.device, topology.cores_per_device));
  }
  topology.core_size = size;
  return {};
}

Result<void> set_core_size(const Config& config, Topology& topology) {
  const ArchTable& arch = arch_table(topology.arch);
  topology.cores_per_device = arch.cores_per_device;
  topology.core_size = arch.default_logical_core_size;
  topology.core_size_variable =
      config.sim_core_size ? sim_core_size_name : config.core_size_variable;
  if (config.sim_core_size) return set_simulated_core_size(*config.sim_core_size, topology);
  if (topology.arch == Arch::v2 || !config.core_size) return {};
  const std::uint32_t size = *config.core_size;
  const auto refused = [&](std::string_view why) {
    return fail(Status::invalid, ErrorClass::usage, {.path = config.core_size_variable},
                fmt::format("{}: found {}, expected 1 or 2", why, size));
  };
  if (size == 0 || (size & (size - 1)) != 0) return refused("LNC size must be a power of two");
  if (size > 2) return refused("Only LNC Size of 2 is supported");
  topology.core_size = size;
  return {};
}

}  // namespace

Result<Topology> find_topology(const Config& config) {
  const std::string& name = config.device;
  const bool node = name == "auto" || name.find('/') != std::string::npos;
  if (!node && name != "sim" && name != "sim:v2" && name != "sim:v3") {
    return no_devices(
        fmt::format("NEFFLD_DEVICE is '{}', expected sim, sim:v2, sim:v3, auto or "
                    "the path of a node such as /dev/neuron0",
                    name));
  }
  NEFFLD_ASSIGN(Topology topology, node ? node_topology(config) : simulated_topology(config));
  if (config.fake_instance && !topology.device.starts_with("sim")) {
    log(Level::warn, "NRT", "find_topology",
        fmt::format("NEURON_RT_FAKE_INSTANCE_TYPE has no effect on {}", topology.device));
  }
  NEFFLD_TRY(set_core_size(config, topology));
  return topology;
}

Result<CoreRange> choose_cores(const Config& config, const Topology& topology) {
  const std::uint32_t total = topology.total();
  if (config.visible_cores) {
    const CoreRange range = *config.visible_cores;
    if (config.num_cores != 0) {
      log(Level::warn, "NRT", "choose_cores",
          "Using NEURON_RT_VISIBLE_CORES to allocate Logical Neuron Cores, "
          "NEURON_RT_NUM_CORES has no effect");
    }
    if (range.first >= total || total - range.first < range.count) {
      const std::uint32_t missing = std::max(range.first, total);
      return fail(Status::invalid, ErrorClass::usage, {.path = "NEURON_RT_VISIBLE_CORES"},
                  fmt::format("Specified core not accessible! is /dev/neuron{} visible to process? "
                              "Requested:lnc{}-lnc{} Available:lnc0-lnc{} Logical core size {}",
                              topology.device_of(missing), range.first,
                              range.first + range.count - 1, total - 1, topology.core_size));
    }
    return range;
  }
  const std::uint32_t count = config.num_cores != 0 ? config.num_cores : total;
  const std::uint64_t physical = std::uint64_t{count} * topology.core_size;
  if (count > total) {
    return fail(Status::failure, ErrorClass::resource, {},
                fmt::format("Logical Neuron Core(s) not available - Requested:{} Available:{} "
                            "Logical Core size {}",
                            count, total, topology.core_size));
  }
  if (topology.arch != Arch::v2 && physical != topology.core_size &&
      physical % topology.cores_per_device != 0) {
    return fail(
        Status::invalid, ErrorClass::usage, {.path = "NEURON_RT_NUM_CORES"},
        fmt::format("found {} logical cores of size {}, expected 1 or whole devices of {}", count,
                    topology.core_size, topology.cores_per_device / topology.core_size));
  }
  return CoreRange{0, count};
}

std::uint32_t requested_cores(const Config& config, const Topology& topology) {
  if (config.visible_cores) return config.visible_cores->count;
  return config.num_cores != 0 ? config.num_cores : topology.total();
}

std::string public_arch_name(Arch arch) {
  return fmt::format("NCv{}", static_cast<std::uint32_t>(arch));
}

}  // namespace neffld::nrt
