// SPDX-License-Identifier: MIT
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::string_view samples[] = {"vecadd-v3",      "dge-v3",       "pointers-v3",
                                        "libraries-v2",   "transpose-v3", "scratchpad-lnc2-v3",
                                        "remote-lnc2-v3", "records-v3",   "rearm-v2"};

const Slots& slots() {
  static const Slots found =
      slots_of(samples, [](std::string_view name) { return name.ends_with(".json"); });
  return found;
}

/// Keys and texts that the samples do not have (spec 02, 03), and values that are often too much.
std::vector<std::string> words() {
  std::vector<std::string> all = quoted_words(seeds_of(slots()));
  for (const char* word : {"\"fp8_config\"",
                           "\"carveouts\"",
                           "\"num_streams\"",
                           "\"replica_groups\"",
                           "\"src_target_pairs\"",
                           "\"embedding-update\"",
                           "\"indirect-memcpy\"",
                           "\"fabric_path\"",
                           "\"alt\"",
                           "\"sync_semaphores\"",
                           "\"semaphore_set\"",
                           "\"section_start\"",
                           "\"constant\"",
                           "\"scales\"",
                           "\"fma\"",
                           "\"add\"",
                           "\"min\"",
                           "\"max\"",
                           "\"local_scratchpad_size\"",
                           "\"shared_scratchpad_size\"",
                           "\"mac_count\"",
                           "\"io_ref\"",
                           "\"tmp-buf\"",
                           "\"remote\"",
                           "18446744073709551615",
                           "18446744073709551616",
                           "4294967295",
                           "4294967296",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "-1",
                           "1e3",
                           "1.0",
                           "true",
                           "null",
                           "[]",
                           "{}",
                           "[[[[",
                           "\\u0000",
                           "\\ud800"}) {
    all.emplace_back(word);
  }
  return all;
}

}  // namespace

const Target json_members = {"json_members",
                             "a byte that chooses a JSON member of a sample, and its text",
                             32 << 10,
                             run_slots<slots>,
                             seeds_of_slots<slots>,
                             words};

}  // namespace neffld::fuzz
