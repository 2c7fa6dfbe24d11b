// SPDX-License-Identifier: MIT
// The hardware gate (decision 24): what reaches a device that is not the simulated one.
//
// The argument is copied before it is checked and the copy is what the driver gets, so that no
// other thread can change a call between the check and the driver.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "caller_memory.hpp"
#include "command_table.hpp"
#include "gate_rules.hpp"
#include "neffld/back_ends.hpp"
#include "neffld/forwarding_file.hpp"
#include "neuron_abi/ioctl.h"
#include "no_throw.hpp"
#include "trace_text.hpp"

namespace neffld {
namespace {

using namespace shim;

/// What the checks need to know of an architecture (spec 06 section 7.1). DMA engines from
/// `user_engines` on are the driver's own: rings of ours there crash its copies (11 B.4).
struct Shape {
  std::uint32_t architecture, cores, engines, user_engines;
};
constexpr Shape shapes[] = {{2, 2, 34, 32}, {3, 8, 132, 128}, {4, 8, 132, 128}};
constexpr std::uint32_t engines_per_core = 16;
constexpr std::uint32_t first_reserved_queue = 14;  // 14 fetches instructions, 15 is collectives'

/// An allocation made through this gate.
struct Chunk {
  std::uint64_t size = 0;
  std::optional<std::uint64_t> pa;
  bool spans = false;  ///< type 19: one handle may address all of the scratchpad
};
using Chunks = std::map<std::uint64_t, Chunk>;

class Gate final : public ForwardingFile {
 public:
  Gate(std::unique_ptr<DeviceFile> inner, const GateOptions& options, const Shape& shape,
       std::uint32_t index)
      : ForwardingFile(std::move(inner)),
        options_(options),
        shape_(shape),
        index_(index),
        process_(getpid()),
        argument_(max_argument_bytes) {}

  ~Gate() override {
    if (marked_ == 0 || getpid() != process_) return;
    neuron_crwl_nc_map_ext0 map{};
    map.bitmap[0] = marked_;
    static_cast<void>(inner_->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, &map));
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const std::lock_guard lock(mutex_);
    refusals_.erase(std::this_thread::get_id());
    command_ = command;
    try {
      return checked_call(reinterpret_cast<std::uintptr_t>(argument));
    } catch (const std::bad_alloc&) {
      return -ENOMEM;  // before the device was reached: nothing allocates after that
    }
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    const std::lock_guard lock(mutex_);
    // For a privileged process the driver maps anything else raw, at an undefined place (11 B.1).
    for (const auto& [handle, chunk] : chunks_) {
      if (chunk.pa == offset && chunk.size == length) {
        return inner_->mmap(offset, length, writable);
      }
    }
    return unsupported({.member = traits().name},
                       fmt::format("mapping {} bytes at {:#x} is refused: it is no allocation of "
                                   "this program whose address it asked for",
                                   length, offset));
  }

  std::string refusal() const override {
    const std::lock_guard lock(mutex_);
    const auto found = refusals_.find(std::this_thread::get_id());
    return found == refusals_.end() ? std::string() : found->second;
  }

 private:
  int refuse(int error, std::string why) {
    refusals_[std::this_thread::get_id()] = fmt::format("{} is refused on {}: {}",
                                                        command_name(command_), traits().name, why);
    return error;
  }

  int checked_call(std::uint64_t address) {
    if (getpid() != process_) {
      return refuse(-EACCES, "this process did not open the device; the driver would crash");
    }
    const GateRule* rule = find_gate_rule(command_);
    if (rule == nullptr) return refuse(-EPERM, "the call is not among those known to be harmless");
    if (rule->verdict == Verdict::never) return refuse(-EPERM, fmt::format("it {}", rule->why));
    if (rule->verdict == Verdict::experimental && !options_.experimental) {
      return refuse(-EPERM, fmt::format("it {}; --experimental allows it", rule->why));
    }
    info_ = find_command(command_);
    if (info_ == nullptr) return refuse(-EPERM, "its argument is not known");
    if (const int error = read_argument(address)) return error;
    if (const int error = check(rule->check)) return error;
    return make_call(rule->check, address);
  }

  /// Into argument_, with the records behind it.
  int read_argument(std::uint64_t address) {
    bytes_ = info_->bytes;
    if (read_caller(address, part()) < bytes_) return refuse(-EFAULT, "its argument is not there");
    const std::uint64_t whole = info_->argument_bytes(part());
    const auto tail = MutableBytes(argument_).subspan(bytes_, whole - bytes_);
    if (read_caller(address + bytes_, tail) < tail.size()) {
      return refuse(-EFAULT, "its argument is not there");
    }
    bytes_ = whole;
    return 0;
  }

  MutableBytes part() { return MutableBytes(argument_).first(bytes_); }

  /// A field of the copied argument by name; 0 if this form of the command has none.
  std::uint64_t get(std::string_view name) {
    for (const CommandField& field : info_->fields) {
      if (field.name == name) return field_value(part(), field.offset, field.bytes);
    }
    return 0;
  }

