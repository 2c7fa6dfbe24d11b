// SPDX-License-Identifier: MIT
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::string_view samples[] = {
    "vecadd-v3",       "vecadd-v2",   "dge-lnc2-v3", "conv-like-v2", "control-flow-v2",
    "control-flow-v3", "act-sets-v3", "records-v3",  "rearm-v2",     "remote-lnc2-v3"};

const Slots& slots() {
  static const Slots found = slots_of(samples, [](std::string_view name) {
    for (const char* engine : {"PE", "Activation", "Pool", "DVE", "SP"}) {
      if (name.ends_with("/" + std::string(engine) + ".bin")) return true;
    }
    return false;
  });
  return found;
}

/// A whole record of every opcode, without operands.
std::vector<std::string> words() {
  std::vector<std::string> records;
  for (int opcode = 0; opcode < 256; ++opcode) {
    records.push_back(std::string(1, static_cast<char>(opcode)) + std::string(63, '\0'));
  }
  return records;
}

}  // namespace

const Target instruction_streams = {
    "instruction_streams", "a byte that chooses an engine of a sample, and its records of 64 bytes",
    64 * 256 + 1,          run_slots<slots>,
    seeds_of_slots<slots>, words};

}  // namespace neffld::fuzz
