// SPDX-License-Identifier: MIT
#include "target.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "client.hpp"

namespace neffld::cts {
namespace {

/// The generation a feature word belongs to (spec 06 section 1).
std::uint32_t generation_of(std::uint64_t features) {
  if (features & NEURON_FEATURE_ASYNC_COPY) return 30;
  return features & NEURON_FEATURE_ZEROCOPY ? 27 : 24;
}

/// The size of an HBM, where the driver tells it: only V3 has the resource (spec 06 section 6).
std::uint64_t hbm_bytes_of(const Client& client, std::uint32_t architecture) {
  if (architecture == 2) return NEURON_V2_HBM_SIZE;
  neuron_resource_mmap_info info{NEURON_MMAP_BLOCK_HBM, 0, NEURON_MMAP_DMEM, 0, 0};
  const int result = client.call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info);
  return result == 0 ? info.size : NEURON_V3_HBM_SIZE;
}

/// Whether residues are answered as errnos, told by a call that is a residue on driver 2.24.
bool answers_errnos(const Client& client) {
  neuron_mem_get_extended_info no_such_handle{};
  return client.call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, no_such_handle) == -EINVAL;
}

Result<Facts> ask(std::unique_ptr<DeviceFile> file) {
  Facts facts;
  facts.name = file->traits().name;
  facts.simulated = file->traits().simulated;
  const Client client(std::move(file));
  neuron_driver_info info{};
  if (const int result = client.call(NEURON_IOCTL_DRIVER_INFO_GET, info); result != 0) {
    return fail(Status::failure, ErrorClass::device, {.member = facts.name},
                fmt::format("DRIVER_INFO_GET answered {}, expected 0", result));
  }
  if (info.architecture != 2 && info.architecture != 3) {
    return unsupported(
        {.member = facts.name},
        fmt::format("found architecture {}, the rows know 2 (v2) and 3 (v3)", info.architecture));
  }
  facts.architecture = info.architecture;
  facts.generation = generation_of(info.feature_flags1);
  facts.clean = facts.simulated && answers_errnos(client);
  facts.hbm_bytes = hbm_bytes_of(client, facts.architecture);
  return facts;
}

class SimTarget final : public Target {
 public:
  explicit SimTarget(const SimOptions& options) : options_(options) {}

  Result<void> begin() {
    NEFFLD_TRY(next_row());
    NEFFLD_ASSIGN(auto file, open());
    NEFFLD_ASSIGN(facts_, ask(std::move(file)));
    facts_.in_process = true;
    facts_.fresh = true;
    facts_.kind = fmt::format("sim:v{}", facts_.architecture);
    return {};
  }

  Result<void> next_row() override {
    NEFFLD_ASSIGN(device_, SimDevice::create(options_));
    return {};
  }
  Result<std::unique_ptr<DeviceFile>> open() override { return device_->open(); }
  Result<std::unique_ptr<Process>> start_process() override { return start_sim_process(device_); }

 private:
  SimOptions options_;
  std::shared_ptr<SimDevice> device_;
};

/// A node is opened without the gate of decision 24: the rows carry their own safety class, and
/// what they send is fixed text, not a model.
class NodeTarget final : public Target {
 public:
  explicit NodeTarget(const TargetOptions& options)
      : path_(options.device), nodes_(options.nodes), fresh_(options.fresh) {}

  Result<void> begin() {
    NEFFLD_ASSIGN(auto file, open());
    NEFFLD_ASSIGN(facts_, ask(std::move(file)));
    facts_.kind =
        fmt::format("{}:v{}", facts_.simulated ? "module" : "driver", facts_.architecture);
    facts_.fresh = fresh_;
    return {};
  }

  Result<void> next_row() override { return {}; }
  Result<std::unique_ptr<DeviceFile>> open() override { return open_node(path_, nodes_); }
  Result<std::unique_ptr<Process>> start_process() override { return start_node_process(path_); }

 private:
  std::string path_;
  NodeOptions nodes_;
  bool fresh_;
};

template <class T>
Result<std::unique_ptr<Target>> begun(std::unique_ptr<T> target) {
  NEFFLD_TRY(target->begin());
  return target;
}

}  // namespace

std::uint64_t Facts::hbm_base(std::uint32_t hbm) const {
  return v2() ? neuron_v2_hbm_base(hbm) : neuron_v3_hbm_base(hbm);
}

std::uint64_t Facts::small_pool(std::uint32_t hbm) const {
  return hbm_base(hbm) + hbm_bytes - NEURON_HBM_SMALL_POOL_SIZE;
}

std::uint64_t Facts::core_base(std::uint32_t core) const {
  return v2() ? neuron_v2_tpb_base(core) : neuron_v3_tpb_base(core);
}

std::uint64_t Facts::host_base() const {
  return v2() ? NEURON_V2_HOST_BASE : NEURON_V3_HOST_BASE;
}

Result<std::unique_ptr<Target>> make_target(const TargetOptions& options) {
  const std::string& name = options.device;
  if (name == "sim" || name == "sim:v2" || name == "sim:v3") {
    SimOptions sim;
    sim.architecture = name == "sim:v2" ? 2 : 3;
    sim.driver_minor = options.sim_driver;
    sim.clean_errors = options.sim_clean_errors;
    return begun(std::make_unique<SimTarget>(sim));
  }
  if (name.find('/') != std::string::npos) {
    return begun(std::make_unique<NodeTarget>(options));
  }
  return fail(Status::invalid, ErrorClass::usage, {.path = "--device"},
              fmt::format("'{}' is no device the suite can test, expected sim, sim:v2, sim:v3 or "
                          "the path of a node such as /dev/{}0",
                          name, options.nodes.prefix));
}

}  // namespace neffld::cts
