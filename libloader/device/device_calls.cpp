// SPDX-License-Identifier: MIT
#include "device_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

namespace neffld {
namespace {

constexpr std::uint64_t max_copy = 1ull << 30;

static_assert(static_cast<std::uint32_t>(MemCategory::code) == NEURON_MEM_CODE_DEVICE);
static_assert(static_cast<std::uint32_t>(MemCategory::constants) == NEURON_MEM_CONSTANTS_DEVICE);
static_assert(static_cast<std::uint32_t>(MemCategory::scratchpad) == NEURON_MEM_SCRATCHPAD_DEVICE);
static_assert(static_cast<std::uint32_t>(MemCategory::misc) == NEURON_MEM_MISC_DEVICE);
static_assert(static_cast<std::uint32_t>(MemCategory::scratchpad_not_shared) ==
              NEURON_MEM_SCRATCHPAD_NONSHARED_DEVICE);
static_assert(static_cast<std::uint32_t>(MemCategory::contiguous_scratchpad) ==
              NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE);
static_assert(static_cast<std::uint32_t>(MemCategory::dma_rings) == NEURON_MEM_DMA_RINGS_DEVICE);

/// "ENOMEM (12)", or the driver's own positive result.
std::string answer_name(int answer) {
  if (answer > 0) return fmt::format("the positive result {}", answer);
  const char* name = strerrorname_np(-answer);
  return fmt::format("{} ({})", name ? name : "an unknown errno", -answer);
}

tl::unexpected<Error> device_error(const char* call, int answer, std::string detail) {
  return fail(Status::failure, ErrorClass::device, {.path = call},
              fmt::format("the driver answered {}: {}", answer_name(answer), std::move(detail)));
}

/// Nothing was done and the same call may work later.
bool passes(int answer) {
  return answer == -EBUSY || answer == -EINTR || answer == -EAGAIN || answer == -ENOMEM;
}

/// Does something when its block ends, by an exception too.
template <class Action>
struct Finally {
  Action action;
  ~Finally() { action(); }
};
template <class Action>
Finally(Action) -> Finally<Action>;

std::uint64_t user_pointer(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

std::string report_size(std::uint64_t bytes) {
  constexpr std::array units = {"B", "KB", "MB", "GB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.3f}{}", value, units[unit]);
}

// Every command has its counter before the first call: freeing must work without host memory.
DeviceCalls::DeviceCalls(DeviceFile& file)
    : file_(&file),
      counts_{{NEURON_IOCTL_COMPATIBLE_VERSION, 0},
              {NEURON_IOCTL_DRIVER_INFO_GET, 0},
              {NEURON_IOCTL_MEM_ALLOC_V2MT64, 0},
              {NEURON_IOCTL_MEM_GET_EXTENDED_INFO, 0},
              {NEURON_IOCTL_MEM_FREE, 0},
              {NEURON_IOCTL_DUMP_MEM_CHUNKS, 0},
              {NEURON_IOCTL_MEM_BUF_COPY64, 0},
              {NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, 0},
              {NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, 0},
              {NEURON_IOCTL_SEMAPHORE_INCREMENT, 0},
              {NEURON_IOCTL_SEMAPHORE_READ, 0},
              {NEURON_IOCTL_SEMAPHORE_WRITE, 0},
              {NEURON_IOCTL_EVENT_GET, 0},
              {NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2, 0},
              {NEURON_IOCTL_DEVICE_INFO, 0},
              {NEURON_IOCTL_BAR_READ, 0},
              {NEURON_IOCTL_BAR_WRITE, 0},
              {NEURON_IOCTL_DMA_ENG_GET_STATE, 0},
              {NEURON_IOCTL_DMA_ENG_SET_STATE, 0}},
      batch_(std::make_unique<neuron_dma_queue_init_batch>()) {}

tl::unexpected<Error> DeviceCalls::failed(const char* call, int answer, std::string detail) const {
  if (std::string why = file_->refusal(); !why.empty()) {
    return fail(Status::failure, ErrorClass::unsupported, {}, std::move(why));
  }
  return device_error(call, answer, std::move(detail));
}

int DeviceCalls::call(std::uint32_t command, void* argument) {
  std::atomic_ref(counts_.at(command)).fetch_add(1, std::memory_order_relaxed);
  return file_->ioctl(command, argument);
}

Result<DriverFacts> DeviceCalls::driver_facts() {
  DriverFacts facts;
  neuron_compatible_version versions{};
  if (const int answer = call(NEURON_IOCTL_COMPATIBLE_VERSION, &versions)) {
    return failed("COMPATIBLE_VERSION", answer, "is this a Neuron device?");
  }
  facts.min_version = versions.min;
  facts.max_version = versions.max;
  neuron_driver_info info{};
  info.size = sizeof info;
  if (const int answer = call(NEURON_IOCTL_DRIVER_INFO_GET, &info)) {
    return failed("DRIVER_INFO_GET", answer, "the driver is too old, 2.24 is needed");
  }
  facts.features = info.feature_flags1;
  if (info.architecture < 2 || info.architecture > 4) {
    return fail(Status::failure, ErrorClass::unsupported, {.path = "DRIVER_INFO_GET"},
                fmt::format("device architecture is {}, expected 2 to 4", info.architecture));
  }
  facts.arch = static_cast<Arch>(info.architecture);
  return facts;
}

Result<DeviceMemory> DeviceCalls::allocate(const Request& request) {
  DeviceMemory memory;
  neuron_mem_alloc_v2mt64 alloc{};
  alloc.size = request.size;
  alloc.align = request.align;
  alloc.dram_channel = request.hbm;
  alloc.nc_id = request.core;
  alloc.mem_type = static_cast<std::uint32_t>(request.category);
  alloc.mem_handle_ptr = user_pointer(&memory.handle);
  const int answer = call(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc);
  if (answer != 0) {
    if (!file_->refusal().empty()) return failed("MEM_ALLOC_V2MT64", answer, {});
    const bool full = answer == -ENOMEM;
    return fail(
        full ? Status::resource : Status::failure, full ? ErrorClass::resource : ErrorClass::device,
        {.path = request.owner},
        fmt::format(
            "Failed to allocate {} (alignment: {}, usage: {}) on {}: the driver answered {}",
            report_size(request.size),
            request.align ? report_size(request.align) : std::string("none"),
            mem_usage_name(request.usage), place_name(request.core), answer_name(answer)));
  }
  neuron_mem_get_extended_info info{};
  info.mem_handle = memory.handle;
  info.version = 1;
  if (const int result = call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info)) {
    static_cast<void>(free(memory.handle));
    return failed("MEM_GET_EXTENDED_INFO", result, "Failed to get the phys address");
  }
  memory.pa = info.pa;
  memory.size = info.size;
  return memory;
}

std::string DeviceCalls::place_name(std::uint32_t core) const {
  const std::string& name = file_->traits().name;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const bool numbered = name.starts_with('/') && digits < name.size();
  return fmt::format("ND {}:NC {}", numbered ? name.substr(digits) : std::string("0"), core);
}

Result<std::vector<neuron_mem_chunk_info>> DeviceCalls::chunks(std::uint32_t hbm) {
  std::vector<neuron_mem_chunk_info> chunks;
  // The driver says how many there are; others may allocate between the two calls.
  for (int attempt = 0; attempt < 8; ++attempt) {
    neuron_dump_mem_chunks dump{};
    dump.hbm_index = hbm;
    dump.num_entries_in = static_cast<std::uint32_t>(chunks.size());
    dump.data_ptr = user_pointer(chunks.data());
    const int answer = call(NEURON_IOCTL_DUMP_MEM_CHUNKS, &dump);
    if (answer != 0 && answer != -EAGAIN) {
      return failed("DUMP_MEM_CHUNKS", answer, fmt::format("HBM {}", hbm));
    }
    chunks.resize(dump.num_entries_out);
    if (answer == 0) return chunks;
  }
  return failed("DUMP_MEM_CHUNKS", -EAGAIN, fmt::format("HBM {} keeps changing", hbm));
}

Result<void> DeviceCalls::free(std::uint64_t handle) {
  neuron_mem_free argument{handle};
  if (const int answer = call(NEURON_IOCTL_MEM_FREE, &argument)) {
    return failed("MEM_FREE", answer, fmt::format("handle {}", handle));
  }
  return {};
}

Result<void> DeviceCalls::give_back(std::uint64_t handle) {
  neuron_mem_free argument{handle};
  const int answer = call(NEURON_IOCTL_MEM_FREE, &argument);
  if (answer == 0) return {};
  if (passes(answer)) refused_.push_back(handle);
  return failed("MEM_FREE", answer, fmt::format("handle {}", handle));
}

void DeviceCalls::free_refused() noexcept {
  std::erase_if(refused_, [&](std::uint64_t handle) {
    neuron_mem_free argument{handle};
    return !passes(call(NEURON_IOCTL_MEM_FREE, &argument));
  });
}

Result<void> DeviceCalls::copy(std::uint64_t handle, std::uint64_t offset, std::uint8_t* host,
                               std::uint64_t size, bool to_device) {
  for (std::uint64_t done = 0; done < size;) {
    neuron_mem_buf_copy64 argument{};
    argument.mem_handle = handle;
    argument.buffer_ptr = user_pointer(host + done);
    argument.size = std::min(size - done, max_copy);
    argument.offset = offset + done;
    argument.copy_to_mem_handle = to_device;
    if (const int answer = call(NEURON_IOCTL_MEM_BUF_COPY64, &argument)) {
      return failed(
          "MEM_BUF_COPY64", answer,
          to_device ? "Copy from buffer to memory failed" : "Copy from memory  to buffer failed");
    }
    done += argument.size;
  }
  return {};
}

Result<void> DeviceCalls::copy_in(std::uint64_t handle, std::uint64_t offset, Bytes bytes) {
  // The driver only reads the buffer in this direction.
  return copy(handle, offset, const_cast<std::uint8_t*>(bytes.data()), bytes.size(), true);
}

Result<void> DeviceCalls::copy_out(std::uint64_t handle, std::uint64_t offset, MutableBytes bytes) {
  return copy(handle, offset, bytes.data(), bytes.size(), false);
}

Result<void> DeviceCalls::copy_descriptors(std::uint64_t handle, Bytes descriptors, bool tx,
                                           std::uint64_t offset) {
  neuron_dma_copy_descriptors64 argument{};
  argument.mem_handle = handle;
  argument.offset = offset;
  argument.buffer_ptr = user_pointer(descriptors.data());
  argument.num_descs = static_cast<std::uint32_t>(descriptors.size() / 16);
  argument.queue_type = tx ? NEURON_QUEUE_TX : NEURON_QUEUE_RX;
  if (const int answer = call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, &argument)) {
    return failed("DMA_COPY_DESCRIPTORS64", answer,
                  fmt::format("Failed to write {} descriptors to a ring", argument.num_descs));
  }
  return {};
}

Result<void> DeviceCalls::init_queues(std::span<const neuron_dma_queue_init> queues) {
  const auto batch = std::make_unique<neuron_dma_queue_init_batch>();
  const auto all = queues;
  while (!queues.empty()) {
    const std::size_t count = std::min<std::size_t>(queues.size(), NEURON_MAX_QUEUE_INIT_BATCH);
    batch->count = static_cast<std::uint32_t>(count);
    std::copy_n(queues.begin(), count, batch->entries);
    if (const int answer = call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch.get())) {
      // A batch stops at its first failure and leaves the entries before it initialised, and so are
      // those of the batches before. They lose their rings last: the error tells of the call above.
      const Finally drop{[&] { drop_rings(all.first(all.size() - queues.size() + count)); }};
      return failed("DMA_QUEUE_INIT_BATCH", answer,
                    fmt::format("{} queues from DMA engine {} queue {} on", count, queues[0].eng_id,
                                queues[0].qid));
    }
    queues = queues.subspan(count);
  }
  return {};
}

