// SPDX-License-Identifier: MIT
// The steps of a player that are no calls: mappings, buffers, and looking at both.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "errors.hpp"
#include "neuron_abi/udma.h"
#include "player.hpp"

namespace transcripts {
namespace {

std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// Records that calls store through pointers, for fields by name.
const Layout& record(const std::string& name) {
  static const Layout state = {20,
                               {{"revision_id", 0, 4},
                                {"max_queues", 4, 4},
                                {"num_queues", 8, 4},
                                {"tx_state", 12, 4},
                                {"rx_state", 16, 4}}};
  static const Layout queue = {48,
                               {{"hw_status", 0, 4},
                                {"sw_status", 4, 4},
                                {"base_addr", 8, 8},
                                {"length", 16, 4},
                                {"head", 20, 4},
                                {"tail", 24, 4},
                                {"completion_base", 32, 8},
                                {"completion_head", 40, 4}}};
  static const Layout chunk = {24, {{"pa", 0, 8}, {"size", 8, 8}, {"mem_type", 16, 4}}};
  if (name.starts_with("chunk")) return chunk;
  return name == "state" ? state : queue;
}

}  // namespace

Buffer& Player::buffer(const Step& step) {
  const std::uint64_t index = step.number(0);
  if (index > 1) throw std::runtime_error("no such buffer");
  return buffers_[index];
}

Mapped& Player::mapping(const Step& step) {
  const auto found = maps_.find(step.word(0));
  if (found == maps_.end()) throw std::runtime_error("no mapping " + step.word(0));
  return found->second;
}

// ---- mappings

void Player::map(const Step& step) {
  Mapped made = host_.map(file(step.word(0)), input(step, "offset"), input(step, "len"),
                          static_cast<int>(input(step, "prot")), step.input("raw") != nullptr);
  expect("mmap", made.error, step.expected.at(0));
  if (made.error == 0) maps_[step.word(1)] = made;
}

void Player::touch(const Step& step) {
  expect("signal of a read", host_.touch(mapping(step), false), step.expected.at(0));
  expect("signal of a write", host_.touch(mapping(step), true), step.expected.at(1));
}

void Player::protect(const Step& step) {
  const int got = host_.make_writable(mapping(step));
  if (got == -ENOSYS) return;
  expect("mprotect", got, step.expected.at(0));
  if (got == 0) expect("signal of a write", host_.touch(mapping(step), true), step.expected.at(1));
}

/// poke LABEL OFFSET BYTES SEED PLACE: stores a pattern through a mapping that shows PLACE.
void Player::poke(const Step& step) {
  std::vector<std::uint8_t> pattern(step.number(2));
  write_pattern(pattern.data(), pattern.size(), step.number(3));
  std::memcpy(mapping(step).at + step.number(1), pattern.data(), pattern.size());
  shadow_.write(place(step.word(4)), pattern.data(), pattern.size());
}

/// store LABEL OFFSET VALUE: a 32-bit word.
void Player::store(const Step& step) {
  const auto value = static_cast<std::uint32_t>(step.number(2));
  std::memcpy(mapping(step).at + step.number(1), &value, sizeof value);
}

void Player::value(const Step& step) {
  std::uint32_t value = 0;
  std::memcpy(&value, mapping(step).at + step.number(1), sizeof value);
  expect_value("mapped word", value, sizeof value, step.expected.at(0));
}

/// shows LABEL OFFSET PLACE BYTES
void Player::shows(const Step& step) {
  expect_bytes("mapping", mapping(step).at + step.number(1),
               shadow_.read(place(step.word(2)), step.number(3)));
}

void Player::maphex(const Step& step) {
  expect_bytes("mapping", mapping(step).at, from_hex(step.word(1)));
}

// ---- buffers

void Player::bytes(const Step& step) {
  const auto bytes = from_hex(step.word(1));
  std::copy(bytes.begin(), bytes.end(), buffer(step).data());
  authored_any_ = true;
}

void Player::words(const Step& step) {
  for (std::size_t i = 1; i < step.words.size(); ++i) {
    const std::uint64_t word = number(step.words[i]);
    std::memcpy(buffer(step).data() + 8 * (i - 1), &word, sizeof word);
  }
  authored_any_ = true;
}

void Player::words32(const Step& step) {
  for (std::size_t i = 1; i < step.words.size(); ++i) {
    const auto word = static_cast<std::uint32_t>(step.number(i));
    std::memcpy(buffer(step).data() + 4 * (i - 1), &word, sizeof word);
  }
  authored_any_ = true;
}

/// desc BUFFER COUNT WORD0 WORD1 ADDRESS STEP: descriptors, behind those of steps before.
void Player::desc(const Step& step) {
  const std::uint64_t address = number(step.word(4));
  for (std::uint64_t i = 0; i < step.number(1); ++i) {
    const neuron_udma_tx_desc desc{static_cast<std::uint32_t>(step.number(2)),
                                   static_cast<std::uint32_t>(step.number(3)),
                                   address + i * step.number(5)};
    std::memcpy(buffer(step).data() + authored_, &desc, sizeof desc);
    authored_ += sizeof desc;
  }
  authored_any_ = true;
}

/// moved FROM TO BYTES: what the device did by itself.
void Player::moved(const Step& step) {
  shadow_.copy(place(step.word(1)), place(step.word(0)), step.number(2));
}

/// check BUFFER PLACE BYTES: the buffer holds what the place must hold.
void Player::check(const Step& step) {
  expect_bytes("buffer", buffer(step).data(), shadow_.read(place(step.word(1)), step.number(2)));
}

void Player::hex(const Step& step) {
  expect_bytes("buffer", buffer(step).data(), from_hex(step.word(1)));
}

void Player::fields(const Step& step) {
  const std::string& name = step.word(1);
  const Layout& layout = record(name);
  const std::size_t index = name.starts_with("chunk") ? std::stoul(name.substr(5)) : 0;
  const std::uint8_t* base = buffer(step).data() + index * layout.size;
  for (const auto& wanted : step.in) {
    const std::string& key = wanted.first;
    const auto field = std::find_if(layout.fields.begin(), layout.fields.end(),
                                    [&](const Field& candidate) { return candidate.name == key; });
    if (field == layout.fields.end()) throw std::runtime_error("no field " + key);
    std::uint64_t value = 0;
    std::memcpy(&value, base + field->offset, field->size);
    expect_value(name + "." + key, value, field->size, wanted.second);
  }
}

/// out FIELD=VALUE: more fields of the last call.
void Player::out(const Step& step) {
  for (const auto& [key, expected] : step.in) {
    std::size_t size = 0;
    const auto value = last_field(key, size);
    if (!value) throw std::runtime_error("no field " + key);
    expect_value(key, *value, size, expected);
  }
}

}  // namespace transcripts
