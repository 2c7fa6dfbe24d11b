// SPDX-License-Identifier: MIT
// A pull reader of JSON text: the caller asks for the value it expects and gets it typed. No
// document tree is built, nothing is copied and nothing recurses, so a file costs its own size and
// hostile nesting costs nothing. Plain text is read here, in line with the caller; everything else
// (white space, escapes, signs, fractions, errors) has a second, complete way through RapidJSON.
//
// Errors are sticky: the first one is kept with its JSON path, every later call returns an empty
// value and every loop ends. So a reader is straight-line code that checks once, in `finish`.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/json_text.hpp"
#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

class JsonCursor {
 public:
  enum class Kind : std::uint8_t { object, array, string, number, boolean, null, nothing };

  /// `text` must outlive the cursor; strings are views into it where it has them plainly. `member`
  /// is what errors name.
  JsonCursor(std::string_view member, Bytes text, std::uint32_t max_depth);
  ~JsonCursor();
  JsonCursor(const JsonCursor&) = delete;
  JsonCursor& operator=(const JsonCursor&) = delete;

  /// What the next value is, by its first character.
  Kind peek();

  /// Typed values. A wrong type or range is an error that names the value found. Strings are views
  /// that live as long as the cursor and its text.
  std::uint64_t u64(std::uint64_t max = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t value;
    return take_integer(value, max) ? value : any_u64(max);
  }
  std::uint32_t u32(std::uint32_t max = std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(u64(max));
  }
  std::int64_t i64(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                   std::int64_t max = std::numeric_limits<std::int64_t>::max()) {
    std::uint64_t value;
    const bool plain = min <= 0 && max >= 0 && take_integer(value, static_cast<std::uint64_t>(max));
    return plain ? static_cast<std::int64_t>(value) : any_i64(min, max);
  }
  double number();
  bool boolean();  ///< true, false, 1 or 0 (spec 02 section 16.20)
  std::string_view string() {
    std::string_view text;
    return take_string(text) ? text : any_string();
  }
  void skip() {  ///< any value; checks its syntax
    std::string_view text;
    if (!take_string(text)) skip_any();
  }

  /// `while (cursor.next_key(key)) { one value }` after begin_object; it returns false behind the
  /// closing brace. Arrays alike. `begin_*` returns false on an error.
  bool begin_object() { return take_opening('{', true) || push(true); }
  bool next_key(std::string_view& key);
  bool begin_array() { return take_opening('[', false) || push(false); }
  bool next_element();

  /// The next key if it is the one expected, in compact text; else nothing has happened.
  bool take_key(const json_text::KeyPattern& expected);

  /// First character not yet read.
  const char* at() const { return next_; }

  /// Exactly `texts` with a small integer between each two, which go to `numbers`; else nothing has
  /// happened. The texts have been read at this depth before, and none but the first begins with a
  /// digit.
  bool take_form(std::span<const std::string_view> texts, std::span<std::uint64_t> numbers);

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
  /// A scalar the long way.
  struct Token {
    enum class Type : std::uint8_t {
      none,
      null,
      boolean,
      unsigned_integer,
      negative,
      real,
      string
    };
    Type type = Type::none;
    std::uint64_t integer = 0;  // two's complement for `negative`
    double real = 0;
    std::string_view text;
  };
  struct TokenHandler;
  struct Rare;
  struct Frame {
    bool object;
    bool first;
    std::string_view key;
    std::uint64_t index;
  };

  std::ptrdiff_t left() const { return end_ - next_; }

  // The plain forms, without white space in front. False: nothing has happened. After an error
  // nothing is left, so they need not ask for it.
  bool take_integer(std::uint64_t& value, std::uint64_t max);
  bool take_string(std::string_view& text);
  bool take_opening(char c, bool object);

  // Any form, and all errors.
  std::uint64_t any_u64(std::uint64_t max);
  std::int64_t any_i64(std::int64_t min, std::int64_t max);
  std::string_view any_string();
  bool any_key(std::string_view& key);
  bool any_element();
  void skip_any();

  char next_char();
  bool scan_scalar();
  bool scan_plain();
  bool scan_integer();
  bool scan_rare();
  bool push(bool object);
  bool pop() {
    ++next_;
    frames_.pop_back();
    return false;
  }
  bool fail_syntax(std::string_view text);
  void fail_type(const char* expected);
  std::string found() const;
  void stop(Error error);

  std::string_view member_;
  std::uint32_t max_depth_;
  const char* begin_;
  const char* next_;  // first character not yet read
  const char* end_;
  const char* start_ = nullptr;  // first character of the token
  Token token_;
  std::unique_ptr<Rare> rare_;
  std::vector<Frame> frames_;
  std::unique_ptr<Error> error_;
};

