// SPDX-License-Identifier: MIT
// Whatever goes wrong while queues are initialised, no queue keeps a ring in memory that was freed.
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>

#include "fault_plan.hpp"
#include "neffld/container.hpp"
#include "neffld/session.hpp"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"
#include "sample_catalogue.hpp"
#include "sample_neff.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr const char* sample_with_templates = "vecadd-v3";

/// 13 sets of 16 rings and DVE tables on both cores. The sets copy from `source`: a constant, and
/// the load programs all 418 queues, or the input x, and a bind programs 416 in two batches.
sample::SampleNeff many_queues(const char* source) {
  constexpr std::uint64_t run = 64;
  sample::SampleBuilder builder("many-queues", Arch::v3, 1);
  builder.input("x", "uint8", {16 * run});
  builder.output("y", "uint8", {64});
  for (int core = 0; core < 2; ++core) {
    sample::Subgraph& graph = builder.empty_subgraph();
    graph.file("weights", "|u1", {16 * run}, builder.random().bytes(16 * run));
    for (std::uint32_t i = 0; i < 13; ++i) {
      const std::string name = "qSPSpillReload" + std::to_string(i);
      graph.queue(name, "data", Engine::sp, 8 + 16 * i);
      graph.move(name, {sample::copy(sample::rows(source, 0, run, 16, run, "uint8"),
                                     sample::sbuf(0, run, 16, "uint8"))});
    }
  }
  return builder.build();
}

struct Bench {
  explicit Bench(std::vector<Fault> plan) {
    device = *SimDevice::create({});
    peer = *device->open();
    auto file = plan_faults(*device->open(), std::move(plan), log);
    session = *Session::open(std::move(file));
  }

  Result<LoadedModel*> load() const { return load(sample::make_sample(sample_with_templates)); }
  Result<LoadedModel*> load(const sample::SampleNeff& sample) const {
    NEFFLD_ASSIGN(const auto packed, sample::pack(sample));
    NEFFLD_ASSIGN(auto parsed, parse_model(packed, session->arch()));
    return session->load(std::move(parsed));
  }

  /// Addresses for every input and output, at the end of HBM 1, which the loader does not use.
  static std::map<std::string, std::uint64_t, std::less<>> bindings(const LoadedModel& model) {
    std::map<std::string, std::uint64_t, std::less<>> io;
    std::uint64_t address = neuron_v3_hbm_base(1) + (1ull << 30);
    for (const auto* tensors : {&model.parsed.manifest.inputs, &model.parsed.manifest.outputs}) {
      for (const auto& [name, tensor] : *tensors) {
        io[name] = address;
        address += 1 << 24;
      }
    }
    return io;
  }

  /// Batches of queues the session has programmed so far.
  std::uint64_t batches() const { return session->calls().at(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH); }

  /// Queues that have a ring in device memory, and of those the ones whose memory is not allocated.
  std::pair<int, int> queues_with_rings() const {
    int rings = 0, freed = 0;
    for (std::uint32_t engine = 0; engine < 128; ++engine) {
      for (std::uint32_t queue = 0; queue < NEURON_MAX_DMA_QUEUES; ++queue) {
        neuron_dma_queue_state tx{}, rx{};
        neuron_dma_queue_get_state get{engine, queue, address_of(&tx), address_of(&rx)};
        REQUIRE(peer->ioctl(NEURON_IOCTL_DMA_QUEUE_GET_STATE, &get) == 0);
        for (const std::uint64_t base : {tx.base_addr, rx.base_addr}) {
          if (base == 0 || (base & NEURON_V3_HOST_MASK) == NEURON_V3_HOST_BASE) continue;
          ++rings;
          neuron_mem_mc_get_info info{base, 0, 0};
          if (peer->ioctl(NEURON_IOCTL_MEM_MC_GET_INFO, &info) != 0) ++freed;
        }
      }
    }
    return {rings, freed};
  }

  std::shared_ptr<FaultLog> log = std::make_shared<FaultLog>();
  std::shared_ptr<SimDevice> device;
  std::unique_ptr<DeviceFile> peer;
  std::unique_ptr<Session> session;
};

Fault after_batch(std::uint64_t nth) {
  return {Fault::Kind::after, nth, NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, -EIO};
}

}  // namespace

