// SPDX-License-Identifier: MIT
#include <zstd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "neuron_abi/ioctl.h"
#include "support.hpp"
#include "trace_format.hpp"

using namespace neffld;
using namespace neffld::test;
using shim::RecordType;

namespace {

std::vector<std::uint8_t> small_trace() {
  const ScratchFolder scratch;
  record_sample(scratch.path("t"), "vecadd-v3");
  return read_all(scratch.path("t"));
}

/// The records of a trace without their compression, and back.
std::vector<std::uint8_t> unpacked(Bytes trace) {
  std::vector<std::uint8_t> plain(64 << 20);
  const auto frame = trace.subspan(sizeof(shim::TraceHead));
  const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), frame.data(), frame.size());
  REQUIRE_FALSE(ZSTD_isError(size));
  plain.resize(size);
  return plain;
}

std::vector<std::uint8_t> packed(Bytes records, std::uint16_t major = shim::trace_major) {
  shim::TraceHead head{};
  std::memcpy(head.magic, shim::trace_magic, sizeof head.magic);
  head.major = major;
  std::vector<std::uint8_t> trace(sizeof head + ZSTD_compressBound(records.size()));
  std::memcpy(trace.data(), &head, sizeof head);
  const std::size_t size = ZSTD_compress(trace.data() + sizeof head, trace.size() - sizeof head,
                                         records.data(), records.size(), 1);
  REQUIRE_FALSE(ZSTD_isError(size));
  trace.resize(sizeof head + size);
  return trace;
}

/// Builds records by hand.
class Records {
 public:
  template <class T>
  Records& add(RecordType type, const T& head, Bytes rest = {}, std::uint16_t flags = 0) {
    return raw(static_cast<std::uint16_t>(type), flags,
               {reinterpret_cast<const std::uint8_t*>(&head), sizeof head}, rest);
  }
  Records& raw(std::uint16_t type, std::uint16_t flags, Bytes head, Bytes rest = {}) {
    shim::RecordHead record{};
    record.type = type;
    record.flags = flags;
    record.length = static_cast<std::uint32_t>(head.size() + rest.size());
    append({reinterpret_cast<const std::uint8_t*>(&record), sizeof record});
    append(head);
    append(rest);
    return *this;
  }
  Records& call(std::uint64_t number, std::uint32_t command, Bytes argument = {}) {
    shim::CallRecord head{};
    head.number = number;
    head.command = command;
    head.argument = 1;
    return add(RecordType::call, head, argument);
  }
  Records& reply(std::uint64_t number) {
    shim::ReplyRecord head{};
    head.number = number;
    return add(RecordType::reply, head);
  }
  Records& end(std::uint64_t calls) { return add(RecordType::end, shim::EndRecord{calls}); }
  std::vector<std::uint8_t> trace() const { return packed(bytes_); }

 private:
  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::uint8_t> bytes_;
};

std::string refusal_of(Bytes trace) {
  const auto events = events_of(trace);
  return events ? "accepted" : to_sentence(events.error());
}

/// Only a crash is a failure.
void compare(Bytes first, Bytes second) {
  auto a = TraceReader::from_bytes(first), b = TraceReader::from_bytes(second);
  if (a && b) static_cast<void>(diff_traces(**a, **b, {true}));
}

/// Shows, replays and compares a trace with itself; only a crash is a failure.
void use(Bytes trace) {
  static_cast<void>(refusal_of(trace));
  const auto device = fresh_device();
  if (auto reader = TraceReader::from_bytes(trace)) {
    static_cast<void>(replay_trace(**reader, *device, {true}));
  }
  compare(trace, trace);
  if (const auto events = events_of(trace)) {
    for (const TraceEvent& event : *events) {
      if (event.call) CHECK_FALSE(to_line(*event.call).empty());
    }
  }
}

}  // namespace

TEST_CASE("a file that is no trace, or of another version, is refused with a sentence") {
  const auto trace = small_trace();
  CHECK(refusal_of({}).find("is no neffld trace") != std::string::npos);
  CHECK(refusal_of(as_bytes("NEFFLDT")).find("is no neffld trace") != std::string::npos);
  CHECK(refusal_of(as_bytes("something else entirely")).find("is no neffld trace") !=
        std::string::npos);
  auto old = trace;
  old[8] = 0;
  CHECK(refusal_of(old).find("trace version 0.0, this program reads 1.x") != std::string::npos);
  auto newer = trace;
  newer[8] = 2;
  CHECK(refusal_of(newer).find("trace version 2.0") != std::string::npos);
  auto minor = trace;
  minor[10] = 9;
  CHECK(refusal_of(minor) == "accepted");
}

TEST_CASE("a truncated trace gives the calls it has and tells where it ends") {
  const auto trace = small_trace();
  CHECK(refusal_of(trace) == "accepted");
  for (std::size_t size = 0; size < trace.size(); size += 7) {
    INFO(size);
    CHECK(refusal_of(Bytes(trace).first(size)) != "accepted");
  }
  CHECK(refusal_of(Bytes(trace).first(trace.size() - 1)) != "accepted");
  auto longer = trace;
  longer.push_back(0);
  CHECK(refusal_of(longer).find("goes on behind the end record") != std::string::npos);
}

TEST_CASE("a trace that ends inside a call gives that call first") {
  const auto trace = Records().call(1, NEURON_IOCTL_DEVICE_RESET).trace();
  auto reader = TraceReader::from_bytes(trace);
  REQUIRE(reader);
  const auto event = (*reader)->next();
  REQUIRE(event);
  REQUIRE(*event);
  REQUIRE((*event)->call);
  CHECK(to_line(*(*event)->call) == "#1 DEVICE_RESET -> no reply: the trace ends inside this call");
  const auto end = (*reader)->next();
  REQUIRE_FALSE(end);
  CHECK(to_sentence(end.error()).find("before its end record") != std::string::npos);
  const auto after = (*reader)->next();
  CHECK((after && !*after));
}

