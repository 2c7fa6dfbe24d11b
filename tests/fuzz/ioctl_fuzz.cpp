// SPDX-License-Identifier: MIT
// ioctl_fuzz [--calls N] [--seconds N] [--seed N] [--threads N]: random calls of several processes
// on the in-process device. Without options: a short run of each profile, alone and with threads.
// The run of one thread is a function of the seed: it is made twice and must give the same answers.
// At the end every process goes, and everything they took must have come back.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <string_view>
#include <thread>

#include "callers.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::int32_t first_process = 3000;

struct Options {
  std::uint64_t calls = 30000, seed = 1;
  std::uint32_t threads = 2;
  std::uint32_t seconds = 0;  ///< 0 = one round
};

struct Outcome {
  std::uint64_t digest = 0, calls = 0, accepted = 0;
  bool clean = false;
};

Outcome run_round(const Profile& profile, std::uint64_t seed, std::uint64_t calls,
                  std::uint32_t threads) {
  Playground playground(profile);
  std::deque<Random> choices;
  std::vector<std::unique_ptr<Callers>> callers;
  for (std::uint32_t i = 0; i < threads; ++i) {
    callers.push_back(std::make_unique<Callers>(playground, choices.emplace_back(seed * 1000 + i),
                                                first_process + static_cast<std::int32_t>(10 * i)));
  }
  const auto run = [&callers, calls](std::uint32_t i) {
    for (std::uint64_t call = 0; call < calls; ++call) callers[i]->turn();
    callers[i]->leave();
  };
  std::vector<std::thread> running;
  for (std::uint32_t i = 1; i < threads; ++i) {
    running.emplace_back(run, i);
  }
  run(0);
  for (std::thread& thread : running) thread.join();
  Outcome outcome;
  outcome.digest = callers[0]->digest();
  outcome.calls = calls * threads;
  for (const auto& caller : callers) outcome.accepted += caller->accepted();
  callers.clear();
  outcome.clean = playground.abandon();
  return outcome;
}

bool fuzz(const Profile& profile, std::uint64_t seed, const Options& options) {
  const Outcome first = run_round(profile, seed, options.calls, 1);
  const Outcome second = run_round(profile, seed, options.calls, 1);
  const Outcome crowd = run_round(profile, seed, options.calls, options.threads);
  const bool same = first.digest == second.digest;
  fmt::print("{:<14} seed {:<6} {} calls, {} accepted{}{}\n", profile.name(), seed,
             first.calls + second.calls + crowd.calls,
             first.accepted + second.accepted + crowd.accepted,
             same ? "" : ", ANSWERS DIFFER between two runs",
             first.clean && second.clean && crowd.clean ? "" : ", LEFT SOMETHING BEHIND");
  std::fflush(stdout);
  return same && first.clean && second.clean && crowd.clean;
}

bool parse(int count, char** words, Options& options) {
  std::map<std::string_view, std::function<void(std::uint64_t)>> set = {
      {"--calls", [&](std::uint64_t value) { options.calls = value; }},
      {"--seed", [&](std::uint64_t value) { options.seed = value; }},
      {"--seconds", [&](std::uint64_t v) { options.seconds = static_cast<std::uint32_t>(v); }},
      {"--threads", [&](std::uint64_t v) { options.threads = static_cast<std::uint32_t>(v); }}};
  for (int i = 1; i < count; i += 2) {
    const auto option = set.find(words[i]);
    if (option == set.end() || i + 1 == count) return false;
    option->second(std::strtoull(words[i + 1], nullptr, 0));
  }
  return options.threads >= 1 && options.threads <= 2;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    fmt::print(stderr, "usage: ioctl_fuzz [--calls N] [--seconds N] [--seed N] [--threads 1|2]\n");
    return 2;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  bool good = true;
  std::uint64_t seed = options.seed;
  do {
    for (const Profile& profile :
         {Profile{3, 24, false}, Profile{2, 24, true}, Profile{3, 27, false}, Profile{2, 30, true},
          Profile{3, 30, false}}) {
      good = fuzz(profile, seed, options) && good;
    }
    ++seed;
  } while (good && std::chrono::steady_clock::now() < end);
  return good ? 0 : 1;
}
