// SPDX-License-Identifier: MIT
#include "parse_bench.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "archive_walk.hpp"
#include "floors.hpp"
#include "gzip.hpp"
#include "measure.hpp"
#include "payload_hash.hpp"
#include "tar_header.hpp"

namespace neffld::bench {
namespace {

/// Larger files are not unpacked once more to see what their debugging members cost.
constexpr std::uint64_t most_repacked = 256ull << 20;

/// A payload that is not compressed: the header and a tar.
std::vector<std::uint8_t> plain_file(const NeffHeader& header, Bytes tar) {
  NeffHeader plain = header;
  plain.data_size = tar.size();
  std::vector<std::uint8_t> file(sizeof plain + tar.size());
  std::memcpy(file.data(), &plain, sizeof plain);
  std::memcpy(file.data() + sizeof plain, tar.data(), tar.size());
  return file;
}

bool is_debug(std::string_view name) {
  return name.find(".dbg") != std::string_view::npos;
}

/// The archive without its debugging members; every other entry keeps its headers, so that a walk
/// differs in nothing else.
Result<std::vector<std::uint8_t>> cut_debug_members(Bytes tar, const ContainerLimits& limits) {
  std::vector<std::uint8_t> kept;
  std::vector<std::string> warnings;
  const auto keep = [&](Bytes bytes) { kept.insert(kept.end(), bytes.begin(), bytes.end()); };
  for (std::uint64_t offset = 0;;) {
    NEFFLD_ASSIGN(const bool at_end, tar_ends_at(tar, offset, warnings));
    if (at_end) {
      keep(tar.subspan(offset));
      return kept;
    }
    NEFFLD_ASSIGN(const TarEntry entry, read_tar_entry(tar, offset, limits));
    if (!is_debug(entry.name)) keep(tar.subspan(offset, entry.next_offset - offset));
    offset = entry.next_offset;
  }
}

}  // namespace

struct ParseBench::State {
  explicit State(const Subject& of) : subject(of), members(of.json_members()) {}

  const Subject& subject;
  std::vector<const Member*> members;
  ZlibFloor zlib_floor;
  DomFloor dom_floor;
  // Results of the last run, so that freeing them is not measured.
  std::vector<std::uint8_t> file;
  std::optional<Inflated> inflated;
  std::optional<Manifest> manifest;
  std::vector<Kbin> kbins;
  std::optional<Plan> plan;
  std::optional<ParsedModel> model;
  /// Uncompressed files with and without debugging members; both empty if there are none.
  std::vector<std::uint8_t> with_debug, without_debug;

  Best read, hash, inflate, zlib, tar, manifest_time, build, planning, dom, sax, parse;
  Best with_debug_time, without_debug_time;

  const ParseOptions& options() const { return subject.options.parse; }
  PlanOptions plan_options() const {
    PlanOptions plan_options;
    plan_options.logical_core = subject.options.loading.logical_core;
    plan_options.max_ring_bytes = subject.options.loading.max_ring_bytes;
    plan_options.packet_bytes = subject.options.loading.packet_bytes;
    return plan_options;
  }
  bool compressed() const { return subject.container().facts().gzip; }

