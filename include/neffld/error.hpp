// SPDX-License-Identifier: MIT
// Errors are values: a status, where it was found, and one sentence a user can act on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace neffld {

/// NRT_STATUS values the loader returns (spec 01 section 2, spec 05 head, spec 07).
enum class Status : std::int32_t {
  success = 0,
  failure = 1,
  invalid = 2,
  invalid_handle = 3,
  resource = 4,
  timeout = 5,
  hw_error = 6,
  queue_full = 7,
  load_not_enough_nc = 9,
  unsupported_neff_version = 10,
  fail_host_mem_alloc = 11,
  uninitialized = 13,
  closed = 14,
  // What an execution ends with (spec 04 section 11).
  exec_completed_with_num_err = 1003,
  exec_completed_with_err = 1004,
  exec_nc_busy = 1005,
  exec_oob = 1006,
  exec_hw_err_nc_ue = 1202,
  exec_hw_err_dma_abort = 1203,
  exec_sw_nq_overflow = 1204,
};

/// "NRT_INVALID" and so on, for messages and reports.
const char* status_name(Status status);

/// What kind of thing went wrong; it decides the exit code of the command line.
enum class ErrorClass : std::uint8_t {
  check,        ///< the question was answered with no (files differ, verification failed): exit 1
  usage,        ///< wrong words on the command line: exit 2
  file,         ///< a file cannot be opened, read or written: exit 3
  format,       ///< the bytes break a rule of the format: exit 4
  unsupported,  ///< legal, but not supported by this version, device or architecture: exit 5
  resource,     ///< memory, descriptors, queues or cores are not enough: exit 6
  device,       ///< the device refused or failed a call: exit 7
};

int exit_code(ErrorClass error_class);

/// Where in the input a problem is. Empty parts are not printed.
struct Where {
  std::string member;                   ///< file or archive member, e.g. "sg00/def.json"
  std::string path;                     ///< JSON path, variable, queue or field name
  std::optional<std::uint64_t> record;  ///< record number: instruction slot, DMA block, entry
  std::optional<std::uint64_t> offset;  ///< byte offset inside the member
};

struct Error {
  Status status = Status::failure;
  ErrorClass error_class = ErrorClass::format;
  Where where;
  std::string text;  ///< the value found and what is allowed; one sentence without a full stop
};

/// "sg00/def.json: $.var.x.size: found -1, expected an unsigned integer (NRT_INVALID)". One line of
/// valid UTF-8 without control characters, whatever names the text has from a file.
std::string to_sentence(const Error& error);

/// The text of an error that says that this process got no more memory.
inline constexpr std::string_view host_memory_exhausted = "host memory is exhausted";

/// Whether this machine's memory ran out, which says nothing about the file that was read.
bool is_host_shortage(const Error& error);

template <class T>
using Result = tl::expected<T, Error>;

/// Builds the error branch of a Result.
inline tl::unexpected<Error> fail(Status status, ErrorClass error_class, Where where,
                                  std::string text) {
  return tl::unexpected<Error>(Error{status, error_class, std::move(where), std::move(text)});
}

/// This process got no more memory.
inline tl::unexpected<Error> host_shortage() {
  return fail(Status::resource, ErrorClass::resource, {}, std::string(host_memory_exhausted));
}

/// The usual case: bytes that break a rule of the format (NRT_INVALID).
inline tl::unexpected<Error> invalid(Where where, std::string text) {
  return fail(Status::invalid, ErrorClass::format, std::move(where), std::move(text));
}

/// Legal input that this version cannot honour (NRT_INVALID, exit code "unsupported").
inline tl::unexpected<Error> unsupported(Where where, std::string text) {
  return fail(Status::invalid, ErrorClass::unsupported, std::move(where), std::move(text));
}

#define NEFFLD_CONCAT_(a, b) a##b
#define NEFFLD_CONCAT(a, b) NEFFLD_CONCAT_(a, b)

/// Returns the error of `expr` from the calling function, or goes on.
#define NEFFLD_TRY(expr) NEFFLD_TRY_IMPL(NEFFLD_CONCAT(neffld_try_, __COUNTER__), expr)
#define NEFFLD_TRY_IMPL(tmp, expr)                                                               \
  do {                                                                                           \
    if (auto tmp = (expr); !tmp) return tl::unexpected<::neffld::Error>(std::move(tmp.error())); \
  } while (false)

/// Like NEFFLD_TRY, and moves the value into `target` (a declaration or an lvalue).
#define NEFFLD_ASSIGN(target, expr) \
  NEFFLD_ASSIGN_IMPL(NEFFLD_CONCAT(neffld_result_, __COUNTER__), target, expr)
#define NEFFLD_ASSIGN_IMPL(tmp, target, expr)                               \
  auto tmp = (expr);                                                        \
  if (!tmp) return tl::unexpected<::neffld::Error>(std::move(tmp.error())); \
  target = std::move(*tmp)

/// Runs `body` (which returns a Result) and turns exceptions into errors; every public entry
/// point is wrapped in it, so that allocation failure is a status and never leaves the library.
Error error_from_current_exception() noexcept;

template <class Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return tl::unexpected<Error>(error_from_current_exception());
  }
}

}  // namespace neffld
