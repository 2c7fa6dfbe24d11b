// SPDX-License-Identifier: MIT
// load-bench FILE...: four ways to get at a NEFF, timed in turn in one run, and their ratios.
//
//   (a) zlib inflates the payload into one ready buffer
//   (b) libarchive, gzip and tar, one malloc per member (what the vendor's design does)
//   (c) ours: header gates, inflate with CRC and length, members
//   (d) ours: everything to a fully staged and relocated model on the simulated device
//
// Each round runs all four; a figure is the best of the rounds. Bytes are those of the tar.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "neffld/session.hpp"

namespace {

using namespace neffld;

constexpr int rounds = 15;

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "load-bench: {}\n", why);
  std::exit(1);
}

void inflate_with_zlib(Bytes payload, std::vector<std::uint8_t>& out) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) stop("inflateInit2 failed");
  stream.next_in = const_cast<Bytef*>(payload.data());
  stream.avail_in = static_cast<uInt>(payload.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  if (inflate(&stream, Z_FINISH) != Z_STREAM_END) stop("zlib cannot inflate the payload");
  inflateEnd(&stream);
}

void read_with_libarchive(Bytes payload) {
  archive* reader = archive_read_new();
  archive_read_support_filter_gzip(reader);
  archive_read_support_format_tar(reader);
  if (archive_read_open_memory(reader, payload.data(), payload.size()) != ARCHIVE_OK) {
    stop("libarchive cannot open the payload");
  }
  std::map<std::string, void*> members;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    const auto size = static_cast<std::size_t>(archive_entry_size(entry));
    void* buffer = std::malloc(size ? size : 1);
    if (archive_read_data(reader, buffer, size) != static_cast<la_ssize_t>(size)) {
      stop("libarchive cannot read a member");
    }
    members[archive_entry_pathname(entry)] = buffer;
  }
  archive_read_free(reader);
  for (const auto& [name, buffer] : members) std::free(buffer);
}

/// Stage times of the last complete load, for "where the time goes".
std::vector<StageTime> load_once(Bytes file) {
  auto parsed = parse_model(file, Arch::any);
  if (!parsed) stop(to_sentence(parsed.error()));
  SimOptions sim;
  sim.architecture = static_cast<std::uint32_t>(parsed->manifest.arch);
  auto device = SimDevice::create(sim);
  if (!device) stop(to_sentence(device.error()));
  auto opened = (*device)->open();
  if (!opened) stop(to_sentence(opened.error()));
  auto session = Session::open(std::move(*opened));
  if (!session) stop(to_sentence(session.error()));
  auto model = (*session)->load(std::move(*parsed));
  if (!model) stop(to_sentence(model.error()));
  return (*model)->parsed.times;
}

struct Best {
  double seconds = 1e30;
  void take(double other) { seconds = std::min(seconds, other); }
};

void measure(const std::string& path) {
  auto file = read_file(path);
  if (!file) stop(to_sentence(file.error()));
  auto container = parse_container(*file);
  if (!container) stop(to_sentence(container.error()));
  const std::uint64_t tar = container->facts().inflated_bytes;
  const Bytes payload = Bytes(*file).subspan(sizeof(NeffHeader), container->facts().stored_bytes);
  std::vector<std::uint8_t> warm(tar);

  Best a, b, c, d;
  std::map<Stage, Best> stages;
  for (int round = 0; round < rounds; ++round) {
    a.take(seconds_of([&] { inflate_with_zlib(payload, warm); }));
    b.take(seconds_of([&] { read_with_libarchive(payload); }));
    c.take(seconds_of([&] { static_cast<void>(parse_container(*file)); }));
    std::vector<StageTime> times;
    d.take(seconds_of([&] { times = load_once(*file); }));
    for (const StageTime& time : times) stages[time.stage].take(time.seconds);
  }
  const auto line = [&](const char* what, const Best& best) {
    fmt::print("  {:<34} {:8.2f} ms {:7.0f} MB/s   {:5.2f} of (a)  {:5.2f} of (b)\n", what,
               best.seconds * 1e3, static_cast<double>(tar) / best.seconds / 1e6,
               best.seconds / a.seconds, best.seconds / b.seconds);
  };
  fmt::print("{} ({:.1f} MB tar)\n", path.substr(path.rfind('/') + 1),
             static_cast<double>(tar) / 1e6);
  line("(a) zlib inflate", a);
  line("(b) libarchive, malloc per member", b);
  line("(c) neffld, parsed container", c);
  line("(d) neffld, staged and relocated", d);
  fmt::print("      of (d):");
  for (const auto& [stage, best] : stages) {
    fmt::print(" {} {:.2f}", stage_name(stage), best.seconds * 1e3);
  }
  fmt::print(" ms\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) stop("usage: load-bench FILE...");
  for (int i = 1; i < argc; ++i) measure(argv[i]);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("peak memory {:.0f} MiB, simulated device included\n",
             static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
