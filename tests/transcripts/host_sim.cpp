// SPDX-License-Identifier: MIT
#include <cerrno>
#include <csignal>
#include <map>
#include <stdexcept>
#include <vector>

#include "host.hpp"
#include "nds_user.h"

namespace transcripts {
namespace {

class SimHost final : public Host {
 public:
  explicit SimHost(const Script& script) {
    nds_machine_create(&machine_);
    nds_config config{};
    const auto value = [&](const char* name) {
      const auto found = script.device.find(name);
      return found == script.device.end() ? 0 : found->second;
    };
    config.architecture = static_cast<std::uint32_t>(value("arch"));
    config.revision = static_cast<std::uint32_t>(value("revision"));
    config.cores = static_cast<std::uint32_t>(value("cores"));
    config.hbm_bytes = value("hbm_bytes");
    config.pci_domain = static_cast<std::uint32_t>(value("pci_domain"));
    if (value("inf2") != 0) config.pci_device_id = NDS_PCI_INF2;
    devices_.resize(value("devices") == 0 ? 1 : value("devices"));
    for (auto& device : devices_) {
      if (nds_device_create(machine_, &config, &device) != 0) {
        throw std::runtime_error(script.name + ": no such device");
      }
      ++config.device_index;
    }
    be('A');
  }

  ~SimHost() override {
    while (!processes_.empty()) end(processes_.begin()->first);
    for (auto* device : devices_) nds_device_destroy(device);
    nds_machine_destroy(machine_);
  }

  const char* kind() const override { return "in-process"; }
  bool forks() const override { return false; }

  void be(char process) override {
    current_ = process;
    if (processes_.contains(process)) return;
    const auto parent = processes_.find('A');
    processes_[process] = {
        next_tgid_++, parent == processes_.end() ? std::map<int, File>{} : parent->second.files};
  }

  void exit() override { end(current_); }
  std::int32_t pid() const override { return processes_.at(current_).tgid; }

  int open(unsigned node, int flags) override {
    if (node >= devices_.size()) return -ENOENT;
    nds_file* file = nullptr;
    const int error =
        nds_file_open(devices_[node], pid(), static_cast<std::uint32_t>(flags), &file);
    return error != 0 ? error : add({file, nds_file_release});
  }

  int duplicate(int file) override { return add(files().at(file)); }

  int close(int file) override {
    nds_file_flush(files().at(file).get(), pid());
    files().erase(file);
    return 0;
  }

  long ioctl(int file, std::uint32_t command, std::uint64_t argument) override {
    return nds_file_ioctl(files().at(file).get(), pid(), command, argument);
  }

  Mapped map(int file, std::uint64_t offset, std::uint64_t bytes, int, bool raw) override {
    nds_mapping found{};
    Mapped mapping;
    nds_user_allow_raw_mappings(raw);
    mapping.error = nds_file_mmap(files().at(file).get(), pid(), offset, bytes, &found);
    nds_user_allow_raw_mappings(false);
    if (mapping.error != 0) return mapping;
    mapping.at = static_cast<std::uint8_t*>(nds_user_space_address(found.space, found.offset));
    mapping.bytes = found.bytes;
    mapping.read_only = found.read_only;
    return mapping;
  }

  int touch(const Mapped& mapping, bool write) override {
    volatile std::uint8_t* first = mapping.at;
    const std::uint8_t value = *first;
    if (write && mapping.read_only) return SIGSEGV;
    if (write) *first = value;
    return 0;
  }

  int make_writable(Mapped&) override { return -ENOSYS; }

  int crowd(unsigned node, unsigned count) override {
    const char before = current_;
    int result = 0;
    for (unsigned i = 0; i < count; ++i) {
      current_ = static_cast<char>('a' + i);
      processes_[current_] = {next_tgid_++, {}};
      result = open(node, 2);
    }
    for (unsigned i = 0; i < count; ++i) end(static_cast<char>('a' + i));
    current_ = before;
    return result < 0 ? result : 0;
  }

  void silence(const std::string& what) override {
    const std::uint32_t bits = what == "dma"       ? NDS_SILENT_DMA
                               : what == "mailbox" ? NDS_SILENT_MAILBOX
                               : what == "reset"   ? NDS_SILENT_RESET
                                                   : 0;
    for (auto* device : devices_) nds_device_silence(device, bits);
  }

 private:
  using File = std::shared_ptr<nds_file>;
  struct Process {
    std::int32_t tgid = 0;
    std::map<int, File> files;
  };

  std::map<int, File>& files() { return processes_.at(current_).files; }

  int add(File file) {
    int number = 3;
    while (files().contains(number)) ++number;
    files()[number] = std::move(file);
    return number;
  }

  void end(char process) {
    auto& gone = processes_.at(process);
    while (!gone.files.empty()) {
      nds_file_flush(gone.files.begin()->second.get(), gone.tgid);
      gone.files.erase(gone.files.begin());
    }
    processes_.erase(process);
  }

  nds_machine* machine_ = nullptr;
  std::vector<nds_device*> devices_;
  std::map<char, Process> processes_;
  char current_ = 'A';
  std::int32_t next_tgid_ = 100;
};

}  // namespace

std::unique_ptr<Host> in_process_host(const Script& script) {
  return std::make_unique<SimHost>(script);
}

}  // namespace transcripts
