// SPDX-License-Identifier: MIT
// replay-transcripts FOLDER [--on PREFIX] [NAME...]: plays the transcripts of a folder, or those
// named, which must follow each other on one driver, and compares every reply with the recorded
// one. On the device model in this process, or with --on /dev/neuron on the nodes of the kernel
// module, freshly loaded. FOLDER/exceptions.txt names the lines that may differ.
//
// replay-transcripts FOLDER --plan: one line for each run: module parameters, then names.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "runner.hpp"

using namespace transcripts;

namespace {

struct Totals {
  std::set<std::pair<std::string, int>> lines, listed;
  std::map<std::string, unsigned> text;
  unsigned differ = 0;
  std::size_t without = 0;
};

void tell(const Script& script, const Report& report, Exceptions& exceptions, Totals& totals) {
  const Judgement judgement = judge(script, report, exceptions);
  std::cout << script.name << ": " << report.lines.size() << " lines replayed, "
            << judgement.problems.size() << " differ, " << judgement.listed.size() << " listed\n";
  for (const auto& problem : judgement.problems) std::cout << "  " << problem << "\n";
  totals.differ += static_cast<unsigned>(judgement.problems.size());
  for (const int line : report.lines) totals.lines.emplace(script.recording, line);
  totals.without += report.without.size();
  for (const int line : judgement.listed) totals.listed.emplace(script.recording, line);
  for (const auto& [kind, count] : script.text) totals.text[kind] += count;
}

int finish(const Totals& totals, const Exceptions& exceptions) {
  unsigned text = 0;
  for (const auto& [kind, count] : totals.text) text += count;
  std::cout << "no calls:";
  for (const auto& [kind, count] : totals.text) std::cout << " " << count << " " << kind;
  std::cout << "\n"
            << totals.lines.size() << " lines replayed, " << totals.differ << " differ, "
            << totals.listed.size() << " listed; " << text << " lines are no calls, "
            << totals.without << " have no counterpart here; "
            << totals.lines.size() + text + totals.without << " recorded lines; the list has "
            << exceptions.size() << " of at most " << Exceptions::most << " lines\n";
  return totals.differ == 0 ? 0 : 1;
}

int run(const std::string& folder, const std::string& prefix,
        const std::vector<std::string>& names) {
  Exceptions exceptions(folder + "/exceptions.txt");
  Totals totals;
  for (const auto& group : read_groups(folder, names)) {
    const auto reports = play(group, prefix);
    for (std::size_t i = 0; i < group.size(); ++i) tell(group[i], reports[i], exceptions, totals);
  }
  return finish(totals, exceptions);
}

void plan(const std::string& folder) {
  for (const auto& group : read_groups(folder, {})) {
    if (std::all_of(group.begin(), group.end(), [](const Script& s) { return s.steps.empty(); })) {
      continue;
    }
    for (const auto& [name, value] : group.front().device) std::cout << name << "=" << value << " ";
    std::cout << ":";
    for (const auto& script : group) std::cout << " " << script.name;
    std::cout << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::cerr << "usage: replay-transcripts FOLDER [--plan | [--on PREFIX] [NAME...]]\n";
    return 2;
  }
  try {
    std::vector<std::string> names(arguments.begin() + 1, arguments.end());
    if (!names.empty() && names.front() == "--plan") return plan(arguments[0]), 0;
    std::string prefix;
    if (names.size() > 1 && names.front() == "--on") {
      prefix = names[1];
      names.erase(names.begin(), names.begin() + 2);
    }
    return run(arguments[0], prefix, names);
  } catch (const std::exception& error) {
    std::cerr << "replay-transcripts: " << error.what() << "\n";
    return 2;
  }
}
