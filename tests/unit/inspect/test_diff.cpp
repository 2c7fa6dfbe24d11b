// SPDX-License-Identifier: MIT
#include "neffld/image_diff.hpp"

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

DiffResult diff(const Layout& a, const DeviceMemoryView& ma, const Layout& b,
                const DeviceMemoryView& mb) {
  auto result = diff_models({a, ma}, {b, mb});
  if (!result) FAIL(to_sentence(result.error()));
  return std::move(*result);
}

/// A sample loaded behind other models, so at other addresses, and on another core.
struct Displaced {
  Displaced(std::string_view name, std::uint32_t core) : bench(architecture_of(name)) {
    load(bench, architecture_of(name) == 2 ? "rearm-v2" : "pointers-v3");
    LoadOptions options;
    options.logical_core = core;
    model = &load(bench, name, options);
    auto io = free_io_addresses(*bench.session, *model);
    REQUIRE(io);
    REQUIRE(bench.session->bind(*model, *io));
    layout = *layout_of(*model);
    memory = session_memory(*bench.session);
  }
  Bench bench;
  LoadedModel* model = nullptr;
  Layout layout;
  std::unique_ptr<DeviceMemoryView> memory;
};

}  // namespace

TEST_CASE("the same model at other addresses, and on another core, is equal") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Staged here(name);
    for (const std::uint32_t core : {0u, 1u}) {
      INFO("core " << core);
      const Displaced there(name, core);
      const DiffResult result = diff(here.layout, *here.memory, there.layout, *there.memory);
      for (const Difference& d : result.differences) {
        UNSCOPED_INFO(d.what << "\n < " << d.first << "\n > " << d.second);
      }
      CHECK(result.equal());
      CHECK(result.bytes > 0);
    }
  }
}

TEST_CASE("one changed byte is named in every kind of section") {
  const Staged here("conv-like-v2");
  for (const Layout::Section& section : here.layout.sections) {
    if (section.shared) continue;
    INFO(section.owner);
    Overlay changed(*here.memory);
    std::vector<std::uint8_t> byte(1);
    REQUIRE(here.memory->read(section.pa, byte));
    changed.set(section.pa, {static_cast<std::uint8_t>(byte[0] ^ 1)});
    const DiffResult result = diff(here.layout, *here.memory, here.layout, changed);
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].what.find(section.owner) != std::string::npos);
    CHECK(result.differences[0].count == 1);
    CHECK(result.differences[0].first != result.differences[0].second);
  }
}

TEST_CASE("a pointer to another variable is a difference though the bytes around it are equal") {
  const Staged here("conv-like-v2");
  for (const Layout::Ring& ring : here.layout.subgraphs[0].rings) {
    if (!ring.rx || ring.used < 2) continue;
    const Layout::Section& section = here.layout.sections[*ring.rx];
    Overlay changed(*here.memory);
    std::vector<std::uint8_t> pointer(8);
    REQUIRE(here.memory->read(section.pa + 8, pointer));
    store_le<std::uint64_t>(pointer, 0, load_le<std::uint64_t>(Bytes(pointer), 0) + 64);
    changed.set(section.pa + 8, pointer);
    const DiffResult result = diff(here.layout, *here.memory, here.layout, changed);
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].what.find("descriptor 0") != std::string::npos);
  }
}

TEST_CASE("different models differ, and both directions name the same things") {
  const Staged a("vecadd-v3"), b("cast-v3");
  const DiffResult there = diff(a.layout, *a.memory, b.layout, *b.memory);
  const DiffResult back = diff(b.layout, *b.memory, a.layout, *a.memory);
  CHECK_FALSE(there.equal());
  REQUIRE(there.differences.size() == back.differences.size());
  const Staged other_arch("vecadd-v2");
  CHECK(diff(a.layout, *a.memory, other_arch.layout, *other_arch.memory).differences[0].what ==
        "architecture");
}
