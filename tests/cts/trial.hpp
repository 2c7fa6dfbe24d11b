// SPDX-License-Identifier: MIT
// One run of one row: the device, and the checks a row makes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client.hpp"
#include "target.hpp"

namespace neffld::cts {

constexpr std::uint64_t page = NEURON_PAGE_SIZE;
constexpr int kernel_enotsupp = 524;          // the kernel's own ENOTSUPP, unknown to the C library
constexpr std::uint64_t no_handle = 3000000;  // below the limit of handles and never reached here

/// Ends a row at its first wrong answer: what follows would only act on handles it never got. It
/// does not leave the runner.
struct RowFailed {
  std::string sentence;
};
/// Ends a row that cannot be judged here.
struct RowSkipped {
  std::string reason;
};

/// "0", "-EINVAL (-22)", "+56".
std::string result_text(int result);

/// Another process with one open file, and calls through it.
struct Party {
  std::unique_ptr<Process> process;
  int descriptor;
  Client client;

  std::int32_t id() const { return process->id(); }
};

class Trial {
 public:
  Trial(Target& target, std::unique_ptr<DeviceFile> file)
      : target_(target), client_(std::move(file)) {}

  const Facts& facts() const { return target_.facts(); }
  const Client& client() const { return client_; }
  /// Another open file of the same device.
  Client open_another();
  /// Another process without open files.
  std::unique_ptr<Process> process();
  /// Another process that has opened the device.
  Party party(Access access = Access::read_write);
  /// A child of it that has inherited its file.
  Party child_of(Party& parent);

  /// The result of a call.
  void result(std::string_view sent, int got, int expected) const;
  /// A user copy that faulted: `residue` bytes as a positive result on driver 2.24, the errno on a
  /// clean device; later real drivers may answer either (spec 06 section 2).
  void residue(std::string_view sent, int got, int residue, int clean = -14) const;
  /// A value in a reply.
  void equal(std::string_view sent, std::string_view what, std::uint64_t got,
             std::uint64_t expected) const;
  void same_bytes(std::string_view sent, const Bytes& got, const Bytes& expected) const;
  void holds(std::string_view sent, bool condition, std::string_view got,
             std::string_view expected) const;
  [[noreturn]] void skip(std::string reason) const { throw RowSkipped{std::move(reason)}; }

  /// The handle of a new chunk; the row fails if there is none.
  std::uint64_t chunk(const Memory& memory) const { return chunk(client_, memory); }
  std::uint64_t chunk(const Client& client, const Memory& memory) const;
  std::uint64_t pa_of(std::uint64_t handle) const;
  /// The address of a new chunk.
  std::uint64_t place(const Memory& memory) const { return pa_of(chunk(memory)); }
  void write(std::uint64_t handle, const Bytes& bytes, std::uint64_t offset = 0) const;
  Bytes read(std::uint64_t handle, std::size_t size, std::uint64_t offset = 0) const;
  /// How many chunks the driver lists in an HBM.
  std::uint32_t chunks_in(std::uint32_t hbm) const;

 private:
  Target& target_;
  Client client_;
};

/// `size` accessible bytes directly in front of a page that is not.
class BeforeUnmapped {
 public:
  explicit BeforeUnmapped(std::size_t size);
  ~BeforeUnmapped();
  BeforeUnmapped(const BeforeUnmapped&) = delete;
  BeforeUnmapped& operator=(const BeforeUnmapped&) = delete;
  std::uint8_t* data() const { return data_; }

 private:
  void* map_ = nullptr;
  std::size_t mapped_ = 0;
  std::uint8_t* data_ = nullptr;
};

}  // namespace neffld::cts
