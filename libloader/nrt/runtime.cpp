// SPDX-License-Identifier: MIT
#include "runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "async_queue.hpp"
#include "environment.hpp"
#include "error_ring.hpp"
#include "failure_report.hpp"
#include "local_time.hpp"
#include "log.hpp"
#include "models.hpp"
#include "version.hpp"

namespace neffld::nrt {
namespace {

void log_info(const char* function, const std::string& text) {
  log(Level::info, "NRT", function, text);
}

/// Tells the user about variables that do nothing, once per init.
void report_environment() {
  for (const std::string& name : unknown_env_names()) {
    log(Level::warn, "NRT", "nrt_config", fmt::format("{} is unknown, is it misspelt?", name));
  }
  for (const std::string& name : ignored_env_names()) {
    log_info("nrt_config", fmt::format("{} has no effect in this library", name));
  }
}

/// From the beginning: while one thread is in nrt_init for the first time another may fork.
const int fork_error = pthread_atfork(Runtime::before_fork, Runtime::after_fork_in_parent,
                                      Runtime::after_fork_in_child);

/// Counts a thread for as long as it lives.
class Counted {
 public:
  explicit Counted(std::atomic<std::uint32_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<std::uint32_t>& count_;
};

}  // namespace

const char* state_name(State state) {
  switch (state) {
    case State::start:
      return "NRT_STATE_START";
    case State::init:
      return "NRT_STATE_INIT";
    case State::child:
      return "NRT_STATE_CHILD";
    case State::closed:
      break;
  }
  return "NRT_STATE_CLOSED";
}

Runtime::Runtime() = default;
Runtime::~Runtime() = default;

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

// What works in every state has locks of its own: those that a thread may hold, in the order in
// which one may want the next.
void Runtime::before_fork() {
  Runtime& runtime = get();  // whoever is making it is done
  runtime.instance_mutex_.lock();
  runtime.models.mutex().lock();
  runtime.tensors.mutex().lock();
  runtime.sets.mutex().lock();
  runtime.storages.mutex().lock();
  lock_log_for_fork();
  ErrorRing::get().mutex().lock();
  take_local_time_before_fork();
}

void Runtime::after_fork_in_parent() {
  Runtime& runtime = get();
  ErrorRing::get().mutex().unlock();
  unlock_log_after_fork();
  runtime.storages.mutex().unlock();
  runtime.sets.mutex().unlock();
  runtime.tensors.mutex().unlock();
  runtime.models.mutex().unlock();
  runtime.instance_mutex_.unlock();
}

void Runtime::after_fork_in_child() {
  keep_local_time_in_child();
  after_fork_in_parent();
  Runtime& runtime = get();
  if (runtime.state_ != State::start || runtime.changing_ != 0) runtime.state_ = State::child;
}

// ---- calls in flight ----

// The state is looked at again after the call is counted: either close() sees the call, or the call
// sees that it came too late.
Runtime::Call::Call(Runtime& runtime) : runtime_(runtime), state_(runtime.state_.load()) {
  if (state_ != State::init) return;
  ++runtime_.calls_;
  state_ = runtime_.state_.load();
  if (state_ != State::init) --runtime_.calls_;
}

Runtime::Call::~Call() {
  if (state_ == State::init) --runtime_.calls_;
}

// ---- life cycle ----

Result<void> Runtime::init(const StoreProcess& process) {
  const auto refuse = [&](State state) {
    return state == State::closed
               ? fail(Status::closed, ErrorClass::usage, {}, "NRT already closed")
               : fail(Status::failure, ErrorClass::usage, {},
                      fmt::format("Incompatible runtime state: {}", state_name(state)));
  };
  if (const State now = state(); now == State::closed || now == State::child) return refuse(now);
  const Counted here(changing_);  // outlives the lock
  const std::scoped_lock lock(life_mutex_);
  if (const State now = state(); now != State::start) {
    if (now == State::init) return {};
    return refuse(now);
  }
  configure_log();
  reset_failure_reports();
  process_ = process;
  auto started = guarded([&] { return start(); });
  if (started) {
    state_ = State::init;
  } else {
    close_devices();
  }
  return started;
}

Result<void> Runtime::start() {
  if (fork_error != 0) {
    return fail(Status::failure, ErrorClass::resource, {},
                fmt::format("Failed to set atfork handlers, ret={}", fork_error));
  }
  // What the environment asks for, and which devices there are.
  NEFFLD_ASSIGN(const Config config, read_config());
  report_environment();
  NEFFLD_ASSIGN(topology_, find_topology(config));
  log_info("nrt_init", fmt::format("Neuron Runtime {} ({}), framework {}", runtime_version,
                                   open_version_text(), process_.framework));
  log_info("nrt_init", fmt::format("Instance info:: device:{} device count:{} cores per device:{} "
                                   "architecture:{}",
                                   topology_.device, topology_.devices, topology_.cores_per_device,
                                   arch_name(topology_.arch)));

  // Which cores are ours.
  NEFFLD_TRY(reserve_cores(config));
  log_info("nrt_init", fmt::format("Visible logical cores {} to {} of {}, physical cores {} to {}",
                                   cores_.first, cores_.first + cores_.count - 1, topology_.total(),
                                   cores_.first * topology_.core_size,
                                   (cores_.first + cores_.count) * topology_.core_size - 1));
  if (config.skip_compute) {
    log(Level::warn, "NRT", "nrt_init",
        "NEFFLD_COMPUTE=skip: compute records are counted and not run; outputs that depend on them "
        "mean nothing");
  }
  {
    const std::scoped_lock lock(async_mutex_);
    async_capacity_ = config.async_requests;
    async_queues_.resize(cores_.count);
  }
  return {};
}

/// Chooses cores and takes them from the driver.
Result<void> Runtime::reserve_cores(const Config& config) {
  NEFFLD_ASSIGN(cores_, choose_cores(config, topology_));
  // The first device is opened now, so that a driver that cannot be used is found here; the others
  // when a core of theirs is used.
  {
    const std::scoped_lock lock(devices_mutex_);
    devices_.assign(topology_.devices, nullptr);
    device_settings_ = {config.skip_compute};
  }
  auto device = device_of(0);
  if (!device) {
    Error error = std::move(device.error());
    if (error.status != Status::fail_host_mem_alloc) error.status = Status::invalid;
    return tl::unexpected<Error>(std::move(error));
  }
  if (topology_.device.find('/') != std::string::npos) {
    // Errors also go where the operator of the machine looks for them.
    set_kernel_log([held = *device](std::string_view line) { held->print(line); });
  }
  // Only a node is shared with others. The devices of a simulated instance are this process's own,
  // and there may be several; one is marked as a node is.
  if (topology_.devices == 1) {
    NEFFLD_ASSIGN(cores_, (*device)->reserve(cores_, config.visible_cores.has_value(), topology_));
  }
  cached_cores_ = cores_.count;
  ErrorRing::get().resize(cores_.count);
  const std::scoped_lock lock(usage_mutex_);
  usage_.assign(cores_.count, 0);
  return {};
}

void Runtime::close_devices() {
  set_kernel_log({});
  const std::scoped_lock lock(devices_mutex_);
  devices_.clear();
}

std::uint32_t Runtime::intern(const std::array<std::uint8_t, 16>& uuid) {
  const std::scoped_lock lock(interned_mutex_);
  return interned_.try_emplace(uuid, static_cast<std::uint32_t>(interned_.size())).first->second;
}

void Runtime::unload_everything() {
  for (const std::uint32_t h_nn : registry.ids()) {
    const auto unloaded = guarded([&] { return unload_record(*this, h_nn); });
    if (!unloaded) {
      log_inner_error(
          "NMGR", "kmgr_unload_nn",
          fmt::format("Failed to unstage model: {}: {}", h_nn, to_sentence(unloaded.error())));
    }
  }
}

void Runtime::close() {
  if (state() != State::init) return;
  const Counted here(changing_);  // outlives the lock
  const std::scoped_lock lock(life_mutex_);
  if (state() != State::init) return;
  state_ = State::closed;
  while (calls_ != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  {
    const std::scoped_lock async_lock(async_mutex_);
    async_queues_.clear();  // each waits for what is queued
  }
  set_async_callback({});
  unload_everything();
  models.clear();
  storages.release_all();
  close_devices();
  log_info("nrt_close", "closed");
  state_ = State::start;
}

// ---- cores and devices ----

Result<std::uint32_t> Runtime::total_cores() {
  if (state() == State::init) {
    if (const Call call(*this); call.state() == State::init) return topology_.total();
  }
  NEFFLD_ASSIGN(const Config config, read_config());
  NEFFLD_ASSIGN(const Topology topology, find_topology(config));
  return topology.total();
}

Result<std::uint32_t> Runtime::visible_cores() {
  const State now = state();
  const std::uint32_t cached = cached_cores_;
  // A child that was forked while its parent was still starting knows no more than the environment.
  if (now == State::init || (now == State::child && cached != 0)) return cached;
  NEFFLD_ASSIGN(const Config config, read_config());
  if (config.visible_cores || config.num_cores != 0) return requested_cores(config, {});
  NEFFLD_ASSIGN(const Topology topology, find_topology(config));
  return topology.total();
}

Result<nrt_instance_info_t> Runtime::instance_info() {
  // Computed once per process: what the first caller saw (spec 07 section 3.3).
  const std::scoped_lock lock(instance_mutex_);
  if (instance_) return *instance_;
  NEFFLD_ASSIGN(const Config config, read_config());
  NEFFLD_ASSIGN(const Topology topology, find_topology(config));
  nrt_instance_info_t info{};
  info.family = topology.family;
  info.size = topology.size;
  const std::string name = public_arch_name(topology.arch);
  std::copy_n(name.begin(), std::min(name.size(), sizeof info.arch_name - 1), info.arch_name);
  instance_ = info;
  return info;
}

Result<std::uint32_t> Runtime::check_vnc(std::int64_t vnc) const {
  if (vnc >= 0 && vnc < cores_.count) return static_cast<std::uint32_t>(vnc);
  return fail(Status::invalid, ErrorClass::usage, {},
              fmt::format("Could not find VNC id {}, visible are 0 to {}", vnc, cores_.count - 1));
}

Result<std::uint32_t> Runtime::claim_vnc(std::int32_t vnc) {
  const std::scoped_lock lock(usage_mutex_);
  std::uint32_t chosen = 0;
  if (vnc == -1) {
    chosen =
        static_cast<std::uint32_t>(std::min_element(usage_.begin(), usage_.end()) - usage_.begin());
  } else {
    NEFFLD_ASSIGN(chosen, check_vnc(vnc));
  }
  ++usage_[chosen];
  return chosen;
}

void Runtime::release_vnc(std::uint32_t vnc) {
  const std::scoped_lock lock(usage_mutex_);
  if (usage_.at(vnc) > 0) --usage_[vnc];
}

Result<std::shared_ptr<Device>> Runtime::device_of(std::uint32_t vnc) {
  const std::uint32_t number = topology_.device_of(cores_.first + vnc);
  const std::scoped_lock lock(devices_mutex_);
  if (devices_.at(number) == nullptr) {
    NEFFLD_ASSIGN(devices_[number], Device::open(topology_, number, device_settings_));
    devices_[number]->store().write_process(process_);
  }
  return devices_[number];
}

AsyncQueue* Runtime::async_queue(std::uint32_t vnc) {
  const std::scoped_lock lock(async_mutex_);
  if (async_capacity_ == 0) return nullptr;
  auto& queue = async_queues_.at(vnc);
  if (queue == nullptr) queue = std::make_unique<AsyncQueue>(*this, vnc, async_capacity_);
  return queue.get();
}

void Runtime::set_async_callback(const AsyncCallback& callback) {
  const std::scoped_lock lock(callback_mutex_);
  callback_ = callback;
}

Runtime::AsyncCallback Runtime::async_callback() {
  const std::scoped_lock lock(callback_mutex_);
  return callback_;
}

std::uint32_t Runtime::logical_core_of(std::uint32_t vnc) const {
  return topology_.core_on_device(cores_.first + vnc);
}

std::uint32_t Runtime::first_core_of(std::uint32_t vnc) const {
  return logical_core_of(vnc) * topology_.core_size;
}

Result<DevicePlace> Runtime::place_of(std::uint32_t vnc) {
  NEFFLD_ASSIGN(std::shared_ptr<Device> device, device_of(vnc));
  const std::uint32_t core = first_core_of(vnc);
  return DevicePlace{device, vnc, core, default_hbm(device->arch(), core)};
}

}  // namespace neffld::nrt
