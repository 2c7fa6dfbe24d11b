// SPDX-License-Identifier: MIT
#include <zstd.h>

#include <cstring>

#include "neffld/container.hpp"
#include "neffld/trace.hpp"
#include "scratch_folder.hpp"
#include "support.hpp"
#include "trace_format.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::size_t head_bytes = sizeof(shim::TraceHead);
constexpr std::size_t most_plain = 4 << 20;

std::vector<std::uint8_t> recorded(const char* sample) {
  const test::ScratchFolder folder;
  auto writer = TraceWriter::create(folder.path("trace"), {.keep_data = true});
  if (!writer) broken("a trace can be written", to_sentence(writer.error()));
  auto device = SimDevice::create({});
  auto session = Session::open(record_calls(std::move(*(*device)->open()), *writer));
  auto model = parse_model(sample_file(sample, Compression::stored), Arch::any);
  LoadOptions options;
  options.one_thread = true;
  auto loaded = (*session)->load(std::move(*model), options);
  if (!loaded) broken("a sample loads", to_sentence(loaded.error()));
  session->reset();
  if (!good((*writer)->finish())) broken("a trace can be written", "finish");
  auto bytes = read_file(folder.path("trace"));
  if (!bytes) broken("a trace can be read", to_sentence(bytes.error()));
  return std::move(*bytes);
}

/// The records of a trace without their compression.
std::vector<std::uint8_t> records_of(Bytes trace) {
  std::vector<std::uint8_t> plain(most_plain);
  const Bytes frame = trace.subspan(head_bytes);
  const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), frame.data(), frame.size());
  promise(!ZSTD_isError(size), "a sample's trace is small");
  plain.resize(size);
  return plain;
}

/// A whole trace around records.
std::vector<std::uint8_t> trace_around(Bytes records) {
  shim::TraceHead head{};
  std::memcpy(head.magic, shim::trace_magic, sizeof head.magic);
  head.major = shim::trace_major;
  std::vector<std::uint8_t> trace(head_bytes + ZSTD_compressBound(records.size()));
  std::memcpy(trace.data(), &head, head_bytes);
  const std::size_t size = ZSTD_compress(trace.data() + head_bytes, trace.size() - head_bytes,
                                         records.data(), records.size(), 1);
  promise(!ZSTD_isError(size), "records can be compressed");
  trace.resize(head_bytes + size);
  return trace;
}

/// Reads to the end; true if there was no error.
bool show(Bytes trace) {
  auto reader = TraceReader::from_bytes(trace);
  if (!good(reader)) return false;
  for (;;) {
    const auto event = (*reader)->next();
    if (!good(event)) return false;
    if (!*event) return true;
    std::string line = "?";
    if ((*event)->call) line = to_line(*(*event)->call);
    if ((*event)->mapping) line = to_line(*(*event)->mapping);
    if ((*event)->info) line = to_line(*(*event)->info);
    promise(!line.empty() && line.find('\n') == line.npos && line.find('\x1b') == line.npos,
            "an event is one line", line);
  }
}

void run(Bytes input) {
  if (input.empty()) return;
  const bool records = (input[0] & 1) != 0;
  const std::vector<std::uint8_t> trace =
      records ? trace_around(input.subspan(1)) : Input(input.begin() + 1, input.end());
  const bool whole = show(trace);
  const auto device = SimDevice::create({});
  const auto file = (*device)->open();
  if (auto reader = TraceReader::from_bytes(trace); reader && file) {
    good(replay_trace(**reader, **file, {.all = true}));
  }
  auto first = TraceReader::from_bytes(trace), second = TraceReader::from_bytes(trace);
  if (!first || !second) return;
  const auto same = diff_traces(**first, **second, {.all = true});
  if (good(same) && whole) {
    promise(same->differences.empty(), "a trace equals itself",
            same->differences.empty() ? "" : to_line(same->differences[0]));
  }
}

std::vector<Input> seeds() {
  std::vector<Input> inputs;
  for (const char* sample : {"single-core-v3", "pointers-v3"}) {
    const std::vector<std::uint8_t> trace = recorded(sample);
    Input packed = {0}, plain = {1};
    packed.insert(packed.end(), trace.begin(), trace.end());
    const std::vector<std::uint8_t> records = records_of(trace);
    plain.insert(plain.end(), records.begin(), records.end());
    inputs.push_back(std::move(packed));
    inputs.push_back(plain);
    plain.resize(plain.size() / 8);
    inputs.push_back(std::move(plain));
  }
  return inputs;
}

std::vector<std::string> words() {
  std::vector<std::string> heads;
  for (char type = 1; type <= 7; ++type)
    heads.push_back(std::string(1, type) + std::string(3, '\0'));
  return heads;
}

}  // namespace

const Target trace_reader = {
    "trace_reader", "a byte: 0 and a trace file, or 1 and the records inside one",
    64 << 10,       run,
    seeds,          words};

}  // namespace neffld::fuzz
