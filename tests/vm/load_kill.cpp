// SPDX-License-Identifier: MIT
// load_kill NODE FILE: processes that load the NEFF are killed at the first, the middle and the
// last call of each stage, and at random moments. After each, the node of the module must hold
// nothing: no live chunk, no more memory than before, no core; and the next load gets the addresses
// of the first.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "neffld/back_ends.hpp"
#include "neffld/forwarding_file.hpp"
#include "neffld/session.hpp"
#include "neuron_abi/ioctl.h"

namespace {

using namespace neffld;

constexpr int random_kills = 20;

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "load_kill: {}\n", why);
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) stop(to_sentence(result.error()));
  return std::move(*result);
}

/// Notes the commands of calls, and kills the process instead of making one of them.
class DeadlyFile final : public ForwardingFile {
 public:
  DeadlyFile(std::unique_ptr<DeviceFile> inner, std::vector<std::uint32_t>& seen, std::size_t last)
      : ForwardingFile(std::move(inner)), seen_(seen), last_(last) {}
  int ioctl(std::uint32_t command, void* argument) noexcept override {
    if (seen_.size() == last_) kill(getpid(), SIGKILL);
    seen_.push_back(command);
    return inner_->ioctl(command, argument);
  }

 private:
  std::vector<std::uint32_t>& seen_;
  std::size_t last_;
};

class Loads {
 public:
  Loads(std::string node, const std::string& file)
      : node_(std::move(node)), file_(need(read_file(file))) {}

  void run() {
    // The first load makes what the device keeps: the table of handles, the pages of its registers.
    addresses_ = load(never);
    held_ = held();
    const std::vector<std::uint32_t> calls = commands_;
    for (const std::size_t last : points_of(calls)) {
      killed([&] { load(last); }, 0);
      check(fmt::format("killed before call {} of {}", last + 1, calls.size()));
      ++kills_;
    }
    std::mt19937 random(1);
    for (int i = 0; i < random_kills; ++i) {
      const auto wait = static_cast<useconds_t>(1000 + random() % 60000);
      killed(
          [&] {
            for (;;) load(never);
          },
          wait);
      check(fmt::format("killed after {} us", wait));
      ++kills_;
    }
    fmt::print("{} loads killed on {}, {} calls a load: nothing held, the next load is the first\n",
               kills_, node_, calls.size());
  }

 private:
  static constexpr std::size_t never = ~std::size_t{0};

  /// First, middle and last call of each stretch of calls of one kind: allocations come in pairs
  /// with the question where they are, copies with those of descriptors.
  static std::set<std::size_t> points_of(const std::vector<std::uint32_t>& calls) {
    const auto stage = [&](std::size_t i) {
      switch (calls[i]) {
        case NEURON_IOCTL_MEM_ALLOC_V2MT64:
        case NEURON_IOCTL_MEM_GET_EXTENDED_INFO:
          return 1;
        case NEURON_IOCTL_MEM_BUF_COPY64:
        case NEURON_IOCTL_DMA_COPY_DESCRIPTORS64:
          return 2;
        case NEURON_IOCTL_MEM_FREE:
          return 3;
        default:
          return 4;
      }
    };
    std::set<std::size_t> points;
    for (std::size_t begin = 0, end = 0; begin < calls.size(); begin = end) {
      for (end = begin + 1; end < calls.size() && stage(end) == stage(begin);) ++end;
      points.insert({begin, (begin + end) / 2, end - 1});
    }
    return points;
  }

  /// Runs `work` in a process and kills it after so many microseconds, 0 = it kills itself.
  template <class Work>
  static void killed(Work work, useconds_t wait) {
    const pid_t child = fork();
    if (child < 0) stop("fork failed");
    if (child == 0) {
      work();
      _exit(0);
    }
    if (wait != 0) {
      usleep(wait);
      kill(child, SIGKILL);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) ||
        WTERMSIG(status) != SIGKILL) {
      stop(fmt::format("the loading process ended with status {:#x}", status));
    }
  }

  /// Marks all cores, loads, unloads; the addresses the load got. Dies before call `last`, from 0.
  std::vector<std::uint64_t> load(std::size_t last) {
    commands_.clear();
    auto node = need(open_node(node_));
    mark_cores(*node);
    auto session =
        need(Session::open(std::make_unique<DeadlyFile>(std::move(node), commands_, last)));
    LoadedModel* model =
        need(session->load(need(parse_model(file_, session->arch())), {.one_thread = true}));
    std::vector<std::uint64_t> addresses;
    for (const AllocationInfo& info : model->allocations) addresses.push_back(info.pa);
    if (const auto unloaded = session->unload(*model); !unloaded) {
      stop(to_sentence(unloaded.error()));
    }
    return addresses;
  }

  static void mark_cores(DeviceFile& node) {
    neuron_crwl_nc_map map{};
    map.nc_count = cores_;
    map.end_nc_index = cores_ - 1;
    if (const int answer = node.ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK, &map)) {
      stop(fmt::format("the cores are not free: {}, bitmap {:#x}", answer, map.bitmap));
    }
  }

  /// What must be as before: the memory the module holds, and live chunks by HBM.
  std::vector<std::uint64_t> held() const {
    std::vector<std::uint64_t> found(1);
    std::ifstream file("/sys/module/neuron_sim/parameters/mem_used");
    if (!(file >> found[0])) stop("cannot read the module's mem_used");
    const auto node = need(open_node(node_));
    neuron_dump_mem_chunks dump{};
    while (node->ioctl(NEURON_IOCTL_DUMP_MEM_CHUNKS, &dump) != -EINVAL) {
      found.push_back(dump.num_entries_out);
      dump = {.hbm_index = dump.hbm_index + 1};
      if (found.size() > 8) break;
    }
    return found;
  }

  void check(const std::string& when) {
    if (const auto now = held(); now != held_) {
      stop(fmt::format("{}: bytes and chunks {} are held, {} before", when, fmt::join(now, " "),
                       fmt::join(held_, " ")));
    }
    if (load(never) != addresses_) stop(when + ": the next load has other addresses");
    if (held() != held_) stop(when + ": the load behind it left memory");
  }

  static constexpr std::uint32_t cores_ = 2;  // every device has these
  std::string node_;
  std::vector<std::uint8_t> file_;
  std::vector<std::uint32_t> commands_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint64_t> held_;
  int kills_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    fmt::print(stderr, "usage: load_kill NODE FILE\n");
    return 2;
  }
  Loads(words[1], words[2]).run();
}
