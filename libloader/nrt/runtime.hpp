// SPDX-License-Identifier: MIT
// The process's runtime: state machine, devices, cores, live handles (spec 07 sections 3.0 to 3.2,
// 3.7).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config.hpp"
#include "data_store.hpp"
#include "device.hpp"
#include "execution_trace.hpp"
#include "handles.hpp"
#include "model_registry.hpp"
#include "nrt/nrt_experimental.h"
#include "parse_cache.hpp"
#include "tensor.hpp"
#include "topology.hpp"

namespace neffld::nrt {

class AsyncQueue;

enum class State : std::uint32_t { start = 0, init = 1, child = 2, closed = 3 };
/// "NRT_STATE_START" and so on.
const char* state_name(State state);

/// The record behind a model handle (spec 07 section 3.4 step 10).
struct ModelHandle {
  std::uint32_t vnc = 0;
  std::uint32_t h_nn = 0;
  std::uint32_t gid = 0;
  std::array<char, 256> name = {};
  std::array<std::uint8_t, 16> uuid = {};
};
static_assert(sizeof(ModelHandle) == 284);

class Runtime {
 public:
  /// The one of this process. It is never destroyed: threads may still be inside at exit.
  static Runtime& get();

  State state() const { return state_.load(); }

  /// nrt_init() and nrt_close(); one at a time.
  Result<void> init(const StoreProcess& process);
  void close();

  /// Around fork(2). A child must not use what it shares with its parent: it never has a runtime if
  /// the parent has one, or is about to make or to end it.
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  /// A call in flight. Closing waits for it. Holds only if the state was INIT.
  class Call {
   public:
    explicit Call(Runtime& runtime);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    /// INIT, or what kept the call out.
    State state() const { return state_; }

   private:
    Runtime& runtime_;
    State state_;
  };

  // ---- questions that work in every state ----
  Result<std::uint32_t> total_cores();
  Result<std::uint32_t> visible_cores();
  Result<nrt_instance_info_t> instance_info();

  // ---- for calls in flight ----
  const Topology& topology() const { return topology_; }
  std::uint32_t core_count() const { return cores_.count; }
  /// Checks an index among the visible cores: "Could not find VNC id ..", NRT_INVALID.
  Result<std::uint32_t> check_vnc(std::int64_t vnc) const;
  /// Takes a virtual core for one model: the given one, or for -1 the least used, lowest first.
  Result<std::uint32_t> claim_vnc(std::int32_t vnc);
  void release_vnc(std::uint32_t vnc);
  /// The device a virtual core is on; opens it if nobody has yet.
  Result<std::shared_ptr<Device>> device_of(std::uint32_t vnc);
  /// The virtual core's number on that device, and its first physical core there.
  std::uint32_t logical_core_of(std::uint32_t vnc) const;
  std::uint32_t first_core_of(std::uint32_t vnc) const;
  /// A small number for a model's UUID, from 0, the same as long as the process lives.
  std::uint32_t intern(const std::array<std::uint8_t, 16>& uuid);
  /// Where tensors of a virtual core live: the bank of its first core.
  Result<DevicePlace> place_of(std::uint32_t vnc);

  HandleTable<ModelHandle, HandleKind::model> models;
  HandleTable<Tensor, HandleKind::tensor> tensors;
  HandleTable<TensorSet, HandleKind::tensor_set> sets;
  ModelRegistry registry;
  ParseCache parse_cache;
  StorageList storages;
  ExecutionTrace trace;

  /// Where executions on a virtual core queue up; null: they are synchronous. The queue lives until
  /// the runtime closes.
  AsyncQueue* async_queue(std::uint32_t vnc);
  /// Who is told the end of every queued execution, from registering to the end of nrt_close().
  struct AsyncCallback {
    NRT_ASYNC_EXEC_STATUS_CALLBACK function = nullptr;
    void* params = nullptr;
  };
  void set_async_callback(const AsyncCallback& callback);
  AsyncCallback async_callback();

 private:
  Runtime();
  ~Runtime();
  Result<void> start();
  Result<void> reserve_cores(const Config& config);
  void unload_everything();
  void close_devices();

  std::atomic<State> state_ = State::start;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint32_t> changing_ = 0;  ///< threads in init() and close()
  std::mutex life_mutex_;                    ///< init and close

  Topology topology_;
  CoreRange cores_;
  std::atomic<std::uint32_t> cached_cores_ = 0;  ///< cores_.count for a forked child

  std::mutex instance_mutex_;
  std::optional<nrt_instance_info_t> instance_;

  std::mutex usage_mutex_;
  std::vector<std::uint32_t> usage_;  ///< models by visible core

  std::mutex interned_mutex_;
  std::map<std::array<std::uint8_t, 16>, std::uint32_t> interned_;

  StoreProcess process_ = {};  ///< who this process is, for every device it opens
  std::mutex devices_mutex_;
  std::vector<std::shared_ptr<Device>> devices_;  ///< by number; null until used
  DeviceSettings device_settings_;

  std::mutex callback_mutex_;
  AsyncCallback callback_;

  std::mutex async_mutex_;
  std::uint32_t async_capacity_ = 0;  ///< requests of one core in flight, 0 = synchronous
  std::vector<std::unique_ptr<AsyncQueue>> async_queues_;  ///< by visible core; null until used
};

}  // namespace neffld::nrt
