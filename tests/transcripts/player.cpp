// SPDX-License-Identifier: MIT
#include "player.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "errors.hpp"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

namespace transcripts {
namespace {

constexpr std::uint8_t unwritten = 0xAA;  // what output fields hold before a call
constexpr std::uint64_t bad_address = 8;

std::uint64_t load(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, size);
  return value;
}

bool is_buffer_copy(const Step& step) {
  return step.words.size() > 1 && step.words[1].starts_with("MEM_BUF_");
}

}  // namespace

Player::Player(Host& host) : host_(host), layouts_(parse_layouts()) {}

Outcome Player::play(const Step& step) {
  static const std::map<std::string, void (Player::*)(const Step&), std::less<>> operations = {
      {"open", &Player::open},       {"dup", &Player::duplicate},   {"close", &Player::close},
      {"exit", &Player::exit},       {"silence", &Player::silence}, {"crowd", &Player::crowd},
      {"pieces", &Player::pieces},   {"call", &Player::call},       {"map", &Player::map},
      {"touch", &Player::touch},     {"protect", &Player::protect}, {"poke", &Player::poke},
      {"store", &Player::store},     {"value", &Player::value},     {"shows", &Player::shows},
      {"maphex", &Player::maphex},   {"bytes", &Player::bytes},     {"words", &Player::words},
      {"words32", &Player::words32}, {"desc", &Player::desc},       {"moved", &Player::moved},
      {"check", &Player::check},     {"hex", &Player::hex},         {"fields", &Player::fields},
      {"out", &Player::out}};
  const auto operation = operations.find(step.op);
  if (operation == operations.end()) throw std::runtime_error("unknown operation " + step.op);
  differences_.clear();
  process_ = step.process;
  host_.be(step.process);
  Outcome outcome;
  try {
    (this->*operation->second)(step);
  } catch (const std::exception& error) {
    differences_.push_back(step.op + ": " + error.what());
  }
  outcome.differences = differences_;
  // A protection can only be changed where there is one.
  outcome.compared = !(step.op == "protect" && !host_.forks());
  return outcome;
}

// ---- comparing

void Player::expect(const std::string& what, long got, const std::string& expected) {
  if (got == result_of(expected)) return;
  differences_.push_back(what + ": " + result_text(got) + ", recorded " + expected);
}

void Player::expect_value(const std::string& what, std::uint64_t got, std::size_t size,
                          const std::string& expected) {
  if (expected == "any") return;
  std::uint64_t value = 0;
  if (expected == "unwritten") {
    std::memset(&value, unwritten, size);
  } else if (expected.starts_with("last:")) {
    names_[expected] = got;
    return;
  } else if (expected.starts_with("pid") || expected.starts_with("name:")) {
    value = names_.emplace(expected, got).first->second;
  } else {
    value = number(expected);
  }
  if (got == value) return;
  differences_.push_back(
      what + ": " + std::to_string(got) + ", recorded " + expected +
      (expected == std::to_string(value) ? "" : ", here " + std::to_string(value)));
}

void Player::expect_bytes(const std::string& what, const std::uint8_t* got,
                          const std::vector<std::uint8_t>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    differences_.push_back(what + ": byte " + std::to_string(i) + " is " + std::to_string(got[i]) +
                           ", expected " + std::to_string(expected[i]));
    return;
  }
}

// ---- names

int Player::file(const std::string& label) const {
  auto found = files_.find({process_, label});
  if (found == files_.end()) found = files_.find({'A', label});  // a child has its parent's files
  if (found == files_.end()) throw std::runtime_error("no open file " + label);
  return found->second;
}

std::uint64_t Player::address_of(std::uint64_t handle) const {
  neuron_mem_get_extended_info info{};
  info.mem_handle = handle;
  for (const auto& [key, number] : files_) {
    if (key.first != process_ && key.first != 'A') continue;
    if (host_.ioctl(number, NEURON_IOCTL_MEM_GET_EXTENDED_INFO,
                    reinterpret_cast<std::uintptr_t>(&info)) == 0) {
      return info.pa;
    }
  }
  throw std::runtime_error("no handle " + std::to_string(handle));
}

