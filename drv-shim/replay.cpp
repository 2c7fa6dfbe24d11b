// SPDX-License-Identifier: MIT
// Sends the calls of a trace to a device. The trace is untrusted: sizes come from the command table
// and are bounded, and every byte the driver may touch lies in memory made for the call.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "capture.hpp"
#include "guarded_buffer.hpp"
#include "neuron_abi/ioctl.h"
#include "no_throw.hpp"
#include "trace_compare.hpp"
#include "trace_format.hpp"

namespace neffld {
namespace {

using namespace shim;

class Replay {
 public:
  Replay(DeviceFile& device, const CompareOptions& options)
      : device_(device), options_(options), capture_(false) {}
  ~Replay() {
    for (const auto& [address, length] : mapped_) device_.munmap(address, length);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  Result<CompareReport> run(TraceReader& trace) {
    while (options_.all || report_.differences.empty()) {
      NEFFLD_ASSIGN(auto event, trace.next());
      if (!event) break;
      if (event->info && event->info->key == "data") {
        contents_ = event->info->value == "kept";
        capture_.keep_data(contents_);  // bytes are then compared with bytes, not hashed
      }
      if (event->mapping) map(*event->mapping);
      // A call without a reply is the one the recorded machine did not survive.
      if (event->call && event->call->replied) NEFFLD_TRY(call(*event->call));
    }
    return std::move(report_);
  }

 private:
  Result<void> call(const TraceCall& recorded) {
    NEFFLD_ASSIGN(void* argument, make_argument(recorded));
    TraceCall made = capture_.before(recorded.number, recorded.command, argument);
    const int result = device_.ioctl(recorded.command, argument);
    capture_.after(made, argument, result);
    const std::size_t before = report_.differences.size();
    compare_calls(recorded, made, Compared::replies, contents_, report_);
    if (report_.differences.size() == before) return {};
    if (std::string why = device_.refusal(); result < 0 && !why.empty()) {
      report_.differences.back().second += " (" + why + ")";
    }
    return {};
  }

  Result<void*> make_argument(const TraceCall& recorded) {
    if (recorded.argument == PointerState::null) return nullptr;
    if (recorded.argument == PointerState::bad) {
      NEFFLD_ASSIGN(const std::uint64_t address, unmapped_.unmapped());
      return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    }
    const CommandInfo* info = find_command(recorded.command);
    // An unknown command gets zeros: null pointers, if it has any.
    const std::uint64_t bytes =
        info ? info->argument_bytes(recorded.sent) : NEURON_IOCTL_SIZE_OF(recorded.command);
    NEFFLD_ASSIGN(const MutableBytes argument, argument_.zeros(bytes));
    if (info == nullptr) return argument.data();
    std::copy_n(recorded.sent.begin(), std::min(recorded.sent.size(), argument.size()),
                argument.begin());
    for_each_field(*info, argument, [&](const CommandField& field, std::uint32_t at, int) {
      if (field.kind != FieldKind::pid || field_value(argument, at, 4) != own_pid) return;
      set_field(argument, at, 4, static_cast<std::uint32_t>(getpid()));
    });
    // Directions and lengths are read from the argument before its pointers are real.
    const std::vector<std::uint8_t> plain(argument.begin(), argument.end());
    for (std::size_t i = 0; i < info->pointers.size(); ++i) {
      NEFFLD_TRY(set_pointer(recorded, *info, i, plain, argument));
    }
    return argument.data();
  }

  Result<void> set_pointer(const TraceCall& recorded, const CommandInfo& info, std::size_t index,
                           Bytes plain, MutableBytes argument) {
    const PointerRule& rule = info.pointers[index];
    const std::uint64_t state = field_value(plain, rule.offset, 8);
    std::uint64_t address = 0;
    if (state == static_cast<std::uint64_t>(PointerState::good)) {
      NEFFLD_ASSIGN(address, make_payload(recorded, rule, index, plain));
      address -= rule.skip.of(plain);
    } else if (state != static_cast<std::uint64_t>(PointerState::null)) {
      NEFFLD_ASSIGN(address, unmapped_.unmapped());
    }
    set_field(argument, rule.offset, 8, address);
    return {};
  }

  /// Memory for one pointer; its address.
  Result<std::uint64_t> make_payload(const TraceCall& recorded, const PointerRule& rule,
                                     std::size_t index, Bytes plain) {
    const TracePayload* payload = nullptr;
    for (const TracePayload& candidate : recorded.payloads) {
      if (candidate.pointer == index && candidate.sent) payload = &candidate;
    }
    std::uint64_t room = std::min(rule.room.of(plain), max_call_payload_bytes);
    if (payload != nullptr) room = std::min(room, payload->length);
    if (index >= std::size(buffers_)) {
      return fail(Status::failure, ErrorClass::unsupported, {}, "a command has too many pointers");
    }
    NEFFLD_ASSIGN(const MutableBytes memory, buffers_[index].zeros(room));
    if (payload != nullptr && payload->has_bytes) {
      std::copy_n(payload->bytes.begin(), std::min<std::uint64_t>(room, payload->bytes.size()),
                  memory.begin());
    }
    return reinterpret_cast<std::uintptr_t>(memory.data());
  }

  void map(const TraceMapping& recorded) {
    if (!recorded.mapped) return;  // which one is not recorded; all go at the end
    TraceMapping made = recorded;
    auto address = device_.mmap(recorded.offset, recorded.length, recorded.writable);
    made.succeeded = address.has_value();
    if (address) mapped_.emplace_back(*address, recorded.length);
    compare_mappings(recorded, made, report_.calls, report_);
  }

  DeviceFile& device_;
  CompareOptions options_;
  Capture capture_;
  CompareReport report_;
  GuardedBuffer argument_, unmapped_, buffers_[2];
  std::vector<std::pair<void*, std::uint64_t>> mapped_;
  bool contents_ = false;  ///< the trace holds what buffer copies carried
};

}  // namespace

Result<CompareReport> replay_trace(TraceReader& trace, DeviceFile& device,
                                   const CompareOptions& options) {
  return no_throw([&] { return Replay(device, options).run(trace); });
}

}  // namespace neffld
