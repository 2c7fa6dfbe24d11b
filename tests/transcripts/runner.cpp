// SPDX-License-Identifier: MIT
#include "runner.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "player.hpp"

namespace transcripts {
namespace {

/// A process of its own that plays the steps it is told. Made by fork, so it has its parent's files
/// and knowledge.
class Child {
 public:
  Child(Player& player, const std::vector<Step>& steps) {
    int to[2], from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no process");
    if (pid_ == 0) {
      ::close(to[1]);
      serve(player, steps, to[0], from[1]);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  ~Child() {
    ::close(to_);  // it exits, closing nothing itself
    ::close(from_);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Outcome play(std::size_t step) {
    std::uint64_t length = 0;
    if (::write(to_, &step, sizeof step) != sizeof step || !get(&length, sizeof length)) {
      return {{"the process died"}, true};
    }
    std::string text(length, '\0');
    if (!get(text.data(), length)) return {{"the process died"}, true};
    Outcome outcome;
    if (!text.empty()) outcome.differences.push_back(text);
    return outcome;
  }

 private:
  [[noreturn]] static void serve(Player& player, const std::vector<Step>& steps, int in, int out) {
    std::size_t step = 0;
    while (::read(in, &step, sizeof step) == sizeof step) {
      const Outcome outcome = player.play(steps.at(step));
      const std::string text = outcome.differences.empty() ? "" : outcome.differences.front();
      const std::uint64_t length = text.size();
      if (::write(out, &length, sizeof length) != sizeof length ||
          ::write(out, text.data(), length) != static_cast<ssize_t>(length)) {
        break;
      }
    }
    _exit(0);
  }

  bool get(void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = ::read(from_, at, bytes);
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
};

Report play_script(const Script& script, Host& host) {
  Report report;
  report.host = host.kind();
  Player player(host);
  std::unique_ptr<Child> child;
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    Outcome outcome;
    if (step.process == 'A' || !host.forks()) {
      outcome = player.play(step);
    } else if (step.op == "exit") {
      child.reset();
    } else {
      if (!child) child = std::make_unique<Child>(player, script.steps);
      outcome = child->play(i);
    }
    if (step.line > 0) (outcome.compared ? report.lines : report.without).insert(step.line);
    if (outcome.differences.empty()) continue;
    report.differences.emplace(step.line, outcome.differences.front());
  }
  child.reset();
  return report;
}

/// Ends as a recorded process may: with files open.
void exit_all(const Script& script, Host& host) {
  std::set<char> processes;
  for (const Step& step : script.steps) processes.insert(step.process);
  processes.insert('A');
  for (const char process : processes) {
    host.be(process);
    host.exit();
  }
}

std::string as_text(const Report& report) {
  std::ostringstream text;
  text << report.host << "\n";
  for (const int line : report.lines) text << line << " ";
  text << "\n";
  for (const auto& [line, what] : report.differences) text << line << " " << what << "\n";
  return text.str();
}

Report from_text(const std::string& whole) {
  std::istringstream text(whole);
  Report report;
  std::string line;
  std::getline(text, report.host);
  std::getline(text, line);
  std::istringstream lines(line);
  for (int number = 0; lines >> number;) report.lines.insert(number);
  while (std::getline(text, line)) {
    const auto space = line.find(' ');
    report.differences[std::stoi(line.substr(0, space))] = line.substr(space + 1);
  }
  return report;
}

/// In a process of its own, because a transcript may end by exiting with files open.
Report play_on_nodes(const Script& script, const std::string& prefix) {
  int from[2];
  if (::pipe(from) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) {
    ::close(from[0]);
    std::string text;
    try {
      text = as_text(play_script(script, *node_host(prefix, script)));
    } catch (const std::exception& error) {
      text = "module\n\n0 " + std::string(error.what()) + "\n";
    }
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::write(from[1], text.data() + done, text.size() - done);
      if (wrote <= 0) break;
      done += static_cast<std::size_t>(wrote);
    }
    _exit(0);
  }
  ::close(from[1]);
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = ::read(from[0], piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  ::close(from[0]);
  waitpid(pid, nullptr, 0);
  if (text.empty()) throw std::runtime_error(script.name + ": the process that played it died");
  return from_text(text);
}

}  // namespace

Exceptions::Exceptions(const std::string& path) {
  std::ifstream input(path);
  if (!input) throw std::runtime_error(path + " cannot be opened");
  std::string text;
  while (std::getline(input, text)) {
    if (text.empty() || text.front() == '#') continue;
    std::istringstream words(text);
    std::string script, host, reason;
    int line = 0;
    if (!(words >> script >> line >> host >> reason) || line <= 0) {
      throw std::runtime_error(path + ": not FILE LINE HOST REASON: " + text);
    }
    if (host != "both" && host != "module" && host != "in-process") {
      throw std::runtime_error(path + ": unknown host " + host);
    }
    for (const std::string kind : {"module", "in-process"}) {
      if (host != "both" && host != kind) continue;
      if (!lines_[{script, kind}].insert(line).second) {
        throw std::runtime_error(path + ": a line twice: " + text);
      }
    }
    ++size_;
  }
  if (size_ > most) throw std::runtime_error(path + " has more lines than allowed");
}

std::set<int> Exceptions::of(const std::string& script, const std::string& host) const {
  const auto found = lines_.find({script, host});
  return found == lines_.end() ? std::set<int>{} : found->second;
}

Judgement judge(const Script& script, const Report& report, const Exceptions& exceptions) {
  Judgement judgement;
  std::set<int> listed = exceptions.of(script.name, report.host);
  for (const auto& [line, what] : report.differences) {
    if (listed.erase(line) != 0) {
      judgement.listed.insert(line);
    } else {
      judgement.problems.push_back(script.name + " line " + std::to_string(line) + ": " + what);
    }
  }
  for (const int line : listed) {
    judgement.problems.push_back(script.name + " line " + std::to_string(line) +
                                 " is on the list but agrees");
  }
  return judgement;
}

std::vector<std::vector<Script>> read_groups(const std::string& folder,
                                             const std::vector<std::string>& names) {
  std::vector<Script> scripts;
  for (const auto& name : names) scripts.push_back(read_script(folder + "/" + name + ".txt"));
  if (names.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".txt" || entry.path().stem() == "exceptions") continue;
      scripts.push_back(read_script(entry.path()));
    }
    std::sort(scripts.begin(), scripts.end(),
              [](const Script& a, const Script& b) { return a.name < b.name; });
  }
  std::vector<std::vector<Script>> groups;
  const auto take = [&](const std::string& after, auto& self) -> void {
    for (const auto& script : scripts) {
      if (script.after != after) continue;
      if (after.empty()) groups.emplace_back();
      groups.back().push_back(script);
      self(script.name, self);
    }
  };
  take("", take);
  return groups;
}

std::vector<Report> play(const std::vector<Script>& group, const std::string& prefix) {
  std::vector<Report> reports;
  const auto host = prefix.empty() ? in_process_host(group.front()) : nullptr;
  for (const Script& script : group) {
    if (host) {
      host->be('A');
      reports.push_back(play_script(script, *host));
      exit_all(script, *host);
    } else {
      reports.push_back(play_on_nodes(script, prefix));
    }
  }
  return reports;
}

}  // namespace transcripts
