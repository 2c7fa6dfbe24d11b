// SPDX-License-Identifier: MIT
// A pull reader of JSON text: the caller asks for the value it expects and gets it typed. No
// document tree is built and nothing recurses, so a file costs its own size and hostile nesting
// costs nothing. The structure ({ } [ ] , :) is walked here; strings, numbers and literals are
// RapidJSON's.
//
// Errors are sticky: the first one is kept with its JSON path, every later call returns an empty
// value and every loop ends. So a reader is straight-line code that checks once, in `finish`.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

class JsonCursor {
 public:
  enum class Kind : std::uint8_t { object, array, string, number, boolean, null, nothing };

  /// Copies `text`, because strings are decoded in place. `member` is what errors name.
  JsonCursor(std::string_view member, Bytes text, std::uint32_t max_depth);
  ~JsonCursor();
  JsonCursor(const JsonCursor&) = delete;
  JsonCursor& operator=(const JsonCursor&) = delete;

  /// What the next value is, by its first character.
  Kind peek();

  /// Typed values. A wrong type or range is an error that names the value found. Strings are views
  /// that live as long as the cursor.
  std::uint64_t u64(std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
  std::uint32_t u32(std::uint32_t max = std::numeric_limits<std::uint32_t>::max());
  std::int64_t i64(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                   std::int64_t max = std::numeric_limits<std::int64_t>::max());
  double number();
  bool boolean();  ///< true, false, 1 or 0 (spec 02 section 16.20)
  std::string_view string();
  void skip();  ///< any value; checks its syntax

  /// `while (cursor.next_key(key)) { one value }` after begin_object; it returns false behind the
  /// closing brace. Arrays alike. `begin_*` returns false on an error.
  bool begin_object();
  bool next_key(std::string_view& key);
  bool begin_array();
  bool next_element();

  /// Records an error at the value being read, or at a field (".size", "[3]") of the value that
  /// has just been read.
  void fail(std::string text, std::string_view field = {});
  void fail(tl::unexpected<Error> error);
  bool ok() const { return !error_; }

  /// Ends the document: only white space may follow.
  Result<void> finish();

  /// Where the cursor is: member and path, for errors found outside.
  Where where(std::string_view field = {}) const;

 private:
  struct Scanner;
  struct Frame {
    bool object;
    bool first;
    std::string_view key;
    std::uint64_t index;
  };

  char next_char();
  bool scan_scalar();
  bool scan_rare();
  bool push(bool object);
  bool pop();
  bool fail_syntax(std::string_view text);
  void fail_type(const char* expected);
  std::string found() const;

  std::string_view member_;
  std::uint32_t max_depth_;
  std::unique_ptr<Scanner> scanner_;
  std::vector<Frame> frames_;
  std::unique_ptr<Error> error_;
};

/// `key` as a step of a JSON path: ".size", or ["-x"] for names that are not plain words.
std::string path_step(std::string_view key);

/// Names seen so far, to find repeated keys; cheap while there are few.
class KeySet {
 public:
  /// False if `name` is already there. The view must stay valid.
  bool insert(std::string_view name);

 private:
  std::vector<std::string_view> few_;
  std::set<std::string_view> many_;  // ordered: crafted names cannot make it slow
};

template <class Field, std::size_t N>
using KeyTable = std::array<std::pair<std::string_view, Field>, N>;

/// Reads one object whose keys are known: yields the fields in file order, skips unknown keys
/// (spec 02 section 3) and rejects repeated ones. `Field` is an enum numbered 0..N-1; the table is
/// best in the order of real files (sorted), then each look-up is one comparison.
template <class Field, std::size_t N>
class ObjectReader {
  static_assert(N <= 64);

 public:
  ObjectReader(JsonCursor& cursor, const KeyTable<Field, N>& table)
      : cursor_(cursor), table_(table) {
    open_ = cursor.begin_object();
  }

  bool next(Field& field) {
    std::string_view key;
    while (open_ && cursor_.next_key(key)) {
      if (find(key, field)) {
        const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(field);
        if ((seen_ & bit) != 0) return reject();
        seen_ |= bit;
        return true;
      }
      if (!unknown_.insert(key)) return reject();
      cursor_.skip();
    }
    return false;
  }

  bool has(Field field) const { return (seen_ >> static_cast<unsigned>(field) & 1) != 0; }

 private:
  bool find(std::string_view key, Field& field) {
    for (std::size_t i = 0; i < N; ++i) {
      if (hint_ >= N) hint_ = 0;
      const auto& entry = table_[hint_++];
      if (entry.first == key) {
        field = entry.second;
        return true;
      }
    }
    return false;
  }
  bool reject() {
    cursor_.fail("duplicate key");
    return open_ = false;
  }

  JsonCursor& cursor_;
  const KeyTable<Field, N>& table_;
  KeySet unknown_;
  std::uint64_t seen_ = 0;
  std::size_t hint_ = 0;
  bool open_;
};

}  // namespace neffld
