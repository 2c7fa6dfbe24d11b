// SPDX-License-Identifier: MIT
// Real processes for rows on a device node.
//
// A row's calls point into this process's memory, so the other process must see the same memory,
// and the driver must see another process. clone(2) with CLONE_VM and no CLONE_THREAD or
// CLONE_FILES makes just that: its own process number and descriptors, our address space. It runs
// one loop on its own stack that makes system calls for us and touches nothing of the C library but
// syscall(); while it works, the caller waits.
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#include "process.hpp"

namespace neffld::cts {
namespace {

constexpr std::size_t stack_bytes = 128 << 10;

enum class Turn : std::uint32_t { caller, other };

/// A child to be made by the other process itself, so that it inherits its descriptors.
struct Fork {
  void* stack_top;
  struct Channel* channel;
};

/// What the caller and the other process pass to and fro. `turn` says whose it is.
struct Channel {
  std::atomic<Turn> turn{Turn::caller};
  bool fresh = true;  ///< closes the descriptors it has inherited
  bool forks = false;
  Fork child{};
  long number = 0;  ///< of the system call
  long words[6] = {};
  long result = 0;  ///< negative errno after an error
};

long system_call(long number, const long (&words)[6]) {
  const long result = syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  return result == -1 ? -errno : result;
}

void pass(Channel& channel, Turn to) {
  channel.turn.store(to, std::memory_order_release);
  syscall(SYS_futex, &channel.turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Waits until it is `mine`; false if the process `watched` (0 = none) has ended.
bool wait_for(Channel& channel, Turn mine, pid_t watched) {
  const timespec slice{0, 200000000};
  const Turn others = mine == Turn::caller ? Turn::other : Turn::caller;
  while (channel.turn.load(std::memory_order_acquire) != mine) {
    siginfo_t info{};
    if (watched != 0 &&
        waitid(P_PID, static_cast<id_t>(watched), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == watched) {
      return false;
    }
    syscall(SYS_futex, &channel.turn, FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(others),
            &slice, nullptr, 0);
  }
  return true;
}

int serve(void* context);

long make(const Fork& child, int flags) {
  const int id = clone(serve, child.stack_top, CLONE_VM | SIGCHLD | flags, child.channel);
  return id < 0 ? -errno : id;
}

/// The life of the other process.
int serve(void* context) {
  Channel& channel = *static_cast<Channel*>(context);
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (channel.fresh) syscall(SYS_close_range, 3u, ~0u, 0u);
  for (;;) {
    wait_for(channel, Turn::other, 0);
    channel.result = channel.forks ? make(channel.child, CLONE_PARENT)
                                   : system_call(channel.number, channel.words);
    pass(channel, Turn::caller);
  }
}

class NodeProcess final : public Process {
 public:
  explicit NodeProcess(std::string path) : path_(std::move(path)) {}
  ~NodeProcess() override {
    exit();
    if (stack_ != MAP_FAILED) ::munmap(stack_, stack_bytes);
  }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  /// 0 or a negative errno.
  int start() {
    return begin([](const Fork& child) { return make(child, 0); });
  }

  std::int32_t id() const override { return id_; }
  int open(Access access) override {
    return static_cast<int>(ask(SYS_openat, AT_FDCWD, path_.c_str(), static_cast<int>(access)));
  }
  int dup(int descriptor) override { return static_cast<int>(ask(SYS_dup, descriptor)); }
  int close(int descriptor) override { return static_cast<int>(ask(SYS_close, descriptor)); }

  std::unique_ptr<Process> fork() override {
    auto child = std::make_unique<NodeProcess>(path_);
    child->channel_.fresh = false;
    const int error = child->begin([this](const Fork& wanted) {
      channel_.forks = true;
      channel_.child = wanted;
      const long made = round();
      channel_.forks = false;
      return made;
    });
    if (error != 0) return nullptr;
    return child;
  }

  // Killed, not asked: rows are about what the kernel closes then.
  void exit() override {
    if (id_ == 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = 0;
  }

  int ioctl(int descriptor, std::uint32_t command, void* argument) override {
    return static_cast<int>(ask(SYS_ioctl, descriptor, command, argument));
  }

  Result<void*> mmap(int descriptor, std::uint64_t offset, std::uint64_t length,
                     bool writable) override {
    const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    const long result =
        offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())
            ? -EINVAL
            : ask(SYS_mmap, nullptr, length, protection, MAP_SHARED, descriptor, offset);
    if (result < 0 && result > -4096) {
      return fail(Status::failure, ErrorClass::device, {.member = path_},
                  std::strerror(static_cast<int>(-result)));
    }
    return reinterpret_cast<void*>(result);
  }
  void munmap(void* address, std::uint64_t length) override { ::munmap(address, length); }

 private:
  template <class Make>
  int begin(Make make_child) {
    stack_ = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack_ == MAP_FAILED) return -ENOMEM;
    const long made = make_child({static_cast<char*>(stack_) + stack_bytes, &channel_});
    if (made < 0) return static_cast<int>(made);
    id_ = static_cast<pid_t>(made);
    return 0;
  }

  template <class T>
  static long word(T value) {
    if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
      return reinterpret_cast<long>(value);
    } else {
      return static_cast<long>(value);
    }
  }

  template <class... Words>
  long ask(long number, Words... words) {
    const long given[] = {word(words)...};
    static_assert(sizeof given <= sizeof channel_.words);
    channel_.number = number;
    std::memcpy(channel_.words, given, sizeof given);
    return round();
  }

  long round() {
    if (id_ == 0) return -ESRCH;
    pass(channel_, Turn::other);
    return wait_for(channel_, Turn::caller, id_) ? channel_.result : -ESRCH;
  }

  std::string path_;
  Channel channel_;
  void* stack_ = MAP_FAILED;
  pid_t id_ = 0;
};

}  // namespace

Result<std::unique_ptr<Process>> start_node_process(const std::string& path) {
  auto process = std::make_unique<NodeProcess>(path);
  if (const int error = process->start(); error != 0) {
    return fail(Status::failure, ErrorClass::resource, {.member = path},
                std::string("no other process can be started: ") + std::strerror(-error));
  }
  return process;
}

}  // namespace neffld::cts
