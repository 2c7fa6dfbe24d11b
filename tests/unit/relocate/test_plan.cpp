// SPDX-License-Identifier: MIT
// Planning: cores, queues, rings, variables, remotes, and what is refused before any device call
// (spec 03, decisions 3, 17, 21, 33, 36, 40).
#include <fmt/format.h>

#include "builders.hpp"
#include "stager.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

Result<Plan> plan_of(Program& program, const PlanOptions& options = {}) {
  const Kbin& kbin = program.kbin();
  return plan_model(std::span(&kbin, 1), options);
}

// ---- cores ----

TEST_CASE("a model is one subgraph or as many as the logical core has physical ones") {
  const auto plan_kbins = [](Arch arch, std::size_t count, PlanOptions options = {}) {
    std::vector<Program> programs;
    for (std::size_t i = 0; i < count; ++i) programs.emplace_back(arch, fmt::format("sg{:02}", i));
    return plan_model(kbins_of(programs), options);
  };
  CHECK(plan_kbins(Arch::v2, 1));
  CHECK(plan_kbins(Arch::v3, 1));
  CHECK(plan_kbins(Arch::v3, 2));
  CHECK(plan_kbins(Arch::v4, 2));
  check_refused(plan_kbins(Arch::v2, 0), {"", "$.graphs", std::nullopt, "found no subgraph"});
  check_refused(plan_kbins(Arch::v2, 2), {"", "$.graphs", std::nullopt,
                                          "Insufficient number of pncs, required 2, available 1"});
  check_refused(plan_kbins(Arch::v3, 3), {"", "$.graphs", std::nullopt,
                                          "Insufficient number of pncs, required 3, available 2"});
  PlanOptions four;
  four.logical_core_size = 4;
  CHECK(plan_kbins(Arch::v3, 4, four));
  check_refused(
      plan_kbins(Arch::v3, 2, four),
      {"", "$.graphs", std::nullopt, "found 2 subgraphs, expected 1 or the logical core size 4"});
}

TEST_CASE("subgraph i runs on physical core i of its logical core, with that core's HBM") {
  for (std::uint32_t logical = 0; logical < 4; ++logical) {
    std::vector<Program> programs;
    programs.emplace_back(Arch::v3, "sg00");
    programs.emplace_back(Arch::v3, "sg01");
    PlanOptions options;
    options.logical_core = logical;
    const Plan plan = planned(kbins_of(programs), options);
    for (std::uint32_t i = 0; i < 2; ++i) {
      CHECK(plan.kbins[i].core == 2 * logical + i);
      CHECK(plan.kbins[i].hbm == logical);
    }
  }
  Program program(Arch::v2);
  PlanOptions second;
  second.logical_core = 1;
  CHECK(plan_of(program, second)->kbins[0].hbm == 1);
}

TEST_CASE("a logical core the device does not have is refused") {
  for (const auto& [arch, core] : {std::pair{Arch::v2, 2u}, {Arch::v3, 4u}, {Arch::v3, ~0u}}) {
    Program program(arch);
    PlanOptions options;
    options.logical_core = core;
    check_refused(plan_of(program, options),
                  {"", "logical core", std::nullopt, fmt::format("core {} does not exist", core)});
  }
}

// ---- queue sets ----

TEST_CASE("queue sets are ranked in order, dynamic ones take no hardware queue") {
  Program program(Arch::v3);
  program.queue("a", Engine::sp, 16);
  program.dynamic_queue("b", Engine::sp);
  program.queue("c", Engine::pool, 1);  // without blocks, and still counted
  const auto plan = plan_of(program);
  REQUIRE(plan);
  const auto& sets = plan->kbins[0].queue_sets;
  CHECK(sets[0].queue_id == 0);
  CHECK_FALSE(sets[1].queue_id);
  CHECK(sets[2].queue_id == 1);
  CHECK(sets[0].ring_count == 16);
  CHECK(sets[1].ring_count == 0);
  CHECK(sets[2].first_ring == 16);
  for (const RingPlan& ring : plan->kbins[0].rings) {
    CHECK(ring.allocated == 0);
    CHECK_FALSE(ring.tx_request);
  }
}

