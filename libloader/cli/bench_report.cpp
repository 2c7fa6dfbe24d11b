// SPDX-License-Identifier: MIT
#include "bench_report.hpp"

#include <fmt/format.h>

#include <iterator>

#include "json_out.hpp"
#include "neffld/text.hpp"
#include "version.hpp"

namespace neffld::cli {
namespace {

using bench::FileReport;
using bench::Sizes;

constexpr std::uint32_t bench_schema = 1;

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

std::string row_text(const bench::Row& row) {
  std::string text = fmt::format("  {:<26} {:>10.3f} ms", row.name, row.seconds * 1e3);
  text += row.bytes == 0 || row.seconds <= 0
              ? std::string(14, ' ')
              : fmt::format("{:>9.0f} MB/s", megabytes(row.bytes) / row.seconds);
  text += fmt::format("{:>9} faults", row.faults);
  if (row.items != 0) {
    text += fmt::format("{:>11.1f} ns a {}", row.seconds * 1e9 / static_cast<double>(row.items),
                        row.item);
  }
  return text + "\n";
}

std::string sizes_text(const Sizes& sizes) {
  return fmt::format(
      "  {:.1f} MB stored, {:.1f} MB inflated, {:.1f} MB of JSON, {:.1f} MB of constants\n"
      "  {} subgraphs, {} variables, {} slots, {} DMA elements, {} ring descriptors, {} patches\n",
      megabytes(sizes.file_bytes), megabytes(sizes.inflated_bytes), megabytes(sizes.json_bytes),
      megabytes(sizes.weight_bytes), sizes.subgraphs, sizes.variables, sizes.slots, sizes.elements,
      sizes.ring_descriptors, sizes.patches);
}

std::string_view verdict(const bench::Target& target, double found, const Sizes& sizes) {
  if (bench::too_small(target, sizes)) return "too small to tell";
  return target.reached(found) ? "reached" : "missed";
}

std::string ratio_text(const bench::Ratio& ratio, const Sizes& sizes) {
  const bench::Target& target = bench::target_of(ratio.id);
  return fmt::format("  {:<14} {:>8.3f}  {} {:<5} {:<17} {}\n", target.name, ratio.value,
                     target.more_is_better ? "at least" : "at most ", target.value,
                     verdict(target, ratio.value, sizes), target.meaning);
}

/// Why there is no verdict of most ratios; empty if there is.
std::string small_text(const FileReport& report) {
  if (report.ratios.empty() || report.sizes.inflated_bytes >= bench::least_inflated_bytes)
    return "";
  return fmt::format(
      "  note: too small to tell: below {} KiB inflated, ratios of times and of memory are "
      "those of calls, threads and first pages\n",
      bench::least_inflated_bytes >> 10);
}

void write_sizes(JsonOut& out, const Sizes& sizes) {
  out.object("sizes", [&] {
    out.field("file_bytes", sizes.file_bytes);
    out.field("inflated_bytes", sizes.inflated_bytes);
    out.field("json_bytes", sizes.json_bytes);
    out.field("weight_bytes", sizes.weight_bytes);
    out.field("subgraphs", sizes.subgraphs);
    out.field("variables", sizes.variables);
    out.field("slots", sizes.slots);
    out.field("elements", sizes.elements);
    out.field("ring_descriptors", sizes.ring_descriptors);
    out.field("patches", sizes.patches);
  });
}

void write_row(JsonOut& out, const bench::Row& row) {
  out.object([&] {
    out.field("name", std::string_view(row.name).substr(row.name.find_first_not_of(' ')));
    out.field("seconds", row.seconds);
    out.field("faults", row.faults);
    if (row.bytes != 0) out.field("bytes", row.bytes);
    if (row.items == 0) return;
    out.field("items", row.items);
    out.field("item", row.item);
  });
}

void write_ratio(JsonOut& out, const bench::Ratio& ratio, const Sizes& sizes) {
  const bench::Target& target = bench::target_of(ratio.id);
  out.object([&] {
    out.field("name", target.name);
    out.field("value", ratio.value);
    out.field("target", target.value);
    out.field("better", target.more_is_better ? "more" : "less");
    out.field("reached", target.reached(ratio.value));
    out.field("too_small", bench::too_small(target, sizes));
    out.field("meaning", target.meaning);
  });
}

}  // namespace

std::string bench_text(const FileReport& report) {
  std::string text = one_line(report.file) + "\n" + sizes_text(report.sizes);
  text += fmt::format("\n  stage, best of {} rounds\n", report.rounds);
  for (const bench::Row& row : report.rows) text += row_text(row);
  if (!report.ratios.empty()) text += "\n  ratio             found  target\n";
  for (const bench::Ratio& ratio : report.ratios) text += ratio_text(ratio, report.sizes);
  text += small_text(report);
  for (const std::string& note : report.notes) text += fmt::format("  note: {}\n", note);
  return text + "\n";
}

std::string bench_json(std::span<const FileReport> reports) {
  JsonOut out;
  out.object([&] {
    out.field("schema", bench_schema);
    out.field("version", version);
    out.array("files", reports, [&](const FileReport& report) {
      out.object([&] {
        out.field("file", report.file);
        out.field("rounds", report.rounds);
        write_sizes(out, report.sizes);
        out.array("stages", report.rows, [&](const bench::Row& row) { write_row(out, row); });
        out.array("ratios", report.ratios,
                  [&](const bench::Ratio& ratio) { write_ratio(out, ratio, report.sizes); });
        out.strings("notes", report.notes);
      });
    });
  });
  return std::string(out.text()) + "\n";
}

}  // namespace neffld::cli
