// SPDX-License-Identifier: MIT
// A device with a plan of faults and what is asked about it from behind the loader's back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fault_plan.hpp"
#include "host_memory.hpp"
#include "neffld/session.hpp"

namespace neffld::test {

/// Owner and address of every allocation of a model, in order.
using Layout = std::vector<std::pair<std::string, std::uint64_t>>;
Layout layout_of(const LoadedModel& model);

/// The kind of sentence that a person can use: one line, with the words once.
bool says_once(const std::string& sentence, const std::string& words);

class Rig {
 public:
  explicit Rig(Arch architecture);

  /// Opens a session on the device, without faults.
  void open();
  /// Closes it, as the end of a process would.
  void close() { session_.reset(); }

  /// Chooses addresses for the inputs and outputs of the next load.
  void prepare(const ParsedModel& model);
  /// Loads the model and binds it to those addresses. If the bind fails the model goes.
  Result<LoadedModel*> load(ParsedModel model);
  Result<void> unload(LoadedModel& model) { return session_->unload(model); }
  Session& session() { return *session_; }

  /// From now on.
  void fail(const Fault& fault) { plan_later(*log_, fault); }
  void fail_nothing() { log_->later.clear(); }
  std::uint64_t calls() const { return log_->calls; }
  /// The command of the fault that struck, 0 without one.
  std::uint32_t struck() const { return log_->struck.empty() ? 0 : log_->struck[0]; }

  /// The commands of all calls while `watch` is true.
  void watch(bool watch);
  const std::vector<std::uint32_t>& commands() const { return *commands_; }

  /// Whether another process resets all cores of the device just before the call that is struck.
  void on_strike(bool resets);

  /// What is wrong with a device on which no model is, empty if nothing is.
  std::string held() const;

 private:
  void reset_by_other();

  std::shared_ptr<SimDevice> device_;
  std::unique_ptr<DeviceFile> other_;
  std::shared_ptr<FaultLog> log_ = std::make_shared<FaultLog>();
  std::shared_ptr<std::vector<std::uint32_t>> commands_;
  std::shared_ptr<bool> watched_;
  std::unique_ptr<Session> session_;
  std::map<std::string, std::uint64_t, std::less<>> io_;
  SimDevice::Counters at_first_;
};

}  // namespace neffld::test
