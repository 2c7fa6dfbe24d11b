// SPDX-License-Identifier: MIT
#include "sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>

#include "neuron_abi/ioctl.h"
#include "rig.hpp"

namespace neffld::test {
namespace {

constexpr std::size_t most_failures = 5;  // told of one sweep
constexpr std::uint64_t verify_every = 16;
constexpr std::uint64_t no_failure = ~std::uint64_t{0};  // no load allocates so often

enum class Effect : std::uint8_t { refuses, copies_half, resets, vanishes };

struct Kind {
  const char* name;
  Effect effect;
  int answer;
  const char* said;  ///< how the sentence calls the answer
};

// A device answers a positive number of bytes that it did not copy (spec 06 section 2). Nothing is
// tried again: of the calls of a load none waits, so that no signal can interrupt one, and what a
// driver did before an EINTR that it should not give is unknown.
constexpr std::array kinds = {
    Kind{"ENOMEM", Effect::refuses, -ENOMEM, "ENOMEM (12)"},
    Kind{"EINVAL", Effect::refuses, -EINVAL, "EINVAL (22)"},
    Kind{"EBUSY", Effect::refuses, -EBUSY, "EBUSY (16)"},
    Kind{"EFAULT", Effect::refuses, -EFAULT, "EFAULT (14)"},
    Kind{"EINTR", Effect::refuses, -EINTR, "EINTR (4)"},
    Kind{"short copy", Effect::copies_half, 64, "the positive result"},
    Kind{"reset by another process", Effect::resets, 0, ""},
    Kind{"device gone", Effect::vanishes, -ENODEV, "ENODEV (19)"},
};

/// How a sentence calls what was being done.
const char* name_of(std::uint32_t command) {
  switch (command) {
    case NEURON_IOCTL_MEM_ALLOC_V2MT64:
      return "Failed to allocate";
    case NEURON_IOCTL_MEM_GET_EXTENDED_INFO:
      return "MEM_GET_EXTENDED_INFO";
    case NEURON_IOCTL_MEM_FREE:
      return "MEM_FREE";
    case NEURON_IOCTL_MEM_BUF_COPY64:
      return "MEM_BUF_COPY64";
    case NEURON_IOCTL_DMA_COPY_DESCRIPTORS64:
      return "DMA_COPY_DESCRIPTORS64";
    case NEURON_IOCTL_DMA_QUEUE_INIT_BATCH:
      return "DMA_QUEUE_INIT_BATCH";
    default:
      return "no call of a load";
  }
}

std::uint64_t stride_of(std::uint64_t points, std::uint64_t most) {
  return most == 0 ? 1 : std::max<std::uint64_t>(1, points / most) | 1;
}

/// What is wrong, in words, or nothing.
using Complaint = std::optional<std::string>;

Complaint change_of(const HostMemory& before) {
  const HostMemory now = host_memory();
  if (now == before) return {};
  return fmt::format("{} blocks and {} bytes of mappings of host memory, {} and {} before",
                     now.blocks, now.mapped, before.blocks, before.mapped);
}

class Sweep {
 public:
  explicit Sweep(const ParsedModel& model) : model_(model), rig_(model.manifest.arch) {}

  SweepResult run(std::uint64_t most) {
    if (!learn()) return std::move(result_);
    const std::uint64_t stride = stride_of(commands_.size(), most);
    for (std::uint64_t call = 1; call <= commands_.size(); call += stride) {
      for (const Kind& kind : kinds) {
        tell(call, kind.name, strike(call, kind));
        ++result_.faults;
        if (result_.failures.size() >= most_failures) return std::move(result_);
      }
      tell(call, "the load behind it", load_well());
    }
    return std::move(result_);
  }

 private:
  void tell(std::uint64_t call, const char* what, Complaint complaint) {
    if (!complaint) return;
    result_.failures.push_back(
        fmt::format("call {} of {}, {}: {}", call, commands_.size(), what, *complaint));
  }

