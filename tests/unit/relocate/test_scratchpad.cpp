// SPDX-License-Identifier: MIT
// Scratchpad arenas and pages (spec 03 section 4).
#include <fmt/format.h>

#include "support.hpp"

namespace neffld::test {
namespace {

constexpr std::uint64_t mib = 1ull << 20;
constexpr std::uint64_t page = 512 * mib;

struct Outcome {
  Plan plan;
  std::uint32_t pages(std::uint32_t kbin = 0) const { return plan.scratchpad.cores[kbin].pages; }
  const Placement& of(std::uint32_t var, std::uint32_t kbin = 0) const {
    return plan.kbins[kbin].variables[var];
  }
  std::uint64_t private_bytes() const {
    std::uint64_t bytes = 0;
    for (const Request& request : plan.requests) {
      if (request.category == MemCategory::scratchpad_not_shared) bytes += request.size;
    }
    return bytes;
  }
};

Outcome outcome_of(Program& program, const PlanOptions& options = {}) {
  return {planned(std::span(&program.kbin(), 1), options)};
}

TEST_CASE("a variable ending exactly on a page, one under and one over") {
  struct Row {
    std::uint64_t offset, size;
    std::uint32_t pages;
    bool on_page;
  };
  for (const Row& row :
       {Row{0, page, 1, true}, Row{0, page - 1, 1, true}, Row{0, page + 1, 2, false},
        Row{page - 4096, 4096, 1, true}, Row{page - 4096, 4095, 1, true},
        Row{page - 4096, 4097, 2, false}, Row{page, 1, 2, true}, Row{page, page, 2, true},
        Row{3 * page - 4096, 8192, 4, false}}) {
    INFO("offset " << row.offset << " size " << row.size);
    Program program(Arch::v3);
    const auto v = program.scratch("v", row.size, row.offset);
    const Outcome outcome = outcome_of(program);
    // The arena is reserved in full even if the variable ends up on its own.
    CHECK(outcome.pages() == row.pages);
    CHECK(outcome.plan.scratchpad.cores[0].bytes == row.offset + row.size);
    const Placement& place = outcome.of(v);
    REQUIRE((place.kind == Placement::Kind::page) == row.on_page);
    if (row.on_page) {
      CHECK(place.request == row.offset / page);
      CHECK(place.offset == row.offset % page);
      CHECK(place.core == 0);
      CHECK(outcome.private_bytes() == 0);
    } else {
      CHECK(place.kind == Placement::Kind::section);
      const Request& request = outcome.plan.requests[place.request];
      CHECK(request.size == row.size);
      CHECK(request.owner == "variable v");
      CHECK(request.category == MemCategory::scratchpad_not_shared);
    }
  }
}

TEST_CASE("the page size decides what needs memory of its own") {
  // A variable of 512 MiB pages that straddles them all, and the same with 2.5 GiB pages.
  const auto with_page = [](std::uint64_t size) {
    Program program(Arch::v3);
    program.scratch("b", 2560 * mib, 0);
    PlanOptions options;
    options.scratchpad.page_bytes = size;
    return outcome_of(program, options);
  };
  CHECK(with_page(512 * mib).private_bytes() == 2560 * mib);
  CHECK(with_page(512 * mib).pages() == 5);
  CHECK(with_page(2048 * mib).private_bytes() == 2560 * mib);
  CHECK(with_page(2560 * mib).private_bytes() == 0);
  CHECK(with_page(2560 * mib).pages() == 1);
  CHECK(with_page(3584 * mib).pages() == 1);
}

TEST_CASE("page sizes that are no multiple of 512 MiB below 4 GiB are refused") {
  Program program(Arch::v3);
  program.scratch("v", 4096, 0);
  const Kbin& kbin = program.kbin();
  for (const std::uint64_t size : std::vector<std::uint64_t>{0, 1, 511 * mib, 513 * mib, 4096 * mib,
                                                             4608 * mib, ~0ull, 1ull << 63}) {
    INFO(size << " bytes");
    PlanOptions options;
    options.scratchpad.page_bytes = size;
    check_refused(
        plan_model(std::span(&kbin, 1), options),
        {"", "scratchpad page size", std::nullopt, "expected a multiple of 512 MiB below 4 GiB"});
  }
}

TEST_CASE("at most 1024 pages, and sizes that would wrap are refused like large ones") {
  const auto with_arena = [](std::uint64_t local, std::uint64_t shared) {
    Program program(Arch::v3);
    auto& kbin = const_cast<Kbin&>(program.kbin());
    kbin.local_scratchpad_size = local;
    kbin.shared_scratchpad_size = shared;
    return plan_model(std::span<const Kbin>(&kbin, 1));
  };
  CHECK(with_arena(1024 * page, 0));
  CHECK(with_arena(0, 1024 * page));
  CHECK(with_arena(512 * page, 512 * page));
  const auto refused = [&](std::uint64_t local, std::uint64_t shared) {
    INFO("local " << local << " shared " << shared);
    check_refused(with_arena(local, shared),
                  {"sg00", "", std::nullopt,
                   "Number of scratchpad pages requested exceeded the max", Status::resource});
  };
  refused(1024 * page + 1, 0);
  refused(0, 1024 * page + 1);
  refused(512 * page, 512 * page + 1);
  refused(~0ull, 0);
  refused(~0ull, ~0ull);
  refused(1ull << 63, 1ull << 63);
  refused(0ull - page, page);
  refused(1, ~0ull);
}

TEST_CASE("local space follows shared space, on the next page if it would straddle") {
  struct Row {
    std::uint64_t shared, local, base;
    std::uint32_t pages;
  };
  for (const Row& row :
       {Row{8192, 4096, 8192, 1}, Row{8192, page - 8192, 8192, 1}, Row{8192, page - 4096, page, 2},
        Row{page, 4096, page, 2}, Row{page, 2 * page, page, 3}, Row{8192, 2 * page, page, 3},
        Row{0, page, 0, 1}}) {
    INFO("shared " << row.shared << " local " << row.local);
    Program program(Arch::v3);
    if (row.shared) program.scratch("s", row.shared, 0, BackingBuf::main);
    const auto l = program.scratch("l", 4096, 0);
    program.scratch("l_end", 4096, row.local - 4096);
    const Outcome outcome = outcome_of(program);
    CHECK(outcome.pages() == row.pages);
    CHECK(outcome.of(l).request * page + outcome.of(l).offset == row.base);
    CHECK(outcome.plan.scratchpad.cores[0].bytes == row.base + row.local);
  }
}

TEST_CASE("shared space is the largest need of both cores and lies on the first") {
  std::vector<Program> programs;
  programs.emplace_back(Arch::v3, "sg00");
  programs.emplace_back(Arch::v3, "sg01");
  const auto s0 = programs[0].scratch("s", 4096, 0, BackingBuf::shared);
  const auto l0 = programs[0].scratch("l", 4096, 0, BackingBuf::sharded);
  const auto s1 = programs[1].scratch("s", 8192, 4096, BackingBuf::main);
  const auto l1 = programs[1].scratch("l", 4096, 0);
  const auto kbins = kbins_of(programs);
  PlanOptions options;
  options.logical_core = 1;  // physical cores 2 and 3
  const Outcome outcome{planned(kbins, options)};
  CHECK(outcome.plan.scratchpad.cores[0].bytes == 12288 + 4096);
  CHECK(outcome.plan.scratchpad.cores[1].bytes == 4096);
  CHECK(outcome.of(s0, 0).core == 2);
  CHECK(outcome.of(s0, 0).offset == 0);
  CHECK(outcome.of(l0, 0).core == 2);
  CHECK(outcome.of(l0, 0).offset == 12288);
  CHECK(outcome.of(s1, 1).core == 2);
  CHECK(outcome.of(s1, 1).offset == 4096);
  CHECK(outcome.of(l1, 1).core == 3);
  CHECK(outcome.of(l1, 1).offset == 0);
  // Both resolve to the same bytes of the first core's page.
  const Relocated result = relocated(kbins, outcome.plan, made_up_addresses(outcome.plan));
  CHECK(result.rows.size() == 10);  // only the branches of the ten images
}

TEST_CASE("pages a core already has are reused, only the missing ones are requested") {
  Program program(Arch::v3);
  program.scratch("v", 4096, 3 * page);
  PlanOptions options;
  options.cores = {{true, 2, page}};
  const Outcome outcome = outcome_of(program, options);
  std::vector<std::string> pages;
  for (const Request& request : outcome.plan.requests) {
    if (request.kind != SectionKind::scratchpad_page) continue;
    pages.push_back(request.owner);
    CHECK(request.shared);
    CHECK(request.size == page);
    CHECK(request.align == 4 * mib);
    CHECK(request.category == MemCategory::scratchpad);
  }
  CHECK(pages == std::vector<std::string>{"scratchpad page 2", "scratchpad page 3"});
  options.cores = {{true, 9, page}};
  CHECK(outcome_of(program, options).plan.requests.front().kind != SectionKind::scratchpad_page);
}

TEST_CASE("virtual variables share bytes when the compiler says so") {
  Program program(Arch::v2);
  const auto a = program.scratch("a", 8192, 0), b = program.scratch("b", 8192, 4096);
  const Outcome outcome = outcome_of(program);
  CHECK(outcome.of(a).offset == 0);
  CHECK(outcome.of(b).offset == 4096);
  CHECK(outcome.plan.scratchpad.cores[0].bytes == 12288);
}

TEST_CASE("an address on a page must be 4 KiB aligned") {
  for (const std::uint64_t offset : {1ull, 64ull, 4095ull, 4097ull}) {
    Program program(Arch::v3);
    program.scratch("v", 64, offset);
    const Kbin& kbin = program.kbin();
    check_refused(plan_model(std::span(&kbin, 1)),
                  {"sg00", "v", std::nullopt, "need to be 4K aligned"});
  }
}

TEST_CASE("a virtual variable of size 0 or on the alternative fabric is refused") {
  Program empty(Arch::v3);
  empty.scratch("v", 0, 0);
  check_refused(plan_model(std::span(&empty.kbin(), 1)),
                {"sg00", "v", std::nullopt, "size is 0, expected at least 1 byte"});
  Program alt(Arch::v3);
  alt.variable(alt.scratch("v", 64, 0)).fabric_alt = true;
  check_refused(plan_model(std::span(&alt.kbin(), 1)),
                {"sg00", "v", std::nullopt, "fabric_path \"alt\""});
}

TEST_CASE("what does not fit a page is listed, with the page size that gives room") {
  struct Row {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> variables;  // offset, size
    std::size_t oversized;
    std::uint64_t advised;
  };
  for (const Row& row :
       {Row{{{0, page}}, 0, 0}, Row{{{0, page + 1}}, 1, 2 * page},
        Row{{{page - 4096, 8192}}, 1, 2 * page},
        Row{{{4096, page}, {8192, 600 * mib}}, 2, 2 * page},
        // 1024 MiB is enough for the largest, and still straddled.
        Row{{{0, page + 1}, {2 * page - 4096, 8192}}, 2, 3 * page}, Row{{{0, 4096 * mib}}, 1, 0}}) {
    Program program(Arch::v3);
    for (const auto& [offset, size] : row.variables) program.scratch("v", size, offset);
    const Outcome outcome = outcome_of(program);
    CHECK(outcome.plan.scratchpad.oversized.size() == row.oversized);
    CHECK(outcome.plan.scratchpad.advised_page_bytes == row.advised);
    const auto& warnings = outcome.plan.kbins[0].warnings;
    REQUIRE(warnings.size() == (row.oversized ? 1 : 0));
    if (row.oversized == 0) continue;
    CHECK_THAT(warnings[0], Catch::Contains(fmt::format("{} virtual variables", row.oversized)));
    CHECK_THAT(warnings[0],
               Catch::Contains(
                   row.advised ? fmt::format("NEURON_SCRATCHPAD_PAGE_SIZE={} ", row.advised / mib)
                               : "no page size gives room"));
    if (row.advised == 0) continue;
    PlanOptions options;
    options.scratchpad.page_bytes = row.advised;
    CHECK(outcome_of(program, options).plan.scratchpad.oversized.empty());
  }
}

// ---- contiguous mode ----

PlanOptions contiguous_options() {
  PlanOptions options;
  options.scratchpad.contiguous = true;
  return options;
}

TEST_CASE("contiguous pages hold every variable, straddling or not, from the last page up") {
  constexpr std::uint64_t small = 64 * mib;
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    Program program(arch);
    const auto first = program.scratch("first", 4096, 0);
    const auto straddling = program.scratch("straddling", small + 8192, small - 4096);
    const Outcome outcome = outcome_of(program, contiguous_options());
    CHECK(outcome.plan.scratchpad.contiguous);
    CHECK(outcome.plan.scratchpad.page_bytes == small);
    CHECK(outcome.plan.scratchpad.oversized.empty());
    CHECK(outcome.pages() == 3);
    CHECK(outcome.of(first).request == 2);
    CHECK(outcome.of(first).offset == 0);
    CHECK(outcome.of(straddling).request == 2);
    CHECK(outcome.of(straddling).offset == small - 4096);
    CHECK(outcome.private_bytes() == 0);
    std::size_t pages = 0;
    for (const Request& request : outcome.plan.requests) {
      if (request.kind != SectionKind::scratchpad_page) continue;
      CHECK(request.index == pages++);
      CHECK(request.size == small);
      CHECK(request.align == 0);
      CHECK(request.category == MemCategory::contiguous_scratchpad);
      CHECK(request.usage == MemUsage::shared_scratchpad);
    }
    CHECK(pages == 3);
  }
}

struct TwoCores {
  TwoCores() {
    programs.emplace_back(Arch::v3, "sg00");
    programs.emplace_back(Arch::v3, "sg01");
    s0 = programs[0].scratch("s", 4096, 0, BackingBuf::shared);
    l0 = programs[0].scratch("l", 100 * mib, 0);
    s1 = programs[1].scratch("s", 8192, 4096, BackingBuf::main);
    l1 = programs[1].scratch("l", 4096, 8192, BackingBuf::sharded);
  }
  std::vector<Program> programs;
  std::uint32_t s0, l0, s1, l1;
};

TEST_CASE("contiguous pages of both subgraphs lie on the first core, back to back") {
  TwoCores rig;
  PlanOptions options = contiguous_options();
  options.logical_core = 1;
  const Outcome outcome{planned(kbins_of(rig.programs), options)};
  // Shared 12288 bytes, then 100 MiB of sg00 and 12288 of sg01, nothing skipped.
  CHECK(outcome.plan.scratchpad.cores[0].bytes == 100 * mib + 2 * 12288);
  CHECK(outcome.pages(0) == 2);
  CHECK(outcome.pages(1) == 0);
  for (const auto& [var, kbin, offset] : {std::tuple{rig.s0, 0u, 0ull},
                                          {rig.l0, 0u, 12288ull},
                                          {rig.s1, 1u, 4096ull},
                                          {rig.l1, 1u, 12288ull + 100 * mib + 8192}}) {
    CHECK(outcome.of(var, kbin).kind == Placement::Kind::page);
    CHECK(outcome.of(var, kbin).core == 2);
    CHECK(outcome.of(var, kbin).request == 1);
    CHECK(outcome.of(var, kbin).offset == offset);
  }
}

TEST_CASE("paged arenas go to the first core when asked, which takes all cores of the HBM") {
  TwoCores rig;
  PlanOptions options;
  options.scratchpad.single_core = true;
  const auto kbins = kbins_of(rig.programs);
  const Outcome outcome{planned(kbins, options)};
  CHECK_FALSE(outcome.plan.scratchpad.contiguous);
  CHECK(outcome.pages(0) == 1);
  CHECK(outcome.pages(1) == 0);
  CHECK(outcome.of(rig.l1, 1).core == 0);
  CHECK(outcome.of(rig.l1, 1).offset == 12288 + 100 * mib + 8192);
  Program alone(Arch::v3);
  alone.scratch("v", 4096, 0);
  options.logical_core_size = 1;
  check_refused(plan_model(std::span(&alone.kbin(), 1), options),
                {"", "scratchpad on a single core", std::nullopt,
                 "current process does not own all physical cores on HBM"});
}

TEST_CASE(
    "without driver support or on single cores of v3 the scratchpad stays paged, and says so") {
  const auto fallback = [](Arch arch, std::uint32_t size, bool driver) {
    Program program(arch);
    program.scratch("v", 4096, 0);
    PlanOptions options = contiguous_options();
    options.logical_core_size = size;
    options.driver_has_contiguous = driver;
    const Outcome outcome = outcome_of(program, options);
    CHECK(outcome.plan.scratchpad.contiguous == outcome.plan.scratchpad.fallback.empty());
    CHECK(outcome.plan.scratchpad.page_bytes ==
          (outcome.plan.scratchpad.contiguous ? 64 * mib : page));
    CHECK(outcome.plan.kbins[0].warnings.size() == (outcome.plan.scratchpad.contiguous ? 0 : 1));
    return outcome.plan.scratchpad.fallback;
  };
  CHECK(fallback(Arch::v3, 2, true).empty());
  CHECK(fallback(Arch::v2, 1, true).empty());
  CHECK_THAT(fallback(Arch::v3, 2, false), Catch::Contains("feature bit 0x80"));
  CHECK_THAT(fallback(Arch::v3, 1, true), Catch::Contains("disabled on LNC 1"));
}

TEST_CASE("contiguous mode has at most 1024 pages too") {
  constexpr std::uint64_t small = 64 * mib;
  const auto with_arenas = [](std::uint64_t shared, std::uint64_t first, std::uint64_t second) {
    std::vector<Program> programs;
    programs.emplace_back(Arch::v3, "sg00");
    programs.emplace_back(Arch::v3, "sg01");
    auto kbins = kbins_of(programs);
    kbins[0].shared_scratchpad_size = shared;
    kbins[0].local_scratchpad_size = first;
    kbins[1].local_scratchpad_size = second;
    return plan_model(kbins, contiguous_options());
  };
  CHECK(with_arenas(24 * small, 500 * small, 500 * small));
  CHECK_FALSE(with_arenas(24 * small, 500 * small, 500 * small + 1));
  CHECK_FALSE(with_arenas(~0ull, 1, 1));
  CHECK_FALSE(with_arenas(1, 1ull << 63, 1ull << 63));
}

TEST_CASE("a model that needs no pages does not care about those of the core") {
  Program program(Arch::v3);
  PlanOptions options = contiguous_options();
  options.cores = {{true, 2, page, false}};
  CHECK(plan_model(std::span(&program.kbin(), 1), options));
  program.scratch("v", 4096, 0);
  check_refused(plan_model(std::span(&program.kbin(), 1), options),
                {"", "scratchpad page size", std::nullopt,
                 "found 67108864 bytes (contiguous), but core 0 has pages of 536870912 bytes"});
  options.cores = {{true, 2, 64 * mib, true}};
  CHECK(plan_model(std::span(&program.kbin(), 1), options));
}

}  // namespace
}  // namespace neffld::test
