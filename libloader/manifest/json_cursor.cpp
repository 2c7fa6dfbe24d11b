// SPDX-License-Identifier: MIT
#include "manifest/json_cursor.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "manifest/printable.hpp"

namespace neffld {
namespace {

/// The event RapidJSON reports for one scalar.
struct Token : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Token> {
  enum class Type : std::uint8_t { none, null, boolean, unsigned_integer, negative, real, string };
  Type type = Type::none;
  std::uint64_t integer = 0;  // two's complement for `negative`
  double real = 0;
  std::string_view text;

  bool set(Type new_type, std::uint64_t value) {
    type = new_type;
    integer = value;
    return true;
  }
  bool Null() { return set(Type::null, 0); }
  bool Bool(bool value) { return set(Type::boolean, value ? 1 : 0); }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return set(Type::unsigned_integer, value); }
  bool Int64(std::int64_t value) { return set(Type::negative, static_cast<std::uint64_t>(value)); }
  bool Uint64(std::uint64_t value) { return set(Type::unsigned_integer, value); }
  bool Double(double value) {
    real = value;
    return set(Type::real, 0);
  }
  bool String(const char* value, rapidjson::SizeType length, bool) {
    text = {value, length};
    return set(Type::string, 0);
  }
};

// RapidJSON counts the bytes of a string in 32 bits.
constexpr std::size_t max_text = 0xFFFFFFFE;

bool is_white(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool ends_number(char c) {
  return c == ',' || c == ']' || c == '}' || is_white(c);
}

/// Marks every byte of `word` that cannot stand unchanged inside a JSON string: control
/// characters, '"', '\\' and non-ASCII. The lowest mark is exact, higher ones may be false.
std::uint64_t special_bytes(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
  const auto zero = [](std::uint64_t w) { return (w - ones) & ~w; };
  const std::uint64_t control = (word - ones * 0x20) & ~word;
  return (control | zero(word ^ ones * '"') | zero(word ^ ones * '\\') | word) & high;
}

bool plain_key(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !key.empty() && key.size() <= 120 && std::all_of(key.begin(), key.end(), plain);
}

}  // namespace

struct JsonCursor::Scanner {
  // Room behind the text lets the string scan read whole words.
  static constexpr std::size_t slack = 8;

  explicit Scanner(Bytes text)
      : buffer(std::make_unique_for_overwrite<char[]>(text.size() + slack)), next(buffer.get()) {
    if (!text.empty()) std::memcpy(buffer.get(), text.data(), text.size());
    std::memset(buffer.get() + text.size(), 0, slack);
  }

  // The bulk of the files is plain strings and small integers: those two are read here, since
  // going through RapidJSON for each costs several times the rest. All else is RapidJSON's.
  [[gnu::always_inline]] bool scan_plain() {
    start = next;
    return scan_plain_string() || scan_plain_integer();
  }

  bool scan_plain_string() {
    if (*next != '"') return false;
    const char* end = next + 1;
    if constexpr (std::endian::native == std::endian::little) {
      for (;; end += 8) {
        std::uint64_t word;
        std::memcpy(&word, end, sizeof word);
        if (const std::uint64_t marks = special_bytes(word)) {
          end += std::countr_zero(marks) / 8;
          break;
        }
      }
    } else {
      while (special_bytes(static_cast<unsigned char>(*end) | 0x2020202020202000) == 0) ++end;
    }
    if (*end != '"') return false;
    token.type = Token::Type::string;
    token.text = {next + 1, static_cast<std::size_t>(end - next - 1)};
    next += end + 1 - next;
    return true;
  }

  bool scan_plain_integer() {
    const auto digit = [](char c) { return static_cast<unsigned>(c - '0'); };
    std::uint64_t value = digit(*next);
    if (value > 9) return false;
    char* end = next + 1;
    if (value != 0) {
      constexpr std::ptrdiff_t safe_digits = 19;  // cannot exceed 64 bits
      for (; digit(*end) <= 9; ++end) {
        if (end - next >= safe_digits) return false;
        value = value * 10 + digit(*end);
      }
    }
    if (!ends_number(*end)) return false;
    token.set(Token::Type::unsigned_integer, value);
    next = end;
    return true;
  }

  bool scan_any() {
    constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseStopWhenDoneFlag |
                               rapidjson::kParseValidateEncodingFlag;
    rapidjson::InsituStringStream stream(next);
    reader.Parse<flags>(stream, token);
    next = stream.src_;
    return !reader.HasParseError();
  }