  /// The calls and the layout of a load without faults, and what the process then holds.
  bool learn() {
    rig_.watch(true);
    rig_.prepare(model_);
    auto loaded = rig_.load(model_);
    rig_.watch(false);
    if (!loaded) {
      result_.failures.push_back(to_sentence(loaded.error()));
      return false;
    }
    commands_ = rig_.commands();
    layout_ = layout_of(**loaded);
    result_.points = commands_.size();
    copies_.assign(commands_.size(), 0);
    for (std::size_t i = 0, copies = 0; i < commands_.size(); ++i) {
      copies += commands_[i] == NEURON_IOCTL_MEM_BUF_COPY64;
      copies_[i] = copies;
    }
    static_cast<void>(rig_.unload(**loaded));
    // What a session makes when it needs it first is not a leak.
    for (const Kind& kind : kinds) tell(0, kind.name, strike(1, kind));
    tell(0, "a second load", load_well());
    memory_ = host_memory();
    return result_.failures.empty();
  }

  Fault fault_of(std::uint64_t call, const Kind& kind) const {
    Fault fault{.nth = call, .command = {}, .answer = kind.answer};
    switch (kind.effect) {
      case Effect::refuses:
        break;
      case Effect::copies_half:
        if (commands_[call - 1] != NEURON_IOCTL_MEM_BUF_COPY64) break;
        fault.kind = Fault::Kind::short_copy;
        fault.nth = copies_[call - 1];
        break;
      case Effect::resets:
        fault.kind = Fault::Kind::nothing;
        break;
      case Effect::vanishes:
        fault.kind = Fault::Kind::gone;
        break;
    }
    return fault;
  }

  Complaint strike(std::uint64_t call, const Kind& kind) {
    rig_.on_strike(kind.effect == Effect::resets);
    rig_.fail(fault_of(call, kind));
    rig_.prepare(model_);
    auto loaded = rig_.load(model_);
    const std::uint32_t struck = rig_.struck();
    if (kind.effect == Effect::vanishes) rig_.close();
    rig_.fail_nothing();
    if (struck != commands_[call - 1]) {
      return fmt::format("command {:#x} was struck instead of {:#x}", struck, commands_[call - 1]);
    }
    if (kind.effect == Effect::resets) {
      if (!loaded) return "the load failed: " + to_sentence(loaded.error());
      return judge_loaded(**loaded, true);
    }
    if (loaded) return "the load succeeded";
    Complaint complaint = judge(loaded.error(), struck, kind);
    if (std::string held = rig_.held(); !complaint && !held.empty()) complaint = std::move(held);
    if (kind.effect == Effect::vanishes) rig_.open();
    return complaint;
  }

  static Complaint judge(const Error& error, std::uint32_t command, const Kind& kind) {
    const std::string sentence = to_sentence(error);
    if (!says_once(sentence, "the driver answered") || !says_once(sentence, kind.said) ||
        !says_once(sentence, name_of(command))) {
      return "does not say once what happened: " + sentence;
    }
    const bool full = command == NEURON_IOCTL_MEM_ALLOC_V2MT64 && kind.answer == -ENOMEM;
    if (error.status != (full ? Status::resource : Status::failure) ||
        error.error_class != (full ? ErrorClass::resource : ErrorClass::device)) {
      return "wrong status: " + sentence;
    }
    return {};
  }

  /// A model that should be like the first one; it goes.
  Complaint judge_loaded(LoadedModel& model, bool verify) {
    Complaint complaint;
    if (layout_of(model) != layout_) complaint = "other addresses than the first load";
    if (!complaint && !model.queues_initialised) complaint = "the cores are not free";
    if (!complaint && verify) {
      const auto verified = rig_.session().verify(model);
      if (!verified) complaint = to_sentence(verified.error());
    }
    const auto unloaded = rig_.unload(model);
    if (!complaint && !unloaded) complaint = to_sentence(unloaded.error());
    if (std::string held = rig_.held(); !complaint && !held.empty()) complaint = std::move(held);
    return complaint;
  }

  Complaint load_well() {
    rig_.prepare(model_);
    auto loaded = rig_.load(model_);
    if (!loaded) return to_sentence(loaded.error());
    Complaint complaint = judge_loaded(**loaded, ++loads_ % verify_every == 0);
    if (!complaint && memory_) complaint = change_of(*memory_);
    return complaint;
  }

