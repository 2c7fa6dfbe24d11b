// SPDX-License-Identifier: MIT
#include "plan_report.hpp"

#include <fmt/format.h>

#include <iterator>

#include "json_out.hpp"
#include "neffld/text.hpp"
#include "report.hpp"
#include "version.hpp"

namespace neffld::cli {
namespace {

constexpr std::uint32_t plan_schema = 1;

UsageTotals sum_of(const CoreUsage& usage) {
  UsageTotals sum;
  for (const UsageTotals& part : usage) {
    sum.requested += part.requested;
    sum.given += part.given;
    sum.allocations += part.allocations;
  }
  return sum;
}

std::map<std::uint32_t, CoreUsage> account_load(const PlannedFile& file) {
  return account(std::span(file.plan.requests).first(file.load_requests));
}
std::map<std::uint32_t, CoreUsage> account_bind(const PlannedFile& file) {
  return account(std::span(file.plan.requests).subspan(file.load_requests));
}

std::vector<std::string> warnings_of(const PlannedFile& file) {
  ReportItem item;
  item.parsed = &file.parsed;
  item.plan = &file.plan;
  return model_warnings(item);
}

// ---- JSON ----

void write_totals(JsonOut& out, const UsageTotals& totals) {
  out.field("allocations", totals.allocations);
  out.field("requested", totals.requested);
  out.field("bytes", totals.given);
}

void write_cores(JsonOut& out, std::string_view key, const Plan& plan,
                 const std::map<std::uint32_t, CoreUsage>& cores) {
  out.array(key, cores, [&](const auto& entry) {
    out.object([&] {
      out.field("core", entry.first);
      out.field("hbm", default_hbm(arch_table(plan.arch), entry.first));
      write_totals(out, sum_of(entry.second));
      out.object("usage", [&] {
        for (std::size_t i = 0; i < mem_usage_count; ++i) {
          if (entry.second[i].allocations == 0) continue;
          out.object(mem_usage_name(static_cast<MemUsage>(i)),
                     [&] { write_totals(out, entry.second[i]); });
        }
      });
    });
  });
}

void write_scratchpad(JsonOut& out, const PlannedFile& file) {
  const ScratchpadPlan& scratchpad = file.plan.scratchpad;
  out.object("scratchpad", [&] {
    out.field("mode", scratchpad.contiguous ? "contiguous" : "paged");
    if (!scratchpad.fallback.empty()) out.field("fallback", scratchpad.fallback);
    out.field("page_bytes", scratchpad.page_bytes);
    std::size_t i = 0;
    out.array("cores", scratchpad.cores, [&](const ScratchpadPlan::Core& core) {
      out.object([&] {
        out.field("core", file.plan.kbins[i++].core);
        out.field("arena_bytes", core.bytes);
        out.field("pages", core.pages);
      });
    });
    out.array("oversized", scratchpad.oversized, [&](const OversizedVariable& variable) {
      const Kbin& kbin = file.parsed.kbins[variable.kbin];
      out.object([&] {
        out.field("subgraph", kbin.name);
        out.field("var_id", variable.var_id);
        out.field("name", kbin.variables[variable.var_id].name);
        out.field("size", variable.size);
      });
    });
    if (scratchpad.advised_page_bytes) {
      out.field("advised_page_bytes", scratchpad.advised_page_bytes);
    } else {
      out.null("advised_page_bytes");
    }
  });
}

void write_hbm(JsonOut& out, const MemoryMap::Hbm& hbm) {
  out.field("size", hbm.size);
  out.field("free", hbm.free);
  out.field("largest_block", hbm.largest_block);
}

void write_miss(JsonOut& out, const PlannedFile& file) {
  out.field("fits", !file.miss.has_value());
  if (!file.miss) return;
  const Request& request = file.plan.requests[file.miss->request];
  out.object("miss", [&] {
    out.field("owner", request.owner);
    out.field("usage", mem_usage_name(request.usage));
    out.field("category", static_cast<std::uint32_t>(request.category));
    out.field("bytes", file.miss->size);
    out.field("align", request.align);
    out.field("core", request.core);
    out.object("hbm", [&] {
      out.field("number", request.hbm);
      write_hbm(out, file.miss->hbm);
    });
    if (file.miss->short_by) out.field("short_by", *file.miss->short_by);
    out.strings("would_fit_with", file.ways);
  });
}

void write_file(JsonOut& out, const PlannedFile& file) {
  out.object([&] {
    out.field("file", file.file);
    out.field("name", header_name(file.parsed.header));
    out.field("uuid", header_uuid(file.parsed.header));
    write_miss(out, file);
    write_scratchpad(out, file);
    write_cores(out, "load", file.plan, account_load(file));
    write_cores(out, "bind", file.plan, account_bind(file));
    out.strings("warnings", warnings_of(file));
  });
}

// ---- text ----

using Out = std::back_insert_iterator<std::string>;

void print_cores(Out out, const char* title, const Plan& plan,
                 const std::map<std::uint32_t, CoreUsage>& cores) {
  for (const auto& [core, usage] : cores) {
    const UsageTotals sum = sum_of(usage);
    if (sum.allocations == 0) continue;
    fmt::format_to(out, "\n  {}, core {}, HBM {}\n", title, core,
                   default_hbm(arch_table(plan.arch), core));
    for (std::size_t i = 0; i < mem_usage_count; ++i) {
      if (usage[i].allocations == 0) continue;
      fmt::format_to(out, "    {:<20} {:>6} {:>16} {:>11}\n",
                     mem_usage_name(static_cast<MemUsage>(i)), usage[i].allocations, usage[i].given,
                     human_bytes(usage[i].given));
    }
    fmt::format_to(out, "    {:<20} {:>6} {:>16} {:>11}\n", "total", sum.allocations, sum.given,
                   human_bytes(sum.given));
  }
}

void print_scratchpad(Out out, const PlannedFile& file) {
  const ScratchpadPlan& scratchpad = file.plan.scratchpad;
  fmt::format_to(out, "  scratchpad  {}, pages of {}",
                 scratchpad.contiguous ? "contiguous" : "paged",
                 human_bytes(scratchpad.page_bytes));
  for (std::size_t i = 0; i < scratchpad.cores.size(); ++i) {
    fmt::format_to(out, "; core {}: {} in {} pages", file.plan.kbins[i].core,
                   human_bytes(scratchpad.cores[i].bytes), scratchpad.cores[i].pages);
  }
  fmt::format_to(out, "\n");
  for (const OversizedVariable& variable : scratchpad.oversized) {
    const Kbin& kbin = file.parsed.kbins[variable.kbin];
    fmt::format_to(out, "  oversized   {} {}: {}\n", one_line(kbin.name),
                   one_line(kbin.variables[variable.var_id].name), human_bytes(variable.size));
  }
}

void print_miss(Out out, const PlannedFile& file) {
  if (!file.miss) {
    fmt::format_to(out, "\n  fits\n");
    return;
  }
  const Request& request = file.plan.requests[file.miss->request];
  const auto short_by = file.miss->short_by;
  fmt::format_to(
      out,
      "\n  {}: \"{}\" ({}) asks for {} bytes; HBM {} has {} of {} bytes free, the "
      "largest free block is {} bytes\n",
      short_by ? fmt::format("misses by {} bytes ({})", *short_by, human_bytes(*short_by))
               : std::string("fits no HBM of any size"),
      one_line(request.owner), mem_usage_name(request.usage), file.miss->size, request.hbm,
      file.miss->hbm.free, file.miss->hbm.size, file.miss->hbm.largest_block);
  for (const std::string& way : file.ways) fmt::format_to(out, "  would fit with {}\n", way);
}

void print_file(Out out, const PlannedFile& file) {
  fmt::format_to(out, "{}\n  model       {}\n", one_line(file.file),
                 one_line(header_name(file.parsed.header)));
  print_scratchpad(out, file);
  print_cores(out, "load", file.plan, account_load(file));
  print_cores(out, "bind", file.plan, account_bind(file));
  print_miss(out, file);
  for (const std::string& warning : warnings_of(file)) {
    fmt::format_to(out, "  warning: {}\n", one_line(warning));
  }
}

}  // namespace

std::string plan_json(const PlanReport& report) {
  JsonOut out;
  out.indent(1);
  out.object([&] {
    out.field("schema", plan_schema);
    out.field("neffld", version);
    out.field("architecture", arch_name(report.arch));
    out.array("models", report.files, [&](const PlannedFile& file) { write_file(out, file); });
    out.array("hbms", report.hbms,
              [&](const MemoryMap::Hbm& hbm) { out.object([&] { write_hbm(out, hbm); }); });
  });
  return std::string(out.text()) + "\n";
}

std::string plan_text(const PlanReport& report) {
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "plan for {}, {} HBMs, no device\n", arch_name(report.arch),
                 report.hbms.size());
  for (const PlannedFile& file : report.files) {
    fmt::format_to(out, "\n");
    print_file(out, file);
  }
  fmt::format_to(out, "\n  HBM             size             free    largest block\n");
  for (std::size_t i = 0; i < report.hbms.size(); ++i) {
    const MemoryMap::Hbm& hbm = report.hbms[i];
    fmt::format_to(out, "  {:>3} {:>16} {:>16} {:>16}\n", i, hbm.size, hbm.free, hbm.largest_block);
  }
  return text;
}

}  // namespace neffld::cli
