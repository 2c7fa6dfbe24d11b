// SPDX-License-Identifier: MIT
#define OPENSSL_SUPPRESS_DEPRECATED
#include "capture.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>

#include "caller_memory.hpp"
#include "neuron_abi/ioctl.h"
#include "trace_format.hpp"

namespace neffld::shim {
namespace {

/// Takes no memory; see libloader/base/sha256.cpp.
class Sha256 {
 public:
  Sha256() { SHA256_Init(&context_); }
  void add(Bytes bytes) { SHA256_Update(&context_, bytes.data(), bytes.size()); }
  std::array<std::uint8_t, 32> end() {
    std::array<std::uint8_t, 32> hash{};
    SHA256_Final(hash.data(), &context_);
    return hash;
  }

 private:
  SHA256_CTX context_;
};

}  // namespace

std::array<std::uint8_t, 32> sha256(Bytes bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.end();
}

TraceCall Capture::before(std::uint64_t number, std::uint32_t command, const void* argument) {
  TraceCall call;
  call.number = number;
  call.command = command;
  info_ = find_command(command);
  states_.fill(PointerState::null);
  raw_.clear();
  if (info_ == nullptr) {
    // Which bytes are addresses is not known, and an address must never be sent again.
    call.missing.emplace_back("the argument: this program does not know the command");
    call.argument = argument != nullptr ? PointerState::good : PointerState::null;
    return call;
  }
  read_argument(call, reinterpret_cast<std::uintptr_t>(argument));
  if (call.argument != PointerState::good) return call;
  read_pointers(call);
  call.sent.resize(raw_.size());
  normalise(call.sent, raw_, false);
  call.received = call.sent;
  return call;
}

void Capture::read_argument(TraceCall& call, std::uint64_t address) {
  raw_.resize(info_->bytes);
  if (address == 0) {
    call.argument = raw_.empty() ? PointerState::good : PointerState::null;
    return;
  }
  if (read_caller(address, raw_) < raw_.size()) {
    call.argument = PointerState::bad;
    return;
  }
  const std::uint64_t whole = info_->argument_bytes(raw_);
  raw_.resize(whole);
  const MutableBytes tail = MutableBytes(raw_).subspan(info_->bytes);
  if (read_caller(address + info_->bytes, tail) < tail.size()) {
    call.missing.emplace_back("records behind the argument that cannot be read");
  }
}

void Capture::read_pointers(TraceCall& call) {
  for (std::size_t i = 0; i < info_->pointers.size(); ++i) {
    const PointerRule& rule = info_->pointers[i];
    const std::uint64_t pointer = field_value(raw_, rule.offset, 8);
    if (pointer == 0) continue;
    const std::uint64_t address = pointer + rule.skip.of(raw_);
    const std::uint64_t wanted = rule.room.of(raw_);
    std::uint8_t first = 0;
    const bool there = wanted == 0 || read_caller(address, {&first, 1}) == 1;
    states_[i] = there ? PointerState::good : PointerState::bad;
    if (!there || !rule.direction.is_sent(raw_)) continue;
    TracePayload payload =
        read_payload(address, wanted, keep_data_ || rule.payload == Payload::structure);
    payload.pointer = static_cast<std::uint8_t>(i);
    payload.sent = true;
    call.payloads.push_back(std::move(payload));
  }
}

TracePayload Capture::read_payload(std::uint64_t address, std::uint64_t length, bool keep) {
  TracePayload payload;
  payload.wanted = length;
  payload.has_bytes = keep;
  const std::uint64_t most = std::min(length, max_call_payload_bytes);
  piece_.resize(std::min<std::uint64_t>(most, data_piece_bytes));
  Sha256 hash;
  while (payload.length < most) {
    const auto piece =
        MutableBytes(piece_).first(std::min<std::uint64_t>(most - payload.length, piece_.size()));
    const std::size_t count = read_caller(address + payload.length, piece);
    const Bytes got = piece.first(count);
    if (keep) {
      payload.bytes.insert(payload.bytes.end(), got.begin(), got.end());
    } else {
      hash.add(got);
    }
    payload.length += count;
    if (count < piece.size()) break;
  }
  if (!keep) payload.hash = hash.end();
  return payload;
}

void Capture::after(TraceCall& call, const void* argument, int result) {
  call.result = result;
  call.replied = true;
  if (info_ == nullptr || call.argument != PointerState::good) return;
  std::vector<std::uint8_t> reply(raw_.size());
  if (read_caller(reinterpret_cast<std::uintptr_t>(argument), reply) < reply.size()) return;
  normalise(call.received, reply, true);
  // After a failure what lies in the caller's buffers is not the driver's word.
  if (result != 0) return;
  for (std::size_t i = 0; i < info_->pointers.size(); ++i) {
    const PointerRule& rule = info_->pointers[i];
    if (states_[i] != PointerState::good || rule.direction.is_sent(raw_)) continue;
    const std::uint64_t address = field_value(raw_, rule.offset, 8) + rule.skip.of(raw_);
    const std::uint64_t length = std::min(rule.room.of(raw_), rule.filled.of(reply));
    TracePayload payload =
        read_payload(address, length, keep_data_ || rule.payload == Payload::structure);
    payload.pointer = static_cast<std::uint8_t>(i);
    call.payloads.push_back(std::move(payload));
  }
}

/// Copies fields only, so that padding stays zero, and nothing that names this process: no address,
/// no process number, no kernel pointer.
void Capture::normalise(MutableBytes argument, Bytes raw, bool replies_only) const {
  for_each_field(
      *info_, raw_, [&](const CommandField& field, std::uint32_t offset, int /*record*/) {
        if ((replies_only && !field.reply && field.kind != FieldKind::pid) ||
            field.kind == FieldKind::pointer) {
          return;
        }
        if (offset > raw.size() || field.bytes > raw.size() - offset) return;
        std::copy_n(raw.begin() + offset, field.bytes, argument.begin() + offset);
        if (field.kind == FieldKind::changing) {
          std::fill_n(argument.begin() + offset, field.bytes, std::uint8_t{0});
        } else if (field.kind == FieldKind::pid &&
                   field_value(raw, offset, 4) == static_cast<std::uint32_t>(caller_process())) {
          set_field(argument, offset, 4, own_pid);
        }
      });
  if (replies_only) return;
  for (std::size_t i = 0; i < info_->pointers.size(); ++i) {
    set_field(argument, info_->pointers[i].offset, 8, static_cast<std::uint64_t>(states_[i]));
  }
}

}  // namespace neffld::shim
