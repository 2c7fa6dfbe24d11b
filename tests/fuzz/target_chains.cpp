// SPDX-License-Identifier: MIT
// Activation, DVE and GPSIMD library tables: each a chain of files that name each other, one of
// which is replaced.
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::string_view act_samples[] = {"act-sets-v3", "conv-like-v2"};
constexpr std::string_view dve_samples[] = {"vecadd-v3", "vecadd-v2"};
constexpr std::string_view library_samples[] = {"libraries-v2", "library-v2"};

/// def.json begins each chain; it is the file every reader of a chain starts from.
bool begins_chain(std::string_view name) {
  return name == "sg00/def.json";
}

const Slots& act_slots() {
  static const Slots found = slots_of(act_samples, [](std::string_view name) {
    return begins_chain(name) || name.find("act_info") != name.npos ||
           name.find("_set") != name.npos || name.find("curves") != name.npos ||
           name.ends_with("Activation.json");
  });
  return found;
}

const Slots& dve_slots() {
  static const Slots found = slots_of(dve_samples, [](std::string_view name) {
    return begins_chain(name) || name.find("_table.bin") != name.npos || name.ends_with("DVE.json");
  });
  return found;
}

const Slots& library_slots() {
  static const Slots found = slots_of(library_samples, [](std::string_view name) {
    return begins_chain(name) || name.find("ucode_lib") != name.npos || name.ends_with(".so");
  });
  return found;
}

template <const Slots& (*slots)()>
std::vector<std::string> words() {
  return quoted_words(seeds_of(slots()));
}

template <const Slots& (*slots)()>
constexpr Target chain(std::string_view name, std::string_view input) {
  return {name, input, 32 << 10, run_slots<slots>, seeds_of_slots<slots>, words<slots>};
}

}  // namespace

const Target activation_chain = chain<act_slots>(
    "activation_chain", "a byte that chooses a file of the activation tables, and its content");
const Target dve_chain =
    chain<dve_slots>("dve_chain", "a byte that chooses a file of the DVE tables, and its content");
const Target library_chain = chain<library_slots>(
    "library_chain", "a byte that chooses a file of the GPSIMD libraries, and its content");

}  // namespace neffld::fuzz
