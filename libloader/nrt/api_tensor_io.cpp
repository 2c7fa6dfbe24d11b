// SPDX-License-Identifier: MIT
// Bytes in and out of tensors, and waiting for outputs.
#include <atomic>
#include <cstring>

#include "api.hpp"
#include "completion.hpp"
#include "nrt/nrt_experimental.h"
#include "tensor_api.hpp"

using namespace neffld;
using namespace neffld::nrt;

namespace {

/// A caller buffer may be NULL only if nothing is copied.
Result<void> need_buffer(const void* buffer, std::uint64_t size) {
  return size == 0 ? Result<void>() : need(buffer, "buf");
}

Result<void> read(Runtime& runtime, const nrt_tensor_t* tensor, void* buffer, std::uint64_t offset,
                  std::uint64_t size, bool wait) {
  NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found, find_tensor(runtime, tensor, "tensor"));
  NEFFLD_ASSIGN(const View view, part_of(*found, offset, size));
  NEFFLD_TRY(need_buffer(buffer, size));
  return view.storage->read(view.offset, MutableBytes(static_cast<std::uint8_t*>(buffer), size),
                            wait);
}

Result<void> write(Runtime& runtime, const nrt_tensor_t* tensor, const void* buffer,
                   std::uint64_t offset, std::uint64_t size, bool wait) {
  NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found, find_tensor(runtime, tensor, "tensor"));
  NEFFLD_ASSIGN(const View view, part_of(*found, offset, size));
  NEFFLD_TRY(need_buffer(buffer, size));
  return view.storage->write(view.offset, Bytes(static_cast<const std::uint8_t*>(buffer), size),
                             wait);
}

/// Nothing is copied unless every batch has its tensor and its operations.
Result<void> check_batches(const nrt_tensor_batch_t* batches, std::uint64_t count) {
  if (count > 0) NEFFLD_TRY(need(batches, "batches"));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (batches[i].num_ops == 0) continue;
    NEFFLD_TRY(need(batches[i].tensor, "a batch's tensor"));
    NEFFLD_TRY(need(batches[i].ops, "a batch's ops"));
  }
  return {};
}

template <class Operation>
Result<void> for_each_operation(const nrt_tensor_batch_t* batches, std::uint64_t count,
                                Operation&& operation) {
  NEFFLD_TRY(check_batches(batches, count));
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint32_t j = 0; j < batches[i].num_ops; ++j) {
      NEFFLD_TRY(operation(batches[i].tensor, batches[i].ops[j]));
    }
  }
  return {};
}

/// Two device tensors are copied inside one HBM only.
Result<void> check_same_hbm(const Storage& from, const Storage& to) {
  if (!from.is_device() || !to.is_device()) return {};
  if (from.place().device == to.place().device && from.place().hbm == to.place().hbm) return {};
  return fail(Status::invalid, ErrorClass::usage, {},
              fmt::format("Tensors must be allocated on same HBM (SRC: {}) (DST: {})",
                          from.place().hbm, to.place().hbm));
}

}  // namespace

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buffer, size_t offset, size_t size) {
  return gated("nrt_tensor_read", "read a tensor",
               [&](Runtime& runtime) { return read(runtime, tensor, buffer, offset, size, true); });
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buffer, size_t offset, size_t size) {
  return gated("nrt_tensor_write", "write a tensor", [&](Runtime& runtime) {
    return write(runtime, tensor, buffer, offset, size, true);
  });
}

NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool unsafe) {
  return gated("nrt_tensor_read_batch", "read tensors", [&](Runtime& runtime) {
    return for_each_operation(
        batches, count, [&](const nrt_tensor_t* tensor, const nrt_tensor_batch_op_t& op) {
          return read(runtime, tensor, op.buffer, op.offset, op.size, !unsafe);
        });
  });
}

NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool unsafe) {
  return gated("nrt_tensor_write_batch", "write tensors", [&](Runtime& runtime) {
    return for_each_operation(
        batches, count, [&](const nrt_tensor_t* tensor, const nrt_tensor_batch_op_t& op) {
          return write(runtime, tensor, op.buffer, op.offset, op.size, !unsafe);
        });
  });
}

NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* source, size_t source_offset,
                           nrt_tensor_t* destination, size_t destination_offset, size_t size) {
  return gated("nrt_tensor_copy", "copy a tensor", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_ASSIGN(const std::shared_ptr<Tensor> from, find_tensor(runtime, source, "src"));
    NEFFLD_ASSIGN(const std::shared_ptr<Tensor> to, find_tensor(runtime, destination, "dst"));
    NEFFLD_ASSIGN(const View read_view, part_of(*from, source_offset, size));
    NEFFLD_ASSIGN(const View write_view, part_of(*to, destination_offset, size));
    NEFFLD_TRY(check_same_hbm(*read_view.storage, *write_view.storage));
    return Storage::copy(*read_view.storage, read_view.offset, *write_view.storage,
                         write_view.offset, size);
  });
}

NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size) {
  return gated("nrt_tensor_memset", "fill a tensor", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found, find_tensor(runtime, tensor, "tensor"));
    NEFFLD_ASSIGN(const View view, part_of(*found, offset, size));
    return view.storage->fill(view.offset, size, static_cast<std::uint8_t>(value));
  });
}

NRT_STATUS nrt_memcpy_to_device(void* destination, const void* source, size_t size) {
  return ungated("nrt_memcpy_to_device", "copy to the device", [&]() -> Result<void> {
    if (size == 0) return {};
    NEFFLD_TRY(need(destination, "dest"));
    NEFFLD_TRY(need(source, "src"));
    std::memcpy(destination, source, size);
    // A full barrier; the thread sanitizer does not know std::atomic_thread_fence.
    static std::atomic<unsigned> barrier = 0;
    barrier.fetch_add(1);
    return {};
  });
}

NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* tensor, int64_t timeout,
                                              uint64_t expected) {
  if (const State state = Runtime::get().state(); state == State::child) {
    return refuse("nrt_tensor_check_output_completion", state);
  }
  return ungated("nrt_tensor_check_output_completion", "wait for an output", [&]() -> Result<void> {
    NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found,
                  find_tensor(Runtime::get(), tensor, "output_tensor"));
    return wait_for_output(*found, timeout, expected);
  });
}

NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* tensor) {
  if (const State state = Runtime::get().state(); state == State::child) {
    return refuse("nrt_tensor_reset_output_completion", state);
  }
  return ungated("nrt_tensor_reset_output_completion", "reset an output", [&]() -> Result<void> {
    NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found,
                  find_tensor(Runtime::get(), tensor, "output_tensor"));
    reset_output(*found);
    return {};
  });
}
