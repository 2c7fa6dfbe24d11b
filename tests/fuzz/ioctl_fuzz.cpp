// SPDX-License-Identifier: MIT
// ioctl_fuzz [--calls N] [--seconds N] [--seed N] [--threads N]: random calls of several processes
// on the in-process device. Without options: a short run of each profile, alone and with threads.
// The run of one thread is a function of the seed: it is made twice and must give the same answers.
// At the end every process goes, and everything they took must have come back.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <thread>

#include "neffld/sim_control.hpp"
#include "neuron_abi/udma.h"
#include "world.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::size_t processes = 6, descriptors_each = 3, known_handles = 32;
constexpr std::int32_t first_process = 3000;

struct Options {
  std::uint64_t calls = 30000, seed = 1;
  std::uint32_t threads = 2;
  std::uint32_t seconds = 0;  ///< 0 = one round
};

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t value = state_ += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// One thread's processes. What it learns, it uses again: handles, addresses, mappings.
class Fuzzer {
 public:
  Fuzzer(const Playground& playground, std::uint64_t seed, std::int32_t first_id)
      : playground_(playground),
        random_(seed),
        buffers_(0x100000000ull),
        first_id_(first_id),
        world_(playground.world()) {
    handles_ = {world_.first, world_.second, world_.ring, 0};
    addresses_ = {world_.pa, world_.engine_window};
  }

  void run(std::uint64_t calls) {
    for (std::uint64_t i = 0; i < calls; ++i) turn();
    for (auto& process : files_) process.clear();
  }

