// SPDX-License-Identifier: MIT
#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "trial.hpp"

namespace neffld::cts {
namespace {

/// Why a row does not apply to the device, or nothing.
std::optional<std::string> not_applicable(const Row& row, const Facts& facts, bool all) {
  if ((row.architectures == For::v2) != facts.v2() && row.architectures != For::both) {
    return fmt::format("only on {}", row.architectures == For::v2 ? "v2" : "v3");
  }
  if (facts.generation < row.generations.first || facts.generation > row.generations.last) {
    return fmt::format("only on drivers 2.{} to 2.{}", row.generations.first, row.generations.last);
  }
  if (facts.simulated || row.safety == Safety::harmless) return std::nullopt;
  if (row.safety == Safety::simulated) {
    return "never on a real driver (it would crash the kernel or make the device act)";
  }
  if (!all) return "changes what others may use, --all runs it";
  return std::nullopt;
}

/// Which row cannot be judged because someone else has memory on the device.
void check_needs(const Row& row, const Trial& trial) {
  if (row.needs != Needs::idle) return;
  for (std::uint32_t hbm = 0; hbm < trial.facts().hbms(); ++hbm) {
    const std::uint32_t chunks = trial.chunks_in(hbm);
    if (chunks != 1) {
      trial.skip(fmt::format("HBM {} is in use ({} chunks, an idle one has 1)", hbm, chunks));
    }
  }
}

RowResult judge(const Row& row, Trial& trial) {
  try {
    check_needs(row, trial);
    row.run(trial);
    return {&row, Verdict::passed, {}};
  } catch (RowFailed& failed) {
    return {&row, Verdict::failed, std::move(failed.sentence)};
  } catch (RowSkipped& skipped) {
    return {&row, Verdict::skipped, std::move(skipped.reason)};
  }
}

/// Turns what happened into what the list makes of it.
void apply_expected(RowResult& result, const std::optional<std::string>& reason) {
  if (!reason) return;
  if (result.verdict == Verdict::failed) {
    result.verdict = Verdict::expected_failure;
    result.text += fmt::format(" [{}]", *reason);
  } else if (result.verdict == Verdict::passed) {
    result.verdict = Verdict::unexpected_pass;
    result.text = fmt::format("listed as expected failure ({}), take it off the list", *reason);
  }
}

Result<RowResult> run_row(Target& target, const Row& row, const Selection& selection,
                          const Lists& lists) {
  const Facts& facts = target.facts();
  if (auto reason = not_applicable(row, facts, selection.all)) {
    return RowResult{&row, Verdict::skipped, std::move(*reason)};
  }
  if (auto reason = lists.unsupported.find(facts.kind, row.name)) {
    return RowResult{&row, Verdict::unsupported, std::move(*reason)};
  }
  NEFFLD_TRY(target.next_row());
  NEFFLD_ASSIGN(auto file, target.open());
  Trial trial(target, std::move(file));
  RowResult result = judge(row, trial);
  apply_expected(result, lists.expected_failure.find(facts.kind, row.name));
  return result;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "pass";
    case Verdict::failed:
      return "FAIL";
    case Verdict::expected_failure:
      return "expected failure";
    case Verdict::unexpected_pass:
      return "UNEXPECTED PASS";
    case Verdict::unsupported:
      return "unsupported";
    case Verdict::skipped:
      break;
  }
  return "skip";
}

bool is_error(Verdict verdict) {
  return verdict == Verdict::failed || verdict == Verdict::unexpected_pass;
}

Result<std::vector<const Row*>> select(const Selection& selection) {
  for (const std::string& group : selection.groups) {
    const bool known = std::any_of(rows().begin(), rows().end(),
                                   [&](const Row& row) { return row.group() == group; });
    if (!known) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--group"},
                  fmt::format("found '{}', expected a group that --list prints", group));
    }
  }
  std::vector<const Row*> chosen;
  for (const Row& row : rows()) {
    const auto& groups = selection.groups;
    if (!groups.empty() && std::find(groups.begin(), groups.end(), row.group()) == groups.end()) {
      continue;
    }
    if (row.name.find(selection.filter) != std::string_view::npos) chosen.push_back(&row);
  }
  if (chosen.empty()) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "--filter"},
                fmt::format("no row has '{}' in its name", selection.filter));
  }
  return chosen;
}

Result<std::vector<RowResult>> run(Target& target, const std::vector<const Row*>& chosen,
                                   const Selection& selection, const Lists& lists) {
  std::vector<RowResult> results;
  for (const Row* row : chosen) {
    NEFFLD_ASSIGN(RowResult result, run_row(target, *row, selection, lists));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace neffld::cts
