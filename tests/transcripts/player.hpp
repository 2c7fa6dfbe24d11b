// SPDX-License-Identifier: MIT
// Plays the steps of a transcript on a host and compares what comes back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "abi_fields.hpp"
#include "host.hpp"
#include "memory.hpp"
#include "script.hpp"

namespace transcripts {

/// What differed, one sentence each. A step the host has no counterpart of is not compared.
struct Outcome {
  std::vector<std::string> differences;
  bool compared = true;
};

class Player {
 public:
  explicit Player(Host& host);
  Outcome play(const Step& step);

 private:
  void open(const Step& step);
  void duplicate(const Step& step);
  void close(const Step& step);
  void exit(const Step& step);
  void silence(const Step& step);
  void crowd(const Step& step);
  void pieces(const Step& step);

  void call(const Step& step);
  void prepare(const Step& step, const Layout& layout, std::vector<std::uint8_t>& bytes);
  void fill_buffers(const Step& step);
  std::uint64_t pointer(const std::string* text, std::uint64_t valid) const;
  void remember(const Step& step);
  std::optional<std::uint64_t> last_field(const std::string& name, std::size_t& size) const;

  void map(const Step& step);
  void touch(const Step& step);
  void protect(const Step& step);
  void poke(const Step& step);
  void store(const Step& step);
  void value(const Step& step);
  void shows(const Step& step);
  void maphex(const Step& step);

  void bytes(const Step& step);
  void words(const Step& step);
  void words32(const Step& step);
  void desc(const Step& step);
  void moved(const Step& step);
  void check(const Step& step);
  void hex(const Step& step);
  void fields(const Step& step);
  void out(const Step& step);

  void expect(const std::string& what, long got, const std::string& expected);
  void expect_value(const std::string& what, std::uint64_t got, std::size_t size,
                    const std::string& expected);
  void expect_bytes(const std::string& what, const std::uint8_t* got,
                    const std::vector<std::uint8_t>& expected);

  int file(const std::string& label) const;
  std::uint64_t number(const std::string& text) const;
  std::uint64_t place(const std::string& text) const;
  std::uint64_t address_of(std::uint64_t handle) const;
  std::uint64_t input(const Step& step, const char* name, std::uint64_t otherwise = 0) const;
  Mapped& mapping(const Step& step);
  Buffer& buffer(const Step& step);

  Host& host_;
  char process_ = 'A';
  std::map<std::string, Layout, std::less<>> layouts_;
  std::map<std::pair<char, std::string>, int> files_;
  std::map<std::string, Mapped> maps_;
  std::map<std::string, std::uint64_t> names_;
  Shadow shadow_;
  Buffer buffers_[2], short_{4096};
  std::uint64_t authored_ = 0;  ///< bytes of buffer 0 that steps wrote for the next call
  bool authored_any_ = false;

  // The last call: its argument and the values behind its pointers.
  std::vector<std::uint8_t> argument_;
  const Layout* layout_ = nullptr;
  std::map<std::string, std::uint64_t> slots_;
  std::uint64_t slot_memory_[4] = {};
  std::vector<std::string> differences_;
};

}  // namespace transcripts
