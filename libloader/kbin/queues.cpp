// SPDX-License-Identifier: MIT
#include "kbin/queues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kbin/names.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

constexpr std::size_t max_queue_sets = 32;     // kbin.dma[32], spec 02 section 10.1
constexpr std::size_t max_semaphores = 32;     // spec 02 section 6
constexpr std::size_t longest_name = 255;      // char[256], spec 02 section 10.3
constexpr std::size_t max_hw_dge_queues = 16;  // [ours], spec 02 section 16.11

enum class Field : std::uint8_t {
  dge,
  dynamic_dma,
  embedding_update_sync_semaphore,
  fabric_path,
  indirect_memcpy,
  num_queues,
  owner,
  pinned,
  queue_instances,
  semaphore,
  semaphore_set,
  type,
};
constexpr KeyTable<Field, 12> fields = {
    {{"dge", Field::dge},
     {"dynamic_dma", Field::dynamic_dma},
     {"embedding_update_sync_semaphore", Field::embedding_update_sync_semaphore},
     {"fabric_path", Field::fabric_path},
     {"indirect_memcpy", Field::indirect_memcpy},
     {"num_queues", Field::num_queues},
     {"owner", Field::owner},
     {"pinned", Field::pinned},
     {"queue_instances", Field::queue_instances},
     {"semaphore", Field::semaphore},
     {"semaphore_set", Field::semaphore_set},
     {"type", Field::type}}};
using Object = ObjectReader<Field, fields.size()>;

enum class DynamicField : std::uint8_t { offset, size };
constexpr KeyTable<DynamicField, 2> dynamic_fields = {
    {{"SB_scratch_partition_offset", DynamicField::offset},
     {"SB_scratch_partition_size", DynamicField::size}}};

/// Fields whose meaning depends on `type`, which may come later in the file.
struct Flags {
  bool dge = false;
  bool indirect_memcpy = false;
};

void read_dynamic_dma(JsonCursor& cursor, QueueSet& set) {
  ObjectReader object(cursor, dynamic_fields);
  for (DynamicField field{}; object.next(field);) {
    const std::uint64_t value = cursor.u64();
    (field == DynamicField::offset ? set.dge_scratch_offset : set.dge_scratch_size) = value;
  }
}

void read_owner(JsonCursor& cursor, QueueSet& set) {
  const std::string_view name = cursor.string();
  if (!cursor.ok()) return;
  if (const auto engine = engine_of(name)) {
    set.owner = *engine;
  } else {
    cursor.fail(
        fmt::format("Invalid owner '{}' for DMA queue {}", printable(name), printable(set.name)));
  }
}

void read_semaphore_set(JsonCursor& cursor, QueueSet& set) {
  cursor.begin_array();
  while (cursor.next_element()) set.semaphores.push_back(read_semaphore(cursor));
  if (set.semaphores.size() > max_semaphores) {
    cursor.fail(fmt::format("Runtime supports maximum of {} semaphores per queue set, found: {}",
                            max_semaphores, set.semaphores.size()));
  }
}

void read_instances(JsonCursor& cursor, QueueSet& set) {
  cursor.begin_array();
  while (cursor.next_element()) {
    const std::string_view name = cursor.string();
    if (cursor.ok() && (name.empty() || name.size() > longest_name)) {
      cursor.fail(
          fmt::format("the name has {} bytes, allowed are 1 to {}", name.size(), longest_name));
    }
    set.instances.emplace_back(name);
  }
}

std::uint32_t read_queue_count(JsonCursor& cursor) {
  constexpr std::uint32_t most = 16;
  const std::uint32_t count = cursor.u32();
  if (cursor.ok() && (count == 0 || count > most)) {
    cursor.fail(fmt::format("found {}, allowed are 1 to {}", count, most));
  }
  return count;
}

void read_field(JsonCursor& cursor, Field field, QueueSet& set, Flags& flags) {
  switch (field) {
    case Field::dge:
      flags.dge = cursor.boolean();
      break;
    case Field::dynamic_dma:
      read_dynamic_dma(cursor, set);
      break;
    case Field::embedding_update_sync_semaphore:
      set.sync_semaphores.push_back(read_semaphore(cursor));
      break;
    case Field::fabric_path:
      read_fabric_path(cursor);
      break;
    case Field::indirect_memcpy:
      flags.indirect_memcpy = cursor.boolean();
      break;
    case Field::num_queues:
      set.num_queues = read_queue_count(cursor);
      break;
    case Field::owner:
      read_owner(cursor, set);
      break;
    case Field::pinned:
      set.pinned = cursor.boolean();
      break;
    case Field::queue_instances:
      read_instances(cursor, set);
      break;
    case Field::semaphore:
      set.semaphores.push_back(read_semaphore(cursor));
      break;
    case Field::semaphore_set:
      read_semaphore_set(cursor, set);
      break;
    case Field::type:
      set.type = cursor.string();
      break;
  }
}

void refuse_instances(JsonCursor& cursor, const QueueSet& set, const char* what) {
  if (set.instances.empty()) return;
  cursor.fail(fmt::format("Invalid Neff: Queue set instances are not supported for {} queues ({})",
                          what, printable(set.name)),
              ".queue_instances");
}

