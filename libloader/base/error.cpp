// SPDX-License-Identifier: MIT
#include "neffld/error.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "neffld/text.hpp"

namespace neffld {

const char* status_name(Status status) {
  switch (status) {
    case Status::success:
      return "NRT_SUCCESS";
    case Status::failure:
      return "NRT_FAILURE";
    case Status::invalid:
      return "NRT_INVALID";
    case Status::invalid_handle:
      return "NRT_INVALID_HANDLE";
    case Status::resource:
      return "NRT_RESOURCE";
    case Status::timeout:
      return "NRT_TIMEOUT";
    case Status::hw_error:
      return "NRT_HW_ERROR";
    case Status::queue_full:
      return "NRT_QUEUE_FULL";
    case Status::load_not_enough_nc:
      return "NRT_LOAD_NOT_ENOUGH_NC";
    case Status::unsupported_neff_version:
      return "NRT_UNSUPPORTED_NEFF_VERSION";
    case Status::fail_host_mem_alloc:
      return "NRT_FAIL_HOST_MEM_ALLOC";
    case Status::uninitialized:
      return "NRT_UNINITIALIZED";
    case Status::closed:
      return "NRT_CLOSED";
    case Status::exec_completed_with_num_err:
      return "NRT_EXEC_COMPLETED_WITH_NUM_ERR";
    case Status::exec_completed_with_err:
      return "NRT_EXEC_COMPLETED_WITH_ERR";
    case Status::exec_nc_busy:
      return "NRT_EXEC_NC_BUSY";
    case Status::exec_oob:
      return "NRT_EXEC_OOB";
    case Status::exec_hw_err_nc_ue:
      return "NRT_EXEC_HW_ERR_NC_UE";
    case Status::exec_hw_err_dma_abort:
      return "NRT_EXEC_HW_ERR_DMA_ABORT";
    case Status::exec_sw_nq_overflow:
      return "NRT_EXEC_SW_NQ_OVERFLOW";
  }
  return "NRT_FAILURE";
}

int exit_code(ErrorClass error_class) {
  return static_cast<int>(error_class) + 1;
}

std::string to_sentence(const Error& error) {
  std::string place = error.where.member;
  const auto add = [&place](std::string_view separator, const std::string& part) {
    if (!place.empty()) place += separator;
    place += part;
  };
  if (!error.where.path.empty()) add(": ", error.where.path);
  if (error.where.record) add(" ", fmt::format("record {}", *error.where.record));
  if (error.where.offset) add(" ", fmt::format("at byte 0x{:x}", *error.where.offset));
  if (!place.empty()) place += ": ";
  return one_line(fmt::format("{}{} ({})", place, error.text, status_name(error.status)));
}

bool is_host_shortage(const Error& error) {
  if (error.status == Status::fail_host_mem_alloc) return true;
  // No text: there was no memory for it either.
  return error.error_class == ErrorClass::resource &&
         (error.text.empty() || error.text.ends_with(host_memory_exhausted));
}

Error error_from_current_exception() noexcept {
  // The sentences below are short enough for the small-string buffer of no library we use, so a
  // second failure is possible while building them; then an empty text is all that is left.
  try {
    throw;
  } catch (const std::bad_alloc&) {
    Error error{Status::resource, ErrorClass::resource, {}, {}};
    try {
      error.text = host_memory_exhausted;
    } catch (...) {
    }
    return error;
  } catch (const std::exception& exception) {
    Error error{Status::failure, ErrorClass::resource, {}, {}};
    try {
      error.text = fmt::format("unexpected exception: {}", exception.what());
    } catch (...) {
    }
    return error;
  } catch (...) {
    return Error{Status::failure, ErrorClass::resource, {}, {}};
  }
}

}  // namespace neffld
