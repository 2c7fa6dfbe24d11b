// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "neffld/container.hpp"
#include "sample_catalogue.hpp"
#include "sample_check.hpp"

using namespace neffld;
using namespace neffld::sample;

namespace {

MemberMap map_of(const SampleNeff& sample) {
  MemberMap members;
  for (const auto& member : sample.members) members[member.name] = member.bytes;
  return members;
}

std::vector<std::uint8_t>& bytes_of(SampleNeff& sample, const std::string& name) {
  const auto found = std::find_if(sample.members.begin(), sample.members.end(),
                                  [&](const PackMember& member) { return member.name == name; });
  REQUIRE(found != sample.members.end());
  return found->bytes;
}

void replace_text(std::vector<std::uint8_t>& bytes, const std::string& from,
                  const std::string& to) {
  std::string text(bytes.begin(), bytes.end());
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  bytes.assign(text.begin(), text.end());
}

bool same_members(const SampleNeff& a, const SampleNeff& b) {
  return std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [](const PackMember& x, const PackMember& y) {
                      return x.name == y.name && x.bytes == y.bytes;
                    });
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

SubgraphFacts facts_of(const std::string& name, std::size_t subgraph = 0) {
  const SampleNeff sample = make_sample(name);
  const CheckResult result = check_members(map_of(sample));
  REQUIRE(result.problems.empty());
  return result.subgraphs.at(subgraph);
}

}  // namespace

TEST_CASE("every sample is well formed and runs to its end under the token model", "[samples]") {
  REQUIRE(catalogue().size() >= 20);
  for (const auto& entry : catalogue()) {
    DYNAMIC_SECTION(entry.name) {
      const SampleNeff sample = make_sample(entry.name, 7);
      const CheckResult result = check_members(map_of(sample));
      INFO(joined(result.problems));
      CHECK(result.problems.empty());
      CHECK_FALSE(result.subgraphs.empty());
    }
  }
}

TEST_CASE("a sample depends on its name and seed only", "[samples]") {
  for (const auto& entry : catalogue()) {
    DYNAMIC_SECTION(entry.name) {
      const SampleNeff one = entry.make(entry.name, 3), again = entry.make(entry.name, 3);
      CHECK(same_members(one, again));
      CHECK(one.options.uuid == again.options.uuid);
      const SampleNeff other = entry.make(entry.name, 4);
      CHECK(one.options.uuid != other.options.uuid);
      CHECK_FALSE(same_members(one, other));
    }
  }
}

TEST_CASE("catalogue names are unique and unknown names are refused", "[samples]") {
  std::set<std::string_view> names;
  for (const auto& entry : catalogue()) names.insert(entry.name);
  CHECK(names.size() == catalogue().size());
  CHECK_THROWS_AS(make_sample("no-such-sample"), std::invalid_argument);
}

TEST_CASE("packed samples read back with the members, order and hash form of real files",
          "[samples]") {
  for (const char* name : {"vecadd-v3", "vecadd-v2", "dge-v3"}) {
    DYNAMIC_SECTION(name) {
      const SampleNeff sample = make_sample(name);
      const auto file = pack(sample);
      REQUIRE(file);
      ContainerOptions options;
      options.verify_hash = true;
      const auto container = parse_container(*file, options);
      REQUIRE(container);
      REQUIRE(container->members().size() == sample.members.size());
      for (const auto& member : sample.members) {
        const Member* found = container->find(member.name);
        REQUIRE(found != nullptr);
        CHECK(std::equal(found->bytes.begin(), found->bytes.end(), member.bytes.begin(),
                         member.bytes.end()));
      }
      const bool v2 = std::string(name).ends_with("v2");
      CHECK(container->facts().hash_form == (v2 ? HashForm::plain : HashForm::word_swapped));
      CHECK(container->facts().tar_dialect == (v2 ? "pax" : "ustar"));
      CHECK(container->header().vnc_size == (v2 ? 1u : 2u));
      CHECK((file->size() - 1024) % 10240 == 0);
      CHECK(sample.members.back().name == (v2 ? "sg00/tensor_map.json" : "neff.json"));
    }
  }
}

TEST_CASE("v2 samples have one subgraph and v3 samples two, unless they say otherwise",
          "[samples]") {
  for (const auto& entry : catalogue()) {
    DYNAMIC_SECTION(entry.name) {
      const auto result = check_members(map_of(make_sample(entry.name)));
      const bool single =
          entry.name.ends_with("-v2") || entry.name == "single-core-v3" || entry.name == "scale";
      CHECK(result.subgraphs.size() == (single ? 1u : 2u));
    }
  }
}

