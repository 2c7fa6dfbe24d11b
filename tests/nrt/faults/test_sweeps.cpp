// SPDX-License-Identifier: MIT
// Every device call and every host allocation of a load may fail. The sweeps also show where they
// struck: in every builder of spec 04 section 2.2, and in the thread of a sibling.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <mutex>
#include <set>
#include <thread>

#include "bench.hpp"
#include "neuron_abi/ioctl.h"
#include "new_failure.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::uint64_t points = 250;  // each sweep stays quick on models with thousands of calls

std::uint64_t stride_of(std::uint64_t calls) {
  return std::max<std::uint64_t>(1, calls / points) | 1;
}

std::uint32_t architecture_of(const std::string& name) {
  return name.ends_with("-v2") ? 2 : 3;
}

/// The builders a stack passes through.
void note_builders(const std::vector<std::string>& frames, std::set<std::string>& builders) {
  for (const std::string& frame : frames) {
    for (const std::string_view kind : {"neffld::plan_", "neffld::emit_"}) {
      if (!frame.starts_with(kind)) continue;
      builders.insert(frame.substr(8, frame.find('(') - 8));
    }
  }
}

std::set<std::string> missing(const std::set<std::string>& found,
                              const std::set<std::string>& wanted) {
  std::set<std::string> rest;
  std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

}  // namespace

TEST_CASE("any failing device call of a load: nothing stays, in any builder and any sibling") {
  constexpr int answers[] = {-ENOMEM, -EINVAL, -EBUSY, -EFAULT, -EINTR, 64};
  std::set<std::string> builders;
  std::set<std::thread::id> threads;
  for (const std::string name :
       {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3", "pointers-v3", "remote-lnc2-v3"}) {
    const BenchOptions options{.architecture = architecture_of(name)};
    std::uint64_t before = 0, after = 0;
    {
      Bench bench(options);
      before = bench.faults().calls;
      NRT_STATUS status = NRT_FAILURE;
      bench.load(neff(name), status);
      REQUIRE(status == NRT_SUCCESS);
      after = bench.faults().calls;
    }
    std::size_t turn = 0;
    for (std::uint64_t call = before + 1; call <= after; call += stride_of(after - before)) {
      const int answer = answers[turn++ % std::size(answers)];
      INFO(name << ", call " << call << " of " << after << " answers " << answer);
      CallStack stack;
      std::thread::id thread;
      BenchOptions faulty = options;
      faulty.plan = {{.nth = call, .command = {}, .answer = answer}};
      faulty.on_strike = [&] {
        stack.take();
        thread = std::this_thread::get_id();
      };
      Bench bench(faulty);
      NRT_STATUS status = NRT_SUCCESS;
      bench.load(neff(name), status);
      REQUIRE(bench.faults().struck.size() == 1);
      CHECK(status ==
            (answer == -ENOMEM && bench.faults().struck[0] == NEURON_IOCTL_MEM_ALLOC_V2MT64
                 ? NRT_RESOURCE
                 : NRT_FAILURE));
      CHECK(bench.live_handles() == 0);
      bench.check_clean(neff(name));
      note_builders(stack.names(), builders);
      threads.insert(thread);
    }
  }
  CHECK(missing(builders, {"emit_variables", "emit_constant_block", "emit_pointers",
                           "emit_act_tables", "emit_dve_tables", "emit_instructions",
                           "emit_static_rings"}) == std::set<std::string>{});
  CHECK(threads.contains(std::this_thread::get_id()));
  CHECK(threads.size() > 1);  // siblings
}

TEST_CASE("any failing host allocation of a load: nothing stays, in any builder") {
  std::set<std::string> builders;
  for (const std::string name : {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3", "pointers-v3"}) {
    Bench bench({.architecture = architecture_of(name)});
    bench.load_and_unload(neff(name));
    std::uint64_t all = 0;
    {
      const FailingNew counter({~std::uint64_t{0}, "", {}});
      NRT_STATUS status = NRT_FAILURE;
      nrt_model_t* model = bench.load(neff(name), status);
      all = counter.seen();
      REQUIRE(status == NRT_SUCCESS);
      REQUIRE(nrt_unload(model) == NRT_SUCCESS);
    }
    std::uint64_t swallowed = 0, tried = 0;
    for (std::uint64_t nth = 1; nth <= all; nth += stride_of(all)) {
      NRT_STATUS status = NRT_SUCCESS;
      nrt_model_t* model = nullptr;
      std::vector<std::string> frames;
      {
        const FailingNew failing({nth, "", {}});
        model = bench.load(neff(name), status);
        if (failing.struck()) frames = failing.frames();
      }
      ++tried;
      INFO(name << ", allocation " << nth << " of " << all);
      if (status == NRT_SUCCESS) {  // it did without, or the siblings' threads made fewer
        ++swallowed;
        REQUIRE(nrt_unload(model) == NRT_SUCCESS);
      } else {
        CHECK(status == NRT_RESOURCE);
      }
      CHECK(bench.live_handles() == 0);
      note_builders(frames, builders);
    }
    bench.check_clean(neff(name));
    CHECK(swallowed < tried / 4);
  }
  CHECK(missing(builders, {"plan_streams", "plan_variables", "plan_static_rings",
                           "plan_instructions", "emit_instructions", "emit_static_rings"}) ==
        std::set<std::string>{});
}
