// SPDX-License-Identifier: MIT
// Runs whole transcripts and judges what differed against the list of exceptions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "script.hpp"

namespace transcripts {

/// What playing one transcript found.
struct Report {
  std::string host;                        ///< kind of it
  std::set<int> lines;                     ///< of the recording, replayed
  std::set<int> without;                   ///< lines that have no counterpart on this host
  std::map<int, std::string> differences;  ///< first of each line; line 0: a step of our own
};

/// The lines that may differ: FILE LINE HOST REASON, without patterns.
class Exceptions {
 public:
  static constexpr std::size_t most = 40;
  /// Throws if the file cannot be read, has too many lines, or a line twice.
  explicit Exceptions(const std::string& path);
  std::size_t size() const { return size_; }
  /// The lines of a transcript that must differ on a kind of host.
  std::set<int> of(const std::string& script, const std::string& host) const;

 private:
  std::size_t size_ = 0;
  std::map<std::pair<std::string, std::string>, std::set<int>> lines_;
};

struct Judgement {
  std::set<int> listed;               ///< lines that differ and may
  std::vector<std::string> problems;  ///< differences, and listed lines that agree
};
Judgement judge(const Script& script, const Report& report, const Exceptions& exceptions);

/// Transcripts that follow each other on one driver, all of a folder or just those named.
std::vector<std::vector<Script>> read_groups(const std::string& folder,
                                             const std::vector<std::string>& names);

/// Plays a group, on nodes if `prefix` is not empty.
std::vector<Report> play(const std::vector<Script>& group, const std::string& prefix);

}  // namespace transcripts
