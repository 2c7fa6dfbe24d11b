// SPDX-License-Identifier: MIT
// A NEFF in parts: every change of it is judged as a whole file.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge.hpp"
#include "neffld/container.hpp"
#include "remove_units.hpp"

namespace neffld {

/// The header fields a loader looks at, without the model's name and UUID.
PackOptions header_options(const Container& container);

/// The folder in a member's name, with its slash; empty without one.
std::string folder_of(std::string_view name);

class Document {
 public:
  Document(const Container& container, Judge& judge);

  const std::vector<PackMember>& members() const { return members_; }
  /// True for members whose elements are the user's weights: those any JSON document names as
  /// "file_name", and every .npy.
  bool is_constant(const PackMember& member) const;
  /// Numbers of the members, the largest first.
  std::vector<std::size_t> largest_first() const;

  /// False when time or tries are used up: then other bytes need not even be made.
  bool may_try() const { return judge_.may_try(); }
  /// Whether the error shows as the document is.
  bool shows();
  /// Takes other bytes for a member, if the error shows with them.
  bool replace(std::size_t member, std::vector<std::uint8_t> bytes);
  /// Takes other members, if the error shows with them.
  bool replace_all(std::vector<PackMember> members);
  /// Drops the members that are not needed, in groups of down to a `most_parts`-th of all.
  bool drop_members(std::size_t most_parts);

  /// The file to write, compressed. Errors: those of pack_neff().
  Result<std::vector<std::uint8_t>> file() const;

 private:
  bool shows_with(const Kept& kept);

  Judge& judge_;
  PackOptions options_;
  std::vector<PackMember> members_;
  std::set<std::string> constants_;  ///< names that the documents of the input give
};

}  // namespace neffld