/// "h3+4096" as an address.
std::uint64_t Player::place(const std::string& text) const {
  const auto plus = text.find('+');
  const std::uint64_t extra = plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1));
  return address_of(std::stoull(text.substr(1, plus))) + extra;
}

std::uint64_t Player::number(const std::string& text) const {
  if (text == "own") return static_cast<std::uint64_t>(host_.pid());
  for (const std::string prefix : {"hostpa:", "pa:"}) {
    if (!text.starts_with(prefix)) continue;
    const auto digits = text.find_first_of("0123456789", prefix.size());
    return place("h" + text.substr(digits));
  }
  if (text.starts_with("name:") || text.starts_with("last:") || text.starts_with("pid")) {
    const auto plus = text.find('+');
    const std::uint64_t extra = plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1));
    return names_.at(text.substr(0, plus)) + extra;
  }
  return std::stoull(text, nullptr, 0);
}

std::uint64_t Player::input(const Step& step, const char* name, std::uint64_t otherwise) const {
  const std::string* text = step.input(name);
  return text == nullptr ? otherwise : number(*text);
}

// ---- files and processes

void Player::open(const Step& step) {
  const int got =
      host_.open(static_cast<unsigned>(step.number(1)), static_cast<int>(step.number(2)));
  expect("open", std::min(got, 0), step.expected.at(0));
  if (got >= 0) files_[{process_, step.word(0)}] = got;
}

void Player::duplicate(const Step& step) {
  files_[{process_, step.word(1)}] = host_.duplicate(file(step.word(0)));
}

void Player::close(const Step& step) {
  expect("close", host_.close(file(step.word(0))), step.expected.at(0));
  files_.erase({process_, step.word(0)});
}

void Player::exit(const Step&) {
  host_.exit();
  std::erase_if(files_, [this](const auto& entry) { return entry.first.first == process_; });
}

void Player::silence(const Step& step) {
  host_.silence(step.word(0));
}

void Player::crowd(const Step& step) {
  expect("open by the last of the crowd",
         host_.crowd(static_cast<unsigned>(step.number(0)), static_cast<unsigned>(step.number(1))),
         step.expected.at(0));
}

/// Allocates pieces until one lies below the given address: their number before it, its address.
void Player::pieces(const Step& step) {
  constexpr unsigned most = 100000;
  unsigned count = 0;
  for (; count < most; ++count) {
    std::uint64_t handle = 0;
    neuron_mem_alloc_v2mt64 argument{};
    argument.size = step.number(1);
    argument.mem_type = NEURON_MEM_TENSORS_DEVICE;
    argument.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
    const long result = host_.ioctl(file(step.word(0)), NEURON_IOCTL_MEM_ALLOC_V2MT64,
                                    reinterpret_cast<std::uintptr_t>(&argument));
    if (result != 0) throw std::runtime_error("allocation: " + result_text(result));
    const std::uint64_t address = address_of(handle);
    if (address >= step.number(2)) continue;
    expect_value("first address", address, 8, step.expected.at(1));
    break;
  }
  expect_value("pieces", count, 4, step.expected.at(0));
}

// ---- calls

std::uint64_t Player::pointer(const std::string* text, std::uint64_t valid) const {
  if (text == nullptr || *text == "buf") return valid;
  if (*text == "null") return 0;
  if (*text == "bad") return bad_address;
  if (*text == "half") return short_.address();
  return number(*text);
}

/// The buffers before a call, unless steps wrote them: a pattern where the driver reads, the mark
/// of what was not written elsewhere.
void Player::fill_buffers(const Step& step) {
  if (authored_any_) return;
  const std::string& name = step.word(1);
  const bool sent = (is_buffer_copy(step) && input(step, "copy_to_mem_handle") != 0) ||
                    name.starts_with("PROGRAM_ENGINE") || name == "POST_METRIC";
  const std::uint64_t size =
      std::min<std::uint64_t>(std::max<std::uint64_t>(input(step, "size"), 8192), Buffer::bytes);
  if (sent) {
    write_pattern(buffers_[0].data(), size, static_cast<std::uint64_t>(step.line));
    write_pattern(short_.data(), 4096, static_cast<std::uint64_t>(step.line));
    return;
  }
  for (Buffer& buffer : buffers_) std::memset(buffer.data(), unwritten, size);
}