void DeviceCalls::drop_rings(std::span<const neuron_dma_queue_init> queues) noexcept {
  point_nowhere(queues);
}

Result<void> DeviceCalls::stop_queues(std::span<const neuron_dma_queue_init> queues) {
  if (const int answer = point_nowhere(queues)) {
    return failed("DMA_QUEUE_INIT_BATCH", answer,
                  fmt::format("{} queues from DMA engine {} queue {} on keep rings that are freed",
                              queues.size(), queues[0].eng_id, queues[0].qid));
  }
  return {};
}

int DeviceCalls::point_nowhere(std::span<const neuron_dma_queue_init> queues) noexcept {
  const std::scoped_lock lock(batch_in_use_);
  int first = 0;
  while (!queues.empty()) {
    const std::size_t count = std::min<std::size_t>(queues.size(), NEURON_MAX_QUEUE_INIT_BATCH);
    batch_->count = static_cast<std::uint32_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
      // The driver takes a queue of the smallest length without rings (spec 11 B.2 item 12).
      neuron_dma_queue_init& entry = batch_->entries[i];
      entry = {};
      entry.eng_id = queues[i].eng_id;
      entry.qid = queues[i].qid;
      entry.tx_desc_count = entry.rx_desc_count = NEURON_RING_MIN_DESCS;
    }
    const int answer = call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch_.get());
    if (first == 0) first = answer;
    queues = queues.subspan(count);
  }
  return first;
}

