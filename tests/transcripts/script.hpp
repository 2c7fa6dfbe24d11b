// SPDX-License-Identifier: MIT
// A transcript: what a driver was sent and what it answered, as text that can be played again
// (docs/traces.md has the form).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace transcripts {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// One line of a transcript.
struct Step {
  int line = 0;  ///< of the recording; 0 = made up, because the recording left it out
  char process = 'A';
  std::string op;
  std::vector<std::string> words;  ///< what is not NAME=VALUE, before the arrow
  Fields in;
  bool answered = false;              ///< there is an arrow
  std::vector<std::string> expected;  ///< the result, and further words
  Fields out;

  const std::string& word(std::size_t index) const;
  /// An input's text, or null.
  const std::string* input(const std::string& name) const;
  std::uint64_t number(std::size_t index) const;
};

struct Script {
  std::string name;
  std::map<std::string, std::uint64_t> device;  ///< parameters as the module's
  std::string after;                            ///< continues on the driver of that script
  std::string recording;                        ///< the recorded file, if not `name`'s
  std::map<std::string, unsigned> text;         ///< kinds of recorded lines that are no calls
  std::vector<Step> steps;
};

/// Throws std::runtime_error with the place of what cannot be read.
Script read_script(const std::string& path);

}  // namespace transcripts