TEST_CASE("13 queue sets with rings fit a core, 14 do not, however many are dynamic") {
  Program program(Arch::v3);
  for (int i = 0; i < 13; ++i) program.queue(fmt::format("q{:02}", i), Engine::sp, 16);
  for (int i = 0; i < 5; ++i) program.dynamic_queue(fmt::format("z{:02}", i), Engine::act);
  const auto plan = plan_of(program);
  REQUIRE(plan);
  CHECK(plan->kbins[0].queue_sets[12].queue_id == 12);
  program.queue("zz", Engine::sp, 1);
  check_refused(plan_of(program), {"sg00", "zz", std::nullopt, "more than 13 queue sets with rings",
                                   Status::resource});
}

TEST_CASE("a ring has at most as many descriptors as the limit") {
  const auto with = [](std::uint64_t elements, std::uint64_t limit) {
    Program program(Arch::v3);
    const auto a = program.add(VarKind::tmp_buf, "a", 4096);
    const auto queue = program.queue("q", Engine::sp, 2);
    const auto part = copy(side(a, 0, {1, elements}, {1}), side(a, 2048, {1, elements}, {1}));
    program.block(queue, 3, {part});
    program.block(queue, 5, {part});
    PlanOptions options;
    options.max_ring_descriptors = limit;
    return plan_of(program, options);
  };
  CHECK(with(20, 22));  // 2 blocks of 10 elements and a signal on each ring
  check_refused(with(20, 21), {"sg00", "q", 5,
                               "Descriptor limit reached. Descriptors in vring 22, Max allowed 21",
                               Status::resource});
  check_refused(with(21, 22),
                {"sg00", "q", 5, "Descriptors in vring 24, Max allowed 22", Status::resource});
  check_refused(with(20, 10), {"sg00", "q", 3, "Max allowed 10", Status::resource});
}

TEST_CASE("a hostile element count is refused by the descriptor limit, without allocating") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 4096);
  const auto queue = program.queue("q", Engine::sp, 1);
  program.block(queue, 0, {copy(side(a, 0, {~0ull, ~0ull}, {0}), side(a, 0, {~0ull, ~0ull}, {0}))});
  check_refused(plan_of(program), {"sg00", "q", 0, "Max allowed 16777200", Status::resource});
}

TEST_CASE("rings have 64 descriptors for up to 31, then the next 16 behind 16 spare ones") {
  for (const auto& [used, allocated] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 64},
                                                            {31, 64},
                                                            {32, 48},
                                                            {33, 64},
                                                            {48, 64},
                                                            {100, 128},
                                                            {113, 144},
                                                            {1000, 1024},
                                                            {16'777'200, 16'777'216}}) {
    CHECK(linear_ring_size(used) == allocated);
  }
}

TEST_CASE("a set is a template if any descriptor of any ring names an input or output") {
  Program program(Arch::v3);
  const auto in = program.add(VarKind::input, "in", 64);
  const auto t = program.add(VarKind::tmp_buf, "t", 64);
  const auto is = program.queue("a_is", Engine::sp, 2), no = program.queue("b_no", Engine::sp, 2);
  program.block(is, 0, {copy(side(t, 0, {8}), side(t, 8, {8}))});
  program.block(is, 1,
                {copy(side(t, 0, {8}), side(t, 8, {8})), copy(side(in, 0, {8}), side(t, 8, {8}))});
  program.block(no, 0, {copy(side(t, 0, {8}), side(t, 8, {8}))});
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  Plan plan = planned(kbins);
  CHECK(plan.kbins[0].queue_sets[is].is_template);
  CHECK_FALSE(plan.kbins[0].queue_sets[no].is_template);
  for (const RingPlan& ring : plan.kbins[0].rings) {
    CHECK(ring.tx_request.has_value() == (ring.queue_set == no));
    CHECK(ring.rx_request.has_value() == (ring.queue_set == no));
  }
  const std::size_t before = plan.requests.size();
  CHECK(plan_bound_rings(kbins, plan).value() == 4);
  std::vector<std::string> added;
  for (std::size_t i = before; i < plan.requests.size(); ++i)
    added.push_back(plan.requests[i].owner);
  CHECK(added == std::vector<std::string>{"ring a_is.0.0 tx", "ring a_is.0.0 rx",
                                          "ring a_is.0.1 tx", "ring a_is.0.1 rx"});
}

