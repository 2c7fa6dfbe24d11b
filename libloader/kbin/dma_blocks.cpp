// SPDX-License-Identifier: MIT
// Blocks: which queue moves them, and what is signalled after them.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "kbin/dma.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

enum class Field : std::uint8_t {
  comment,  ///< the compiler's; known here only because nearly every block has it
  desc,
  id,
  queue,
  semaphore,
  event,
  function_start,
  instance_name,
  priority_class,
  remote_semaphores,
  section_start_desc,
};
constexpr KeyTable<Field, 11> fields = {{{"#comment", Field::comment},
                                         {"desc", Field::desc},
                                         {"id", Field::id},
                                         {"queue", Field::queue},
                                         {"semaphore", Field::semaphore},
                                         {"event", Field::event},
                                         {"function_start", Field::function_start},
                                         {"instance_name", Field::instance_name},
                                         {"priority_class", Field::priority_class},
                                         {"remote_semaphores", Field::remote_semaphores},
                                         {"section_start_desc", Field::section_start_desc}}};

}  // namespace

/// What is resolved when the block has been read: its keys may come in any order.
struct DmaReader::BlockText {
  std::string_view queue, instance, function;
  bool has_function = false;
  std::uint8_t priority_class = 0;
};

MemoryBounds memory_bounds(const ArchTable& arch, const Kbin& kbin) {
  return {arch.sbuf_partitions, arch.sbuf_partition_stride, partition_limit(arch, kbin)};
}

DmaReader::DmaReader(Subgraph& subgraph)
    : subgraph_(subgraph), bounds_(memory_bounds(subgraph.arch, subgraph.kbin)) {
  const auto& sets = subgraph.kbin.queue_sets;
  for (std::uint32_t i = 0; i < sets.size(); ++i) {
    for (std::uint32_t k = 0; k < sets[i].instances.size(); ++k) {
      instances_.emplace(sets[i].instances[k], std::pair(i, k));
    }
  }
}

void DmaReader::expect(std::size_t json_bytes) {
  // What the shortest sensible text of each has.
  constexpr std::size_t descriptor_bytes = 150, block_bytes = 250;
  Kbin& kbin = subgraph_.kbin;
  kbin.descriptors.reserve(kbin.descriptors.size() + json_bytes / descriptor_bytes);
  kbin.blocks.reserve(kbin.blocks.size() + json_bytes / block_bytes);
}

void DmaReader::read_blocks(JsonCursor& cursor, Engine engine) {
  functions_.assign(subgraph_.kbin.queue_sets.size(), {});
  forms_.forget();
  cursor.begin_array();
  while (cursor.next_element()) {
    subgraph_.kbin.blocks.push_back(read_block(cursor, engine));
    if (!cursor.ok()) return;
  }
}

DmaBlock DmaReader::read_block(JsonCursor& cursor, Engine engine) {
  DmaBlock block;
  block.engine = engine;
  BlockText text;
  ObjectReader object(cursor, fields);
  for (Field field{}; object.next(field);) {
    switch (field) {
      case Field::comment:
        cursor.skip();
        break;
      case Field::desc:
        read_descriptors(cursor, block);
        break;
      case Field::id:
        block.id = cursor.u32();
        break;
      case Field::queue:
        text.queue = cursor.string();
        break;
      case Field::semaphore:
        block.semaphore = read_semaphore(cursor);
        break;
      case Field::event:
        block.event = cursor.u32(255);
        break;
      case Field::function_start:
        text.function = cursor.string();
        text.has_function = true;
        break;
      case Field::instance_name:
        text.instance = cursor.string();
        break;
      case Field::priority_class:
        text.priority_class = static_cast<std::uint8_t>(cursor.u32(255));
        break;
      case Field::remote_semaphores:
        cursor.begin_array();
        while (cursor.next_element()) block.remote_semaphores.push_back(read_semaphore(cursor));
        break;
      case Field::section_start_desc:
        block.section_start = cursor.boolean();
        break;
    }
  }
  if (!object.has(Field::id)) cursor.fail("Failed to parse, key: id");
  if (!object.has(Field::desc)) cursor.fail("Failed to parse, key: desc");
  if (!cursor.ok()) return block;
  resolve_queue(cursor, text, block);
  if (!cursor.ok()) return block;
  resolve_function(text, block);
  auto& all = subgraph_.kbin.descriptors;
  for (std::uint32_t i = 0; i < block.descriptor_count; ++i) {
    all[block.first_descriptor + i].priority_class = text.priority_class;
  }
  return block;
}