void apply_dynamic(JsonCursor& cursor, const Object& object, const Flags& flags, QueueSet& set) {
  const bool software = object.has(Field::dynamic_dma);
  set.dynamic = true;
  set.hw_dge = !software || flags.dge;
  if (software && set.owner != Engine::pool) {
    cursor.fail(fmt::format("the owner of a dynamic queue with dynamic_dma is pool, found {}",
                            engine_name(set.owner)),
                ".owner");
  }
}

/// `type` decides the ring type, never the owner (spec 02 section 15.2).
void apply_type(JsonCursor& cursor, const Object& object, const Flags& flags, QueueSet& set) {
  if (set.type == "in") {
    set.ring_type = RingType::in;
    refuse_instances(cursor, set, "input");
  } else if (set.type == "out") {
    set.ring_type = RingType::out;
    refuse_instances(cursor, set, "output");
  } else if (set.type == "data") {
    set.ring_type = flags.indirect_memcpy ? RingType::indirect_memcpy : RingType::data;
  } else if (set.type == "act_load") {
    set.ring_type = RingType::dynamic_act_table;
    if (set.num_queues != 1) {
      cursor.fail(fmt::format("found {}, an act_load queue set has 1", set.num_queues),
                  ".num_queues");
    }
  } else if (set.type == "embedding_update") {
    set.ring_type = RingType::embedding_update;
    refuse_instances(cursor, set, "embedding update");
    if (set.sync_semaphores.empty()) {
      cursor.fail("Failed to parse, key: embedding_update_sync_semaphore");
    }
  } else if (set.type == "dynamic") {
    set.ring_type = RingType::data;
    apply_dynamic(cursor, object, flags, set);
  } else {
    cursor.fail(fmt::format("Unknown DMA queue type '{}' for {}, known are in, out, data, "
                            "act_load, embedding_update and dynamic",
                            printable(set.type), printable(set.name)),
                ".type");
  }
}

QueueSet read_queue_set(JsonCursor& cursor, std::string_view name) {
  QueueSet set;
  set.name = name;
  Flags flags;
  Object object(cursor, fields);
  for (Field field{}; object.next(field);) read_field(cursor, field, set, flags);
  if (object.has(Field::semaphore) && object.has(Field::semaphore_set)) {
    cursor.fail("semaphore and semaphore_set exclude each other");
  }
  if (!object.has(Field::type)) {
    cursor.fail(fmt::format("missing <type> in {}", printable(name)));
  }
  if (cursor.ok()) apply_type(cursor, object, flags, set);
  if (set.instances.empty()) set.instances.push_back(set.name);
  return set;
}

Where place(const Subgraph& subgraph, const QueueSet& set, std::string_view field = {}) {
  return subgraph.at("$.dma_queue" + path_step(set.name) + std::string(field));
}

Result<void> check_scratch(const Subgraph& subgraph, const QueueSet& set) {
  const std::uint64_t limit = partition_limit(subgraph.arch, subgraph.kbin);
  if (set.dge_scratch_offset <= limit && set.dge_scratch_size <= limit - set.dge_scratch_offset) {
    return {};
  }
  return invalid(place(subgraph, set, ".dynamic_dma"),
                 fmt::format("scratch of {} bytes at {} ends outside the {} bytes of a partition",
                             set.dge_scratch_size, set.dge_scratch_offset, limit));
}

}  // namespace

void read_queue_sets(JsonCursor& cursor, Subgraph& subgraph) {
  KeySet names;
  std::string_view name;
  cursor.begin_object();
  while (cursor.next_key(name)) {
    if (!names.insert(name)) cursor.fail("duplicate key");
    if (name.empty() || name.size() > longest_name) {
      cursor.fail(
          fmt::format("the name has {} bytes, allowed are 1 to {}", name.size(), longest_name));
    }
    if (subgraph.kbin.queue_sets.size() == max_queue_sets) {
      cursor.fail(fmt::format("more than {} queue sets", max_queue_sets));
    }
    if (!cursor.ok()) return;
    subgraph.kbin.queue_sets.push_back(read_queue_set(cursor, name));
  }
}

Result<void> complete_queue_sets(Subgraph& subgraph) {
  auto& sets = subgraph.kbin.queue_sets;
  std::sort(sets.begin(), sets.end(),
            [](const QueueSet& a, const QueueSet& b) { return a.name < b.name; });
  std::set<std::string_view> instances;
  std::size_t hw_dge = 0, act_load = 0;
  for (const QueueSet& set : sets) {
    NEFFLD_TRY(check_scratch(subgraph, set));
    for (const std::string& instance : set.instances) {
      if (!instances.insert(instance).second) {
        return invalid(place(subgraph, set, ".queue_instances"),
                       fmt::format("duplicate ring instance {}", printable(instance)));
      }
    }
    if (set.hw_dge && ++hw_dge > max_hw_dge_queues) {
      return invalid(place(subgraph, set), fmt::format("NEFF requested {} HW DGE queues, at most "
                                                       "{} are supported",
                                                       hw_dge, max_hw_dge_queues));
    }
    if (set.ring_type == RingType::dynamic_act_table && ++act_load > 1) {
      return invalid(place(subgraph, set, ".type"), "a second act_load queue set, only one may be");
    }
  }
  return {};
}

}  // namespace neffld
