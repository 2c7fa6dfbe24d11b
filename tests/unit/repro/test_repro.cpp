// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

Error bad(std::string where, std::string text) {
  return {Status::invalid, ErrorClass::format, {std::move(where), "", {}, {}}, std::move(text)};
}

/// Streams, tables, weights, JSON and a member that loaders drop.
std::vector<PackMember> members() {
  std::string stream;
  for (int i = 0; i < 300; ++i) stream += std::string(64, static_cast<char>('A' + i % 50));
  stream[64 * 217] = '\xFD';
  const std::string weights = "\x93NUMPY" + std::string("\1\0", 2) + std::string("\x76\0", 2) +
                              std::string(0x76, ' ') + std::string(4096, 'w');
  return {member("neff.json", R"({"nodes":[1,2,3],"attrs":{"a":"b"}})"),
          member("sg00/Pool.json", R"({"instr":"Pool.bin","dma":[{"id":1},{"id":2},{"id":3}]})"),
          member("sg00/Pool.bin", stream),
          member("sg00/weights.npy", weights),
          member("sg00/x.dbg", "debug"),
          member("sg00/table.bin", std::string(1024, 't'))};
}

/// A slot with this opcode in Pool.bin is refused; Pool.json and the weights must be there.
std::optional<Error> bad_opcode(const Container& container) {
  for (const char* needed : {"sg00/Pool.json", "sg00/Pool.bin", "sg00/weights.npy"}) {
    if (container.find(needed) == nullptr) return bad(needed, "is not there");
  }
  if (container.find("sg00/weights.npy")->bytes.size() != 128 + 4096) {
    return bad("sg00/weights.npy", "has another length");
  }
  const Bytes stream = container.find("sg00/Pool.bin")->bytes;
  for (std::size_t at = 0; at < stream.size(); at += 64) {
    if (stream[at] == 0xFD) return bad("sg00/Pool.bin", "no opcode 253");
  }
  return std::nullopt;
}

Repro reduced(Bytes file, const LoadProbe& judge, const ReproOptions& options = {}) {
  auto repro = make_repro(file, judge, options);
  if (!repro) FAIL(to_sentence(repro.error()));
  return *std::move(repro);
}

}  // namespace

TEST_CASE("one slot, the needed members and no weights are left") {
  const Repro repro = reduced(pack(members()), probe(bad_opcode));
  const Container left = parsed(repro);
  CHECK(repro.members ==
        std::vector<std::string>{"sg00/Pool.bin", "sg00/Pool.json", "sg00/weights.npy"});
  CHECK(content(left, "sg00/Pool.bin").size() == 64);
  CHECK(content(left, "sg00/Pool.bin")[0] == '\xFD');
  CHECK(content(left, "sg00/Pool.json") == "{}");
  CHECK(content(left, "sg00/weights.npy").substr(128) == std::string(4096, '\0'));
  CHECK(repro.weights_left.empty());
  CHECK(repro.binary_left == std::vector<std::string>{"sg00/Pool.bin"});
  CHECK(header_name(left.header()).empty());
  CHECK(repro.before.members == 6);
  CHECK(repro.before.slots == 300);
  CHECK(repro.after.members == 3);
  CHECK(repro.after.bytes == repro.file.size());
  CHECK(repro.after.bytes < repro.before.bytes);
  CHECK_FALSE(repro.stopped_early);
  CHECK(repro.work.tried > repro.work.taken);
}

TEST_CASE("weights stay if they are to stay") {
  ReproOptions options;
  options.keep_weights = true;
  const Repro repro = reduced(pack(members()), probe(bad_opcode), options);
  CHECK(content(parsed(repro), "sg00/weights.npy").substr(128) == std::string(4096, 'w'));
  CHECK(repro.weights_left == std::vector<std::string>{"sg00/weights.npy"});
}

TEST_CASE("constants are what def.json names, whatever their ending") {
  std::vector<PackMember> all = members();
  all.push_back(
      member("sg00/def.json", R"({"var":{"w":{"type":"file","file_name":"table.bin"}}})"));
  ReproOptions options;
  options.keep_weights = true;
  CHECK(reduced(pack(all), probe(bad_opcode), options).weights_left ==
        std::vector<std::string>{"sg00/weights.npy"});
  options = {.tries = 1};
  const Repro repro = reduced(pack(all), probe(bad_opcode), options);
  CHECK(repro.stopped_early);
  CHECK(repro.weights_left == std::vector<std::string>{"sg00/table.bin", "sg00/weights.npy"});
}