  Result<void> read_round() {
    return read.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(file, read_file(subject.path, options().container.limits.file_bytes()));
      return {};
    });
  }

  Result<void> hash_round() {
    if (subject.payload().empty()) return {};
    return hash.run([&]() -> Result<void> {
      static_cast<void>(
          payload_hash(subject.payload(), subject.parsed.header.pkg_version, false, 0));
      return {};
    });
  }

  Result<void> inflate_round() {
    if (!compressed()) return {};
    inflated.reset();
    NEFFLD_TRY(inflate.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(inflated,
                    inflate_payload(subject.payload(), options().container.limits.inflated_bytes));
      return {};
    }));
    if (!subject.options.ratios) return {};
    NEFFLD_TRY(zlib.run([&] { return zlib_floor.run(subject.payload(), inflated->size); }));
    zlib_floor.release();
    return {};
  }

  Bytes tar_bytes() const {
    if (!inflated) return subject.payload();
    return inflated->arena.bytes().first(static_cast<std::size_t>(inflated->size));
  }

  Result<void> tar_round() {
    return tar.run([&]() -> Result<void> {
      ContainerFacts facts;
      NEFFLD_ASSIGN(const MemberTable table,
                    walk_archive(tar_bytes(), options().container.limits, facts));
      static_cast<void>(table);
      return {};
    });
  }

  Result<void> build_once() {
    NEFFLD_TRY(manifest_time.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(manifest, read_manifest(subject.container(), options().build.json_depth));
      return {};
    }));
    kbins.clear();
    NEFFLD_TRY(build.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(kbins,
                    build_kbins(subject.container(), subject.parsed.manifest, options().build));
      return {};
    }));
    if (!subject.options.ratios) return {};
    NEFFLD_TRY(dom.run([&] { return dom_floor.run(members); }));
    dom_floor.release();
    return sax.run([&] { return scan_json(members); });
  }

  /// Several in turn: a file of a gigabyte has few rounds, and what it leaves of the heap makes the
  /// first run of either side in a round one of page faults.
  Result<void> build_round() {
    for (int run = 0; run < 3; ++run) NEFFLD_TRY(build_once());
    return {};
  }

  Result<void> plan_round() {
    if (!subject.options.load) return {};
    plan.reset();
    return planning.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(plan, plan_model(kbins, plan_options()));
      return {};
    });
  }

  Result<void> parse_round() {
    model.reset();
    inflated.reset();
    NEFFLD_TRY(parse.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(model, parse_model(subject.file, Arch::any, options()));
      return {};
    }));
    model.reset();
    return {};
  }

  /// From an uncompressed file to section tables, without a copy of it.
  Result<void> build_plain(const std::vector<std::uint8_t>& plain, Best& best) {
    return best.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(const Container container, parse_container(plain, options().container));
      NEFFLD_ASSIGN(const Manifest read_anew, read_manifest(container, options().build.json_depth));
      static_cast<void>(read_anew);
      NEFFLD_ASSIGN(const auto built,
                    build_kbins(container, subject.parsed.manifest, options().build));
      static_cast<void>(built);
      return {};
    });
  }

  Result<void> make_debug_pair() {
    NEFFLD_ASSIGN(const auto needed, cut_debug_members(tar_bytes(), options().container.limits));
    without_debug = plain_file(subject.parsed.header, needed);
    with_debug = plain_file(subject.parsed.header, tar_bytes());
    return {};
  }

  Result<void> debug_round() {
    const auto& all = subject.container();
    const bool any = std::any_of(all.members().begin(), all.members().end(),
                                 [](const Member& member) { return is_debug(member.name); });
    if (!any || all.facts().inflated_bytes > most_repacked) return {};
    if (with_debug.empty()) NEFFLD_TRY(make_debug_pair());
    // A small difference of two times: several runs a round, in turn.
    for (int run = 0; run < 3; ++run) {
      NEFFLD_TRY(build_plain(with_debug, with_debug_time));
      NEFFLD_TRY(build_plain(without_debug, without_debug_time));
    }
    return {};
  }

  Result<void> round() {
    NEFFLD_TRY(read_round());
    file = {};
    NEFFLD_TRY(hash_round());
    NEFFLD_TRY(inflate_round());
    NEFFLD_TRY(tar_round());
    NEFFLD_TRY(build_round());
    NEFFLD_TRY(plan_round());
    if (!subject.options.ratios) return {};
    NEFFLD_TRY(debug_round());
    return parse_round();
  }
};

ParseBench::ParseBench(const Subject& subject) : state_(std::make_unique<State>(subject)) {}
ParseBench::~ParseBench() = default;

Result<void> ParseBench::round() {
  return state_->round();
}

double ParseBench::inflate_seconds() const {
  return state_->inflate.seconds();
}

void ParseBench::report(FileReport& report) const {
  const State& s = *state_;
  const Sizes& sizes = report.sizes;
  add_row(report, "read", s.read, sizes.file_bytes);
  add_row(report, "header hash", s.hash, s.subject.payload().size());
  add_row(report, "inflate", s.inflate, sizes.inflated_bytes);
  add_row(report, "tar", s.tar, 0, s.subject.container().members().size(), "member");
  add_row(report, "manifest", s.manifest_time);
  add_row(report, "build", s.build, sizes.json_bytes, sizes.variables, "variable");
  add_row(report, "plan", s.planning, 0, sizes.slots, "slot");
  if (!s.subject.options.ratios) return;
  const double json = s.manifest_time.seconds() + s.build.seconds();
  if (s.compressed()) {
    add_ratio(report, RatioId::inflate, s.zlib.seconds(), s.inflate.seconds());
    add_ratio(report, RatioId::parse, s.parse.seconds(), s.inflate.seconds() + s.sax.seconds());
  } else {
    report.notes.emplace_back("the payload is not compressed: no ratios of inflating");
  }
  add_ratio(report, RatioId::json, s.dom.seconds(), json);
  if (s.with_debug_time.taken()) {
    add_ratio(report, RatioId::debug_members, s.with_debug_time.seconds(),
              s.without_debug_time.seconds());
  } else {
    report.notes.push_back(fmt::format(
        "no .dbg members, or more than {} MiB: their cost is not measured", most_repacked >> 20));
  }
}

}  // namespace neffld::bench
