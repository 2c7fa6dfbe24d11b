// SPDX-License-Identifier: MIT
// The suite must catch drivers that answer differently, and leave a real driver unharmed.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <set>

#include "client.hpp"
#include "neffld/forwarding_file.hpp"
#include "runner.hpp"
#include "scratch_folder.hpp"

using namespace neffld;
using namespace neffld::cts;
using neffld::test::ScratchFolder;

namespace {

using Commands = std::set<std::uint32_t>;

/// What the files of a target do to the calls that pass.
struct Behaviour {
  bool lenient = false;    ///< every call answers 0
  std::uint32_t liar = 0;  ///< this command answers 0 without being made
  Commands succeeded;      ///< commands that answered 0

  template <class Call>
  int answer(std::uint32_t command, Call call) {
    if (command == liar) return 0;
    const int result = call();
    if (result == 0) succeeded.insert(command);
    return lenient ? 0 : result;
  }
};

class WatchedFile final : public ForwardingFile {
 public:
  WatchedFile(std::unique_ptr<DeviceFile> inner, Behaviour& behaviour)
      : ForwardingFile(std::move(inner)), behaviour_(behaviour) {}
  int ioctl(std::uint32_t command, void* argument) noexcept override {
    return behaviour_.answer(command, [&] { return inner_->ioctl(command, argument); });
  }

 private:
  Behaviour& behaviour_;
};

class WatchedProcess final : public Process {
 public:
  WatchedProcess(std::unique_ptr<Process> inner, Behaviour& behaviour)
      : inner_(std::move(inner)), behaviour_(behaviour) {}
  std::int32_t id() const override { return inner_->id(); }
  int open(Access access) override { return inner_->open(access); }
  int dup(int descriptor) override { return inner_->dup(descriptor); }
  int close(int descriptor) override { return inner_->close(descriptor); }
  std::unique_ptr<Process> fork() override {
    return std::make_unique<WatchedProcess>(inner_->fork(), behaviour_);
  }
  void exit() override { inner_->exit(); }
  int ioctl(int descriptor, std::uint32_t command, void* argument) override {
    return behaviour_.answer(command, [&] { return inner_->ioctl(descriptor, command, argument); });
  }
  Result<void*> mmap(int descriptor, std::uint64_t offset, std::uint64_t length,
                     bool writable) override {
    return inner_->mmap(descriptor, offset, length, writable);
  }
  void munmap(void* address, std::uint64_t length) override { inner_->munmap(address, length); }

 private:
  std::unique_ptr<Process> inner_;
  Behaviour& behaviour_;
};

/// A simulated device that says it is a vendor's driver, or lies.
class WatchedTarget final : public Target {
 public:
  WatchedTarget(const std::string& device, bool as_driver, Behaviour& behaviour)
      : behaviour_(behaviour) {
    inner_ = std::move(*make_target({.device = device}));
    facts_ = inner_->facts();
    facts_.simulated = !as_driver;
    if (as_driver) facts_.kind = facts_.v2() ? "driver:v2" : "driver:v3";
  }
  Result<void> next_row() override { return inner_->next_row(); }
  Result<std::unique_ptr<DeviceFile>> open() override {
    auto file = inner_->open();
    if (!file) return file;
    return std::make_unique<WatchedFile>(std::move(*file), behaviour_);
  }
  Result<std::unique_ptr<Process>> start_process() override {
    auto process = inner_->start_process();
    if (!process) return process;
    return std::make_unique<WatchedProcess>(std::move(*process), behaviour_);
  }

 private:
  std::unique_ptr<Target> inner_;
  Behaviour& behaviour_;
};

std::vector<RowResult> run_on(Target& target, const Selection& selection) {
  const auto chosen = select(selection);
  REQUIRE(chosen);
  auto results = cts::run(target, *chosen, selection, {});
  REQUIRE(results);
  return *results;
}

std::size_t count(const std::vector<RowResult>& results, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(),
                    [&](const RowResult& result) { return result.verdict == verdict; }));
}

/// Calls that make the device act: never sent to a driver that is not simulated (decision 24).
const Commands acting = {
    NEURON_IOCTL_DMA_QUEUE_COPY_START, NEURON_IOCTL_PROGRAM_ENGINE, NEURON_IOCTL_PROGRAM_ENGINE_NC,
    NEURON_IOCTL_PROGRAM_ENGINE_NC64,  NEURON_IOCTL_BAR_WRITE,      NEURON_IOCTL_HBM_SCRUB_START};

/// Calls that change what others may use.
const Commands changing = {NEURON_IOCTL_NC_RESET,           NEURON_IOCTL_DEVICE_RESET,
                           NEURON_IOCTL_DMA_QUEUE_INIT,     NEURON_IOCTL_DMA_QUEUE_INIT_BATCH,
                           NEURON_IOCTL_SEMAPHORE_WRITE,    NEURON_IOCTL_SEMAPHORE_INCREMENT,
                           NEURON_IOCTL_EVENT_SET,          NEURON_IOCTL_CINIT_SET_STATE,
                           NEURON_IOCTL_CRWL_NC_RANGE_MARK, NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0,
                           NEURON_IOCTL_CRWL_WRITER_ENTER,  NEURON_IOCTL_NOTIFICATIONS_INIT_V2,
                           NEURON_IOCTL_DMA_ENG_SET_STATE,  NEURON_IOCTL_SEMAPHORE_DECREMENT};

