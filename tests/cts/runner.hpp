// SPDX-License-Identifier: MIT
// Chooses rows and runs them one after the other, each on an open file of its own.
#pragma once

#include <string>
#include <vector>

#include "lists.hpp"
#include "row.hpp"
#include "target.hpp"

namespace neffld::cts {

enum class Verdict : std::uint8_t {
  passed,
  failed,
  expected_failure,  ///< failed, as the list says
  unexpected_pass,   ///< passed although the list says it fails: the list is out of date
  unsupported,       ///< on the list, not run
  skipped,           ///< not run: not for this device, or not judged here
};

/// "pass", "FAIL", ...
std::string_view verdict_name(Verdict verdict);
bool is_error(Verdict verdict);

struct RowResult {
  const Row* row = nullptr;
  Verdict verdict = Verdict::skipped;
  std::string text;  ///< why, empty for a pass
};

struct Selection {
  std::vector<std::string> groups;  ///< empty = all
  std::string filter;               ///< part of a row's name, empty = all
  bool all = false;                 ///< also intrusive rows on a device that is not simulated
};

struct Lists {
  ExclusionList unsupported, expected_failure;
};

/// The rows the selection names, in order. Errors: an unknown group, or nothing selected (class
/// usage).
Result<std::vector<const Row*>> select(const Selection& selection);

/// Runs the rows in order. Errors: the device cannot be opened any more.
Result<std::vector<RowResult>> run(Target& target, const std::vector<const Row*>& chosen,
                                   const Selection& selection, const Lists& lists);

}  // namespace neffld::cts