TEST_CASE("a load whose queues fail half way leaves no queue on freed rings") {
  const Bench good({});
  REQUIRE(good.load());
  CHECK(good.queues_with_rings().first > 0);
  const Bench bad({after_batch(1)});
  CHECK_FALSE(bad.load());
  CHECK(bad.log->struck.size() == 1);
  CHECK(bad.queues_with_rings() == std::pair{0, 0});
}

TEST_CASE("a load whose other core's queues fail takes the rings of the first core back too") {
  const Bench good({});
  REQUIRE(good.load(many_queues("weights")));
  CHECK(good.queues_with_rings() == std::pair{2 * 418, 0});
  for (std::uint64_t nth = 1; nth <= good.batches(); ++nth) {
    const Bench bad({after_batch(nth)});
    CHECK_FALSE(bad.load(many_queues("weights")));
    CHECK(bad.log->struck.size() == 1);
    CHECK(bad.queues_with_rings() == std::pair{0, 0});
  }
}

TEST_CASE("a bind whose second batch of queues fails takes the rings of the first back too") {
  const Bench good({});
  const auto bound = good.load(many_queues("x"));
  REQUIRE(bound);
  const int loaded_rings = good.queues_with_rings().first;
  const std::uint64_t loaded = good.batches();
  REQUIRE(good.session->bind(**bound, Bench::bindings(**bound)));
  CHECK(good.batches() == loaded + 2);
  CHECK(good.queues_with_rings() == std::pair{loaded_rings + 2 * 416, 0});
  for (const std::uint64_t nth : {loaded + 1, loaded + 2}) {
    const Bench bad({after_batch(nth)});
    const auto model = bad.load(many_queues("x"));
    REQUIRE(model);
    CHECK_FALSE(bad.session->bind(**model, Bench::bindings(**model)));
    CHECK(bad.log->struck.size() == 1);
    CHECK(bad.queues_with_rings() == std::pair{loaded_rings, 0});
  }
}

TEST_CASE("an unload takes the rings from its queues before it frees them") {
  const Bench bench({});
  const auto first = bench.load();
  REQUIRE(first);
  REQUIRE(bench.session->bind(**first, Bench::bindings(**first)));
  const auto [rings, freed] = bench.queues_with_rings();
  CHECK(rings > 0);
  CHECK(freed == 0);
  // A model beside it that owns no queue changes nothing.
  const auto second = bench.load(many_queues("weights"));
  REQUIRE(second);
  REQUIRE(bench.session->unload(**second));
  CHECK(bench.queues_with_rings() == std::pair{rings, 0});
  REQUIRE(bench.session->unload(**first));
  CHECK(bench.queues_with_rings() == std::pair{0, 0});
  // Nor does a session that ends with models on it.
  Bench ended({});
  REQUIRE(ended.load(many_queues("weights")));
  ended.session.reset();
  CHECK(ended.queues_with_rings() == std::pair{0, 0});
}

TEST_CASE("an unload whose queues cannot be stopped says so and frees everything") {
  const Bench probe({});
  REQUIRE(probe.load());
  const Bench bench(
      {{Fault::Kind::answer, probe.batches() + 1, NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, -EIO}});
  const auto model = bench.load();
  REQUIRE(model);
  const auto unloaded = bench.session->unload(**model);
  REQUIRE_FALSE(unloaded);
  CHECK(to_sentence(unloaded.error()).find("keep rings that are freed") != std::string::npos);
  CHECK(bench.session->models().empty());
}

TEST_CASE("a bind whose queues fail half way leaves no queue on freed rings") {
  const Bench good({});
  const auto bound = good.load();
  REQUIRE(bound);
  const int loaded_rings = good.queues_with_rings().first;
  const std::uint64_t loaded = good.batches();
  REQUIRE(good.session->bind(**bound, Bench::bindings(**bound)));
  CHECK(good.queues_with_rings().first > loaded_rings);
  const Bench bad({after_batch(loaded + 1)});
  const auto model = bad.load();
  REQUIRE(model);
  CHECK_FALSE(bad.session->bind(**model, Bench::bindings(**model)));
  CHECK(bad.log->struck.size() == 1);
  // The queues of the load still have theirs.
  CHECK(bad.queues_with_rings() == std::pair{loaded_rings, 0});
}
