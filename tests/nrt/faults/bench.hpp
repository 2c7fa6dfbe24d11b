// SPDX-License-Identifier: MIT
// libnrt on a device the test can look at: the program holds the library's objects and its own
// open_device(), so whatever the library opens is a file of one simulated device, with faults by
// plan.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fault_plan.hpp"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "sample_catalogue.hpp"

namespace neffld::test {

/// The bytes of a sample of the catalogue; made once.
const std::vector<std::uint8_t>& neff(std::string_view sample);
/// Packs a sample that is not in the catalogue.
std::vector<std::uint8_t> packed(const sample::SampleNeff& sample);
/// A sample with one member replaced.
std::vector<std::uint8_t> with_member(std::string_view sample, std::string_view member,
                                      std::string_view text);

struct BenchOptions {
  std::uint32_t architecture = 3;
  std::vector<Fault> plan;              ///< counted from the opening of the device
  std::function<void()> on_strike;      ///< see FaultLog
  std::uint32_t logical_core_size = 0;  ///< NEFFLD_SIM_LNC, 0 = the architecture's
  /// On a device of its own: one that has executed keeps its notification rings.
  bool executes = false;
};

/// The runtime between init and close.
class Bench {
 public:
  explicit Bench(const BenchOptions& options = {});
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  const FaultLog& faults() const { return *log_; }
  std::uint64_t live_handles() const;
  SimDevice& sim() const;

  /// Loads on virtual core 0; null on failure, with the status in `status`.
  nrt_model_t* load(const std::vector<std::uint8_t>& file, NRT_STATUS& status, int vnc = 0);
  /// Loads and unloads; both must succeed.
  void load_and_unload(const std::vector<std::uint8_t>& file);
  /// What every failed load must leave: no live handle on the device, nothing registered, the parse
  /// slot empty, every virtual core free; and the next load of a good file succeeds.
  void check_clean(const std::vector<std::uint8_t>& good);

 private:
  std::shared_ptr<FaultLog> log_;
  std::shared_ptr<SimDevice> device_;
  bool executes_;
};

/// Device tensors and sets for every input and output of a model.
class Io {
 public:
  Io(nrt_model_t* model, int vnc);
  ~Io();
  Io(const Io&) = delete;
  Io& operator=(const Io&) = delete;
  NRT_STATUS execute() { return nrt_execute(model_, sets_[0], sets_[1]); }

 private:
  nrt_model_t* model_;
  std::vector<nrt_tensor_t*> tensors_;
  nrt_tensor_set_t* sets_[2] = {};  ///< by nrt_tensor_usage_t
};

}  // namespace neffld::test
