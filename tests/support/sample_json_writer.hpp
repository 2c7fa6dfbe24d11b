// SPDX-License-Identifier: MIT
// SAX writers with typed methods, so that code that writes a document reads like its keys.
#pragma once

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace neffld::sample {

using Buffer = rapidjson::StringBuffer;

/// SAX writer with typed methods, so that a document reads like its keys.
template <class Writer>
class Json : public Writer {
 public:
  using Writer::Writer;
  void text(std::string_view value) {
    this->String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void key(std::string_view name) {
    this->Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void field(std::string_view name, std::string_view value) { key(name), text(value); }
  void field(std::string_view name, std::uint64_t value) { key(name), this->Uint64(value); }
  void flag(std::string_view name, bool value) { key(name), this->Bool(value); }
  void object(std::string_view name) { key(name), this->StartObject(); }
  void array(std::string_view name) { key(name), this->StartArray(); }
  void empty_array(std::string_view name) { array(name), this->EndArray(); }
  void empty_object(std::string_view name) { object(name), this->EndObject(); }
  template <class T>
  void numbers(const std::vector<T>& values) {
    this->StartArray();
    for (const auto value : values) {
      if constexpr (std::is_signed_v<T>) {
        this->Int64(value);
      } else {
        this->Uint64(value);
      }
    }
    this->EndArray();
  }
  template <class T>
  void numbers(std::string_view name, const std::vector<T>& values) {
    key(name);
    numbers(values);
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    array(name);
    for (const auto& value : values) text(value);
    this->EndArray();
  }
};

using Pretty = Json<rapidjson::PrettyWriter<Buffer>>;
using Compact = Json<rapidjson::Writer<Buffer>>;

template <class Body>
std::string document(unsigned indent, Body body) {
  Buffer buffer;
  Pretty json(buffer);
  json.SetIndent(' ', indent);
  json.StartObject();
  body(json);
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace neffld::sample
