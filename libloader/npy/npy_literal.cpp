// SPDX-License-Identifier: MIT
#include "npy/npy_literal.hpp"

#include <fmt/format.h>

#include <charconv>

#include "neffld/text.hpp"

namespace neffld {
namespace {

constexpr std::size_t max_dims = 64;  // numpy's own limit

/// Reads the text step by step; an error says where it stands.
class Literal {
 public:
  Literal(std::string_view name, std::string_view text, std::uint64_t offset)
      : name_(name), text_(text), offset_(offset) {}

  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Result<void> expect(char wanted) {
    if (take(wanted)) return {};
    return problem(fmt::format("expected '{}'", wanted));
  }

  Result<std::string> string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return problem("expected a text in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return problem("a text has no end");
    std::string found(text_.substr(at_ + 1, end - at_ - 1));
    if (found.find('\\') != std::string::npos) return problem("expected a text without '\\'");
    at_ = end + 1;
    return found;
  }

  Result<bool> boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += std::string_view(word).size();
      return value;
    }
    return problem("expected True or False");
  }

  Result<std::uint64_t> number() {
    skip_space();
    std::uint64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return problem("expected a dimension from 0 to 2^64 - 1");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  Result<std::vector<std::uint64_t>> shape() {
    NEFFLD_TRY(expect('('));
    std::vector<std::uint64_t> dims;
    bool comma = true;
    while (!take(')')) {
      if (!comma) return problem("expected ',' or ')' behind a dimension");
      if (dims.size() == max_dims) {
        return problem(fmt::format("expected at most {} dimensions", max_dims));
      }
      NEFFLD_ASSIGN(dims.emplace_back(), number());
      comma = take(',');
      if (!comma && dims.size() == 1) return problem("expected ',' behind the only dimension");
    }
    return dims;
  }

  Result<void> end() {
    skip_space();
    if (at_ == text_.size()) return {};
    return problem("expected nothing but white space behind the dictionary");
  }

  /// A structured type is a list; say so instead of asking for quotes.
  bool at_list() {
    skip_space();
    return at_ < text_.size() && text_[at_] == '[';
  }

  tl::unexpected<Error> problem(std::string expected) const {
    constexpr std::size_t shown = 16;
    const std::string_view rest = text_.substr(at_, shown);
    return invalid({std::string(name_), "", std::nullopt, offset_ + at_},
                   fmt::format("NUMPY header: found {}, {}",
                               rest.empty() ? "its end" : '\'' + one_line(rest) + '\'', expected));
  }

 private:
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  std::string_view name_, text_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
};

}  // namespace

Result<NpyHeader> read_npy_literal(std::string_view name, std::string_view text,
                                   std::uint64_t offset) {
  Literal in(name, text, offset);
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
  NEFFLD_TRY(in.expect('{'));
  while (!in.take('}')) {
    NEFFLD_ASSIGN(const std::string key, in.string());
    NEFFLD_TRY(in.expect(':'));
    if (key == "descr" && !descr) {
      if (in.at_list()) return in.problem("structured types are not supported, expected one type");
      NEFFLD_ASSIGN(descr, in.string());
    } else if (key == "fortran_order" && !fortran) {
      NEFFLD_ASSIGN(fortran, in.boolean());
    } else if (key == "shape" && !shape) {
      NEFFLD_ASSIGN(shape, in.shape());
    } else {
      return in.problem(
          fmt::format("the key '{}' before it is repeated or unknown, expected "
                      "descr, fortran_order and shape once each",
                      one_line(key)));
    }
    if (!in.take(',')) {
      NEFFLD_TRY(in.expect('}'));
      break;
    }
  }
  if (!descr || !fortran || !shape) {
    return in.problem("expected the keys descr, fortran_order and shape before it");
  }
  NEFFLD_TRY(in.end());
  return NpyHeader{std::move(*descr), *fortran, std::move(*shape)};
}

}  // namespace neffld