Result<void> DeviceCalls::increment_semaphore(std::uint32_t core, std::uint32_t index) {
  neuron_semaphore argument{core, index, 1};
  if (const int answer = call(NEURON_IOCTL_SEMAPHORE_INCREMENT, &argument)) {
    return failed("SEMAPHORE_INCREMENT", answer, fmt::format("core {} semaphore {}", core, index));
  }
  return {};
}

Result<std::uint32_t> DeviceCalls::read_semaphore(std::uint32_t core, std::uint32_t index) {
  neuron_semaphore argument{core, index, 0};
  if (const int answer = call(NEURON_IOCTL_SEMAPHORE_READ, &argument)) {
    return failed("SEMAPHORE_READ", answer, fmt::format("core {} semaphore {}", core, index));
  }
  return argument.value;
}

Result<void> DeviceCalls::write_semaphore(std::uint32_t core, std::uint32_t index,
                                          std::uint32_t value) {
  neuron_semaphore argument{core, index, value};
  if (const int answer = call(NEURON_IOCTL_SEMAPHORE_WRITE, &argument)) {
    return failed("SEMAPHORE_WRITE", answer, fmt::format("core {} semaphore {}", core, index));
  }
  return {};
}

Result<std::uint32_t> DeviceCalls::read_event(std::uint32_t core, std::uint32_t index) {
  neuron_event argument{core, index, 0};
  if (const int answer = call(NEURON_IOCTL_EVENT_GET, &argument)) {
    return failed("EVENT_GET", answer, fmt::format("core {} event {}", core, index));
  }
  return argument.value;
}