  std::size_t offset() const { return static_cast<std::size_t>(next - buffer.get()); }

  std::unique_ptr<char[]> buffer;
  char* next;                   // first character not yet read
  const char* start = nullptr;  // first character of the token
  Token token;
  rapidjson::Reader reader;
};

JsonCursor::JsonCursor(std::string_view member, Bytes text, std::uint32_t max_depth)
    : member_(member),
      max_depth_(max_depth),
      scanner_(std::make_unique<Scanner>(text.size() <= max_text ? text : Bytes())) {
  if (text.size() > max_text) {
    fail(fmt::format("a JSON document of {} bytes, at most {} are read", text.size(), max_text));
    return;
  }
  // RapidJSON ends at the first NUL, so a NUL would hide everything behind it.
  if (const void* nul = text.empty() ? nullptr : std::memchr(text.data(), 0, text.size())) {
    scanner_->next += static_cast<const std::uint8_t*>(nul) - text.data();
    fail_syntax("a NUL byte");
  }
  if (as_text(text).starts_with("\xEF\xBB\xBF")) fail_syntax("a byte order mark");
}

JsonCursor::~JsonCursor() = default;

[[gnu::always_inline]] inline char JsonCursor::next_char() {
  while (is_white(*scanner_->next)) ++scanner_->next;
  return *scanner_->next;
}

JsonCursor::Kind JsonCursor::peek() {
  if (error_) return Kind::nothing;
  switch (next_char()) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    case '\0':
      return Kind::nothing;
    default:
      return Kind::number;
  }
}

bool JsonCursor::scan_scalar() {
  if (error_) return false;
  next_char();
  return scanner_->scan_plain() || scan_rare();
}

// Kept out of scan_scalar, so that the common case stays small.
[[gnu::noinline]] bool JsonCursor::scan_rare() {
  const char c = next_char();
  if (c == '{' || c == '[') {
    scanner_->token.type = Token::Type::none;
    return true;
  }
  if (c == '\0') {
    return fail_syntax("the text ends where a value is expected");
  }
  if (scanner_->scan_any()) return true;
  return fail_syntax(rapidjson::GetParseError_En(scanner_->reader.GetParseErrorCode()));
}

std::uint64_t JsonCursor::u64(std::uint64_t max) {
  if (!scan_scalar()) return 0;
  const Token& token = scanner_->token;
  if (token.type != Token::Type::unsigned_integer) {
    fail_type("an unsigned integer");
    return 0;
  }
  if (token.integer > max) {
    fail(fmt::format("found {}, at most {} is allowed", token.integer, max));
    return 0;
  }
  return token.integer;
}

std::uint32_t JsonCursor::u32(std::uint32_t max) {
  return static_cast<std::uint32_t>(u64(max));
}

std::int64_t JsonCursor::i64(std::int64_t min, std::int64_t max) {
  if (!scan_scalar()) return 0;
  const Token& token = scanner_->token;
  const bool negative = token.type == Token::Type::negative;
  if (!negative && (token.type != Token::Type::unsigned_integer ||
                    token.integer > std::uint64_t{std::numeric_limits<std::int64_t>::max()})) {
    fail_type("an integer of 64 bits with sign");
    return 0;
  }
  const auto value = static_cast<std::int64_t>(token.integer);
  if (value < min || value > max) {
    fail(fmt::format("found {}, allowed are {} to {}", value, min, max));
    return 0;
  }
  return value;
}

double JsonCursor::number() {
  if (!scan_scalar()) return 0;
  const Token& token = scanner_->token;
  switch (token.type) {
    case Token::Type::real:
      return token.real;
    case Token::Type::unsigned_integer:
      return static_cast<double>(token.integer);
    case Token::Type::negative:
      return static_cast<double>(static_cast<std::int64_t>(token.integer));
    default:
      fail_type("a number");
      return 0;
  }
}

bool JsonCursor::boolean() {
  if (!scan_scalar()) return false;
  const Token& token = scanner_->token;
  const bool digit = token.type == Token::Type::unsigned_integer && token.integer <= 1;
  if (token.type != Token::Type::boolean && !digit) {
    fail_type("true, false, 1 or 0");
    return false;
  }
  return token.integer == 1;
}

std::string_view JsonCursor::string() {
  if (!scan_scalar()) return {};
  if (scanner_->token.type != Token::Type::string) {
    fail_type("a string");
    return {};
  }
  return scanner_->token.text;
}

