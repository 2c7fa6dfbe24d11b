// SPDX-License-Identifier: MIT
// A thin layer over RapidJSON's writer for the shapes our JSON outputs have.
#pragma once

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace neffld::cli {

class JsonOut {
 public:
  JsonOut() : writer_(buffer_) { writer_.SetIndent(' ', 1); }

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

  void value(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
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
    array(name, texts, [this](const auto& text) { value(text); });
  }

  std::string_view text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  void key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_;
};

}  // namespace neffld::cli
