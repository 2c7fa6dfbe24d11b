// SPDX-License-Identifier: MIT
#include "rig.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "neffld/forwarding_file.hpp"
#include "neffld/sim_control.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld::test {
namespace {

constexpr std::int32_t somebody = 987654321;  // no process has this number
constexpr std::uint64_t first_address = 0x100000000, address_unit = 0x10000;

/// Notes the commands of calls, faulty ones too.
class WatchedFile final : public ForwardingFile {
 public:
  WatchedFile(std::unique_ptr<DeviceFile> inner, std::shared_ptr<std::vector<std::uint32_t>> seen,
              std::shared_ptr<bool> on)
      : ForwardingFile(std::move(inner)), seen_(std::move(seen)), on_(std::move(on)) {}
  int ioctl(std::uint32_t command, void* argument) noexcept override {
    if (*on_) seen_->push_back(command);
    return inner_->ioctl(command, argument);
  }

 private:
  std::shared_ptr<std::vector<std::uint32_t>> seen_;
  std::shared_ptr<bool> on_;
};

template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(to_sentence(result.error()));
  return std::move(*result);
}

}  // namespace

Layout layout_of(const LoadedModel& model) {
  Layout layout;
  for (const AllocationInfo& info : model.allocations) layout.emplace_back(info.owner, info.pa);
  return layout;
}

bool says_once(const std::string& sentence, const std::string& words) {
  const std::size_t at = sentence.find(words);
  return at != std::string::npos && sentence.find(words, at + 1) == std::string::npos &&
         sentence.find('\n') == std::string::npos;
}

Rig::Rig(Arch architecture)
    : device_(need(SimDevice::create({.architecture = static_cast<std::uint32_t>(architecture)}))),
      commands_(std::make_shared<std::vector<std::uint32_t>>()),
      watched_(std::make_shared<bool>(false)) {
  if (sim_open_as(*device_, somebody, Access::read_write, other_) != 0) {
    throw std::runtime_error("another process cannot open the device");
  }
  at_first_ = device_->counters();
  open();
}

void Rig::open() {
  fail_nothing();
  auto file = plan_faults(need(device_->open()), {}, log_);
  file = std::make_unique<WatchedFile>(std::move(file), commands_, watched_);
  session_ = need(Session::open(std::move(file)));
}

void Rig::prepare(const ParsedModel& model) {
  io_.clear();
  std::uint64_t next = first_address;
  for (const auto* tensors : {&model.manifest.inputs, &model.manifest.outputs}) {
    for (const auto& [name, tensor] : *tensors) {
      if (!io_.emplace(name, next).second) continue;
      next += (tensor.size + address_unit - 1) / address_unit * address_unit;
    }
  }
}

Result<LoadedModel*> Rig::load(ParsedModel parsed) {
  // Siblings make their calls one after the other, so that call n is the same each time.
  NEFFLD_ASSIGN(LoadedModel* const model, session_->load(std::move(parsed), {.one_thread = true}));
  auto bound = session_->bind(*model, std::move(io_));
  if (bound) return model;
  static_cast<void>(session_->unload(*model));
  return tl::unexpected<Error>(std::move(bound.error()));
}

void Rig::watch(bool watch) {
  if (watch) commands_->clear();
  *watched_ = watch;
}

void Rig::on_strike(bool resets) {
  if (resets) {
    log_->on_strike = [this] { reset_by_other(); };
  } else {
    log_->on_strike = nullptr;
  }
}

void Rig::reset_by_other() {
  neuron_nc_reset reset{};
  reset.nc_map = NEURON_NC_RESET_WHOLE_DEVICE;
  neuron_nc_reset_ready ready{};
  if (other_->ioctl(NEURON_IOCTL_NC_RESET, &reset) == 0) {
    ready.request_id = reset.request_id;
    static_cast<void>(other_->ioctl(NEURON_IOCTL_NC_RESET_READY, &ready));
  }
}

std::string Rig::held() const {
  const auto now = device_->counters();
  if (now.live_handles != at_first_.live_handles ||
      now.live_device_bytes != at_first_.live_device_bytes) {
    return fmt::format("{} handles and {} bytes are held, {} and {} before", now.live_handles,
                       now.live_device_bytes, at_first_.live_handles, at_first_.live_device_bytes);
  }
  if (session_ && !session_->models().empty()) return "a model is registered";
  return {};
}

}  // namespace neffld::test
