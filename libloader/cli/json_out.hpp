// SPDX-License-Identifier: MIT
// A thin layer over RapidJSON's writer for the shapes our JSON outputs have.
#pragma once

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "neffld/checked_allocator.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {

using JsonBuffer = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, CheckedAllocator>;

/// One JSON value; `Writer` decides about white space.
template <class Writer>
class BasicJsonOut {
 public:
  BasicJsonOut() : writer_(buffer_) {}
  /// Spaces per level, for writers that indent.
  void indent(unsigned spaces) { writer_.SetIndent(' ', spaces); }

  template <class Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <class Body>
  void object(std::string_view key, Body body) {
    this->key(key);
    object(body);
  }
  template <class Range, class Each>
  void array(std::string_view key, const Range& range, Each each) {
    this->key(key);
    writer_.StartArray();
    for (const auto& item : range) each(item);
    writer_.EndArray();
  }

  /// Names come from files and need not be UTF-8; JSON has to be.
  void value(std::string_view text) {
    const std::string valid = valid_utf8(text);
    writer_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool flag) { writer_.Bool(flag); }
  void value(double number) { writer_.Double(number); }
  void value(std::uint64_t number) { writer_.Uint64(number); }
  void value(std::uint32_t number) { writer_.Uint(number); }
  void null() { writer_.Null(); }

  template <class T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void hex(std::string_view name, std::uint64_t number) {
    field(name, fmt::format("0x{:x}", number));
  }
  void null(std::string_view name) {
    key(name);
    null();
  }
  template <class T>
  void strings(std::string_view name, const T& texts) {
    array(name, texts, [this](const auto& text) { this->value(text); });
  }

  std::string_view text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  void key(std::string_view name) {
    const std::string valid = valid_utf8(name);
    writer_.Key(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
  JsonBuffer buffer_;
  Writer writer_;
};

// ASCII output: what is not comes out as \uNNNN, so no name can drive the terminal it is printed
// on.
using JsonOut = BasicJsonOut<
    rapidjson::PrettyWriter<JsonBuffer, rapidjson::UTF8<>, rapidjson::ASCII<>, CheckedAllocator>>;
/// Everything on one line.
using JsonLine = BasicJsonOut<
    rapidjson::Writer<JsonBuffer, rapidjson::UTF8<>, rapidjson::ASCII<>, CheckedAllocator>>;

}  // namespace neffld::cli
