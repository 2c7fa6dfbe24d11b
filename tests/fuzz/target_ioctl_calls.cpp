// SPDX-License-Identifier: MIT
#include "callers.hpp"
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::int32_t first_process = 3000;
constexpr int most_turns = 500;

/// Takes every decision from the input; behind its end all are 0.
class Bytewise final : public test::Choices {
 public:
  explicit Bytewise(Bytes input) : rest_(input) {}
  bool at_end() const { return rest_.empty(); }
  std::uint64_t next() override { return take(8); }
  std::uint64_t below(std::uint64_t limit) override {
    return take(limit <= 0x100 ? 1 : limit <= 0x10000 ? 2 : 8) % limit;
  }

 private:
  std::uint64_t take(std::size_t count) {
    std::uint64_t value = 0;
    for (; count > 0 && !rest_.empty(); --count) {
      value = value << 8 | rest_[0];
      rest_ = rest_.subspan(1);
    }
    return value;
  }

  Bytes rest_;
};

void run(Bytes input) {
  constexpr test::Profile profiles[] = {
      {3, 24, false}, {2, 24, true}, {3, 27, false}, {2, 30, true}, {3, 30, false}};
  if (input.empty()) return;
  test::Playground playground(profiles[input[0] % std::size(profiles)]);
  Bytewise choices(input.subspan(1));
  test::Callers callers(playground, choices, first_process);
  for (int turn = 0; turn < most_turns && !choices.at_end(); ++turn) callers.turn();
  callers.leave();
  promise(playground.abandon(), "processes that have gone leave nothing on the device");
}

std::vector<Input> seeds() {
  std::vector<Input> inputs;
  test::Random random(6);
  for (std::uint8_t profile = 0; profile < 5; ++profile) {
    for (const std::size_t size : {64u, 1024u, 4096u}) {
      Input input = {profile};
      while (input.size() < size) input.push_back(static_cast<std::uint8_t>(random.next()));
      inputs.push_back(std::move(input));
    }
  }
  return inputs;
}

std::vector<std::string> words() {
  return {};
}

}  // namespace

const Target ioctl_calls = {
    "ioctl_calls", "a byte that chooses a driver, and decisions: who calls what with what",
    8 << 10,       run,
    seeds,         words};

}  // namespace neffld::fuzz