TEST_CASE("the samples cover what they are named for", "[samples]") {
  SECTION("casts") {
    CHECK(facts_of("cast-v3").casts == 6);
  }
  SECTION("transposes") {
    const auto facts = facts_of("transpose-v3");
    CHECK(facts.transposes == 5);
    CHECK(facts.elements == 16384 + 128 + 128 + 128 + 8 + 4 + 4);
  }
  SECTION("dynamic queues") {
    const auto facts = facts_of("dge-v3");
    CHECK(facts.blocks == 0);
    CHECK(facts.dge_operations == 8);
    CHECK(facts.scratchpad_bytes == 4u << 20);
  }
  SECTION("queue sets") {
    CHECK(facts_of("many-queues-v3").queue_sets == 6);
  }
  SECTION("ids that differ between the cores") {
    CHECK(facts_of("dge-lnc2-v3", 0).variables == facts_of("dge-lnc2-v3", 1).variables + 1);
  }
  SECTION("overlap") {
    CHECK(facts_of("virtual-overlap-v2").scratchpad_bytes == (1u << 20) + 4096);
  }
  SECTION("empty programs") {
    CHECK(facts_of("empty-v3").slots == std::array<std::uint64_t, 5>{2, 2, 2, 2, 2});
  }
}

TEST_CASE("the scale sample has the sizes that were asked for", "[samples]") {
  ScaleParameters parameters;
  parameters.subgraphs = 2;
  parameters.weights_bytes = 300'000;
  parameters.slots = 5'000;
  parameters.elements = 128 * 100;
  parameters.element_bytes = 36;
  parameters.variables = 500;
  const SampleNeff sample = make_scale_sample(parameters);
  const CheckResult result = check_members(map_of(sample));
  INFO(joined(result.problems));
  REQUIRE(result.problems.empty());
  REQUIRE(result.subgraphs.size() == 2);
  for (const auto& facts : result.subgraphs) {
    CHECK(facts.constants_bytes == 300'000);
    CHECK(facts.variables == 500);
    CHECK(facts.elements == 128 * 101);  // and one block to the output
    std::uint64_t slots = 0;
    for (const auto count : facts.slots) slots += count;
    CHECK(slots >= 5'000);
    CHECK(slots < 5'010);
  }
  parameters.arch = Arch::v2;
  CHECK_THROWS_AS(make_scale_sample(parameters), std::invalid_argument);
}

TEST_CASE("the checker refuses programs that are not well formed", "[samples]") {
  SampleNeff sample = make_sample("vecadd-v2");
  REQUIRE(check_members(map_of(sample)).problems.empty());
  SECTION("a wait that nothing satisfies") {
    auto& pool = bytes_of(sample, "sg00/Pool.bin");
    pool[64 + 8] = 99;  // slot 1 waits for DVE
    CHECK(joined(check_members(map_of(sample)).problems) == "sg00 engine 2 never passes slot 1\n");
  }
  SECTION("a block that is never triggered") {
    auto& sp = bytes_of(sample, "sg00/SP.bin");
    sp.resize(sp.size() - 64);
    CHECK_FALSE(check_members(map_of(sample)).problems.empty());
  }
  SECTION("an extent outside its variable") {
    replace_text(bytes_of(sample, "sg00/SP.json"), "\"from_off\":0", "\"from_off\":400");
    CHECK_THAT(joined(check_members(map_of(sample)).problems),
               Catch::Contains("extent leaves left"));
  }
  SECTION("an SBUF side beyond its partition") {
    replace_text(bytes_of(sample, "sg00/SP.json"), "\"to_off\":1024", "\"to_off\":196500");
    CHECK_THAT(joined(check_members(map_of(sample)).problems),
               Catch::Contains("SBUF side leaves its partitions"));
  }
  SECTION("an output that neff.json does not name") {
    replace_text(bytes_of(sample, "neff.json"), "[\"sum\"]", "[\"som\"]");
    CHECK_THAT(joined(check_members(map_of(sample)).problems), Catch::Contains("outputs differ"));
  }
  SECTION("one increment a block instead of one a ring") {
    replace_text(bytes_of(sample, "sg00/def.json"), "\"num_queues\": 16", "\"num_queues\": 1");
    CHECK_THAT(joined(check_members(map_of(sample)).problems), Catch::Contains("never passes"));
  }
}

TEST_CASE("npy constants have their data at byte 128", "[samples]") {
  const auto file = npy_file("<f2", {2, 3}, {1, 2, 3});
  REQUIRE(file.size() == 131);
  CHECK(load_le<std::uint16_t>(file, 0) == 0x4E93);
  CHECK(load_le<std::uint16_t>(file, 8) == 118);
  CHECK(file[127] == '\n');
  CHECK(file[128] == 1);
}

TEST_CASE("the checker accepts real compiler outputs", "[samples][real]") {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) {
    WARN("skipped: NEFFLD_NEFFS does not name a folder of NEFF files");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".neff") continue;
    DYNAMIC_SECTION(entry.path().filename().string()) {
      const auto file = read_file(entry.path().string());
      REQUIRE(file);
      const auto container = parse_container(*file);
      REQUIRE(container);
      MemberMap members;
      for (const auto& member : container->members()) {
        members[std::string(member.name)] = member.bytes;
      }
      const CheckResult result = check_members(members);
      INFO(joined(result.problems));
      CHECK(result.problems.empty());
    }
  }
}