  int make_call(Check check, std::uint64_t address) {
    Chunks spare;
    spare.emplace(0, Chunk{round_up(get("size")), std::nullopt,
                           get("mem_type") == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE});
    auto node = spare.extract(spare.begin());
    const std::uint64_t handle = get("mem_handle");
    const int result = inner_->ioctl(command_, argument_.data());
    static_cast<void>(write_caller(address, part()));
    if (result != 0) return result;
    if (check == Check::allocate) {
      std::uint8_t minted[8] = {};
      if (read_caller(get("mem_handle_ptr"), minted) == sizeof minted) {
        node.key() = field_value(minted, 0, 8);
        chunks_.insert(std::move(node));
      }
    } else if (check == Check::free_handle) {
      chunks_.erase(handle);
    } else if (command_ == NEURON_IOCTL_MEM_GET_EXTENDED_INFO) {
      if (const auto found = chunks_.find(handle); found != chunks_.end()) {
        found->second.pa = get("pa");
      }
    }
    return result;
  }

  static std::uint64_t round_up(std::uint64_t size) {
    constexpr std::uint64_t page = NEURON_PAGE_SIZE;
    return size > ~std::uint64_t{0} - page ? size : (size + page - 1) / page * page;
  }

  int check(Check kind) {
    switch (kind) {
      case Check::none:
        return 0;
      case Check::allocate:
        return check_allocate();
      case Check::free_handle:
        return check_range(get("mem_handle"), 0, 0);
      case Check::buffer_copy:
      case Check::fill:
        return check_range(get("mem_handle"), get("offset"), get("size"));
      case Check::chunk_copy: {
        const int error = check_range(get("src_mem_handle"), get("src_offset"), get("size"));
        return error ? error : check_range(get("dst_mem_handle"), get("dst_offset"), get("size"));
      }
      case Check::descriptors:
        return check_range(get("mem_handle"), get("offset"), get("num_descs") * 16);
      case Check::neighbour:
        return check_neighbour();
      case Check::engine:
        return check_engine(false);
      case Check::engine_queue:
        return check_engine(true);
      case Check::core_register:
        return check_register();
      case Check::queue_init:
        return check_queue(part());
      case Check::queue_batch:
        return check_batch();
      case Check::core_map:
        return check_core_map();
      case Check::core:
        return mark(get("nc_id"));
    }
    return refuse(-EPERM, "the call has no check");
  }

  int check_allocate() {
    if (get("host_memory") != 0 && get("mem_type") == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE) {
      return refuse(-EINVAL, "freeing host memory of type 19 crashes the driver");
    }
    return mark(get("nc_id"));
  }

  int check_range(std::uint64_t handle, std::uint64_t offset, std::uint64_t size) {
    const auto found = chunks_.find(handle);
    if (found == chunks_.end()) {
      return refuse(-EINVAL, fmt::format("handle {} was not allocated by this program", handle));
    }
    const Chunk& chunk = found->second;
    const std::uint64_t room = chunk.spans ? ~std::uint64_t{0} : chunk.size;
    if (offset > room || size > room - offset) {
      return refuse(-EINVAL, fmt::format("{} bytes at {:#x} leave the {} bytes of handle {}", size,
                                         offset, chunk.size, handle));
    }
    return 0;
  }

  int check_neighbour() {
    // The driver cuts the sum to 8 bits and crashes on 64 and up (11 B.1).
    const std::uint64_t index = (index_ + get("nd_index")) & 0xFF;
    if (index < NEURON_MAX_DEVICES) return 0;
    return refuse(-EINVAL, fmt::format("device {} crashes the driver, expected below {}", index,
                                       NEURON_MAX_DEVICES));
  }

  int check_engine(bool queue) {
    if (get("eng_id") >= shape_.engines || (queue && get("qid") >= NEURON_MAX_DMA_QUEUES)) {
      return refuse(-EINVAL, fmt::format("DMA engine {} queue {} does not exist; asking for it "
                                         "crashes the driver",
                                         get("eng_id"), get("qid")));
    }
    return 0;
  }

  int check_register() {
    const std::uint64_t index = std::max(get("semaphore_index"), get("event_index"));
    if (get("nc_id") >= shape_.cores || index >= NEURON_EVENT_COUNT) {
      return refuse(-EINVAL, fmt::format("core {} index {} does not exist; asking for it may crash "
                                         "the driver",
                                         get("nc_id"), index));
    }
    return 0;
  }

  int check_batch() {
    const std::uint32_t count = info_->records(part());
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto entry =
          part().subspan(info_->repeat.offset + i * info_->repeat.stride, info_->repeat.stride);
      if (const int error = check_queue(entry)) return error;
    }
    return 0;
  }

