// SPDX-License-Identifier: MIT
#include "manifest/json_cursor.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "manifest/printable.hpp"
#include "neffld/checked_allocator.hpp"

namespace neffld {
namespace {

// RapidJSON counts the bytes of a string in 32 bits.
constexpr std::size_t max_text = 0xFFFFFFFE;

bool ends_number(char c) {
  return c == ',' || c == ']' || c == '}' || json_text::is_white(c);
}

bool plain_key(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !key.empty() && key.size() <= 120 && std::all_of(key.begin(), key.end(), plain);
}

}  // namespace

/// Takes the event RapidJSON reports for one scalar.
struct JsonCursor::TokenHandler : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TokenHandler> {
  TokenHandler(Token& to, std::deque<std::string>& strings) : token(to), decoded(strings) {}

  bool set(Token::Type type, std::uint64_t value) {
    token.type = type;
    token.integer = value;
    return true;
  }
  bool Null() { return set(Token::Type::null, 0); }
  bool Bool(bool value) { return set(Token::Type::boolean, value ? 1 : 0); }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return set(Token::Type::unsigned_integer, value); }
  bool Int64(std::int64_t value) {
    return set(Token::Type::negative, static_cast<std::uint64_t>(value));
  }
  bool Uint64(std::uint64_t value) { return set(Token::Type::unsigned_integer, value); }
  bool Double(double value) {
    token.real = value;
    return set(Token::Type::real, 0);
  }
  bool String(const char* value, rapidjson::SizeType length, bool) {
    token.text = decoded.emplace_back(value, length);
    return set(Token::Type::string, 0);
  }

  Token& token;
  std::deque<std::string>& decoded;
};

/// What only documents with other than plain scalars need.
struct JsonCursor::Rare {
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> reader;
  std::deque<std::string> decoded;  ///< strings with escapes or other than ASCII
};

JsonCursor::JsonCursor(std::string_view member, Bytes text, std::uint32_t max_depth)
    : member_(member),
      max_depth_(max_depth),
      begin_(as_text(text).data()),
      next_(begin_),
      end_(begin_ + text.size()) {
  if (text.size() > max_text) {
    fail(fmt::format("a JSON document of {} bytes, at most {} are read", text.size(), max_text));
    return;
  }
  // RapidJSON ends at the first NUL, so a NUL would hide everything behind it.
  if (const void* nul = text.empty() ? nullptr : std::memchr(begin_, 0, text.size())) {
    next_ = static_cast<const char*>(nul);
    fail_syntax("a NUL byte");
  }
  if (as_text(text).starts_with("\xEF\xBB\xBF")) fail_syntax("a byte order mark");
}

JsonCursor::~JsonCursor() = default;

/// The next character that is no white space; NUL at the end of the text.
char JsonCursor::next_char() {
  while (next_ != end_ && json_text::is_white(*next_)) ++next_;
  return next_ != end_ ? *next_ : '\0';
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
  return scan_plain() || scan_rare();
}

bool JsonCursor::scan_plain() {
  start_ = next_;
  if (take_string(token_.text)) {
    token_.type = Token::Type::string;
    return true;
  }
  return scan_integer();
}

bool JsonCursor::scan_integer() {
  constexpr std::ptrdiff_t safe_digits = 19;  // cannot exceed 64 bits
  const char* at = next_;
  std::uint64_t value = 0;
  while (at != end_ && *at >= '0' && *at <= '9' && at - next_ <= safe_digits) {
    value = value * 10 + static_cast<unsigned>(*at++ - '0');
  }
  const std::ptrdiff_t digits = at - next_;
  if (digits == 0 || digits > safe_digits || (digits > 1 && *next_ == '0')) return false;
  if (at != end_ && !ends_number(*at)) return false;
  token_.type = Token::Type::unsigned_integer;
  token_.integer = value;
  next_ = at;
  return true;
}