Commands both(const Commands& a, const Commands& b) {
  Commands common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::inserter(common, common.begin()));
  return common;
}

}  // namespace

TEST_CASE("on a real driver only harmless rows run") {
  for (const char* device : {"sim:v2", "sim:v3"}) {
    Behaviour behaviour;
    WatchedTarget target(device, true, behaviour);
    const auto results = run_on(target, {});
    CHECK(count(results, Verdict::failed) == 0);
    CHECK(count(results, Verdict::passed) > 100);
    CHECK(both(behaviour.succeeded, changing).empty());
    CHECK(both(behaviour.succeeded, acting).empty());
  }
}

TEST_CASE("rows that crash the kernel or make the device act never run on a real driver") {
  for (const char* device : {"sim:v2", "sim:v3"}) {
    Behaviour behaviour;
    WatchedTarget target(device, true, behaviour);
    const auto results = run_on(target, {.all = true});
    CHECK(count(results, Verdict::failed) == 0);
    CHECK_FALSE(both(behaviour.succeeded, changing).empty());
    CHECK(both(behaviour.succeeded, acting).empty());
    for (const RowResult& result : results) {
      CAPTURE(result.row->name);
      if (result.row->safety == Safety::simulated) CHECK(result.verdict == Verdict::skipped);
    }
  }
}

TEST_CASE("a device that says yes to everything fails in every group") {
  Behaviour behaviour;
  behaviour.lenient = true;
  WatchedTarget target("sim:v3", false, behaviour);
  const auto results = run_on(target, {});
  std::set<std::string_view> groups, failing;
  for (const RowResult& result : results) {
    groups.insert(result.row->group());
    if (result.verdict == Verdict::failed) failing.insert(result.row->group());
  }
  CHECK(failing == groups);
}

TEST_CASE("a command that does nothing is noticed") {
  for (const std::uint32_t command :
       {NEURON_IOCTL_MEM_FREE, NEURON_IOCTL_MEM_BUF_COPY64, NEURON_IOCTL_MEM_COPY64,
        NEURON_IOCTL_MEMSET64, NEURON_IOCTL_DMA_QUEUE_INIT, NEURON_IOCTL_DMA_COPY_DESCRIPTORS64,
        NEURON_IOCTL_DMA_QUEUE_COPY_START, NEURON_IOCTL_SEMAPHORE_WRITE, NEURON_IOCTL_EVENT_SET,
        NEURON_IOCTL_NC_RESET, NEURON_IOCTL_CINIT_SET_STATE, NEURON_IOCTL_NOTIFICATIONS_INIT_V2,
        NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, NEURON_IOCTL_PROGRAM_ENGINE_NC64,
        NEURON_IOCTL_BAR_WRITE, NEURON_IOCTL_DRIVER_INFO_GET, NEURON_IOCTL_DEVICE_INFO}) {
    Behaviour behaviour;
    behaviour.liar = command;
    WatchedTarget target("sim:v3", false, behaviour);
    CAPTURE(command);
    CHECK(count(run_on(target, {}), Verdict::failed) > 0);
  }
}

TEST_CASE("processes of a node are real ones that share this one's memory") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("node");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  {
    auto started = start_node_process(path);
    REQUIRE(started);
    Process& parent = **started;
    CHECK(parent.id() != getpid());
    CHECK(parent.close(99) == -EBADF);
    const int descriptor = parent.open(Access::read_write);
    REQUIRE(descriptor >= 0);
    // The kernel writes for another process and the number arrives here.
    int waiting = 77;
    CHECK(parent.ioctl(descriptor, FIONREAD, &waiting) == 0);
    CHECK(waiting == 0);
    // Its descriptors are its own.
    CHECK(fcntl(descriptor, F_GETFD) == -1);
    const int copy = parent.dup(descriptor);
    CHECK(copy > descriptor);
    const auto child = parent.fork();
    REQUIRE(child != nullptr);
    CHECK(child->id() != parent.id());
    waiting = 77;
    CHECK(child->ioctl(copy, FIONREAD, &waiting) == 0);
    CHECK(waiting == 0);
    CHECK(child->close(descriptor) == 0);
    CHECK(child->ioctl(descriptor, FIONREAD, &waiting) == -EBADF);
    CHECK(parent.ioctl(descriptor, FIONREAD, &waiting) == 0);
    parent.exit();
    CHECK(parent.ioctl(descriptor, FIONREAD, &waiting) == -ESRCH);
    CHECK(child->ioctl(copy, FIONREAD, &waiting) == 0);
    const auto stranger = start_node_process(path);
    REQUIRE(stranger);
    CHECK((*stranger)->ioctl(copy, FIONREAD, &waiting) == -EBADF);
  }
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a failure is one sentence of what was sent, got and expected") {
  Behaviour behaviour;
  behaviour.liar = NEURON_IOCTL_MEM_FREE;
  WatchedTarget target("sim:v3", false, behaviour);
  const auto results = run_on(target, {.filter = "memory.free-twice"});
  REQUIRE(results.size() == 1);
  CHECK(results[0].verdict == Verdict::failed);
  CHECK(results[0].text == "sent MEM_FREE a second time, got 0, expected -EINVAL (-22)");
}
