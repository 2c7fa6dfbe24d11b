// SPDX-License-Identifier: MIT
// Functions with a defined status and nothing behind them (spec 07 section 3.13). A NEFFLD_STUB
// looks at no argument, so callers built for either flavour of the nrta_ prototypes are safe.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "api.hpp"
#include "nrt/ndebug_stream.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"

using namespace neffld;
using namespace neffld::nrt;

namespace {

/// Says once per function that it is not there.
NRT_STATUS not_supported(const char* api, std::atomic<bool>& said) noexcept {
  try {
    const LogScope scope(api);
    const Runtime::Call call(Runtime::get());
    if (call.state() != State::init) return refuse(api, call.state());
    if (!said.exchange(true)) {
      log_api_error(api, fmt::format("{} is not supported by this library", api));
    }
    return NRT_INVALID;
  } catch (...) {
    return NRT_INVALID;
  }
}

#define NEFFLD_STUB(name, parameters)      \
  NRT_STATUS name parameters {             \
    static std::atomic<bool> said = false; \
    return not_supported(#name, said);     \
  }                                        \
  static_assert(true, "takes the semicolon")

/// Communicators of one rank exist without being built.
Result<void> check_world(std::uint32_t id, std::uint32_t count) {
  if (count == 1 && id == 0) return {};
  return unsupported({}, fmt::format("found rank {} of {}; collectives beyond one rank are not "
                                     "supported by this library",
                                     id, count));
}

}  // namespace

// ---- collectives ----

NRT_STATUS nrt_build_global_comm(int32_t, uint32_t g_device_id, uint32_t g_device_count) {
  return gated("nrt_build_global_comm", "build the communicator",
               [&](Runtime&) { return check_world(g_device_id, g_device_count); });
}
NRT_STATUS nrt_cc_global_comm_init(uint32_t, uint32_t g_device_id, uint32_t g_device_count) {
  return gated("nrt_cc_global_comm_init", "build the communicator",
               [&](Runtime&) { return check_world(g_device_id, g_device_count); });
}
NRT_STATUS nrt_barrier(int32_t, uint32_t g_device_id, uint32_t g_device_count) {
  return gated("nrt_barrier", "wait for the other ranks",
               [&](Runtime&) { return check_world(g_device_id, g_device_count); });
}
NRT_STATUS nrt_all_gather(int32_t, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output) {
  return gated("nrt_all_gather", "gather from all ranks", [&](Runtime&) -> Result<void> {
    NEFFLD_TRY(check_world(g_device_id, g_device_count));
    if (rank_input_size == 0) return {};
    NEFFLD_TRY(need(input, "input"));
    NEFFLD_TRY(need(output, "output"));
    std::memmove(output, input, rank_input_size);
    return {};
  });
}
NEFFLD_STUB(nrt_cc_create_stream, (uint32_t));

/// Writes `*err` and the first bytes of `err_msg`.
void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size) {
  static constexpr std::string_view text = "no network plug-in: collectives are not supported";
  if (err != nullptr) *err = NRT_INVALID;
  if (err_msg != nullptr && err_msg_size > 0) {
    const std::size_t length = std::min(text.size(), err_msg_size - 1);
    std::memcpy(err_msg, text.data(), length);
    err_msg[length] = 0;
  }
  return nullptr;
}

/// Before init only. The images are looked at, not kept: the simulated device runs no microcode.
NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* info) {
  return ungated("nrt_set_pool_eng_ucode", "set the microcode", [&]() -> Result<void> {
    if (const State state = Runtime::get().state(); state != State::start) {
      return fail(Status::failure, ErrorClass::usage, {},
                  fmt::format("only before nrt_init(), the state is {}", state_name(state)));
    }
    NEFFLD_TRY(need(info, "ucode_info"));
    for (const nrt_ucode_img& image : {info->iram, info->dram}) {
      if (image.bin == nullptr || image.size == 0) {
        return fail(Status::invalid, ErrorClass::usage, {}, "an image is empty");
      }
    }
    log(Level::warn, "NRT", "nrt_set_pool_eng_ucode",
        "the microcode has no effect: this library loads none");
    return {};
  });
}

// ---- explicit asynchronous requests ----

NEFFLD_STUB(nrta_tensor_write,
            (nrt_tensor_t*, const void*, uint64_t, uint64_t, int, int, NRT_STATUS*, nrta_seq_t*));
NEFFLD_STUB(nrta_tensor_read,
            (void*, nrt_tensor_t*, uint64_t, uint64_t, int, int, NRT_STATUS*, nrta_seq_t*));
NEFFLD_STUB(nrta_tensor_copy, (nrt_tensor_t*, uint64_t, nrt_tensor_t*, uint64_t, uint64_t, int, int,
                               NRT_STATUS*, nrta_seq_t*));