TEST_CASE("a template has one instance, a static set may have many") {
  const auto with = [](bool io, std::size_t instances) {
    Program program(Arch::v3);
    const auto in = program.add(VarKind::input, "in", 64);
    const auto t = program.add(VarKind::tmp_buf, "t", 64);
    const auto q = program.queue("q", Engine::sp, 1);
    if (instances > 1) program.queue_set(q).instances = {"q0", "q1"};
    program.block(q, 0, {copy(side(io ? in : t, 0, {8}), side(t, 8, {8}))}, instances == 1);
    return plan_of(program);
  };
  CHECK(with(true, 1));
  CHECK(with(false, 1));
  CHECK(with(false, 2));
  check_refused(with(true, 2), {"sg00", "q", std::nullopt,
                                "found 2 instances of a queue that names inputs or outputs"});
}

TEST_CASE("all rings of a subgraph together have a limit, whatever one ring may hold") {
  const auto with = [](std::uint64_t queues, std::uint64_t limit) {
    Program program(Arch::v3);
    const auto t = program.add(VarKind::tmp_buf, "t", 4096);
    for (std::uint64_t i = 0; i < queues; ++i) {
      const auto q = program.queue(fmt::format("q{}", i), Engine::sp, 2);
      program.block(q, 0, {copy(side(t, 0, {8}), side(t, 8, {8}))});
    }
    PlanOptions options;
    options.max_ring_bytes = limit;
    return plan_of(program, options);
  };
  constexpr std::uint64_t ring = 2 * 64 * 16;  // both halves
  CHECK(with(3, 6 * ring));
  check_refused(with(3, 6 * ring - 1),
                {"sg00", "q2", std::nullopt,
                 "take 12288 bytes, allowed are 12287 (--max-ring-bytes)", Status::resource});
  check_refused(with(3, 0), {"sg00", "q0", std::nullopt, "allowed are 0", Status::resource});
}

TEST_CASE("the subgraphs of a model share the limit of its rings") {
  const auto with = [](std::uint64_t first, std::uint64_t second, std::uint64_t limit) {
    std::vector<Program> programs;
    for (const std::uint64_t queues : {first, second}) {
      Program& program = programs.emplace_back(Arch::v3, fmt::format("sg{:02}", programs.size()));
      const auto t = program.add(VarKind::tmp_buf, "t", 4096);
      for (std::uint64_t i = 0; i < queues; ++i) {
        const auto q = program.queue(fmt::format("q{}", i), Engine::sp, 1);
        program.block(q, 0, {copy(side(t, 0, {8}), side(t, 8, {8}))});
      }
    }
    PlanOptions options;
    options.max_ring_bytes = limit;
    return plan_model(kbins_of(programs), options);
  };
  constexpr std::uint64_t ring = 2 * 64 * 16;  // both halves
  CHECK(with(2, 1, 3 * ring));
  CHECK(with(0, 3, 3 * ring));
  check_refused(with(2, 1, 3 * ring - 1),
                {"sg01", "q0", std::nullopt,
                 "the rings of this model up to this queue set take 6144 bytes, allowed are 6143",
                 Status::resource});
  check_refused(with(1, 2, 3 * ring - 1),
                {"sg01", "q1", std::nullopt, "take 6144 bytes", Status::resource});
}

