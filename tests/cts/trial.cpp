// SPDX-License-Identifier: MIT
#include "trial.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace neffld::cts {
namespace {

[[noreturn]] void wrong(std::string_view sent, std::string_view got, std::string_view expected) {
  throw RowFailed{fmt::format("sent {}, got {}, expected {}", sent, got, expected)};
}

}  // namespace

std::string result_text(int result) {
  if (result == 0) return "0";
  if (result > 0) return fmt::format("+{}", result);
  if (result == -kernel_enotsupp) return "-ENOTSUPP (-524)";
  const char* name = strerrorname_np(-result);
  return name == nullptr ? fmt::format("{}", result) : fmt::format("-{} ({})", name, result);
}

Client Trial::open_another() {
  auto file = target_.open();
  if (!file) wrong("open", to_sentence(file.error()), "an open file");
  return Client(std::move(*file));
}

std::unique_ptr<Process> Trial::process() {
  auto process = target_.start_process();
  if (!process) skip(to_sentence(process.error()));
  return std::move(*process);
}

Party Trial::party(Access access) {
  std::unique_ptr<Process> other = process();
  const int descriptor = other->open(access);
  if (descriptor < 0) wrong("open by another process", result_text(descriptor), "a descriptor");
  Client client = other->client(descriptor);
  return {std::move(other), descriptor, std::move(client)};
}

Party Trial::child_of(Party& parent) {
  std::unique_ptr<Process> child = parent.process->fork();
  if (child == nullptr) skip("no child process can be made");
  Client client = child->client(parent.descriptor);
  return {std::move(child), parent.descriptor, std::move(client)};
}

void Trial::result(std::string_view sent, int got, int expected) const {
  if (got != expected) wrong(sent, result_text(got), result_text(expected));
}

void Trial::residue(std::string_view sent, int got, int residue, int clean) const {
  if (facts().clean) return result(sent, got, clean);
  if (!facts().simulated && facts().generation > 24 && got == clean) return;
  result(sent, got, residue);
}

void Trial::equal(std::string_view sent, std::string_view what, std::uint64_t got,
                  std::uint64_t expected) const {
  if (got == expected) return;
  wrong(sent, fmt::format("{} {:#x}", what, got), fmt::format("{:#x}", expected));
}

void Trial::same_bytes(std::string_view sent, const Bytes& got, const Bytes& expected) const {
  if (got.size() != expected.size()) {
    wrong(sent, fmt::format("{} bytes", got.size()), fmt::format("{} bytes", expected.size()));
  }
  const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
  if (a == got.end()) return;
  wrong(sent, fmt::format("byte {:#04x} at {}", *a, a - got.begin()), fmt::format("{:#04x}", *b));
}

void Trial::holds(std::string_view sent, bool condition, std::string_view got,
                  std::string_view expected) const {
  if (!condition) wrong(sent, got, expected);
}

std::uint64_t Trial::chunk(const Client& client, const Memory& memory) const {
  std::uint64_t handle = 0;
  result(fmt::format("MEM_ALLOC_V2MT64 of {} bytes", memory.size), client.alloc(memory, handle), 0);
  holds("MEM_ALLOC_V2MT64", handle != 0, "handle 0", "another handle");
  return handle;
}

std::uint64_t Trial::pa_of(std::uint64_t handle) const {
  std::uint64_t address = 0;
  result(fmt::format("MEM_GET_PA of handle {}", handle), client_.pa(handle, address), 0);
  return address;
}

void Trial::write(std::uint64_t handle, const Bytes& bytes, std::uint64_t offset) const {
  result(fmt::format("MEM_BUF_COPY64 of {} bytes to offset {}", bytes.size(), offset),
         client_.write(handle, bytes, offset), 0);
}

Bytes Trial::read(std::uint64_t handle, std::size_t size, std::uint64_t offset) const {
  Bytes bytes(size);
  result(fmt::format("MEM_BUF_COPY64 of {} bytes from offset {}", size, offset),
         client_.read(handle, bytes, offset), 0);
  return bytes;
}

std::uint32_t Trial::chunks_in(std::uint32_t hbm) const {
  // Too few slots are answered with the true count (spec 11 B.2 item 17).
  neuron_dump_mem_chunks dump{hbm, 0, 0, 0};
  result("DUMP_MEM_CHUNKS with no slots", client_.call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump),
         -EAGAIN);
  return dump.num_entries_out;
}

BeforeUnmapped::BeforeUnmapped(std::size_t size) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t usable = (size + page_bytes - 1) / page_bytes * page_bytes;
  mapped_ = usable + page_bytes;
  map_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(static_cast<std::uint8_t*>(map_) + usable, page_bytes, PROT_NONE);
  data_ = static_cast<std::uint8_t*>(map_) + usable - size;
}

BeforeUnmapped::~BeforeUnmapped() {
  munmap(map_, mapped_);
}

}  // namespace neffld::cts
