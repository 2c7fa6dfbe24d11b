// SPDX-License-Identifier: MIT
// Which stages touch the device, and how far a load goes (decision 44, design rule 1).
#include <algorithm>
#include <catch2/catch.hpp>

#include "devices.hpp"
#include "neffld/sim_control.hpp"
#include "sample_catalogue.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::vector<std::uint8_t> packed_with(std::string_view name, const std::string& member,
                                      const std::string& from, const std::string& to) {
  auto neff = sample::make_sample(name);
  for (PackMember& entry : neff.members) {
    if (entry.name != member) continue;
    std::string text(entry.bytes.begin(), entry.bytes.end());
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    entry.bytes.assign(text.begin(), text.end());
  }
  auto bytes = sample::pack(neff);
  REQUIRE(bytes);
  return *bytes;
}

}  // namespace

TEST_CASE("no device call is made before staging") {
  Bench bench;
  const std::uint64_t before = bench.script->calls;
  ParsedModel model = parsed("vecadd-v3");
  CHECK(bench.script->calls == before);

  // Progress reports come between the stages: at the first of `stage` nothing was called yet.
  std::vector<std::pair<Stage, std::uint64_t>> seen;
  LoadOptions options;
  options.progress = [&](const Progress& progress) {
    seen.emplace_back(progress.stage, bench.script->calls);
  };
  REQUIRE(bench.session->load(std::move(model), options));
  const auto first_of = [&](Stage stage) {
    return std::find_if(seen.begin(), seen.end(), [=](const auto& e) { return e.first == stage; });
  };
  REQUIRE(first_of(Stage::plan) != seen.end());
  REQUIRE(first_of(Stage::stage) != seen.end());
  for (const auto& [stage, calls] : seen) {
    if (stage < Stage::stage) CHECK(calls == before);
  }
  CHECK(first_of(Stage::stage)->second == before);
  CHECK(bench.script->calls > before + 60);
}

TEST_CASE("a load that fails before staging makes no device call") {
  Bench bench;
  const std::uint64_t before = bench.script->calls;
  const auto held = bench.held();
  SECTION("guard") {
    CHECK_FALSE(parse_model(sample_bytes("vecadd-v3").first(1000), bench.session->arch()));
  }
  SECTION("parse") {
    const Bytes whole = sample_bytes("vecadd-v3");
    std::vector<std::uint8_t> file(whole.begin(), whole.end());
    file[5000] ^= 1;
    CHECK_FALSE(parse_model(file, bench.session->arch()));
  }
  SECTION("graph: wrong architecture") {
    const auto model = parse_model(sample_bytes("vecadd-v2"), bench.session->arch());
    REQUIRE_FALSE(model);
    CHECK(model.error().error_class == ErrorClass::unsupported);
  }
  SECTION("build") {
    const auto file = packed_with("vecadd-v3", "sg00/def.json", "\"var_id\": 3", "\"var_id\": 4");
    CHECK_FALSE(parse_model(file, bench.session->arch()));
  }
  SECTION("plan: a record that cannot be translated") {
    const auto loaded = bench.session->load(parsed("refused-v3"));
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().error_class == ErrorClass::unsupported);
  }
  SECTION("plan: a core that does not exist") {
    const auto loaded = bench.session->load(parsed("vecadd-v3"), {.logical_core = 4});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().error_class == ErrorClass::usage);
  }
  SECTION("plan: a scratchpad page size that is not allowed") {
    CHECK_FALSE(bench.session->load(parsed("vecadd-v3"), {.scratchpad = {.page_bytes = 1 << 20}}));
  }
  CHECK(bench.script->calls == before);
  CHECK(bench.held() == held);
  CHECK(bench.session->models().empty());
}

TEST_CASE("a model of v4 is parsed, built and planned, and staging it is refused") {
  const auto file = packed_with("vecadd-v3", "kelf-0.json", "cayman", "mariana");
  Bench bench;
  auto model = parse_model(file, Arch::any);
  if (!model) FAIL(to_sentence(model.error()));
  CHECK(model->manifest.arch == Arch::v4);
  const std::uint64_t before = bench.script->calls;
  const auto loaded = bench.session->load(std::move(*model));
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().error_class == ErrorClass::unsupported);
  CHECK(bench.script->calls == before);
}

TEST_CASE("a model loads and executes the same with pages of 4, 16 and 64 KiB") {
  std::vector<std::vector<std::pair<std::string, std::uint64_t>>> layouts;
  for (const std::uint32_t page : {4096u, 16384u, 65536u}) {
    INFO("pages of " << page);
    auto device = sim_device_with_pages({}, page);
    REQUIRE(device);
    auto session = Session::open(std::move(*(*device)->open()));
    REQUIRE(session);
    const auto model = (*session)->load(parsed("cast-v3"));
    REQUIRE(model);
    REQUIRE((*session)->bind(**model, io_addresses((*model)->parsed)));
    CHECK((*session)->verify(**model));
    const auto executed = (*session)->execute(**model);
    if (!executed) FAIL(to_sentence(executed.error()));
    layouts.push_back(layout(**model));
    CHECK((*session)->unload(**model));
  }
  CHECK(layouts[1] == layouts[0]);
  CHECK(layouts[2] == layouts[0]);
}

TEST_CASE("a load until stage allocates and fills nothing") {
  Bench bench;
  LoadOptions options;
  options.until = Stage::stage;
  LoadedModel& model = load(bench, "vecadd-v3", options);
  CHECK_FALSE(model.queues_initialised);
  CHECK(model.parsed.times.back().stage == Stage::stage);
  const auto calls = [&](std::uint32_t command) {
    const auto found = bench.session->calls().find(command);
    return found == bench.session->calls().end() ? 0 : found->second;
  };
  CHECK(calls(NEURON_IOCTL_MEM_ALLOC_V2MT64) == model.allocations.size());
  CHECK(calls(NEURON_IOCTL_MEM_BUF_COPY64) == 0);
  CHECK(calls(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64) == 0);
  CHECK(calls(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH) == 0);
  REQUIRE(bench.session->unload(model));
  CHECK(bench.held().first == 0);
}

TEST_CASE("the session counts the calls it makes") {
  Bench bench;
  load(bench, "vecadd-v3");
  std::uint64_t sum = 0;
  for (const auto& [command, count] : bench.session->calls()) sum += count;
  CHECK(sum == bench.script->calls);
}

TEST_CASE("a model built for another architecture than the device's is refused by load") {
  Bench bench(3);
  const std::uint64_t before = bench.script->calls;
  const auto loaded = bench.session->load(parsed("vecadd-v2"));
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().error_class == ErrorClass::unsupported);
  CHECK(bench.script->calls == before);
}
