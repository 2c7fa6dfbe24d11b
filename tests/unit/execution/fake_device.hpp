// SPDX-License-Identifier: MIT
// A device that does not execute: at a doorbell it posts the notification records a test asks for.
// Everything else is the simulated device's.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "neffld/forwarding_file.hpp"
#include "neuron_abi/execution.h"
#include "neuron_abi/ioctl.h"

namespace neffld::test {

class FakeDevice;

/// What a test tells the fake device and sees of it.
struct FakeScript {
  using Answer = std::function<void(FakeDevice&, std::uint32_t core)>;
  Answer at_doorbell;                      ///< empty: START and END of all engines
  std::vector<std::uint32_t> doorbells;    ///< cores, in order
  std::vector<std::uint32_t> armed;        ///< descriptor pairs that were there at each doorbell
  std::uint64_t pairs_of_other_laps = 0;   ///< consumed pairs whose ring id was not 1
  std::map<std::uint32_t, bool> overflow;  ///< interrupt line 61, by core
  std::uint64_t queue_init_batches = 0;    ///< calls that named a queue of a model
  bool simulated = true;                   ///< what the traits say
};

class FakeDevice final : public ForwardingFile {
 public:
  FakeDevice(std::unique_ptr<DeviceFile> inner, std::shared_ptr<FakeScript> script,
             std::uint32_t architecture);

  int ioctl(std::uint32_t command, void* argument) noexcept override;
  const DeviceTraits& traits() const noexcept override { return traits_; }

  /// Posts START, then END, of an engine.
  void start(std::uint32_t core, std::uint32_t engine);
  void end(std::uint32_t core, std::uint32_t engine);
  void complete(std::uint32_t core);
  /// Posts an error record about a slot of an engine's image.
  void error(std::uint32_t core, std::uint32_t engine, std::uint16_t error_class,
             std::uint32_t slot, std::uint32_t byte = 0);
  /// Posts any record; its phase is set here. Without room it is dropped and the line set.
  void post(std::uint32_t core, std::uint32_t index, neuron_notification record);

 private:
  struct Ring {
    std::uint8_t* memory = nullptr;
    std::uint32_t head = 0, tail = 0;
    bool first_phase = true;
  };
  struct ExecRing {
    std::uint64_t tx = 0, rx = 0;  ///< handles
    std::uint32_t cursor = 0, ring_id = 1;
  };
  void take_ring(const neuron_notifications_init_realloc_v2& init);
  void take_queues(const neuron_dma_queue_init_batch& batch);
  bool take_register(std::uint32_t command, const neuron_bar_rw& access);
  std::uint32_t consume(std::uint32_t core);
  std::uint32_t control_word(std::uint64_t handle, std::uint32_t index);

  std::shared_ptr<FakeScript> script_;
  std::uint32_t architecture_;
  DeviceTraits traits_;
  std::uint64_t bar_ = 0, clock_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ring> rings_;  ///< by core and queue index
  std::map<std::uint32_t, ExecRing> exec_;
};

}  // namespace neffld::test
