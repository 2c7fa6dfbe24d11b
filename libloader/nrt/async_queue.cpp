// SPDX-License-Identifier: MIT
#include "async_queue.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "api.hpp"

namespace neffld::nrt {
namespace {

/// Job numbers are the process's, from 1 [ours].
std::uint64_t next_job_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

AsyncQueue::AsyncQueue(Runtime& runtime, std::uint32_t vnc, std::uint32_t capacity)
    : runtime_(runtime), vnc_(vnc), capacity_(capacity), thread_([this] { work(); }) {}

AsyncQueue::~AsyncQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<void> AsyncQueue::submit(std::unique_ptr<ExecutionRequest> request) {
  {
    const std::scoped_lock lock(mutex_);
    if (in_flight_ >= capacity_) {
      return fail(Status::queue_full, ErrorClass::resource, {},
                  fmt::format("{} executions are in flight on virtual core {}, no more than {} may "
                              "be (NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS)",
                              in_flight_, vnc_, capacity_));
    }
    jobs_.push_back({next_job_id(), std::move(request)});
    ++in_flight_;
  }
  changed_.notify_all();
  return {};
}

void AsyncQueue::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return in_flight_ == 0; });
}

void AsyncQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    execute(std::move(job));
    lock.lock();
    --in_flight_;
    changed_.notify_all();
  }
}

void AsyncQueue::execute(Job job) {
  const std::uint32_t model = job.request->model().h_nn;
  NRT_STATUS status = NRT_SUCCESS;
  {
    const LogScope scope("nrt_execute");
    const auto done = guarded([&] { return job.request->run(runtime_); });
    if (!done) status = finish("nrt_execute", "execute the model", done.error());
  }
  job.request.reset();  // the callback may use its tensors
  const Runtime::AsyncCallback callback = runtime_.async_callback();
  if (callback.function != nullptr) callback.function(callback.params, model, vnc_, job.id, status);
}

}  // namespace neffld::nrt