TEST_CASE("a small file that asks for a gigabyte of rings is refused by default") {
  Program program(Arch::v3);
  const auto t = program.add(VarKind::tmp_buf, "t", 8);
  const auto q = program.queue("q", Engine::sp, 16);
  program.block(q, 0, {copy(side(t, 0, {1, 16'000'000}, {0}), side(t, 0, {1, 16'000'000}, {0}))});
  program.slot(Engine::sp, sample::dma_trigger("q", 0));
  CHECK(plan_of(program));
  program.slot(Engine::sp, sample::dma_trigger("q", 0));
  check_refused(plan_of(program), {"sg00", "q", std::nullopt,
                                   "allowed are 1073741824 (--max-ring-bytes)", Status::resource});
}

TEST_CASE("what a block asks for and cannot have is refused") {
  Program event(Arch::v3);
  const auto a = event.add(VarKind::tmp_buf, "a", 64);
  const auto one = copy(side(a, 0, {8}), side(a, 8, {8}));
  event.block(event.queue("q", Engine::sp, 2), 4, {one}).event = 9;
  check_refused(plan_of(event), {"sg00", "q", 4, "`event` in a block of a set with 2 queues"});

  Program remote(Arch::v3);
  remote.add(VarKind::tmp_buf, "a", 64);
  remote.block(remote.queue("q", Engine::sp, 1), 4, {one}).remote_semaphores = {9};
  check_refused(plan_of(remote),
                {"sg00", "q", 4, "`remote_semaphores` with 1 subgraphs, expected 2"});

  for (const DmaOp op : {DmaOp::fma, DmaOp::add, DmaOp::min, DmaOp::max}) {
    Program compute(Arch::v3);
    compute.add(VarKind::tmp_buf, "a", 64);
    DmaDescriptor descriptor = one;
    descriptor.op = op;
    compute.block(compute.queue("q", Engine::sp, 1), 4, {descriptor});
    check_refused(plan_of(compute), {"sg00", "q", 4, "has no known descriptor encoding"});
  }
}

TEST_CASE("queue initialisation: table queues, then rings k ascending, instance 0 only") {
  std::vector<Program> programs;
  for (const char* name : {"sg00", "sg01"}) {
    Program& program = programs.emplace_back(Arch::v3, name);
    const auto t = program.add(VarKind::tmp_buf, "t", 64);
    program.dynamic_queue("a", Engine::sp);
    const auto q = program.queue("b", Engine::sp, 2);
    program.queue_set(q).instances = {"b", "b2"};
    const auto one = copy(side(t, 0, {8}), side(t, 8, {8}));
    program.block(q, 0, {one});
    program.block(q, 1, {one}, false).instance = 1;
    program.slot(Engine::sp, sample::dma_trigger("b2", 1));
  }
  const auto kbins = kbins_of(programs);
  PlanOptions options;
  options.logical_core = 1;
  const Plan plan = planned(kbins, options);
  std::vector<DeviceMemory> memory;
  for (std::size_t i = 0; i < plan.requests.size(); ++i) memory.push_back({100 + i, 0, 0});
  const auto inits = queue_inits(plan, memory, false);
  std::vector<std::string> lines;
  for (const auto& init : inits) {
    lines.push_back(fmt::format("engine {} queue {} n {} {}/{}", std::uint32_t{init.eng_id},
                                std::uint32_t{init.qid}, std::uint32_t{init.tx_desc_count},
                                plan.requests[init.tx_handle - 100].owner,
                                plan.requests[init.rx_handle - 100].owner));
  }
  CHECK(lines == std::vector<std::string>{"engine 32 queue 0 n 64 ring b.0.0 tx/ring b.0.0 rx",
                                          "engine 33 queue 0 n 64 ring b.0.1 tx/ring b.0.1 rx",
                                          "engine 48 queue 0 n 64 ring b.0.0 tx/ring b.0.0 rx",
                                          "engine 49 queue 0 n 64 ring b.0.1 tx/ring b.0.1 rx"});
  CHECK(queue_inits(plan, memory, true).empty());
}

// ---- variables ----

