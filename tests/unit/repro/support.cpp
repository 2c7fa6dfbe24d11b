// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <catch2/catch.hpp>
#include <utility>

namespace neffld::test {

Buffer bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

std::string text_of(const Buffer& bytes) {
  return {bytes.begin(), bytes.end()};
}

PackMember member(std::string name, std::string_view content) {
  return {std::move(name), bytes_of(content), false};
}

Buffer pack(const std::vector<PackMember>& members) {
  PackOptions options;
  options.name = "secret model";
  auto file = pack_neff(members, options);
  REQUIRE(file);
  return *std::move(file);
}

LoadProbe probe(Look look) {
  return [look = std::move(look)](Bytes file) -> std::optional<Error> {
    ContainerOptions options;
    options.verify_hash = true;
    const auto container = parse_container(file, options);
    return container ? look(*container) : container.error();
  };
}

Container parsed(const Repro& repro) {
  ContainerOptions options;
  options.verify_hash = true;
  auto container = parse_container(repro.file, options);
  REQUIRE(container);
  return *std::move(container);
}

std::string content(const Container& container, std::string_view name) {
  const Member* found = container.find(name);
  REQUIRE(found != nullptr);
  return std::string(as_text(found->bytes));
}

}  // namespace neffld::test