  /// Of all answers, in order.
  std::uint64_t digest() const { return digest_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  using Files = std::vector<std::unique_ptr<DeviceFile>>;

  void turn() {
    const std::size_t process = random_.below(processes);
    Files& files = files_[process];
    switch (random_.below(64)) {
      case 0:
        files.clear();  // the process exits
        return;
      case 1:
        if (!files.empty()) files.erase(files.begin() + static_cast<long>(any(files.size())));
        return;
      case 2:
      case 3:
      case 4:
        return open(process);
      case 5:
        return share(process);
      case 6:
        return map(process);
      case 7:
        return furnish(process);
      default:
        break;
    }
    if (files.empty()) return open(process);
    call(*files[any(files.size())]);
  }

  void open(std::size_t process) {
    if (files_[process].size() >= descriptors_each) return;
    std::unique_ptr<DeviceFile> file;
    const auto access = static_cast<Access>(random_.one_in(8) ? random_.below(4) : 2);
    note(sim_open_as(playground_.device(), id(process), access, file));
    if (file != nullptr) files_[process].push_back(std::move(file));
  }

  /// dup, or a file that another process has inherited.
  void share(std::size_t from) {
    const std::size_t to = random_.below(processes);
    if (files_[from].empty() || files_[to].size() >= descriptors_each) return;
    std::unique_ptr<DeviceFile> file;
    note(sim_share(*files_[from][any(files_[from].size())], id(to), file));
    if (file != nullptr) files_[to].push_back(std::move(file));
  }

  void map(std::size_t process) {
    if (files_[process].empty()) return;
    DeviceFile& file = *files_[process].front();
    const std::uint64_t length = (1 + random_.below(16)) << (random_.one_in(2) ? 12 : 16);
    const auto mapped = file.mmap(address() & ~0xFFFull, length, true);
    note(mapped.has_value());
    if (!mapped) return;
    auto* bytes = static_cast<volatile std::uint8_t*>(*mapped);
    bytes[random_.below(length)] = static_cast<std::uint8_t>(random_.next());
    bytes[length - 1] = bytes[0];
    file.munmap(*mapped, length);
  }

  /// A chunk and a queue on it, whose descriptors are random but sensible.
  void furnish(std::size_t process) {
    if (files_[process].empty()) return;
    DeviceFile& file = *files_[process].front();
    std::uint64_t handle = 0, pa = 0;
    neuron_mem_alloc_v2mt64 request{};
    request.size = 0x1000ull << random_.below(5);
    request.host_memory = random_.one_in(4) ? 1 : 0;
    request.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
    note(file.ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &request));
    neuron_mem_get_pa get{handle, reinterpret_cast<std::uintptr_t>(&pa)};
    if (handle == 0 || file.ioctl(NEURON_IOCTL_MEM_GET_PA, &get) != 0) return;
    learn(handles_, handle);
    learn(addresses_, pa);
    std::vector<neuron_udma_tx_desc> ring(64);
    for (neuron_udma_tx_desc& descriptor : ring) {
      descriptor.len_ctrl = static_cast<std::uint32_t>(4 << random_.below(8));
      descriptor.buf_ptr = address();
    }
    if (random_.one_in(8)) ring[random_.below(4)].buf_ptr = queue_register();
    neuron_mem_buf_copy64 copy{handle, reinterpret_cast<std::uintptr_t>(ring.data()),
                               ring.size() * sizeof ring[0], 0, 1};
    note(file.ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &copy));
    neuron_dma_queue_init init{2, 3, 64, 64, handle, handles_[any(handles_.size())], 0, 0};
    note(file.ioctl(NEURON_IOCTL_DMA_QUEUE_INIT, &init));
  }

  /// A register of the queue that furnish() programs.
  std::uint64_t queue_register() {
    const bool v2 = playground_.profile().architecture == 2;
    const std::uint64_t base = v2 ? neuron_v2_dma_engine(2) : neuron_v3_dma_engine(2);
    const auto reg = static_cast<std::uint32_t>(random_.below(0x40) * 4);
    return base +
           (random_.one_in(2) ? neuron_udma_tx_register(3, reg) : neuron_udma_rx_register(3, reg));
  }

  void call(DeviceFile& file) {
    const auto table = shim::all_commands();
    const shim::CommandInfo& info = table[random_.below(table.size())];
    if (info.value == NEURON_IOCTL_HBM_SCRUB_START && !random_.one_in(50)) return;
    Argument argument = sensible(info, world_, buffers_);
    argument.resize(std::max<std::size_t>(argument.size(), sizeof(neuron_dma_queue_init_batch)));
    mutate(info, argument);
    std::uint32_t command = info.value;
    if (random_.one_in(64)) command ^= 1u << random_.below(32);
    // Another command would take a number of this one for a pointer into this program.
    if (command != info.value && is_served(command, playground_.profile())) return;
    void* place = argument.data();
    if (random_.one_in(64)) {
      place = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bad_pointer()));
    }
    if (random_.one_in(256)) buffers_.fill();
    const int result = file.ioctl(command, place);
    note(result);
    if (result != 0 || place != argument.data()) return;
    accepted_++;
    std::uint64_t value = 0;
    std::memcpy(&value, buffers_.at(0), sizeof value);
    const std::string_view name = info.name;
    if (name.starts_with("MEM_ALLOC")) learn(handles_, value);
    if (name == "MEM_GET_PA") learn(addresses_, value);
  }

  /// Fields get values that mean something elsewhere, limits, or noise.
  void mutate(const shim::CommandInfo& info, Argument& argument) {
    for (const shim::CommandField& field : info.fields) {
      if (field.bytes > 8 || field.reply) continue;
      const std::string_view name = field.name;
      const bool is_handle = name.ends_with("handle") && field.bytes == 8;
      if (is_handle && random_.one_in(2)) {
        shim::set_field(argument, field.offset, 8, handles_[any(handles_.size())]);
      } else if (name == "offset" && std::string_view(info.name).starts_with("PROGRAM_ENGINE")) {
        // It moves the source pointer too, which must stay in the buffer or the hole behind it.
        shim::set_field(argument, field.offset, field.bytes, random_.below(2 * Buffers::bytes));
      } else if (random_.one_in(6)) {
        // A random pointer must not hit memory of this program: the device would write there.
        const bool pointer = field.kind == shim::FieldKind::pointer;
        shim::set_field(argument, field.offset, field.bytes, pointer ? bad_pointer() : word());
      }
    }
  }

  std::uint64_t bad_pointer() {
    switch (random_.below(4)) {
      case 0:
        return 0;
      case 1:
        return 8 * random_.below(512);
      case 2:
        return 0xFFFF800000000000ull | random_.below(1ull << 40);
      default:
        return ~random_.below(4096);
    }
  }

  std::uint64_t word() {
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
        return random_.below(8);
      case 3:
        return random_.below(64);
      case 4:
        return random_.below(0x10000) << 12;
      case 5:
        return 0 - random_.below(0x10000);
      case 6:
        return address();
      case 7:
        return 1ull << random_.below(44);
      default:
        return 0xFFFF000000000000ull | random_.next();
    }
  }

  std::uint64_t address() { return addresses_[any(addresses_.size())] + random_.below(0x1000); }

  std::size_t any(std::size_t count) { return static_cast<std::size_t>(random_.below(count)); }

  void learn(std::vector<std::uint64_t>& known, std::uint64_t value) {
    if (known.size() < known_handles) return known.push_back(value);
    known[any(known.size())] = value;
  }

  std::int32_t id(std::size_t process) const {
    return first_id_ + static_cast<std::int32_t>(process);
  }

  void note(std::int64_t answer) {
    digest_ = (digest_ ^ static_cast<std::uint64_t>(answer)) * 0x100000001B3ull;
  }

  const Playground& playground_;
  Random random_;
  Buffers buffers_;
  std::int32_t first_id_;
  World world_;
  Files files_[processes];
  std::vector<std::uint64_t> handles_, addresses_;
  std::uint64_t digest_ = 0xCBF29CE484222325ull, accepted_ = 0;
};

struct Outcome {
  std::uint64_t digest = 0, calls = 0, accepted = 0;
  bool clean = false;
};

Outcome run_round(const Profile& profile, std::uint64_t seed, std::uint64_t calls,
                  std::uint32_t threads) {
  Playground playground(profile);
  std::vector<std::unique_ptr<Fuzzer>> fuzzers;
  for (std::uint32_t i = 0; i < threads; ++i) {
    fuzzers.push_back(std::make_unique<Fuzzer>(playground, seed * 1000 + i,
                                               first_process + static_cast<std::int32_t>(10 * i)));
  }
  std::vector<std::thread> running;
  for (std::uint32_t i = 1; i < threads; ++i) {
    running.emplace_back([&fuzzers, i, calls] { fuzzers[i]->run(calls); });
  }
  fuzzers[0]->run(calls);
  for (std::thread& thread : running) thread.join();
  Outcome outcome;
  outcome.digest = fuzzers[0]->digest();
  outcome.calls = calls * threads;
  for (const auto& fuzzer : fuzzers) outcome.accepted += fuzzer->accepted();
  fuzzers.clear();
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