bool JsonCursor::scan_rare() {
  const char c = next_char();
  if (c == '{' || c == '[') {
    token_.type = Token::Type::none;
    return true;
  }
  if (c == '\0') return fail_syntax("the text ends where a value is expected");
  if (!rare_) rare_ = std::make_unique<Rare>();
  constexpr unsigned flags =
      rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream stream(next_, static_cast<std::size_t>(left()));
  TokenHandler handler(token_, rare_->decoded);
  rare_->reader.Parse<flags>(stream, handler);
  next_ += stream.Tell();
  if (!rare_->reader.HasParseError()) return true;
  return fail_syntax(rapidjson::GetParseError_En(rare_->reader.GetParseErrorCode()));
}

std::uint64_t JsonCursor::any_u64(std::uint64_t max) {
  if (!scan_scalar()) return 0;
  const Token& token = token_;
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

std::int64_t JsonCursor::any_i64(std::int64_t min, std::int64_t max) {
  if (!scan_scalar()) return 0;
  const Token& token = token_;
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
  const Token& token = token_;
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
  const Token& token = token_;
  const bool digit = token.type == Token::Type::unsigned_integer && token.integer <= 1;
  if (token.type != Token::Type::boolean && !digit) {
    fail_type("true, false, 1 or 0");
    return false;
  }
  return token.integer == 1;
}

std::string_view JsonCursor::any_string() {
  if (!scan_scalar()) return {};
  if (token_.type != Token::Type::string) {
    fail_type("a string");
    return {};
  }
  return token_.text;
}

void JsonCursor::skip_any() {
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
  ++next_;
  frames_.push_back({object, true, {}, 0});
  return true;
}

bool JsonCursor::any_key(std::string_view& key) {
  if (error_) return false;
  Frame& frame = frames_.back();
  const char c = next_char();
  if (c == '}') return pop();
  if (!frame.first) {
    if (c != ',') return fail_syntax("expected ',' or '}' behind a value");
    ++next_;
  }
  frame.first = false;
  if (next_char() != '"') return fail_syntax("expected a key in quotes");
  if (!scan_plain() && !scan_rare()) return false;
  frame.key = key = token_.text;
  if (next_char() != ':') return fail_syntax("expected ':' behind a key");
  ++next_;
  return true;
}

bool JsonCursor::any_element() {
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
  ++next_;
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
  if (!error_) stop({Status::invalid, ErrorClass::format, where(field), std::move(text)});
}

void JsonCursor::fail(tl::unexpected<Error> error) {
  if (!error_) stop(std::move(error.value()));
}

/// Nothing is left behind an error, so that reading ends.
void JsonCursor::stop(Error error) {
  error_ = std::make_unique<Error>(std::move(error));
  next_ = end_;
}

bool JsonCursor::fail_syntax(std::string_view text) {
  if (error_) return false;
  Where place = where();
  place.offset = static_cast<std::uint64_t>(next_ - begin_);
  stop({Status::invalid, ErrorClass::format, std::move(place),
        fmt::format("invalid JSON: {}", text)});
  return false;
}

void JsonCursor::fail_type(const char* expected) {
  fail(fmt::format("found {}, expected {}", found(), expected));
}

std::string JsonCursor::found() const {
  const Token& token = token_;
  switch (token.type) {
    case Token::Type::none:
      return *start_ == '{' ? "an object" : "an array";
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
  return printable({start_, static_cast<std::size_t>(next_ - start_)});
}

std::string path_step(std::string_view key) {
  return plain_key(key) ? fmt::format(".{}", key) : fmt::format("[\"{}\"]", printable(key));
}

bool KeySet::insert(std::string_view name) {
  const auto end = few_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (!many_) {
    if (std::find(few_.begin(), end, name) != end) return false;
    if (count_ < few_.size()) {
      few_[count_++] = name;
      return true;
    }
    many_ = std::make_unique<std::set<std::string_view>>(few_.begin(), few_.end());
  }
  return many_->insert(name).second;
}

}  // namespace neffld