NEFFLD_STUB(nrta_execute_schedule, (nrt_model_t*, const nrt_tensor_set_t*, nrt_tensor_set_t*, int,
                                    NRT_STATUS*, nrta_seq_t*));
NEFFLD_STUB(nrta_cc_prepare, (nrt_cc_comm_t*, nrt_tensor_list_t*, nrt_tensor_list_t*, nrt_dtype_t,
                              nrt_op_type_t, nrt_cc_op_type_t, nrt_cc_context_t**));
NEFFLD_STUB(nrta_cc_schedule, (nrt_cc_context_t**, int, NRT_STATUS*, nrta_seq_t*));
NEFFLD_STUB(nrta_is_completed, (nrta_seq_t, bool*));
NEFFLD_STUB(nrta_get_sequence, (uint32_t, nrta_xu_t, int, nrta_seq_t*));
NEFFLD_STUB(nrta_get_completion_handle, (nrta_seq_t, int*));
NEFFLD_STUB(nrta_error_tracker_create, (uint32_t, nrta_error_tracker_t**));
NEFFLD_STUB(nrta_error_tracker_get_list, (nrta_error_tracker_t*, const nrta_error_t**, size_t*));
void nrta_error_tracker_destroy(nrta_error_tracker_t*) {}

// ---- sending tensors between hosts ----

NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* num) {
  return ungated("nrt_async_sendrecv_get_max_num_communicators_per_lnc", "tell a limit",
                 [&]() -> Result<void> {
                   NEFFLD_TRY(need(num, "num"));
                   *num = 0;
                   return {};
                 });
}
NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* num) {
  return ungated("nrt_async_sendrecv_get_max_num_pending_request", "tell a limit",
                 [&]() -> Result<void> {
                   NEFFLD_TRY(need(num, "num"));
                   *num = 0;
                   return {};
                 });
}
NEFFLD_STUB(nrt_async_sendrecv_init, (int));
NEFFLD_STUB(nrt_async_sendrecv_close, (int));
NEFFLD_STUB(nrt_async_sendrecv_connect, (const char*, int, int, nrt_async_sendrecv_comm_t**));
NEFFLD_STUB(nrt_async_sendrecv_accept, (const char*, int, int, nrt_async_sendrecv_comm_t**));
NEFFLD_STUB(nrt_async_sendrecv_test_comm, (nrt_async_sendrecv_comm_t*, bool*));
NEFFLD_STUB(nrt_async_sendrecv_send_tensor,
            (nrt_tensor_t*, size_t, size_t, nrt_async_sendrecv_comm_t*,
             nrt_async_sendrecv_request_t**));
NEFFLD_STUB(nrt_async_sendrecv_recv_tensor,
            (nrt_tensor_t*, size_t, size_t, nrt_async_sendrecv_comm_t*,
             nrt_async_sendrecv_request_t**));
NEFFLD_STUB(nrt_async_sendrecv_test_request, (nrt_async_sendrecv_request_t*, bool*, size_t*));
NEFFLD_STUB(nrt_async_sendrecv_flush, (int));

// ---- profiles, traces, inspection ----

NEFFLD_STUB(nrt_profile_continuous_start, (nrt_profile_continuous_options_t*));
NEFFLD_STUB(nrt_profile_continuous_save, (uint32_t, nrt_profile_continuous_options_t*));
NEFFLD_STUB(nrt_profile_continuous_stop, (void));
NEFFLD_STUB(nrt_profile_session_start, (int32_t));
NEFFLD_STUB(nrt_profile_session_stop, (int32_t, uint64_t*));
NEFFLD_STUB(nrt_profile_session_serialize, (uint64_t, const char*));
NEFFLD_STUB(nrt_profile_session_drop, (uint64_t));
NEFFLD_STUB(nrt_profile_session_drop_all, (int32_t));
NEFFLD_STUB(nrt_trace_start, (bool));
NEFFLD_STUB(nrt_trace_stop, (const char*));
NEFFLD_STUB(nrt_inspect_begin, (void));
NEFFLD_STUB(nrt_inspect_begin_with_options, (nrt_inspect_config_t*));
NEFFLD_STUB(nrt_inspect_stop, (void));
NEFFLD_STUB(nrt_inspect_get_instance_output_dir, (const char*, char*, size_t));

// ---- debug events: no device emits any ----

NEFFLD_STUB(nrt_debug_client_connect, (int, int*));
void nrt_debug_client_connect_close(int) {}
NRT_STATUS nrt_debug_client_read_one_event(int, ndebug_stream_event_header_t*, void**) {
  const Runtime::Call call(Runtime::get());
  return call.state() == State::init ? NRT_QUEUE_EMPTY
                                     : refuse("nrt_debug_client_read_one_event", call.state());
}
