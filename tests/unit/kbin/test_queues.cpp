// SPDX-License-Identifier: MIT
#include "model.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

struct QueueRow {
  std::string queues;
  std::string path, text;
};

Files with_queues(const std::string& queues) {
  Files files = model();
  files.set("sg00/def.json", def_json(base_vars, queues));
  return files;
}

std::string repeat(int count, const std::string& separator,
                   const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? separator : "") + part(i);
  return text;
}

}  // namespace

TEST_CASE("a broken queue set is refused at the broken key") {
  const std::vector<QueueRow> rows = {
      {R"("q":{"owner":"sp"})", "$.dma_queue.q", "missing <type> in q"},
      {R"("q":{"type":"in","owner":"q7"})", "$.dma_queue.q.owner",
       "Invalid owner 'q7' for DMA queue q"},
      {R"("q":{"type":"io"})", "$.dma_queue.q.type", "Unknown DMA queue type 'io' for q"},
      {R"("q":{"type":3})", "$.dma_queue.q.type", "expected a string"},
      {R"("q":{"type":"in","num_queues":0})", "$.dma_queue.q.num_queues",
       "found 0, allowed are 1 to 16"},
      {R"("q":{"type":"in","num_queues":17})", "$.dma_queue.q.num_queues",
       "found 17, allowed are 1 to 16"},
      {R"("q":{"type":"in","num_queues":-1})", "$.dma_queue.q.num_queues", "found -1"},
      {R"("q":{"type":"in","semaphore":8,"semaphore_set":[9]})", "$.dma_queue.q",
       "exclude each other"},
      {R"("q":{"type":"in","semaphore":2})", "$.dma_queue.q.semaphore", "semaphore 2 is the"},
      {R"("q":{"type":"in","semaphore":240})", "$.dma_queue.q.semaphore", "semaphore 240 is the"},
      {R"("q":{"type":"in","semaphore":256})", "$.dma_queue.q.semaphore", "at most 255"},
      {R"("q":{"type":"in","semaphore_set":[8,0]})", "$.dma_queue.q.semaphore_set[1]",
       "semaphore 0 is the"},
      {R"("q":{"type":"in","semaphore_set":[245]})", "$.dma_queue.q.semaphore_set[0]",
       "semaphore 245 is the"},
      {R"("q":{"type":"in","queue_instances":["a"]})", "$.dma_queue.q.queue_instances",
       "Queue set instances are not supported for input queues (q)"},
      {R"("q":{"type":"out","queue_instances":["a"]})", "$.dma_queue.q.queue_instances",
       "not supported for output queues (q)"},
      {R"("q":{"type":"embedding_update","embedding_update_sync_semaphore":8,"queue_instances":["a"]})",
       "$.dma_queue.q.queue_instances", "not supported for embedding update queues (q)"},
      {R"("q":{"type":"embedding_update"})", "$.dma_queue.q",
       "Failed to parse, key: embedding_update_sync_semaphore"},
      {R"("q":{"type":"embedding_update","embedding_update_sync_semaphore":1})",
       "$.dma_queue.q.embedding_update_sync_semaphore", "semaphore 1 is the"},
      {R"("q":{"type":"data","queue_instances":[""]})", "$.dma_queue.q.queue_instances[0]",
       "0 bytes, allowed are 1 to 255"},
      {R"("q":{"type":"data","queue_instances":["a","a"]})", "$.dma_queue.q.queue_instances",
       "duplicate ring instance a"},
      {R"("q":{"type":"data","queue_instances":["r"]},"r":{"type":"in"})",
       "$.dma_queue.r.queue_instances", "duplicate ring instance r"},
      {R"("q":{"type":"act_load","num_queues":2})", "$.dma_queue.q.num_queues",
       "an act_load queue set has 1"},
      {R"("q":{"type":"act_load"},"r":{"type":"act_load"})", "$.dma_queue.r.type",
       "a second act_load"},
      {R"("q":{"type":"dynamic","owner":"sp","dynamic_dma":{}})", "$.dma_queue.q.owner",
       "is pool, found sp"},
      {R"("q":{"type":"dynamic","dynamic_dma":{"SB_scratch_partition_offset":196608,"SB_scratch_partition_size":1}})",
       "$.dma_queue.q.dynamic_dma", "outside the 196608 bytes"},
      {R"("q":{"type":"dynamic","dynamic_dma":{"SB_scratch_partition_offset":18446744073709551615,"SB_scratch_partition_size":2}})",
       "$.dma_queue.q.dynamic_dma", "outside the 196608 bytes"},
      {R"("q":{"type":"in","fabric_path":"x"})", "$.dma_queue.q.fabric_path", "found \"x\""},
      {R"("q":{"type":"in","pinned":2})", "$.dma_queue.q.pinned", "found 2"},
      {R"("q":{"type":"in"},"q":{"type":"in"})", "$.dma_queue.q", "duplicate key"},
      {R"("":{"type":"in"})", "$.dma_queue[\"\"]", "0 bytes, allowed are 1 to 255"},
      {R"("q":[])", "$.dma_queue.q", "found an array, expected an object"},
  };
  for (const QueueRow& row : rows) {
    check_refused(build(with_queues(row.queues)), "sg00/def.json", row.path, row.text);
  }
  const std::string many = "\"q\":{\"type\":\"in\",\"semaphore_set\":[" +
                           repeat(33, ",", [](int i) { return std::to_string(8 + i); }) + "]}";
  check_refused(build(with_queues(many)), "sg00/def.json", "$.dma_queue.q.semaphore_set",
                "Runtime supports maximum of 32 semaphores per queue set, found: 33");
  const auto set = [](const std::string& type) {
    return [type](int i) {
      return "\"q" + std::to_string(100 + i) + "\":{\"type\":\"" + type + "\"}";
    };
  };
  CHECK(build(with_queues(repeat(32, ",", set("in")))));
  check_refused(build(with_queues(repeat(33, ",", set("in")))), "sg00/def.json", "$.dma_queue.q132",
                "more than 32 queue sets");
  CHECK(build(with_queues(repeat(16, ",", set("dynamic")))));
  check_refused(build(with_queues(repeat(17, ",", set("dynamic")))), "sg00/def.json",
                "$.dma_queue.q116", "NEFF requested 17 HW DGE queues");
}