  int check_queue(Bytes entry) {
    neuron_dma_queue_init queue{};
    std::copy_n(entry.begin(), sizeof queue, reinterpret_cast<std::uint8_t*>(&queue));
    if (queue.eng_id >= shape_.user_engines || queue.qid >= first_reserved_queue) {
      return refuse(-EINVAL, fmt::format("DMA engine {} queue {} belongs to the driver or to "
                                         "collectives, or does not exist",
                                         queue.eng_id, queue.qid));
    }
    if (queue.rxc_handle != 0) return refuse(-EINVAL, "completion rings are not supported");
    // Taking the rings away is what the driver was measured to accept (spec 11 B.2 item 12).
    if (queue.tx_handle == 0 && queue.rx_handle == 0 &&
        queue.tx_desc_count == NEURON_RING_MIN_DESCS &&
        queue.rx_desc_count == NEURON_RING_MIN_DESCS) {
      return mark(queue.eng_id / engines_per_core);
    }
    const std::pair<std::uint64_t, std::uint32_t> rings[] = {
        {queue.tx_handle, queue.tx_desc_count}, {queue.rx_handle, queue.rx_desc_count}};
    for (const auto& [handle, count] : rings) {
      // The driver takes a missing ring and never compares the length with the memory behind it.
      if (const int error = check_range(handle, 0, std::uint64_t{count} * 16)) return error;
    }
    return mark(queue.eng_id / engines_per_core);
  }

  int check_core_map() {
    const std::uint64_t map = get("nc_map");
    if (map == 0 || map >> shape_.cores != 0) {
      return refuse(-EINVAL,
                    fmt::format("core map {:#x} names no core or cores that do not exist", map));
    }
    for (std::uint32_t core = 0; core < shape_.cores; ++core) {
      if (!(map >> core & 1)) continue;
      if (const int error = mark(core)) return error;
    }
    return 0;
  }

  /// Makes a core this process's own, once.
  int mark(std::uint64_t core) {
    if (core >= shape_.cores) {
      return refuse(-EINVAL,
                    fmt::format("core {} does not exist, the device has {}", core, shape_.cores));
    }
    if (marked_ >> core & 1) return 0;
    neuron_crwl_nc_map_ext0 map{};
    map.nc_count = 1;
    map.start_nc_index = map.end_nc_index = static_cast<std::uint32_t>(core);
    const int result = inner_->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, &map);
    if (result == 0) {
      marked_ |= std::uint64_t{1} << core;
      return 0;
    }
    if (result != -EBUSY) {
      return refuse(
          -EPERM, fmt::format("marking core {} as used failed with {}", core, result_name(result)));
    }
    return refuse(-EBUSY, fmt::format("core {} is in use {}; end that process or take another core "
                                      "(--core)",
                                      core, users()));
  }

  /// Who else is on the device. The driver tells who is attached, not who marked which core.
  std::string users() {
    struct {
      neuron_get_apps_info head;
      neuron_app_info apps[NEURON_MAX_ATTACHED_PROCESSES];
    } answer{};
    answer.head.capacity = NEURON_MAX_ATTACHED_PROCESSES;
    std::string text;
    if (inner_->ioctl(NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, &answer) == 0) {
      const auto count = std::min(answer.head.size, NEURON_MAX_ATTACHED_PROCESSES);
      for (std::uint32_t i = 0; i < count; ++i) {
        if (answer.apps[i].pid == process_ || answer.apps[i].pid == 0) continue;
        text += fmt::format("{}pid {}", text.empty() ? "" : ", ", answer.apps[i].pid);
      }
    }
    return text.empty() ? "by a process the driver does not tell" : "(attached: " + text + ")";
  }

  GateOptions options_;
  Shape shape_;
  std::uint32_t index_;  ///< of the device on its host
  pid_t process_;
  mutable std::mutex mutex_;
  std::map<std::thread::id, std::string> refusals_;  ///< of each thread's last call
  Chunks chunks_;
  std::uint64_t marked_ = 0;  ///< cores
  std::uint32_t command_ = 0;
  const CommandInfo* info_ = nullptr;
  std::vector<std::uint8_t> argument_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<DeviceFile>> gate_hardware(std::unique_ptr<DeviceFile> device,
                                                  const GateOptions& options) {
  return no_throw([&]() -> Result<std::unique_ptr<DeviceFile>> {
    static_cast<void>(all_commands());  // built here, where it may throw
    neuron_device_basic_info basic{};
    neuron_host_device_id id{};
    int answer = device->ioctl(NEURON_IOCTL_DEVICE_BASIC_INFO, &basic);
    if (answer == 0) answer = device->ioctl(NEURON_IOCTL_HOST_DEVICE_ID, &id);
    if (answer != 0) {
      return fail(Status::failure, ErrorClass::device, {.member = device->traits().name},
                  fmt::format("the driver answered {} to the question which device this is",
                              result_name(answer)));
    }
    for (const Shape& shape : shapes) {
      if (shape.architecture != basic.architecture) continue;
      return std::make_unique<Gate>(std::move(device), options, shape, id.host_device_id);
    }
    return unsupported({.member = device->traits().name},
                       fmt::format("has architecture {}, expected 2 to 4", basic.architecture));
  });
}

}  // namespace neffld
