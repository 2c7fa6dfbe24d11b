// SPDX-License-Identifier: MIT
#include "execution_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "harvest.hpp"
#include "isa/opcodes.hpp"
#include "isa/record.hpp"
#include "neuron_abi/instruction.h"

namespace neffld {
namespace {

using RecordBytes = std::array<std::uint8_t, isa::slot_bytes>;

std::uint32_t engine_field(const neuron_notification& record) {
  return record.subtype & 0xFFu;
}
std::uint32_t byte_field(const neuron_notification& record) {
  return record.subtype >> 8;
}

Status status_of(std::uint16_t error_class) {
  switch (error_class) {
    case NEURON_EXEC_NUMERICAL:
      return Status::exec_completed_with_num_err;
    case NEURON_EXEC_STALLED:
    case NEURON_EXEC_ENDLESS:
      return Status::timeout;
    case NEURON_EXEC_RECORD_REFUSED:
    case NEURON_EXEC_NO_COMPUTE:
      return Status::invalid;
    case NEURON_EXEC_DMA_ABORT:
      return Status::exec_hw_err_dma_abort;
    case NEURON_EXEC_OUT_OF_MEMORY:
      return Status::resource;
    default:
      return Status::exec_completed_with_err;
  }
}

ErrorClass class_of(Status status) {
  if (status == Status::invalid) return ErrorClass::unsupported;
  return status == Status::resource ? ErrorClass::resource : ErrorClass::device;
}

/// How grave an error record is. A stall is often only the consequence of something else.
int gravity(const ReportedError& error) {
  if (is_stall(error)) return 0;
  switch (status_of(error.record.sub_id)) {
    case Status::exec_completed_with_num_err:
      return 1;
    case Status::exec_completed_with_err:
      return 2;
    default:
      return 3;
  }
}

/// A record of an engine's image and what it is.
class Spot {
 public:
  Spot(const ExecutionScene& scene, const ReportedError& error)
      : scene_(scene),
        kbin_(error.kbin),
        engine_(static_cast<Engine>(
            std::min<std::uint32_t>(engine_field(error.record), engine_count - 1))),
        image_slot_(neuron_notification_pc(&error.record)) {
    const auto& stream = planned().streams[static_cast<std::size_t>(engine_)];
    RecordBytes bytes{};
    if (image_slot_ < stream.slots_out &&
        scene.calls.copy_out(scene.by_request[stream.request].handle,
                             std::uint64_t{image_slot_} * isa::slot_bytes, bytes)) {
      bytes_ = bytes;
    }
    if (const IpMap* map = scene.model.ledger.ip_map(kbin_, engine_)) {
      const auto ip = neff_ip(*map, std::uint64_t{image_slot_} * isa::slot_bytes);
      if (ip && *ip != 0) source_ = *ip - 1;  // instructions of the NEFF count from 1
    }
  }

  /// "PE", or "sg01 PE" if there are several subgraphs.
  std::string engine_text() const {
    const std::string_view label = engine_label(engine_);
    return scene_.model.parsed.kbins.size() == 1 ? std::string(label)
                                                 : fmt::format("{} {}", kbin().name, label);
  }
  /// "slot 12 (image slot 14, MATMUL)"; of what the loader added: "image slot 0 (the start gate)".
  std::string place_text() const {
    if (source_)
      return fmt::format("slot {} (image slot {}{})", *source_, image_slot_, opcode_text());
    if (image_slot_ == 0) return "image slot 0 (the start gate)";
    return fmt::format("image slot {}{}", image_slot_,
                       bytes_ ? fmt::format(" ({})", opcode_text().substr(2)) : std::string());
  }
  /// "semaphore 4 >= 32, is 16"; empty if the record waits for nothing known.
  std::string waits_text() const {
    if (!bytes_) return {};
    const std::string first = wait_text(neuron_wait_of(bytes_->data(), 0));
    const std::string second = wait_text(neuron_wait_of(bytes_->data(), 1));
    return first.empty() || second.empty() ? first + second : first + " and " + second;
  }
  std::optional<std::uint8_t> byte(std::size_t offset) const {
    if (!bytes_ || offset >= bytes_->size()) return std::nullopt;
    return (*bytes_)[offset];
  }
  Where where() const { return {.member = kbin().engine(engine_).bin_member}; }

 private:
  const Kbin& kbin() const { return scene_.model.parsed.kbins[kbin_]; }
  const KbinPlan& planned() const { return scene_.model.plan.kbins[kbin_]; }

  std::string opcode_text() const {
    if (!bytes_) return {};
    const std::uint8_t opcode = (*bytes_)[isa::at_opcode];
    const std::string_view name = isa::opcode_of(scene_.model.plan.arch, opcode).name;
    return name.empty() ? fmt::format(", opcode 0x{:02x}", opcode) : fmt::format(", {}", name);
  }

  /// A wait that does not hold, or nothing.
  std::string wait_text(const neuron_sync& wait) const {
    if (wait.mode == 0 || !neuron_wait_is_known(wait.mode)) return {};
    const auto value = neuron_wait_names_event(wait.mode)
                           ? scene_.calls.read_event(planned().core, wait.index)
                           : scene_.calls.read_semaphore(planned().core, wait.index);
    if (!value || neuron_wait_holds(wait.mode, *value, wait.value)) return {};
    return isa::wait_text(wait, *value);
  }