TEST_CASE("queue sets come in name order with their defaults") {
  const Kbin kbin = built(with_queues(
      R"("z":{"type":"data","owner":"act","indirect_memcpy":1,"semaphore":9,"pinned":true},
         "a":{"type":"in"},
         "m":{"type":"data","queue_instances":["m0","m1"],"num_queues":16,
              "semaphore_set":[24,25],"fabric_path":"alt","#x":0},
         "d":{"type":"dynamic","owner":"pool","dynamic_dma":
              {"SB_scratch_partition_offset":64,"SB_scratch_partition_size":16384}},
         "h":{"type":"dynamic","owner":"dve"},
         "e":{"type":"embedding_update","embedding_update_sync_semaphore":10})"));
  REQUIRE(kbin.queue_sets.size() == 6);
  const QueueSet& a = kbin.queue_sets[*kbin.find_queue_set("a")];
  CHECK(*kbin.find_queue_set("a") == 0);
  CHECK(*kbin.find_queue_set("z") == 5);
  CHECK_FALSE(kbin.find_queue_set("b"));
  CHECK(a.owner == Engine::pool);
  CHECK(a.num_queues == 1);
  CHECK(a.instances == std::vector<std::string>{"a"});
  CHECK(a.ring_type == RingType::in);
  const QueueSet& z = kbin.queue_sets[5];
  CHECK(z.ring_type == RingType::indirect_memcpy);
  CHECK(z.semaphores == std::vector<std::uint32_t>{9});
  CHECK(z.pinned);
  CHECK(kbin.queue_sets[*kbin.find_queue_set("m")].instances.size() == 2);
  const QueueSet& d = kbin.queue_sets[*kbin.find_queue_set("d")];
  CHECK(d.dynamic);
  CHECK_FALSE(d.hw_dge);
  CHECK(d.dge_scratch_offset == 64);
  CHECK(d.dge_scratch_size == 16384);
  CHECK(kbin.queue_sets[*kbin.find_queue_set("h")].hw_dge);
  CHECK(kbin.queue_sets[*kbin.find_queue_set("e")].sync_semaphores ==
        std::vector<std::uint32_t>{10});
}