void DmaReader::resolve_queue(JsonCursor& cursor, const BlockText& text, DmaBlock& block) {
  const auto& sets = subgraph_.kbin.queue_sets;
  if (!text.instance.empty()) {
    const auto found = instances_.find(text.instance);
    if (found == instances_.end()) {
      return cursor.fail(fmt::format("no ring instance is called {}", printable(text.instance)),
                         ".instance_name");
    }
    std::tie(block.queue_set, block.instance) = found->second;
  } else if (text.queue.empty()) {
    return cursor.fail(fmt::format("DMA block {} names neither queue nor instance_name", block.id));
  } else if (queue_set_ < sets.size() && sets[queue_set_].name == text.queue) {
    block.queue_set = queue_set_;
  } else if (const auto set = subgraph_.kbin.find_queue_set(text.queue)) {
    block.queue_set = queue_set_ = *set;
  } else {
    return cursor.fail(fmt::format("no queue set is called {}", printable(text.queue)), ".queue");
  }
  const QueueSet& set = sets[block.queue_set];
  if (set.dynamic) {
    return cursor.fail(fmt::format("queue set {} is dynamic and cannot have static DMA blocks",
                                   printable(set.name)),
                       ".queue");
  }
  if (block.event && set.num_queues > 1) {
    cursor.fail(fmt::format("an event needs a queue set of one queue, {} has {}",
                            printable(set.name), set.num_queues),
                ".event");
  }
}

// The name holds for this and the later blocks of the same queue set in the same file.
void DmaReader::resolve_function(const BlockText& text, DmaBlock& block) {
  std::string& current = functions_[block.queue_set];
  if (text.has_function) current = text.function;
  block.function = current;
}

namespace {

/// Triggers name a block by id and function (spec 04 section 2.3).
auto key(const DmaBlock* block) {
  return std::tie(block->queue_set, block->instance, block->function, block->id);
}
bool before(const DmaBlock* a, const DmaBlock* b) {
  return key(a) < key(b);
}

/// Real files number the blocks of each ring upwards, so none occurs twice.
bool rise_in_each_ring(const Kbin& kbin) {
  std::vector<std::vector<const DmaBlock*>> last;
  for (const QueueSet& set : kbin.queue_sets) last.emplace_back(set.instances.size());
  for (const DmaBlock& block : kbin.blocks) {
    const DmaBlock*& previous = last[block.queue_set][block.instance];
    if (previous != nullptr && !before(previous, &block)) return false;
    previous = &block;
  }
  return true;
}

}  // namespace

Result<void> DmaReader::check_block_ids() const {
  if (rise_in_each_ring(subgraph_.kbin)) return {};
  std::vector<const DmaBlock*> blocks;
  blocks.reserve(subgraph_.kbin.blocks.size());
  for (const DmaBlock& block : subgraph_.kbin.blocks) blocks.push_back(&block);
  std::stable_sort(blocks.begin(), blocks.end(), before);
  const auto twin =
      std::adjacent_find(blocks.begin(), blocks.end(),
                         [&](const DmaBlock* a, const DmaBlock* b) { return key(a) == key(b); });
  if (twin == blocks.end()) return {};
  const QueueSet& set = subgraph_.kbin.queue_sets[(*twin)->queue_set];
  return invalid(subgraph_.at("$.dma_queue" + path_step(set.name)),
                 fmt::format("block id {} occurs twice in ring instance {}", (*twin)->id,
                             printable(set.instances[(*twin)->instance])));
}

}  // namespace neffld