Result<std::uint64_t> DeviceCalls::init_notifications(std::uint32_t core, neuron_nq_type type,
                                                      std::uint32_t engine_index,
                                                      std::uint32_t bytes) {
  neuron_notifications_init_realloc_v2 argument{};
  argument.nq_dev_id = core;
  argument.nq_dev_type = NEURON_NQ_DEV_CORE;
  argument.nq_type = type;
  argument.engine_index = engine_index;
  argument.size = bytes;
  argument.on_host_memory = 1;
  argument.force_alloc_mem = 1;
  if (const int answer = call(NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2, &argument)) {
    return failed("NOTIFICATIONS_INIT_WITH_REALLOC_V2", answer,
                  fmt::format("notification queue {} of core {}", engine_index, core));
  }
  return argument.mmap_offset;
}

/// Asks where the register BAR is, once.
Result<void> DeviceCalls::register_bar() {
  if (register_bar_) return {};
  neuron_device_info info{};
  if (const int answer = call(NEURON_IOCTL_DEVICE_INFO, &info)) {
    return failed("DEVICE_INFO", answer, "where is the register BAR?");
  }
  register_bar_ = info.bar_address[0];
  return {};
}

Result<void> DeviceCalls::access_register(std::uint32_t command, std::uint64_t offset,
                                          std::uint32_t& value) {
  NEFFLD_TRY(register_bar());
  std::uint64_t address = *register_bar_ + offset;
  neuron_bar_rw argument{};
  argument.address_ptr = user_pointer(&address);
  argument.data_ptr = user_pointer(&value);
  argument.count = 1;
  if (const int answer = call(command, &argument)) {
    return failed(command == NEURON_IOCTL_BAR_READ ? "BAR_READ" : "BAR_WRITE", answer,
                  fmt::format("register 0x{:x}", offset));
  }
  return {};
}

Result<std::uint32_t> DeviceCalls::read_register(std::uint64_t offset) {
  std::uint32_t value = 0;
  NEFFLD_TRY(access_register(NEURON_IOCTL_BAR_READ, offset, value));
  return value;
}

Result<void> DeviceCalls::write_register(std::uint64_t offset, std::uint32_t value) {
  return access_register(NEURON_IOCTL_BAR_WRITE, offset, value);
}

Result<std::uint32_t> DeviceCalls::engine_state(std::uint32_t engine) {
  neuron_dma_eng_state state{};
  neuron_dma_eng_get_state argument{engine, user_pointer(&state)};
  if (const int answer = call(NEURON_IOCTL_DMA_ENG_GET_STATE, &argument)) {
    return failed("DMA_ENG_GET_STATE", answer, fmt::format("DMA engine {}", engine));
  }
  return state.tx_state;
}

Result<void> DeviceCalls::set_engine_state(std::uint32_t engine, neuron_dma_set_state state) {
  neuron_dma_eng_set_state argument{engine, state};
  if (const int answer = call(NEURON_IOCTL_DMA_ENG_SET_STATE, &argument)) {
    return failed("DMA_ENG_SET_STATE", answer, fmt::format("DMA engine {}", engine));
  }
  return {};
}

Result<void> AllocationList::release_last() {
  NEFFLD_TRY(guarded([&] { return calls_->free(live_.back().handle); }));
  live_.pop_back();
  return {};
}

Result<void> AllocationList::release(std::size_t keep) {
  Result<void> first;
  while (live_.size() > keep) {
    const std::uint64_t handle = live_.back().handle;
    live_.pop_back();
    auto result = guarded([&] { return calls_->give_back(handle); });
    if (!result && first) first = std::move(result);
  }
  return first;
}

}  // namespace neffld