TEST_CASE("constants are known by a broken document, in raw bytes and by any name") {
  std::vector<PackMember> all = members();
  all.push_back(member("sg00/graph.json",
                       R"({"var":{"w":{"file_name" : "raw.dat"},"v":{"file_name":"w.json")"));
  all.push_back(member("sg00/raw.dat", std::string(300, 'r')));
  all.push_back(member("sg00/w.json", std::string(300, 's')));
  const Repro repro = reduced(pack(all), probe(bad_opcode), {.seconds = 0});
  CHECK(repro.weights_left ==
        std::vector<std::string>{"sg00/raw.dat", "sg00/w.json", "sg00/weights.npy"});
  const Repro zeroed = reduced(pack(all), probe(bad_opcode), {.tries = 2});
  CHECK(zeroed.weights_left.empty());
  CHECK(content(parsed(zeroed), "sg00/raw.dat") == std::string(300, '\0'));
}

TEST_CASE("no candidate is made when the time is up") {
  std::vector<PackMember> all = members();
  all.push_back(member("sg00/large.bin", std::string(8 << 20, 'x')));
  ReproOptions options;
  options.seconds = 0;
  const std::clock_t before = std::clock();
  const auto check_time = [&](const Repro& repro) {
    CHECK(repro.work.tried == 0);
    CHECK(std::clock() - before < 10 * CLOCKS_PER_SEC);  // each candidate would take a tenth
  };
  check_time(reduced(pack(all), probe(bad_opcode), options));
  Buffer damaged = pack(all);
  *std::find_if(damaged.rbegin(), damaged.rend(), [](auto byte) { return byte != 0; }) ^= 1;
  check_time(reduced(
      damaged,
      [](Bytes bytes) -> std::optional<Error> {
        const auto container = parse_container(bytes);
        return container ? std::nullopt : std::optional(container.error());
      },
      options));
}

TEST_CASE("weights the error needs are told") {
  const Repro repro =
      reduced(pack(members()), probe([](const Container& container) {
                const Member* found = container.find("sg00/weights.npy");
                const bool bad_value =
                    found != nullptr && found->bytes.size() > 200 && found->bytes[200] == 'w';
                return bad_value ? std::optional(bad("sg00/weights.npy", "w")) : std::nullopt;
              }));
  CHECK(repro.members == std::vector<std::string>{"sg00/weights.npy"});
  CHECK(repro.weights_left == repro.members);
}

TEST_CASE("of a JSON document what the error needs is left") {
  const Repro repro =
      reduced(pack(members()), probe([](const Container& container) {
                const Member* found = container.find("sg00/Pool.json");
                const bool there = found != nullptr &&
                                   as_text(found->bytes).find(R"("id":2)") != std::string::npos;
                return there ? std::optional(bad("sg00/Pool.json", "id 2")) : std::nullopt;
              }));
  CHECK(content(parsed(repro), "sg00/Pool.json") == R"({"dma":[{"id":2}]})");
}

TEST_CASE("a document that is no JSON is reduced byte by byte") {
  auto broken = members();
  broken[1] = member("sg00/Pool.json", std::string(500, 'x') + "!" + std::string(500, 'y'));
  const Repro repro = reduced(
      pack(broken), probe([](const Container& container) {
        const Member* found = container.find("sg00/Pool.json");
        const bool there = found != nullptr && as_text(found->bytes).find('!') != std::string::npos;
        return there ? std::optional(bad("sg00/Pool.json", "!")) : std::nullopt;
      }));
  CHECK(content(parsed(repro), "sg00/Pool.json") == "!");
}

TEST_CASE("the same file gives the same result") {
  const Buffer file = pack(members());
  const Repro first = reduced(file, probe(bad_opcode));
  const Repro second = reduced(file, probe(bad_opcode));
  CHECK(first.file == second.file);
  CHECK(first.work.tried == second.work.tried);
}

