// SPDX-License-Identifier: MIT
// Files whose container is damaged: there are no members to take apart.
#pragma once

#include <cstdint>
#include <vector>

#include "judge.hpp"
#include "neffld/bytes.hpp"

namespace neffld {

/// A file as the damage left it: header, and the archive if it can still be inflated, else the
/// payload as it is. Header fields that were right about the payload stay right.
class DamagedFile {
 public:
  DamagedFile(Bytes file, std::uint64_t most_inflated);

  /// Removes pieces, then overwrites pieces with zeros, as long as `judge` sees the error.
  void reduce(Judge& judge);

  /// Nothing if it cannot be compressed again.
  std::vector<std::uint8_t> file() const { return assemble(content_); }
  std::uint64_t content_bytes() const { return content_.size(); }

 private:
  std::vector<std::uint8_t> assemble(const std::vector<std::uint8_t>& content) const;
  void blank_names(Judge& judge);
  void replace_stream(Judge& judge);
  /// What is removed as a whole: entries of an archive as far as they can be told, blocks behind
  /// them; bytes of anything else.
  std::vector<std::size_t> pieces() const;
  bool remove(Judge& judge, std::size_t most_parts);
  void zero(Judge& judge);

  std::vector<std::uint8_t> header_;   ///< shorter than a header if the file is
  std::vector<std::uint8_t> payload_;  ///< as it was
  std::vector<std::uint8_t> content_;  ///< bytes of the payload or, if `inflated_`, of its archive
  bool inflated_ = false;
  bool size_right_ = false, hash_right_ = false, hash_swapped_ = false;
  bool archive_ = false;  ///< `content_` is one, as far as can be seen
};

}  // namespace neffld