inline bool JsonCursor::take_integer(std::uint64_t& value, std::uint64_t max) {
  const char* behind = json_text::plain_integer_end(next_, end_, value);
  if (behind == nullptr || value > max) return false;
  if (*behind != ',' && *behind != ']' && *behind != '}') return false;
  next_ = behind;
  return true;
}

inline bool JsonCursor::take_form(std::span<const std::string_view> texts,
                                  std::span<std::uint64_t> numbers) {
  const char* at = next_;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i != 0) at = json_text::plain_integer_end(at, end_, numbers[i - 1]);
    if (at == nullptr || !std::string_view(at, end_).starts_with(texts[i])) return false;
    at += texts[i].size();
  }
  next_ = at;
  return !texts.empty();
}

inline bool JsonCursor::take_string(std::string_view& text) {
  if (left() < 2 || *next_ != '"') return false;
  const char* quote = json_text::plain_string_end(next_ + 1, end_);
  if (quote == nullptr) return false;
  text = {next_ + 1, static_cast<std::size_t>(quote - next_ - 1)};
  next_ = quote + 1;
  return true;
}

inline bool JsonCursor::take_opening(char c, bool object) {
  if (left() < 1 || *next_ != c || frames_.size() >= max_depth_) return false;
  ++next_;
  frames_.push_back({object, true, {}, 0});
  return true;
}

inline bool JsonCursor::next_key(std::string_view& key) {
  if (left() < 2) return any_key(key);
  Frame& frame = frames_.back();
  const char* const before = next_;
  if (*next_ == '}') return pop();
  if (*next_ == ',' && !frame.first) ++next_;
  if ((frame.first || next_ != before) && take_string(key) && left() > 0 && *next_ == ':') {
    ++next_;
    frame.first = false;
    frame.key = key;
    return true;
  }
  next_ = before;
  return any_key(key);
}

inline bool JsonCursor::take_key(const json_text::KeyPattern& expected) {
  if (left() <= static_cast<std::ptrdiff_t>(json_text::KeyPattern::most_bytes)) return false;
  Frame& frame = frames_.back();
  const char* const quote = next_ + (frame.first ? 0 : 1);
  if (!frame.first && *next_ != ',') return false;
  if (!expected.matches(quote)) return false;
  frame.first = false;
  frame.key = {quote + 1, expected.key_bytes()};
  next_ = quote + expected.bytes();
  return true;
}

inline bool JsonCursor::next_element() {
  if (left() < 1) return any_element();
  Frame& frame = frames_.back();
  if (*next_ == ']') return pop();
  if (*next_ == ',' && !frame.first) {
    ++next_;
    ++frame.index;
    return true;
  }
  if (frame.first && !json_text::is_white(*next_)) {
    frame.first = false;
    return true;
  }
  return any_element();
}

/// `key` as a step of a JSON path: ".size", or ["-x"] for names that are not plain words.
std::string path_step(std::string_view key);

/// Names seen so far, to find repeated keys; cheap while there are few.
class KeySet {
 public:
  /// False if `name` is already there. The view must stay valid.
  bool insert(std::string_view name);

 private:
  std::array<std::string_view, 4> few_;
  std::size_t count_ = 0;  ///< in `few_`
  /// Ordered: crafted names cannot make it slow. Made when `few_` is full.
  std::unique_ptr<std::set<std::string_view>> many_;
};

/// The keys of an object and what they mean: a list of pairs.
template <class Field, std::size_t N>
class KeyTable {
 public:
  using Entry = std::pair<std::string_view, Field>;

  // Implicit, so that tables are written as plain lists.
  constexpr KeyTable(const Entry (&entries)[N]) : entries_(std::to_array(entries)) {
    for (std::size_t i = 0; i < N; ++i) patterns_[i] = json_text::KeyPattern(entries[i].first);
  }
  constexpr std::size_t size() const { return N; }
  constexpr const Entry& operator[](std::size_t i) const { return entries_[i]; }
  constexpr const json_text::KeyPattern& pattern(std::size_t i) const { return patterns_[i]; }
  constexpr auto begin() const { return entries_.begin(); }
  constexpr auto end() const { return entries_.end(); }

 private:
  std::array<Entry, N> entries_;
  std::array<json_text::KeyPattern, N> patterns_{};
};

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
    if (!open_) return false;
    if (hint_ < N && cursor_.take_key(table_.pattern(hint_))) {
      field = table_[hint_++].second;
      return note(field);
    }
    return next_of_any(field);
  }

  bool has(Field field) const { return (seen_ >> static_cast<unsigned>(field) & 1) != 0; }

 private:
  bool next_of_any(Field& field) {
    std::string_view key;
    while (open_ && cursor_.next_key(key)) {
      if (find(key, field)) return note(field);
      if (!unknown_.insert(key)) return reject();
      cursor_.skip();
    }
    return false;
  }
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
  bool note(Field field) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(field);
    if ((seen_ & bit) != 0) return reject();
    seen_ |= bit;
    return true;
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