TEST_CASE("when the time is up what was reached is given, and said so") {
  ReproOptions options;
  options.seconds = 0;
  const Repro repro = reduced(pack(members()), probe(bad_opcode), options);
  CHECK(repro.stopped_early);
  CHECK(repro.work.tried == 0);
  CHECK(repro.error_after.text == "no opcode 253");
  CHECK(repro.weights_left == std::vector<std::string>{"sg00/weights.npy"});
}

TEST_CASE("tries are counted, told and limited") {
  ReproOptions options;
  options.tries = 10;
  std::uint64_t calls = 0, taken = 0;
  options.progress = [&](const ReproProgress& progress) {
    CHECK(progress.tried == ++calls);
    CHECK((progress.taken == taken || progress.taken == taken + 1));
    taken = progress.taken;
  };
  const Repro repro = reduced(pack(members()), probe(bad_opcode), options);
  CHECK(repro.stopped_early);
  CHECK(repro.work.tried == 10);
  CHECK(calls == 10);
  CHECK(repro.work.taken == taken);
  CHECK(repro.work.bytes > repro.file.size());  // not compressed
}

TEST_CASE("host memory that runs out ends a reduction at any candidate and is never its error") {
  const Error shortages[] = {
      {Status::resource, ErrorClass::resource, {}, std::string(host_memory_exhausted)},
      {Status::resource, ErrorClass::resource, {}, "x cannot be made: host memory is exhausted"},
      {Status::resource, ErrorClass::resource, {}, ""},
      {Status::fail_host_mem_alloc, ErrorClass::resource, {}, "no memory to reserve HBMs"}};
  const std::uint64_t most = reduced(pack(members()), probe(bad_opcode)).work.tried + 2;
  for (const Error& shortage : shortages) {
    for (const char* wanted : {"", "NRT_RESOURCE", "memory"}) {
      for (std::uint64_t k = 1; k <= most; k = k < 4 || k == most ? k + 1 : std::min(3 * k, most)) {
        std::uint64_t loads = 0;
        const LoadProbe rest = probe(bad_opcode);
        const auto runs_out = [&](Bytes file) -> std::optional<Error> {
          if (++loads >= k) return shortage;
          return *wanted == '\0' ? rest(file)
                                 : Error{Status::resource, ErrorClass::resource, {}, "no memory"};
        };
        ReproOptions options;
        options.wanted = wanted;
        const auto repro = make_repro(pack(members()), runs_out, options);
        INFO(shortage.text << ", wanted '" << wanted << "', load " << k);
        if (loads < k) continue;  // it takes fewer loads with this error
        REQUIRE_FALSE(repro);
        CHECK(is_host_shortage(repro.error()));
        CHECK(repro.error().text == shortage.text);
        CHECK(loads == k);
      }
    }
  }
}