TEST_CASE("every kind of variable gets its place") {
  Program program(Arch::v3);
  const auto sb = program.state_buffer();
  const auto in = program.add(VarKind::input, "in", 64),
             out = program.add(VarKind::output, "out", 64);
  const auto w = program.file("w", 100, 65536), t = program.add(VarKind::tmp_buf, "t", 64, 256);
  const auto p0 = program.add(VarKind::pointer, "p0", 8), l = program.add(VarKind::list, "l");
  const auto d = program.add(VarKind::dge_table, "d"), p1 = program.add(VarKind::pointer, "p1", 8);
  program.variable(p0).referenced_var_id = w;
  program.variable(p1).referenced_var_id = in;
  program.variable(d).list = {out, w, in};
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const auto& places = plan.kbins[0].variables;
  CHECK(places[sb].kind == Placement::Kind::fixed);
  CHECK(places[sb].address == 0x20'0000'0000);
  CHECK(places[in].kind == Placement::Kind::unplaced);
  CHECK(places[out].kind == Placement::Kind::unplaced);
  CHECK(places[l].kind == Placement::Kind::host_only);
  const Request& weight = plan.requests[places[w].request];
  CHECK(weight.size == 100);
  CHECK(weight.align == 65536);
  CHECK(weight.category == MemCategory::constants);
  CHECK(plan.requests[places[t].request].category == MemCategory::scratchpad_not_shared);
  CHECK(plan.requests[places[t].request].align == 256);
  CHECK(places[p0].request == *plan.kbins[0].pointer_cells);
  CHECK(places[p0].offset == 0);
  CHECK(places[p1].offset == 8);
  CHECK(plan.requests[*plan.kbins[0].pointer_cells].size == 16);
  CHECK(plan.requests[places[d].request].size == 24);

  Addresses addresses = made_up_addresses(plan);
  const Relocated loaded = relocated(kbins, plan, addresses);
  const std::uint64_t address = addresses.sections[places[w].request];
  const auto word = [](const Relocated& r, std::uint32_t request, std::size_t i) {
    return load_le<std::uint64_t>(r.sections.at(request), 8 * i);
  };
  CHECK(word(loaded, places[p0].request, 0) == address);
  CHECK(word(loaded, places[p0].request, 1) == 0);  // filled at bind
  CHECK(word(loaded, places[d].request, 0) == 0);
  CHECK(word(loaded, places[d].request, 1) == address);
  CHECK(loaded.counts.count_of(0, RelocForm::pointer_cell) == 1);
  CHECK(loaded.counts.count_of(0, RelocForm::table_entry) == 1);

  addresses.io = {{"in", 0x5000}, {"out", 0x6000}};
  Plan bound_plan = plan;
  const Relocated bound = relocated_bound(kbins, bound_plan, addresses);
  CHECK(word(bound, places[p0].request, 0) == address);
  CHECK(word(bound, places[p0].request, 1) == 0x5000);
  CHECK(word(bound, places[d].request, 0) == 0x6000);
  CHECK(word(bound, places[d].request, 2) == 0x5000);
}

TEST_CASE("a pointer or table to something without an address is refused") {
  for (const bool in_table : {false, true}) {
    Program program(Arch::v3);
    const auto l = program.add(VarKind::list, "l");
    if (in_table) {
      program.variable(program.add(VarKind::dge_table, "d")).list = {l};
    } else {
      program.variable(program.add(VarKind::pointer, "p", 8)).referenced_var_id = l;
    }
    const std::span<const Kbin> kbins(&program.kbin(), 1);
    check_refused(plan_model(kbins),
                  {"sg00", in_table ? "d" : "p", std::nullopt, "Variable l is not staged in HBM"});
  }
}

TEST_CASE("empty variables and alignments the driver cannot take are refused") {
  for (const VarKind kind : {VarKind::file, VarKind::tmp_buf}) {
    Program program(Arch::v3);
    program.add(kind, "x", 0);
    check_refused(plan_of(program), {"sg00", "x", std::nullopt, "size is 0"});
    program.variable(0).size = 1;
    program.variable(0).alignment = 1ull << 30;
    CHECK(plan_of(program));
    program.variable(0).alignment = 1ull << 31;
    check_refused(plan_of(program), {"sg00", "x", std::nullopt, "alignment is 2147483648"});
  }
}

