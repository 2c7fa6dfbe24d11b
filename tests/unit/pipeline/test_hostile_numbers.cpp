// SPDX-License-Identifier: MIT
// Numbers of a file at the ends of their types: whatever stands there, a
// load ends with a sentence or with a model, and leaves nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <map>

#include "devices.hpp"
#include "sample_catalogue.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

struct Place {
  std::string member;
  std::string key;  ///< the last one before the number
  std::size_t begin, end;
};

std::string text_of(const PackMember& member) {
  return std::string(member.bytes.begin(), member.bytes.end());
}

/// Calls `found` with the key, the begin and the end of every number outside strings.
template <class Found>
void for_each_number(const std::string& json, Found found) {
  std::string key;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t end = json.find('"', at + 1);
      if (json.compare(end + 1, 1, ":") == 0) key = json.substr(at + 1, end - at - 1);
      at = end + 1;
    } else if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) {
      const std::size_t end = json.find_first_not_of("-+.eE0123456789", at);
      found(key, at, end);
      at = end;
    } else {
      ++at;
    }
  }
}

/// The first and the last number behind each key of each JSON member.
std::vector<Place> places_of(const sample::SampleNeff& sample) {
  std::vector<Place> places;
  for (const PackMember& member : sample.members) {
    if (!member.name.ends_with(".json")) continue;
    std::map<std::string, std::pair<Place, Place>> by_key;
    for_each_number(text_of(member),
                    [&](const std::string& key, std::size_t begin, std::size_t end) {
                      const Place place{member.name, key, begin, end};
                      const auto [entry, fresh] = by_key.try_emplace(key, place, place);
                      if (!fresh) entry->second.second = place;
                    });
    for (const auto& [key, both] : by_key) {
      places.push_back(both.first);
      if (both.second.begin != both.first.begin) places.push_back(both.second);
    }
  }
  return places;
}

std::vector<std::uint8_t> with_text(const sample::SampleNeff& sample, const Place& place,
                                    const std::string& text) {
  sample::SampleNeff changed = sample;
  changed.options.compression = Compression::none;
  for (PackMember& member : changed.members) {
    if (member.name != place.member) continue;
    std::string json = text_of(member);
    json.replace(place.begin, place.end - place.begin, text);
    member.bytes.assign(json.begin(), json.end());
  }
  auto packed = sample::pack(changed);
  REQUIRE(packed);
  return std::move(*packed);
}

/// What no file may cause.
void check_refusal(const Error& error) {
  const std::string sentence = to_sentence(error);
  CAPTURE(sentence);
  CHECK(sentence.find('\n') == std::string::npos);
  CHECK_FALSE(error.text.empty());
  CHECK((error.error_class == ErrorClass::format || error.error_class == ErrorClass::unsupported ||
         error.error_class == ErrorClass::resource));
  CHECK(sentence.find("exception") == std::string::npos);
}

}  // namespace

TEST_CASE("any number of any JSON member at any extreme ends in one sentence or in a model") {
  const std::vector<std::string> extremes = {"0",
                                             "-1",
                                             "1e3",
                                             "1.0",
                                             "65537",
                                             "4294967295",
                                             "4294967296",
                                             "9223372036854775807",
                                             "9223372036854775808",
                                             "18446744073709551608",
                                             "18446744073709551615",
                                             "18446744073709551616"};
  for (const std::string name : {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3", "pointers-v3"}) {
    const sample::SampleNeff sample = sample::make_sample(name);
    Bench bench(architecture_of(name));
    std::size_t refused = 0, loaded = 0;
    for (const Place& place : places_of(sample)) {
      for (const std::string& extreme : extremes) {
        INFO(name << " " << place.member << " " << place.key << " at " << place.begin << ": "
                  << extreme);
        const auto file = with_text(sample, place, extreme);
        auto model = parse_model(file, Arch::any);
        if (!model) {
          check_refusal(model.error());
          ++refused;
          continue;
        }
        const auto result = bench.session->load(std::move(*model));
        if (!result) {
          check_refusal(result.error());
          ++refused;
        } else {
          ++loaded;
          REQUIRE(bench.session->unload(**result));
        }
        REQUIRE(bench.held().first == 0);
      }
    }
    INFO(name);
    CHECK(refused > loaded);
    CHECK(loaded > 0);
  }
}

TEST_CASE("variables around 4 GiB are allocated with their whole size") {
  for (const std::uint64_t size : {(1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1, 1ull << 33}) {
    const sample::SampleNeff sample = sample::make_sample("vecadd-v3");
    const auto def =
        std::find_if(sample.members.begin(), sample.members.end(),
                     [](const PackMember& one) { return one.name == "sg00/def.json"; });
    REQUIRE(def != sample.members.end());
    const std::string key = "\"var\":";
    const std::string json = text_of(*def);
    const std::size_t at = json.find('{', json.find(key)) + 1;
    const auto file = with_text(sample, {def->name, "", at, at},
                                "\"huge\": {\"type\": \"tmp-buf\", \"var_id\": 4, \"size\": " +
                                    std::to_string(size) + "},");
    Bench bench;
    auto model = parse_model(file, Arch::any);
    INFO(size);
    if (!model) FAIL(to_sentence(model.error()));
    const auto loaded = bench.session->load(std::move(*model));
    if (!loaded) FAIL(to_sentence(loaded.error()));
    const auto& all = (*loaded)->allocations;
    const auto huge = std::find_if(all.begin(), all.end(), [](const AllocationInfo& info) {
      return info.owner.find("huge") != std::string::npos;
    });
    REQUIRE(huge != all.end());
    CHECK(huge->requested == size);
    CHECK(huge->size == (size + 4095) / 4096 * 4096);
    CHECK(bench.session->verify(**loaded));
    REQUIRE(bench.session->unload(**loaded));
    CHECK(bench.held().first == 0);
  }
}
