// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "host.hpp"

namespace transcripts {
namespace {

sigjmp_buf touched;

void on_fault(int signal) {
  siglongjmp(touched, signal);
}

/// Takes the right to map any device address from this process, or gives it back.
void set_raw_right(bool allowed) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &head, data) != 0) throw std::runtime_error("capget failed");
  const std::uint32_t bit = 1u << CAP_SYS_RAWIO;
  data[0].effective =
      allowed ? data[0].effective | (data[0].permitted & bit) : data[0].effective & ~bit;
  if (syscall(SYS_capset, &head, data) != 0) throw std::runtime_error("capset failed");
}

class NodeHost final : public Host {
 public:
  NodeHost(std::string prefix, const Script& script) : prefix_(std::move(prefix)) {
    const auto found = script.device.find("devices");
    const std::uint64_t devices = found == script.device.end() ? 1 : found->second;
    const std::string name = prefix_.substr(prefix_.rfind('/') + 1);
    for (std::uint64_t node = 0; node < devices; ++node) {
      std::ifstream mark("/sys/class/" + name + "_device/" + name + std::to_string(node) +
                         "/simulated");
      std::string driver;
      // A transcript holds calls that a real driver must not be sent.
      if (!(mark >> driver) || driver != "neuron_sim") {
        throw std::runtime_error(prefix_ + std::to_string(node) + " is not a simulated device");
      }
    }
  }

  const char* kind() const override { return "module"; }
  bool forks() const override { return true; }
  void be(char) override {}
  void exit() override {}  // the process that plays the step does it
  std::int32_t pid() const override { return getpid(); }

  int open(unsigned node, int flags) override {
    return checked(::open((prefix_ + std::to_string(node)).c_str(), flags | O_CLOEXEC));
  }
  int duplicate(int file) override { return checked(::dup(file)); }
  int close(int file) override { return checked(::close(file)); }
  long ioctl(int file, std::uint32_t command, std::uint64_t argument) override {
    return checked(::ioctl(file, command, argument));
  }

  Mapped map(int file, std::uint64_t offset, std::uint64_t bytes, int protection,
             bool raw) override {
    set_raw_right(raw);
    Mapped mapping;
    void* at = ::mmap(nullptr, bytes, protection, MAP_SHARED, file, static_cast<off_t>(offset));
    if (at == MAP_FAILED) {
      mapping.error = -errno;
    } else {
      mapping.at = static_cast<std::uint8_t*>(at);
      mapping.bytes = bytes;
    }
    set_raw_right(true);
    return mapping;
  }

  int touch(const Mapped& mapping, bool write) override {
    struct sigaction fault {
    }, old_segv{}, old_bus{};
    fault.sa_handler = on_fault;
    sigaction(SIGSEGV, &fault, &old_segv);
    sigaction(SIGBUS, &fault, &old_bus);
    const int signal = sigsetjmp(touched, 1);
    if (signal == 0) {
      volatile std::uint8_t* first = mapping.at;
      const std::uint8_t value = *first;
      if (write) *first = value;
    }
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
    return signal;
  }

  int make_writable(Mapped& mapping) override {
    return checked(::mprotect(mapping.at, mapping.bytes, PROT_READ | PROT_WRITE));
  }

  int crowd(unsigned node, unsigned count) override {
    int hold[2], told[2];
    if (::pipe(hold) != 0 || ::pipe(told) != 0) throw std::runtime_error("no pipe");
    std::vector<pid_t> children;
    int result = 0;
    for (unsigned i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        ::close(hold[1]);
        result = open(node, O_RDWR);
        char end = 0;
        if (::write(told[1], &result, sizeof result) != sizeof result) _exit(1);
        (void)!::read(hold[0], &end, 1);
        _exit(0);
      }
      children.push_back(child);
      if (child < 0 || ::read(told[0], &result, sizeof result) != sizeof result) {
        throw std::runtime_error("a process of the crowd is gone");
      }
    }
    ::close(hold[1]);
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    for (const int end : {hold[0], told[0], told[1]}) ::close(end);
    return result < 0 ? result : 0;
  }

  void silence(const std::string& what) override {
    std::ofstream parameter("/sys/module/neuron_sim/parameters/silent");
    if (!(parameter << what << std::flush)) throw std::runtime_error("cannot silence the module");
  }

 private:
  static int checked(long result) { return static_cast<int>(result < 0 ? -errno : result); }

  std::string prefix_;
};

}  // namespace

std::unique_ptr<Host> node_host(const std::string& prefix, const Script& script) {
  return std::make_unique<NodeHost>(prefix, script);
}

}  // namespace transcripts