void Player::prepare(const Step& step, const Layout& layout, std::vector<std::uint8_t>& bytes) {
  std::size_t buffers = 0, slots = 0;
  slots_.clear();
  for (const Field& field : layout.fields) {
    const std::string* given = step.input(field.name);
    std::uint64_t value = 0;
    if (field.kind == 'b') {
      value = pointer(given, buffers_[buffers++].address());
    } else if (field.kind == 'p') {
      std::memset(&slot_memory_[slots], unwritten, sizeof slot_memory_[slots]);
      value = pointer(given, reinterpret_cast<std::uintptr_t>(&slot_memory_[slots]));
      slots_[field.name] = slots++;
    } else if (given != nullptr) {
      value = number(*given);
    } else if (field.kind == 'o') {
      std::memset(&value, unwritten, sizeof value);
    }
    std::memcpy(bytes.data() + field.offset, &value, field.size);
  }
}

void Player::call(const Step& step) {
  const std::string& name = step.word(1);
  const auto layout = layouts_.find(name);
  if (layout == layouts_.end()) throw std::runtime_error("no layout of " + name);
  const auto command = static_cast<std::uint32_t>(step.number(2));
  argument_.assign(std::max<std::size_t>(layout->second.size, 16384), 0);
  layout_ = &layout->second;
  fill_buffers(step);
  authored_ = 0;
  authored_any_ = false;
  prepare(step, *layout_, argument_);
  const bool bad = step.input("argument") != nullptr;
  const auto before = argument_;
  const long got =
      host_.ioctl(file(step.word(0)), command,
                  bad ? bad_address : reinterpret_cast<std::uintptr_t>(argument_.data()));
  expect(name, got, step.expected.at(0));
  if (!differences_.empty()) return;
  if (got == 0) remember(step);
  for (const auto& [field, expected] : step.out) {
    // The driver writes more than the command's value says.
    constexpr std::size_t encoded = 8;
    if (field == "_bytes_past_end") {
      if (std::equal(argument_.begin() + encoded, argument_.end(), before.begin() + encoded)) {
        differences_.push_back("nothing was written past the encoded size");
      }
      continue;
    }
    std::size_t size = 0;
    const auto value = last_field(field, size);
    if (!value) throw std::runtime_error("no field " + field);
    expect_value(name + "." + field, *value, size, expected);
  }
}

std::optional<std::uint64_t> Player::last_field(const std::string& name, std::size_t& size) const {
  if (const auto slot = slots_.find(name); slot != slots_.end()) {
    size = 8;
    return slot_memory_[slot->second];
  }
  for (const Field& field : layout_->fields) {
    if (field.name != name) continue;
    size = field.size;
    return load(argument_.data() + field.offset, field.size);
  }
  return std::nullopt;
}

/// What a successful call must have done to the device's memory.
void Player::remember(const Step& step) {
  const std::string& name = step.word(1);
  const std::uint64_t size = input(step, "size");
  if (is_buffer_copy(step) && input(step, "copy_to_mem_handle") != 0 && size <= Buffer::bytes) {
    shadow_.write(address_of(input(step, "mem_handle")) + input(step, "offset"), buffers_[0].data(),
                  size);
  } else if (name.starts_with("MEMSET")) {
    shadow_.fill(address_of(input(step, "mem_handle")) + input(step, "offset"),
                 static_cast<std::uint8_t>(input(step, "value")), size);
  } else if (name.starts_with("MEM_COPY") && !name.ends_with("WAIT")) {
    shadow_.copy(address_of(input(step, "dst_mem_handle")) + input(step, "dst_offset"),
                 address_of(input(step, "src_mem_handle")) + input(step, "src_offset"), size);
  } else if (name.starts_with("DMA_COPY_DESCRIPTORS")) {
    const std::uint64_t bytes = input(step, "num_descs") * NEURON_UDMA_DESC_SIZE;
    shadow_.write(address_of(input(step, "mem_handle")) + input(step, "offset"), buffers_[0].data(),
                  bytes);
  }
}

}  // namespace transcripts
