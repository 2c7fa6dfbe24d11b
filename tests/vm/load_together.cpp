// SPDX-License-Identifier: MIT
// load_together DEVICE WORKERS CYCLES FILE...: loads every NEFF alone and keeps its image. Then the
// workers, each with the device open and on a core of its own while there are enough, load and
// unload so many times: first all the same file, then different ones. On a node of the module they
// are processes, in process they are threads. Each load must read back as relocated and equal the
// one made alone, wherever its memory lies; afterwards the device holds what it held before, and
// the next load gets the addresses of the first.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "neffld/auto_bind.hpp"
#include "neffld/back_ends.hpp"
#include "neffld/device_image.hpp"
#include "neffld/image_diff.hpp"
#include "neffld/session.hpp"
#include "neffld/sim_control.hpp"
#include "neuron_abi/address_map.h"

namespace {

using namespace neffld;

constexpr std::int32_t first_process = 5000;

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "load_together: {}\n", why);
  std::fflush(stderr);
  std::_Exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) stop(to_sentence(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// A device that many open at once.
class Device {
 public:
  explicit Device(const std::string& name) : name_(name) {
    if (name.find('/') != std::string::npos) return;
    sim_ = need(SimDevice::create({.architecture = name == "sim:v2" ? 2u : 3u}));
  }

  bool is_node() const { return !sim_; }

  std::unique_ptr<DeviceFile> open(std::uint32_t worker) const {
    if (!sim_) return need(open_node(name_));
    std::unique_ptr<DeviceFile> file;
    const auto process = first_process + static_cast<std::int32_t>(worker);
    if (const int answer = sim_open_as(*sim_, process, Access::read_write, file)) {
      stop(fmt::format("worker {} cannot open the device: {}", worker, answer));
    }
    return file;
  }

  /// Live handles, device bytes and host bytes; of a node what the module holds.
  std::vector<std::uint64_t> held() const {
    if (sim_) {
      const auto now = sim_->counters();
      return {now.live_handles, now.live_device_bytes, sim_live_host_bytes(*sim_)};
    }
    std::ifstream file("/sys/module/neuron_sim/parameters/mem_used");
    std::uint64_t bytes = 0;
    if (!(file >> bytes)) stop("cannot read the module's mem_used");
    return {bytes};
  }

 private:
  std::string name_;
  std::shared_ptr<SimDevice> sim_;
};

/// A NEFF and what it looks like when nobody else uses the device.
struct File {
  std::string path;
  std::vector<std::uint8_t> bytes;
  std::unique_ptr<DeviceImage> alone;
  std::vector<std::uint64_t> addresses;
};

/// A loaded and bound model.
class Load {
 public:
  Load(const Device& device, const File& file, std::uint32_t worker)
      : session_(need(Session::open(device.open(worker)))) {
    const std::uint32_t cores = session_->arch() == Arch::v2 ? 2 : 4;  // logical ones of a device
    model_ = need(session_->load(need(parse_model(file.bytes, session_->arch())),
                                 {.logical_core = worker % cores}));
    need(session_->bind(*model_, need(free_io_addresses(*session_, *model_))));
  }
  ~Load() { need(session_->unload(*model_)); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> addresses;
    for (const AllocationInfo& info : model_->allocations) addresses.push_back(info.pa);
    return addresses;
  }

  void write_image(const std::string& path) { need(write_core_image(*session_, path, false)); }

  void compare(const File& file) {
    need(session_->verify(*model_));
    const Layout layout = need(layout_of(*model_));
    const auto memory = session_memory(*session_);
    const DiffResult result =
        need(diff_models({file.alone->layouts()[0], *file.alone}, {layout, *memory}));
    if (result.equal()) return;
    const Difference& first = result.differences.front();
    stop(fmt::format("{}: {} is {}, alone {}", file.path, first.what, first.second, first.first));
  }

 private:
  std::unique_ptr<Session> session_;
  LoadedModel* model_ = nullptr;
};

/// Ends with the program if something differs.
void work(const Device& device, const std::vector<File>& files, std::uint32_t worker,
          std::uint32_t cycles) {
  for (std::uint32_t done = 0; done < 2 * cycles; ++done) {
    const bool same = done < cycles;
    const File& file = files[same ? 0 : (worker + done) % files.size()];
    Load(device, file, worker).compare(file);
  }
}

void in_processes(const Device& device, const std::vector<File>& files, std::uint32_t workers,
                  std::uint32_t cycles) {
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < workers; ++i) {
    const pid_t child = fork();
    if (child < 0) stop("fork failed");
    if (child == 0) {
      work(device, files, i, cycles);
      std::_Exit(0);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    good = waitpid(child, &status, 0) == child && status == 0 && good;
  }
  if (!good) stop("a process failed");
}

void in_threads(const Device& device, const std::vector<File>& files, std::uint32_t workers,
                std::uint32_t cycles) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] { work(device, files, i, cycles); });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<File> load_alone(const Device& device, int count, char** paths) {
  const auto image =
      (std::filesystem::temp_directory_path() / fmt::format("neffld-load-together-{}", getpid()))
          .string();
  std::vector<File> files;
  for (int i = 0; i < count; ++i) {
    File& file = files.emplace_back();
    file.path = paths[i];
    file.bytes = need(read_file(file.path));
    Load load(device, file, 0);
    file.addresses = load.addresses();
    load.write_image(image);
    file.alone = need(DeviceImage::open(image));
    std::filesystem::remove(image);
  }
  return files;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    fmt::print(stderr, "usage: load_together DEVICE WORKERS CYCLES FILE...\n");
    return 2;
  }
  const Device device(words[1]);
  const auto workers = static_cast<std::uint32_t>(std::atoi(words[2]));
  const auto cycles = static_cast<std::uint32_t>(std::atoi(words[3]));
  const std::vector<File> files = load_alone(device, count - 4, words + 4);
  const auto before = device.held();
  (device.is_node() ? in_processes : in_threads)(device, files, workers, cycles);
  if (device.held() != before) stop("the device holds more than before");
  for (const File& file : files) {
    if (Load(device, file, 0).addresses() != file.addresses) {
      stop(file.path + ": the next load has other addresses");
    }
  }
  if (device.held() != before) stop("the last loads left something");
  fmt::print("{} times {} loads together on {}: equal to those made alone, nothing held\n", workers,
             2 * cycles, words[1]);
}
