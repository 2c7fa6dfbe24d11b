// SPDX-License-Identifier: MIT
// Scratchpad arenas and pages (spec 03 section 4; pain P11).
#include "support.hpp"

namespace neffld::test {
namespace {

constexpr std::uint64_t mib = 1ull << 20;
constexpr std::uint64_t page = 512 * mib;

struct Outcome {
  Plan plan;
  std::uint32_t pages(std::uint32_t kbin = 0) const { return plan.arena_pages[kbin]; }
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

Outcome plan_of(Program& program, const PlanOptions& options = {}) {
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
    const Outcome outcome = plan_of(program);
    // The arena is reserved in full even if the variable ends up on its own.
    CHECK(outcome.pages() == row.pages);
    CHECK(outcome.plan.arena_bytes[0] == row.offset + row.size);
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
    options.scratchpad_page_bytes = size;
    return plan_of(program, options);
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
    options.scratchpad_page_bytes = size;
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
    const Outcome outcome = plan_of(program);
    CHECK(outcome.pages() == row.pages);
    CHECK(outcome.of(l).request * page + outcome.of(l).offset == row.base);
    CHECK(outcome.plan.arena_bytes[0] == row.base + row.local);
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
  CHECK(outcome.plan.arena_bytes == std::vector<std::uint64_t>{12288 + 4096, 4096});
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
  const Outcome outcome = plan_of(program, options);
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
  CHECK(plan_of(program, options).plan.requests.front().kind != SectionKind::scratchpad_page);
}

TEST_CASE("virtual variables share bytes when the compiler says so") {
  Program program(Arch::v2);
  const auto a = program.scratch("a", 8192, 0), b = program.scratch("b", 8192, 4096);
  const Outcome outcome = plan_of(program);
  CHECK(outcome.of(a).offset == 0);
  CHECK(outcome.of(b).offset == 4096);
  CHECK(outcome.plan.arena_bytes[0] == 12288);
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

}  // namespace
}  // namespace neffld::test
