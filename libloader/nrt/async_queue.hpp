// SPDX-License-Identifier: MIT
// Asynchronous execution: requests of one virtual core that wait for their turn (spec 07 section 4,
// NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "execution.hpp"

namespace neffld::nrt {

/// Executes requests one after the other in a thread of its own, in the order they came. Each end
/// is told to the registered callback.
class AsyncQueue {
 public:
  AsyncQueue(Runtime& runtime, std::uint32_t vnc, std::uint32_t capacity);
  /// Waits for the end of everything queued.
  ~AsyncQueue();
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  /// Queues a request. Error: NRT_QUEUE_FULL.
  Result<void> submit(std::unique_ptr<ExecutionRequest> request);
  /// Waits until nothing is queued and nothing runs.
  void drain();

 private:
  struct Job {
    std::uint64_t id = 0;
    std::unique_ptr<ExecutionRequest> request;
  };
  void work();
  void execute(Job job);

  Runtime& runtime_;
  std::uint32_t vnc_;
  std::uint32_t capacity_;  ///< requests that wait or run
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::uint64_t in_flight_ = 0;
  bool ends_ = false;
  std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace neffld::nrt
