// SPDX-License-Identifier: MIT
// Devices and models for the pipeline's tests: DeviceFile decorators, samples, a look behind the
// loader's back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neffld/forwarding_file.hpp"
#include "neffld/session.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld::test {

/// What a decorated file does to its calls, shared with the test that made it.
struct Script {
  std::uint64_t calls = 0;    ///< ioctls so far
  std::uint64_t fail_at = 0;  ///< number of the call that fails, from 1; 0 = none
  std::uint32_t refused = 0;  ///< from then on this command fails too; 0 = none
  int answer = 0;             ///< what the failing call returns
  bool half_copy = false;     ///< the failing call, if a copy of bytes, still moves the first half
  std::uint32_t failed_command = 0;
};

/// Passes calls on, counts them and fails the one the script names; without `half_copy` it has no
/// effect on the device below.
class ScriptedFile final : public ForwardingFile {
 public:
  ScriptedFile(std::unique_ptr<DeviceFile> inner, std::shared_ptr<Script> script)
      : ForwardingFile(std::move(inner)), script_(std::move(script)) {}
  int ioctl(std::uint32_t command, void* argument) noexcept override;

 private:
  std::shared_ptr<Script> script_;
  std::mutex mutex_;  ///< the subgraphs of a load have threads of their own
};

/// A simulated device with one session on it. `peer` is a second file of the same device.
struct Bench {
  explicit Bench(std::uint32_t architecture = 3, std::uint64_t hbm_bytes = 0);
  std::shared_ptr<SimDevice> device;
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<DeviceFile> peer;
  std::unique_ptr<Session> session;

  std::pair<std::uint64_t, std::uint64_t> held() const;  ///< live handles and bytes
};

/// The packed bytes of a sample; made once, lives as long as the process.
Bytes sample_bytes(std::string_view name);
/// The names of the catalogue whose models load: all but refused-v3, which has a record that nobody
/// can lower, and the benchmark's.
std::vector<std::string> loadable_samples();
std::uint32_t architecture_of(std::string_view name);
/// A parsed sample for the architecture it names.
ParsedModel parsed(std::string_view name);
LoadedModel& load(Bench& bench, std::string_view name, const LoadOptions& options = {});

using IoMap = std::map<std::string, std::uint64_t, std::less<>>;
/// An address in HBM 0 for every input and output, 64 KiB aligned, from `first` on.
IoMap io_addresses(const ParsedModel& model, std::uint64_t first = 0x100000000);

/// Bytes of an allocation read through the second file.
std::vector<std::uint8_t> peek(Bench& bench, std::uint64_t handle, std::uint64_t size,
                               std::uint64_t offset = 0);
void poke(Bench& bench, std::uint64_t handle, std::uint64_t offset, std::uint8_t value);

/// All addresses and owners of a model in allocation order.
std::vector<std::pair<std::string, std::uint64_t>> layout(const LoadedModel& model);

}  // namespace neffld::test