  const ParsedModel& model_;
  Rig rig_;
  SweepResult result_;
  std::vector<std::uint32_t> commands_;
  std::vector<std::uint64_t> copies_;  ///< buffer copies up to each call, itself included
  Layout layout_;
  std::optional<HostMemory> memory_;  ///< what the process holds between loads
  std::uint64_t loads_ = 0;
};

/// A load that begins with the file.
class HostSweep {
 public:
  explicit HostSweep(Bytes file) : file_(file) {}

  SweepResult run(std::uint64_t most) {
    auto first = parse_model(file_, Arch::any);
    if (!first) return {0, 0, {to_sentence(first.error())}};
    first_ = std::move(*first);
    Rig rig(first_.manifest.arch);
    rig_ = &rig;
    // What a process and a session make when they need it first is not a leak. The report about a
    // full device is kept, too.
    tell(0, attempt(no_failure));
    rig.fail({.nth = 1, .command = NEURON_IOCTL_MEM_ALLOC_V2MT64, .answer = -ENOMEM});
    static_cast<void>(attempt(no_failure));
    rig.fail_nothing();
    tell(0, attempt(no_failure));
    memory_ = host_memory();
    tell(0, attempt(no_failure));
    check_memory(0);
    const std::uint64_t stride = stride_of(result_.points, most);
    std::uint64_t in_vain = 0;
    for (std::uint64_t nth = 1; nth <= result_.points; nth += stride) {
      succeeded_ = false;
      tell(nth, attempt(nth));
      in_vain += succeeded_;
      tell(nth, attempt(no_failure));
      check_memory(nth);
      ++result_.faults;
      if (result_.failures.size() >= most_failures) break;
    }
    // Sorting does without its buffer, for one. Of few faults chance may hit more of these.
    if (in_vain * 5 > result_.faults) tell(0, fmt::format("{} failures had no effect", in_vain));
    return std::move(result_);
  }

 private:
  void tell(std::uint64_t nth, const Complaint& complaint) {
    if (!complaint || result_.failures.size() >= most_failures) return;
    result_.failures.push_back(
        fmt::format("allocation {} of {}: {}", nth, result_.points, *complaint));
  }

  void check_memory(std::uint64_t nth) {
    tell(nth, change_of(memory_));
    memory_ = host_memory();  // what is told takes memory, too
  }

  Result<LoadedModel*> parse_and_load() {
    NEFFLD_ASSIGN(ParsedModel parsed, parse_model(file_, Arch::any));
    return rig_->load(std::move(parsed));
  }

  /// A load in which the nth allocation fails, if there are so many.
  Complaint attempt(std::uint64_t nth) {
    Result<LoadedModel*> loaded = nullptr;
    bool struck = false, in_device = false;
    rig_->prepare(first_);
    try {
      const FailingMemory failing(nth);
      loaded = parse_and_load();
      struck = failing.struck();
      in_device = failing.struck_in_device();
      if (!struck) result_.points = failing.seen();
    } catch (...) {
      return "an exception came out";
    }
    if (loaded) {
      succeeded_ = true;
      const auto unloaded = rig_->unload(**loaded);
      if (!unloaded) return to_sentence(unloaded.error());
    } else if (!struck) {
      return to_sentence(loaded.error());
    } else if (Complaint complaint = judge(loaded.error(), in_device)) {
      return complaint;
    }
    std::string held = rig_->held();
    return held.empty() ? Complaint() : Complaint(std::move(held));
  }

  /// The simulated device without host memory answers what a full driver answers.
  static Complaint judge(const Error& error, bool in_device) {
    const std::string sentence = to_sentence(error);
    const bool resource =
        error.status == Status::resource || error.status == Status::fail_host_mem_alloc;
    const bool refused =
        in_device && error.status == Status::failure && says_once(sentence, "ENOMEM");
    if (resource || refused) return {};
    return "wrong status: " + sentence;
  }

  Bytes file_;
  ParsedModel first_;
  Rig* rig_ = nullptr;
  HostMemory memory_;
  bool succeeded_ = false;
  SweepResult result_;
};

}  // namespace

SweepResult sweep_device(const ParsedModel& model, std::uint64_t most) {
  return Sweep(model).run(most);
}

std::vector<std::string> fault_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

SweepResult sweep_host(Bytes file, std::uint64_t most) {
  return HostSweep(file).run(most);
}

}  // namespace neffld::test
