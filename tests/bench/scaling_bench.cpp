// SPDX-License-Identifier: MIT
// scaling-bench [LARGEST]: time of planning and relocation as DMA elements and instruction slots
// grow fourfold, up to LARGEST (default 10 million) of each. Linear means that the time of one
// stays the same: the ratio column compares it with the row before. Exit 1 if it more than doubles.
// All sizes are beyond the caches, or the step out of them would show.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "neffld/plan.hpp"
#include "neffld/relocate.hpp"

namespace {

using namespace neffld;

constexpr int rounds = 3;
constexpr double most = 2.0;  // what a ratio may be; square time costs 4

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "scaling-bench: {}\n", why);
  std::exit(1);
}

struct Program {
  Kbin kbin;
  std::vector<std::uint8_t> stream;

  void record(std::uint8_t opcode) {
    stream.resize(stream.size() + 64);
    std::uint8_t* slot = stream.data() + stream.size() - 64;
    slot[0] = opcode;
    slot[1] = 0x10;
  }
  void trigger(std::uint32_t block) {
    record(0xC1);
    const MutableBytes slot(stream.data() + stream.size() - 64, 64);
    slot[0x0C] = 'q';
    store_le<std::uint32_t>(slot, 0x30, block);
  }
  void finish() {
    EngineProgram& sp = kbin.engines[static_cast<std::size_t>(Engine::sp)];
    sp.bin_member = "sp.bin";
    sp.slots = stream;
  }
};

/// One queue set of 16 rings and room to copy in.
Program empty_program() {
  Program program;
  program.kbin.name = "sg00";
  program.kbin.arch = Arch::v3;
  Variable memory;
  memory.name = "m";
  memory.size = 1 << 20;
  program.kbin.variables.push_back(memory);
  QueueSet queue;
  queue.name = "q";
  queue.type = "data";
  queue.owner = Engine::sp;
  queue.num_queues = 16;
  queue.semaphores = {8};
  queue.instances = {"q"};
  program.kbin.queue_sets.push_back(queue);
  return program;
}

void add_block(Program& program, std::uint32_t id, std::uint64_t elements) {
  DmaDescriptor copy;
  copy.from.dims = copy.to.dims = 2;
  copy.from.sizes = copy.to.sizes = {16, elements, 1, 1};
  copy.from.steps = copy.to.steps = {1, 32, 0, 0};
  copy.to.offset = 1 << 19;
  DmaBlock block;
  block.id = id;
  block.first_descriptor = static_cast<std::uint32_t>(program.kbin.descriptors.size());
  block.descriptor_count = 1;
  block.engine = Engine::sp;
  program.kbin.descriptors.push_back(copy);
  program.kbin.blocks.push_back(block);
}

/// `elements` in blocks of 128, each triggered once.
Program ring_program(std::uint64_t elements) {
  Program program = empty_program();
  for (std::uint32_t block = 0; block < elements / 128; ++block) {
    add_block(program, block, 128);
    program.trigger(block);
  }
  program.finish();
  return program;
}

/// `slots` records: labels, branches to them, barriers and plain ones.
Program stream_program(std::uint64_t slots) {
  Program program = empty_program();
  program.stream.reserve(slots * 64);
  for (std::uint64_t i = 0; i < slots; i += 8) {
    program.record(0xA9);  // to the label three further
    const MutableBytes branch(program.stream.data() + program.stream.size() - 64, 64);
    branch[0x0E] = 2;
    store_le<std::uint32_t>(branch, 0x30, static_cast<std::uint32_t>(i));
    program.record(0xA4);
    program.record(0xC3);
    program.record(0xCC);
    store_le<std::uint32_t>(MutableBytes(program.stream.data() + program.stream.size() - 64, 64),
                            0x0C, static_cast<std::uint32_t>(i));
    for (int plain = 0; plain < 4; ++plain) program.record(0x41);
  }
  program.finish();
  return program;
}

double plan_and_relocate(const Program& program) {
  const auto begin = std::chrono::steady_clock::now();
  const std::span<const Kbin> kbins(&program.kbin, 1);
  PlanOptions options;
  options.logical_core_size = 1;
  auto plan = plan_model(kbins, options);
  if (!plan) stop(to_sentence(plan.error()));
  Addresses addresses;
  std::uint64_t next = 0x1'0000'0000;
  for (const Request& request : plan->requests) {
    addresses.sections.push_back(next);
    next += (request.size + 0xFFFF) & ~0xFFFFull;
  }
  Ledger ledger;
  std::uint64_t bytes = 0;
  const SectionSink count = [&](const SectionContent& content) -> Result<void> {
    bytes += content.bytes.size();
    return {};
  };
  const auto done = relocate(kbins, *plan, addresses, ledger, count);
  if (!done) stop(to_sentence(done.error()));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool measure(const char* what, std::uint64_t largest, Program (*make)(std::uint64_t)) {
  fmt::print("{:<10} {:>10} {:>10} {:>9} {:>6}\n", what, "count", "ms", "ns each", "ratio");
  double before = 0;
  bool linear = true;
  for (const std::uint64_t count : {largest / 16, largest / 4, largest}) {
    const Program program = make(count);
    double best = 1e30;
    for (int round = 0; round < rounds; ++round) best = std::min(best, plan_and_relocate(program));
    const double each = best / static_cast<double>(count) * 1e9;
    const double ratio = before > 0 ? each / before : 1;
    fmt::print("{:<10} {:>10} {:>10.1f} {:>9.1f} {:>6.2f}\n", "", count, best * 1e3, each, ratio);
    linear = linear && ratio <= most;
    before = each;
  }
  return linear;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  if (largest < 100'000) stop("usage: scaling-bench [LARGEST], at least 100000");
  const bool rings = measure("elements", largest, ring_program);
  const bool streams = measure("slots", largest, stream_program);
  return rings && streams ? 0 : 1;
}
