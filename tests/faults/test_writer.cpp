// SPDX-License-Identifier: MIT
// Host memory that runs out anywhere in writing a NEFF: a status, no exception, no leak.
#include <catch2/catch.hpp>
#include <string>

#include "host_memory.hpp"
#include "neffld/container.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::vector<PackMember> members() {
  std::vector<PackMember> list = {{"neff.json", {'{', '}'}, false}, {"sg00/", {}, true}};
  list.push_back({"sg00/" + std::string(200, 'n'), std::vector<std::uint8_t>(300'000, 'v'), false});
  for (std::size_t i = 0; i < list[2].bytes.size(); i += 7) {
    list[2].bytes[i] = static_cast<std::uint8_t>(i * i);
  }
  return list;
}

/// Writes with every allocation failing in turn; returns how many there are.
std::uint64_t sweep(const PackOptions& options) {
  const auto list = members();
  const auto whole = pack_neff(list, options);  // what is made on first use is no leak
  REQUIRE(whole);
  for (std::uint64_t nth = 1;; ++nth) {
    const HostMemory before = host_memory();
    bool struck = false;
    {
      Result<std::vector<std::uint8_t>> file;
      {
        const FailingMemory failing(nth);
        file = pack_neff(list, options);
        struck = failing.struck();
      }
      if (file && *file != *whole) FAIL("allocation " << nth << " gives another file");
      if (!file && !struck) FAIL(to_sentence(file.error()));
      if (!file && file.error().status != Status::resource) FAIL(to_sentence(file.error()));
    }
    if (!(host_memory() == before)) FAIL("allocation " << nth << " left memory behind");
    if (!struck) return nth - 1;
  }
}

}  // namespace

TEST_CASE("any failing host allocation of a writer is a status without a leak") {
  if (!host_memory_is_watched()) {
    WARN("SKIPPED: a sanitizer owns malloc() in this build");
    return;
  }
  for (const Compression compression : {Compression::deflate, Compression::stored}) {
    for (const TarDialect dialect : {TarDialect::pax, TarDialect::gnu}) {
      PackOptions options;
      options.compression = compression;
      options.dialect = dialect;
      options.uuid.emplace();
      CHECK(sweep(options) > 20);
    }
  }
}