TEST_CASE("records that contradict each other are refused by number") {
  const auto refusal = [](const Records& records) { return refusal_of(records.trace()); };
  CHECK(refusal(Records().end(0)) == "accepted");
  CHECK(refusal(Records().end(1)).find("record 1: the end record counts 1 calls, found 0") !=
        std::string::npos);
  CHECK(refusal(Records().call(2, 0)).find("found call 2, expected 1") != std::string::npos);
  CHECK(refusal(Records().call(1, 0).call(2, 0)).find("before the last one has its reply") !=
        std::string::npos);
  CHECK(refusal(Records().reply(1)).find("not open") != std::string::npos);
  CHECK(refusal(Records().call(1, 0).reply(2)).find("not open") != std::string::npos);
  CHECK(refusal(Records().raw(77, 0, {})).find("record type 77") != std::string::npos);
  CHECK(refusal(Records().raw(77, shim::record_optional, as_bytes("new")).end(0)) == "accepted");
  CHECK(refusal(Records().raw(2, 0, as_bytes("abc"))).find("found 3 bytes, expected at least 16") !=
        std::string::npos);
  CHECK(refusal(Records().raw(1, 0, as_bytes("abc"))).find("no key") != std::string::npos);
  const std::vector<std::uint8_t> huge(shim::max_record_bytes + 1);
  CHECK(refusal(Records().raw(1, 0, huge)).find("expected at most") != std::string::npos);
  CHECK(refusal(Records().call(1, 0, Bytes(huge).first(20000))).find("argument of 20000 bytes") !=
        std::string::npos);
  shim::DataRecord data{};
  data.number = 1;
  data.sent = 1;
  data.length = 1ull << 60;
  const auto gap = Records().call(1, 0).add(RecordType::data, data, as_bytes("abcd")).reply(1);
  CHECK(refusal(gap).find("a payload has 4 of its") != std::string::npos);
  data.offset = 5;
  const auto hole = Records().call(1, 0).add(RecordType::data, data, as_bytes("abcd")).reply(1);
  CHECK(refusal(hole).find("does not continue it") != std::string::npos);
}

TEST_CASE("a payload's claimed length takes no memory") {
  // 40 MiB of a payload that claims 2^60 bytes: memory grows with what is there.
  Records records;
  records.call(1, NEURON_IOCTL_MEM_BUF_COPY64);
  const std::vector<std::uint8_t> piece(shim::data_piece_bytes);
  shim::DataRecord data{};
  data.number = 1;
  data.sent = 1;
  data.length = 1ull << 60;
  for (std::uint64_t i = 0; i < 40; ++i) {
    data.offset = i * piece.size();
    records.add(RecordType::data, data, piece);
  }
  CHECK(refusal_of(records.trace()).find("before its end record") != std::string::npos);
}

TEST_CASE("arguments that lie about sizes replay without touching other memory") {
  neuron_mem_buf_copy64 copy{1, 1, ~0ull, ~0ull - 7, 1};
  neuron_dma_descriptor_copyout out{0, 0, 0, 0, 0xFFFFFFFF, 1};
  neuron_program_engine_nc64 program{0, 0x2000000000, 1, 1ull << 40, ~0ull};
  neuron_get_apps_info apps{3, 0xFFFFFFFF, 0, 0};
  const auto raw = [](const auto& argument) {
    return Bytes(reinterpret_cast<const std::uint8_t*>(&argument), sizeof argument);
  };
  const auto trace = Records()
                         .call(1, NEURON_IOCTL_MEM_BUF_COPY64, raw(copy))
                         .reply(1)
                         .call(2, NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, raw(out))
                         .reply(2)
                         .call(3, NEURON_IOCTL_PROGRAM_ENGINE_NC64, raw(program))
                         .reply(3)
                         .call(4, NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, raw(apps))
                         .reply(4)
                         .call(5, NEURON_IOCTL_MEM_ALLOC_V2MT64)
                         .reply(5)
                         .call(6, 0xC0294E7C, raw(copy))
                         .reply(6)
                         .call(7, 0xFFFFFFFF, raw(copy))
                         .reply(7)
                         .end(7)
                         .trace();
  CHECK(refusal_of(trace) == "accepted");
  use(trace);
}

TEST_CASE("flipped bits and spliced bytes never crash a reader, a replay or a comparison") {
  const auto trace = small_trace();
  const auto records = unpacked(trace);
  REQUIRE(refusal_of(packed(records)) == "accepted");
  std::mt19937_64 random(20240607);
  const auto pick = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  int accepted = 0;
  // Bits of the file: nearly all hit the compression and are told by its checksum.
  for (int round = 0; round < 300; ++round) {
    auto damaged = trace;
    damaged[pick(damaged.size())] ^= static_cast<std::uint8_t>(1u << pick(8));
    accepted += refusal_of(damaged) == "accepted";
  }
  CHECK(accepted < 20);  // the reserved bytes of the head and the minor version
  // Bits of the records, in a valid shell: these reach the checks behind it.
  for (int round = 0; round < 500; ++round) {
    auto damaged = records;
    for (std::size_t flips = 1 + pick(4); flips > 0; --flips) {
      damaged[pick(damaged.size())] ^= static_cast<std::uint8_t>(1u << pick(8));
    }
    if (pick(4) == 0) damaged.resize(pick(damaged.size()));
    use(packed(damaged));
    compare(packed(damaged), trace);
    compare(trace, packed(damaged));
  }
}