void JsonCursor::skip() {
  const std::size_t base = frames_.size();
  std::string_view key;
  do {
    const Kind kind = peek();
    if (kind == Kind::object) {
      begin_object();
    } else if (kind == Kind::array) {
      begin_array();
    } else {
      scan_scalar();
    }
    // Close what ends here, until a further value follows.
    while (ok() && frames_.size() > base) {
      if (frames_.back().object ? next_key(key) : next_element()) break;
    }
  } while (ok() && frames_.size() > base);
}

bool JsonCursor::begin_object() {
  return push(true);
}
bool JsonCursor::begin_array() {
  return push(false);
}

bool JsonCursor::push(bool object) {
  if (error_) return false;
  if (next_char() != (object ? '{' : '[')) {
    if (scan_scalar()) fail_type(object ? "an object" : "an array");
    return false;
  }
  if (frames_.size() >= max_depth_) {
    fail(fmt::format("nested deeper than {} levels", max_depth_));
    return false;
  }
  ++scanner_->next;
  frames_.push_back({object, true, {}, 0});
  return true;
}

bool JsonCursor::pop() {
  ++scanner_->next;
  frames_.pop_back();
  return false;
}

bool JsonCursor::next_key(std::string_view& key) {
  if (error_) return false;
  Frame& frame = frames_.back();
  const char c = next_char();
  if (c == '}') return pop();
  if (!frame.first) {
    if (c != ',') return fail_syntax("expected ',' or '}' behind a value");
    ++scanner_->next;
  }
  frame.first = false;
  if (next_char() != '"') return fail_syntax("expected a key in quotes");
  if (!scanner_->scan_plain() && !scan_rare()) return false;
  frame.key = key = scanner_->token.text;
  if (next_char() != ':') return fail_syntax("expected ':' behind a key");
  ++scanner_->next;
  return true;
}

bool JsonCursor::next_element() {
  if (error_) return false;
  Frame& frame = frames_.back();
  const char c = next_char();
  if (frame.first) {
    if (c == ']') return pop();
    frame.first = false;
    return true;
  }
  if (c == ']') return pop();
  if (c != ',') return fail_syntax("expected ',' or ']' behind a value");
  ++scanner_->next;
  ++frame.index;
  return true;
}

Result<void> JsonCursor::finish() {
  if (!error_ && next_char() != '\0') fail_syntax("bytes follow the end of the document");
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

Where JsonCursor::where(std::string_view field) const {
  std::string path = "$";
  for (const Frame& frame : frames_) {
    if (frame.first) break;  // opened, but nothing in it has been read
    path += frame.object ? path_step(frame.key) : fmt::format("[{}]", frame.index);
  }
  return {std::string(member_), path.append(field), std::nullopt, std::nullopt};
}

void JsonCursor::fail(std::string text, std::string_view field) {
  if (error_) return;
  error_ = std::make_unique<Error>(
      Error{Status::invalid, ErrorClass::format, where(field), std::move(text)});
}

void JsonCursor::fail(tl::unexpected<Error> error) {
  if (!error_) error_ = std::make_unique<Error>(std::move(error.value()));
}

bool JsonCursor::fail_syntax(std::string_view text) {
  if (!error_) {
    fail(fmt::format("invalid JSON: {}", text));
    error_->where.offset = scanner_->offset();
  }
  return false;
}

void JsonCursor::fail_type(const char* expected) {
  fail(fmt::format("found {}, expected {}", found(), expected));
}

std::string JsonCursor::found() const {
  const Token& token = scanner_->token;
  switch (token.type) {
    case Token::Type::none:
      return *scanner_->start == '{' ? "an object" : "an array";
    case Token::Type::null:
      return "null";
    case Token::Type::boolean:
      return token.integer == 1 ? "true" : "false";
    case Token::Type::string:
      return fmt::format("\"{}\"", printable(token.text));
    default:
      break;
  }
  // A number is quoted as it is written, since 1.0 and 1e3 are the point of such messages.
  const auto length = static_cast<std::size_t>(scanner_->next - scanner_->start);
  return printable({scanner_->start, length});
}

std::string path_step(std::string_view key) {
  return plain_key(key) ? fmt::format(".{}", key) : fmt::format("[\"{}\"]", printable(key));
}

bool KeySet::insert(std::string_view name) {
  constexpr std::size_t few = 16;
  if (few_.size() < few) {
    if (std::find(few_.begin(), few_.end(), name) != few_.end()) return false;
    few_.push_back(name);
    return true;
  }
  if (many_.empty()) many_.insert(few_.begin(), few_.end());
  return many_.insert(name).second;
}

}  // namespace neffld
