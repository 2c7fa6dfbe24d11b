// SPDX-License-Identifier: MIT
// Execution (spec 07 section 3.11), synchronous or, if the environment asks for it, queued.
#include "api.hpp"
#include "async_queue.hpp"
#include "execution.hpp"
#include "nrt/nrt_experimental.h"

using namespace neffld;
using namespace neffld::nrt;

namespace {

/// Queues a request whose tensors are all on the device: nobody would copy outputs back.
Result<void> submit(AsyncQueue& queue, std::unique_ptr<ExecutionRequest> request) {
  if (const std::string* name = request->host_tensor()) {
    return fail(Status::invalid, ErrorClass::usage, {},
                fmt::format("tensor {} is in host memory, asynchronous execution needs tensors on "
                            "the device",
                            *name));
  }
  return queue.submit(std::move(request));
}

Result<void> execute(Runtime& runtime, const nrt_model_t* model, const nrt_tensor_set_t* input_set,
                     const nrt_tensor_set_t* output_set, int repeat_count) {
  if (repeat_count > 1) {
    return fail(Status::invalid, ErrorClass::usage, {},
                "Supports for loops on the host is deprecated");
  }
  NEFFLD_ASSIGN(std::unique_ptr<ExecutionRequest> request,
                ExecutionRequest::make(runtime, model, input_set, output_set));
  const std::string name = request->model().name;
  AsyncQueue* const queue = runtime.async_queue(request->model().vnc);
  auto done = queue ? submit(*queue, std::move(request)) : request->run(runtime);
  if (!done) {
    log_inner_error("NMGR", "kmgr_exec",
                    fmt::format("Failed to execute model {} with status {}", name,
                                static_cast<int>(public_status(done.error()))));
  }
  return done;
}

}  // namespace

NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set) {
  return gated("nrt_execute", "execute the model",
               [&](Runtime& runtime) { return execute(runtime, model, input_set, output_set, 1); });
}

NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count) {
  return gated("nrt_execute_repeat", "execute the model", [&](Runtime& runtime) {
    return execute(runtime, model, input_set, output_set, repeat_count);
  });
}

// A core of -1 means all of them [ours].
NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc) {
  return gated("nrt_async_drain_queued_execs", "drain the queue",
               [&](Runtime& runtime) -> Result<void> {
                 const bool all = vnc == -1;
                 if (!all) NEFFLD_TRY(runtime.check_vnc(vnc));
                 for (std::uint32_t core = 0; core < runtime.core_count(); ++core) {
                   if (!all && core != static_cast<std::uint32_t>(vnc)) continue;
                   if (AsyncQueue* const queue = runtime.async_queue(core)) queue->drain();
                 }
                 return {};
               });
}

NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params) {
  return gated("nrt_register_async_exec_callback", "register the callback",
               [&](Runtime& runtime) -> Result<void> {
                 runtime.set_async_callback({callback, params});
                 return {};
               });
}