  const ExecutionScene& scene_;
  std::uint32_t kbin_;
  Engine engine_;
  std::uint32_t image_slot_;
  std::optional<RecordBytes> bytes_;
  std::optional<std::uint64_t> source_;
};

std::string stall_text(const Spot& spot) {
  const std::string waits = spot.waits_text();
  return fmt::format("{} waits at {}{}{}", spot.engine_text(), spot.place_text(),
                     waits.empty() ? "" : " for ", waits);
}

std::string refused_text(const Spot& spot, std::uint32_t offset) {
  const auto value = spot.byte(offset);
  if (offset == 0 || !value) {
    return fmt::format("{} {}: the record is illegal or not modelled", spot.engine_text(),
                       spot.place_text());
  }
  return fmt::format("{} {}: byte 0x{:02x} is 0x{:02x}, which is illegal or not modelled",
                     spot.engine_text(), spot.place_text(), offset, *value);
}

/// A ring of the core could not go on: which one says the record's PC.
std::string ring_text(const ExecutionScene& scene, const ReportedError& error) {
  constexpr std::uint32_t engine_mask = 0xF, queue_shift = 4;
  const std::uint32_t pc = neuron_notification_pc(&error.record);
  const std::uint32_t engine = pc & engine_mask, queue = pc >> queue_shift;
  const Kbin& kbin = scene.model.parsed.kbins[error.kbin];
  const KbinPlan& planned = scene.model.plan.kbins[error.kbin];
  std::string name;
  for (std::size_t set = 0; set < planned.queue_sets.size(); ++set) {
    if (planned.queue_sets[set].queue_id == queue) name = ", " + kbin.queue_sets[set].name;
  }
  const auto at = [&](std::string_view before, std::string_view after) {
    return fmt::format("{}: {} queue {} on DMA engine {} of core {}{} {}", kbin.name, before, queue,
                       engine, planned.core, name, after);
  };
  switch (error.record.sub_id) {
    case NEURON_EXEC_DMA_ABORT:
      return at("a descriptor of", "names no memory");
    case NEURON_EXEC_OUT_OF_MEMORY:
      return at("the device has no host memory left for what", "moves");
    case NEURON_EXEC_ENDLESS:
      return at("one doorbell gave", "more to do than a ring may have");
    default:
      return at("the device reported of", fmt::format("error class 0x{:x}", error.record.sub_id));
  }
}

std::string text_of(const ExecutionScene& scene, const ReportedError& error) {
  const std::uint16_t error_class = error.record.sub_id;
  if (engine_field(error.record) == NEURON_EXEC_RING) {
    return ring_text(scene, error);
  }
  const Spot spot(scene, error);
  const auto at = [&](std::string_view what) {
    return fmt::format("{} {}: {}", spot.engine_text(), spot.place_text(), what);
  };
  switch (error_class) {
    case NEURON_EXEC_NUMERICAL:
      return at("a result is NaN or infinite");
    case NEURON_EXEC_TRANSIENT:
      return at("a transient error");
    case NEURON_EXEC_SW_SEQUENCER:
      return at("the sequencer found the program in error");
    case NEURON_EXEC_RECORD_REFUSED:
      return refused_text(spot, byte_field(error.record));
    case NEURON_EXEC_NO_COMPUTE:
      return at("a compute record, and this device runs none");
    case NEURON_EXEC_DMA_ABORT:
      return at("the transfer names no memory");
    case NEURON_EXEC_OUT_OF_MEMORY:
      return at("the device has no host memory left");
    case NEURON_EXEC_ENDLESS:
      return at(byte_field(error.record) == NEURON_EXEC_QUIET
                    ? "the program goes round for ever: it has executed 100 million records on end "
                      "without computing or moving anything"
                    : "the program was still going on here when its time was up");
    case NEURON_EXEC_FETCH:
      return at("the next record lies in no memory");
    default:
      return at(fmt::format("error class 0x{:x}", error_class));
  }
}

Error deadlock(const ExecutionScene& scene, std::span<const ReportedError> errors) {
  std::string text = "the program cannot go on: ";
  Where where;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const Spot spot(scene, errors[i]);
    if (i == 0) where = spot.where();
    if (i != 0) text += "; ";
    text += stall_text(spot);
  }
  return {Status::timeout, ErrorClass::device, std::move(where), std::move(text)};
}

}  // namespace

bool is_stall(const ReportedError& error) {
  return error.record.sub_id == NEURON_EXEC_STALLED;
}

Error explain_errors(const ExecutionScene& scene, std::span<const ReportedError> errors) {
  const auto gravest =
      std::max_element(errors.begin(), errors.end(),
                       [](const auto& a, const auto& b) { return gravity(a) < gravity(b); });
  if (is_stall(*gravest)) return deadlock(scene, errors);
  const Status status = status_of(gravest->record.sub_id);
  Where where;
  if (engine_field(gravest->record) < engine_count) where = Spot(scene, *gravest).where();
  return {status, class_of(status), std::move(where), text_of(scene, *gravest)};
}

}  // namespace neffld