TEST_CASE("however early it stops, the result is no larger than the file and shows the error") {
  PackOptions plain;
  plain.compression = Compression::none;
  plain.name = "secret model";
  Buffer packed = pack(members());
  Buffer damaged = packed;
  damaged[1024 + 2] = 7;  // compression method
  const auto unhashed = [](Bytes bytes) -> std::optional<Error> {
    const auto container = parse_container(bytes);
    return container ? std::nullopt : std::optional(container.error());
  };
  // Noise grows by being compressed.
  std::vector<PackMember> noisy = members();
  std::string noise(5000, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  noisy.push_back(member("sg00/noise.bin", noise));
  const std::tuple<Buffer, LoadProbe> files[] = {{packed, probe(bad_opcode)},
                                                 {*pack_neff(members(), plain), probe(bad_opcode)},
                                                 {pack(noisy), probe(bad_opcode)},
                                                 {damaged, unhashed}};
  for (const auto& [file, load] : files) {
    for (const unsigned tries : {0u, 1u, 2u, 3u, 5u, 10u, 100u}) {
      ReproOptions options;
      options.tries = tries;
      const Repro repro = reduced(file, load, options);
      INFO(file.size() << " bytes, " << tries << " tries");
      CHECK(repro.file.size() <= file.size());
      CHECK(repro.after.bytes == repro.file.size());
      CHECK(error_kind(repro.error_after) == error_kind(repro.error_before));
    }
  }
}

TEST_CASE("a file that loads, or shows another error, is a no") {
  const auto loads =
      make_repro(pack(members()),
                 probe([](const Container&) -> std::optional<Error> { return std::nullopt; }));
  REQUIRE_FALSE(loads);
  CHECK(loads.error().error_class == ErrorClass::check);
  CHECK(loads.error().text.starts_with("shows no error"));
  ReproOptions options;
  options.wanted = "no opcode 254";
  const auto other = make_repro(pack(members()), probe(bad_opcode), options);
  REQUIRE_FALSE(other);
  CHECK(other.error().error_class == ErrorClass::check);
  CHECK(other.error().text.find("no opcode 253") != std::string::npos);
}

TEST_CASE("a text or a status leaves more room than the error itself") {
  ReproOptions options;
  options.wanted = "sg00/";
  const Repro loose = reduced(pack(members()), probe(bad_opcode), options);
  CHECK(loose.error_after.text == "is not there");
  options.wanted = "NRT_INVALID";
  CHECK(reduced(pack(members()), probe(bad_opcode), options).members.size() <= 1);
}

TEST_CASE("a damaged archive keeps the block that is damaged") {
  PackOptions plain;
  plain.compression = Compression::none;
  Buffer file = *pack_neff(members(), plain);
  const auto name = std::string_view("sg00/table.bin");
  const auto at = std::search(file.begin() + 1024, file.end(), name.begin(), name.end());
  REQUIRE(at != file.end());
  *at = 'X';
  const auto unhashed = [](Bytes bytes) -> std::optional<Error> {
    const auto container = parse_container(bytes);
    return container ? std::nullopt : std::optional(container.error());
  };
  const Repro repro = reduced(file, unhashed);
  CHECK(repro.container_damaged);
  INFO(to_sentence(repro.error_before));
  CHECK(repro.file.size() == 1024 + 512);
  CHECK(error_kind(repro.error_after) == error_kind(repro.error_before));
}

TEST_CASE("of a wrong header little more than the header is left") {
  Buffer file = pack(members());
  file[0x18] = 9;  // major version
  const Repro repro = reduced(file, probe(bad_opcode));
  CHECK(repro.container_damaged);
  CHECK(repro.file.size() <= 1024 + 512);
  CHECK(std::all_of(repro.file.begin() + 0xDC, repro.file.begin() + 0x1DC,
                    [](std::uint8_t byte) { return byte == 0; }));
}

TEST_CASE("a compressed stream that is damaged is cut as far as its error allows") {
  Buffer file = pack(members());
  file[1024 + 2] = 7;  // compression method
  const auto unhashed = [](Bytes bytes) -> std::optional<Error> {
    const auto container = parse_container(bytes);
    return container ? std::nullopt : std::optional(container.error());
  };
  const Repro repro = reduced(file, unhashed);
  CHECK(repro.file.size() < file.size() / 10);
  CHECK(error_kind(repro.error_after) == error_kind(repro.error_before));
}

TEST_CASE("a stream that is torn, too long or has a wrong trailer becomes an empty one like it") {
  const auto unhashed = [](Bytes bytes) -> std::optional<Error> {
    const auto container = parse_container(bytes);
    return container ? std::nullopt : std::optional(container.error());
  };
  PackOptions options;
  options.pad_payload = false;
  const Buffer whole = *pack_neff(members(), options);
  const auto resized = [](Buffer file) {
    NeffHeader header;
    std::memcpy(&header, file.data(), sizeof header);
    header.data_size = file.size() - sizeof header;
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  };
  const std::function<void(Buffer&)> damages[] = {
      [](Buffer& file) { file.resize(file.size() - 20); },  // torn
      [](Buffer& file) { file[file.size() - 3] ^= 1; },     // length
      [](Buffer& file) { file[file.size() - 7] ^= 1; },     // CRC
      [](Buffer& file) { file.push_back('x'); },            // no padding
      [](Buffer& file) {                                    // a second member
        const Buffer payload(file.begin() + 1024, file.end());
        file.insert(file.end(), payload.begin(), payload.end());
      }};
  for (const auto& damage : damages) {
    Buffer file = whole;
    damage(file);
    const Repro repro = reduced(resized(file), unhashed);
    INFO(to_sentence(repro.error_before));
    CHECK(repro.file.size() <= 1024 + 64);
    CHECK(error_kind(repro.error_after) == error_kind(repro.error_before));
  }
}
