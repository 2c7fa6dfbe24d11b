// SPDX-License-Identifier: MIT
#include "json_tree.hpp"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>
#include <utility>

#include "neffld/checked_allocator.hpp"

namespace neffld {
namespace {

using rapidjson::SizeType;

/// Far more than documents have (decision 26 allows 64), and no danger to functions that recurse.
constexpr std::size_t most_levels = 200;
/// Ten times those of a large real document; each takes some hundred bytes of memory.
constexpr std::size_t most_parts = 2'000'000;

/// Takes the events of RapidJSON's reader. False ends the parsing.
class Builder {
 public:
  std::optional<JsonPart> take() {
    if (root_.parts.size() != 1) return std::nullopt;
    return std::move(root_.parts.front());
  }

  bool Null() { return bare("null"); }
  bool Bool(bool value) { return bare(value ? "true" : "false"); }
  bool RawNumber(const char* text, SizeType length, bool) { return bare({text, length}); }
  bool String(const char* text, SizeType length, bool) {
    add(JsonPart::Kind::text).text.assign(text, length);
    return count_ <= most_parts;
  }
  bool Key(const char* text, SizeType length, bool) {
    key_.assign(text, length);
    return true;
  }
  bool StartObject() { return open(JsonPart::Kind::object); }
  bool StartArray() { return open(JsonPart::Kind::array); }
  bool EndObject(SizeType) { return close(); }
  bool EndArray(SizeType) { return close(); }
  // The flag kParseNumbersAsStrings leaves these without a call.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  JsonPart& add(JsonPart::Kind kind) {
    JsonPart& part = open_.back()->parts.emplace_back();
    part.kind = kind;
    part.key = std::exchange(key_, {});
    ++count_;
    return part;
  }
  bool bare(std::string_view text) {
    add(JsonPart::Kind::bare).text = text;
    return count_ <= most_parts;
  }
  bool open(JsonPart::Kind kind) {
    if (open_.size() > most_levels) return false;
    open_.push_back(&add(kind));  // siblings are added only after it is closed: the address stays
    return count_ <= most_parts;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonPart root_;
  std::vector<JsonPart*> open_ = {&root_};
  std::string key_;
  std::size_t count_ = 0;
};

using JsonText = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, CheckedAllocator>;
using Writer = rapidjson::Writer<JsonText, rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator>;

SizeType size_of(const std::string& text) {
  return static_cast<SizeType>(text.size());
}

void write(Writer& out, const JsonPart& part) {
  switch (part.kind) {
    case JsonPart::Kind::bare:
      out.RawValue(part.text.data(), part.text.size(), rapidjson::kNumberType);
      return;
    case JsonPart::Kind::text:
      out.String(part.text.data(), size_of(part.text));
      return;
    case JsonPart::Kind::object:
      out.StartObject();
      for (const JsonPart& child : part.parts) {
        if (!child.kept) continue;
        out.Key(child.key.data(), size_of(child.key));
        write(out, child);
      }
      out.EndObject();
      return;
    case JsonPart::Kind::array:
      out.StartArray();
      for (const JsonPart& child : part.parts) {
        if (child.kept) write(out, child);
      }
      out.EndArray();
      return;
  }
}

void collect(JsonPart& part, unsigned depth, std::vector<JsonPart*>& found) {
  for (JsonPart& child : part.parts) {
    if (!child.kept) continue;
    if (depth == 1) {
      found.push_back(&child);
    } else {
      collect(child, depth - 1, found);
    }
  }
}

}  // namespace

std::optional<JsonPart> parse_json_parts(Bytes text) {
  const std::string_view view = as_text(text);
  rapidjson::MemoryStream stream(view.data(), view.size());
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> reader;
  Builder builder;
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  if (!reader.Parse<flags>(stream, builder)) return std::nullopt;
  return builder.take();
}

std::vector<std::uint8_t> json_text(const JsonPart& root) {
  JsonText buffer;
  Writer writer(buffer);
  write(writer, root);
  const Bytes text = as_bytes({buffer.GetString(), buffer.GetSize()});
  return {text.begin(), text.end()};
}

std::vector<JsonPart*> parts_at(JsonPart& root, unsigned depth) {
  std::vector<JsonPart*> found;
  collect(root, depth, found);
  return found;
}

}  // namespace neffld