// ---- remotes ----

struct RemoteRig {
  RemoteRig() {
    programs.emplace_back(Arch::v3, "sg00");
    programs.emplace_back(Arch::v3, "sg01");
  }
  std::uint32_t remote(std::size_t from, std::uint32_t subgraph, std::uint32_t var,
                       std::uint64_t size = 64) {
    const auto id = programs[from].add(VarKind::remote, "r", size);
    programs[from].variable(id).remote_subgraph = subgraph;
    programs[from].variable(id).remote_var_id = var;
    return id;
  }
  std::vector<Program> programs;
};

TEST_CASE("a remote variable is an alias of the sibling's, in both directions") {
  RemoteRig rig;
  const auto w = rig.programs[0].file("w", 64);
  const auto v = rig.programs[1].scratch("v", 64, 4096);
  const auto r0 = rig.remote(0, 1, v), r1 = rig.remote(1, 0, w);
  const auto kbins = kbins_of(rig.programs);
  const Plan plan = planned(kbins);
  CHECK(plan.kbins[1].variables[r1].request == plan.kbins[0].variables[w].request);
  CHECK(plan.kbins[0].variables[r0].kind == Placement::Kind::page);
  CHECK(plan.kbins[0].variables[r0].core == 1);
  CHECK(plan.kbins[0].variables[r0].offset == 4096);
}

TEST_CASE("remotes to nothing, to what has no address and to remotes are refused") {
  const auto refused = [](RemoteRig& rig, const char* member, std::string text) {
    check_refused(plan_model(kbins_of(rig.programs)), {member, "r", std::nullopt, std::move(text)});
  };
  RemoteRig missing_graph;
  missing_graph.remote(0, 2, 0);
  refused(missing_graph, "sg00", "Failed to find remote variable 0 in relative sg 2");
  RemoteRig missing_variable;
  missing_variable.remote(0, 1, 7);
  refused(missing_variable, "sg00", "Failed to find remote variable 7 in relative sg 1");
  RemoteRig unplaced;
  unplaced.remote(0, 1, unplaced.programs[1].add(VarKind::input, "in", 64));
  refused(unplaced, "sg00", "expected a variable with an address of its own");
  // A chain, whichever end is looked at first.
  RemoteRig forward;
  const auto w = forward.programs[1].file("w", 64);
  const auto r0 = forward.remote(0, 1, w);
  forward.remote(1, 0, r0);
  refused(forward, "sg01", "expected a variable with an address of its own");
  RemoteRig backward;
  const auto w0 = backward.programs[0].file("w", 64);
  const auto r1 = backward.remote(1, 0, w0);
  backward.remote(0, 1, r1);
  refused(backward, "sg00", "expected a variable with an address of its own");
}

// ---- streams ----

TEST_CASE("slots of an image: gate, lowered stream, notify and branch") {
  Program program(Arch::v3);
  const auto t = program.add(VarKind::tmp_buf, "t", 64);
  const auto queue = program.queue("q", Engine::sp, 16);
  program.slot(Engine::sp, sample::ordering_mode());
  program.slot(Engine::sp, sample::branch_label());
  program.block(queue, 0, {copy(side(t, 0, {8}), side(t, 8, {8}))});
  const auto plan = plan_of(program);
  REQUIRE(plan);
  const StreamPlan& sp = plan->kbins[0].streams[4];
  CHECK(sp.slots_in == 3);
  CHECK(sp.main_slots == 33);
  CHECK(sp.slots_out == 36);
  CHECK(plan->requests[sp.request].size == 36 * 64);
  CHECK(plan->requests[sp.request].align == 0x8000);
  CHECK(plan->requests[sp.request].category == MemCategory::code);
  CHECK(plan->kbins[0].streams[0].slots_out == 3);  // an empty stream still has an image
}

}  // namespace
}  // namespace neffld::test
