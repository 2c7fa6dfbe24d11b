// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "sample_json.hpp"
#include "sample_neff.hpp"

namespace neffld::sample {
namespace {

std::vector<std::uint8_t> text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

/// Real constants are aligned to their size, at most 64 KiB (spec 08 s2.5).
std::uint64_t natural_alignment(std::uint64_t size) {
  return std::min<std::uint64_t>(std::bit_ceil(std::max<std::uint64_t>(size, 64)), 65536);
}

/// Bucket entries {f32 d0, d1, d2, d3, x0, 12 zero bytes} (spec 10 section 6): entry 0 is the
/// identity, the others are small random cubics.
std::vector<std::uint8_t> bucket_table(std::uint32_t entries, Random& random) {
  std::vector<std::uint8_t> table(std::size_t{entries} * 32);
  for (std::size_t entry = 0; entry < entries; ++entry) {
    for (std::size_t k = 0; k < 5; ++k) {
      float value = static_cast<float>(random.below(2048)) / 1024.0f - 1.0f;
      if (entry == 0) value = k == 1 ? 1.0f : 0.0f;
      std::memcpy(table.data() + entry * 32 + 4 * k, &value, sizeof value);
    }
  }
  return table;
}

/// Control entries: bucket base in bits 10:0 of the first word, size 0; the rest is noise.
std::vector<std::uint8_t> control_table(const ActSet& set, Random& random) {
  auto table = random.bytes(std::size_t{set.control_entries} * 32);
  for (std::size_t entry = 0; entry < set.control_entries; ++entry) {
    const auto base = static_cast<std::uint32_t>(random.below(set.bucket_entries));
    store_le<std::uint32_t>(table, entry * 32, base);
  }
  return table;
}

}  // namespace

Side rows(std::string var, std::uint64_t offset, std::uint64_t run, std::uint64_t count,
          std::int64_t stride, std::string dtype) {
  return {std::move(var), offset, {run, count}, {1, stride}, std::move(dtype)};
}

Side sbuf(std::uint64_t byte, std::uint64_t run, std::uint64_t partitions, std::string dtype) {
  return rows("SB", byte, run, partitions, sb_partition_stride, std::move(dtype));
}

Descriptor copy(Side from, Side to) {
  return {std::move(from), std::move(to), "copy", 1, 0, {}};
}

Descriptor cast(Side from, Side to) {
  return {std::move(from), std::move(to), "cast", 1, 0, {}};
}

Descriptor transpose(Side from, Side to, std::uint32_t element_size, std::uint32_t y,
                     std::uint32_t x) {
  return {std::move(from), std::move(to), "", 2, element_size, {1, 1, y, x}};
}

Subgraph::Subgraph(Arch arch, std::string name) : arch_(arch), name_(std::move(name)) {
  streams_.fill(Stream(arch));
}

std::uint32_t Subgraph::add(Variable variable) {
  variable.id = static_cast<std::uint32_t>(variables_.size());
  variables_.push_back(std::move(variable));
  return variables_.back().id;
}

std::uint32_t Subgraph::state_buffer(std::string name) {
  return add({.name = std::move(name), .type = "state-buffer"});
}

std::uint32_t Subgraph::input(std::string name, std::uint64_t size) {
  return add({.name = std::move(name), .type = "input", .size = size});
}

std::uint32_t Subgraph::output(std::string name, std::uint64_t size) {
  return add({.name = std::move(name), .type = "output", .size = size});
}

std::uint32_t Subgraph::file(std::string name, std::string_view descr,
                             const std::vector<std::uint64_t>& shape,
                             std::vector<std::uint8_t> payload, std::uint64_t alignment) {
  const std::uint64_t size = payload.size();
  const std::string file_name = "value_" + name_ + "_" + name + ".npy";
  files_[file_name] = npy_file(descr, shape, payload);
  return add({.name = std::move(name),
              .type = "file",
              .size = size,
              .alignment = alignment != 0 ? alignment : natural_alignment(size),
              .file_name = file_name});
}

std::uint32_t Subgraph::raw_file(std::string name, std::vector<std::uint8_t> payload,
                                 std::uint64_t alignment) {
  const std::uint64_t size = payload.size();
  const std::string file_name = name + ".bin";
  files_[file_name] = std::move(payload);
  return add({.name = std::move(name),
              .type = "file",
              .size = size,
              .alignment = alignment,
              .file_name = file_name});
}

std::uint32_t Subgraph::scratch(std::string name, std::uint64_t size, std::uint64_t offset) {
  return add({.name = std::move(name), .type = "virtual", .size = size, .backing_offset = offset});
}

std::uint32_t Subgraph::dge_table(std::string name, std::vector<std::uint32_t> list) {
  return add({.name = std::move(name), .type = "dge-table", .list = std::move(list)});
}

std::uint32_t Subgraph::id_of(std::string_view name) const {
  for (const auto& variable : variables_) {
    if (variable.name == name) return variable.id;
  }
  throw std::invalid_argument("no variable " + std::string(name));
}

Queue& Subgraph::queue(std::string name, std::string type, Engine owner,
                       std::uint32_t first_semaphore, std::uint32_t num_queues) {
  Queue queue;
  queue.name = std::move(name);
  queue.type = std::move(type);
  queue.owner = owner;
  queue.first_semaphore = first_semaphore;
  queue.num_queues = num_queues;
  queues_.push_back(std::move(queue));
  return queues_.back();
}

Queue& Subgraph::find_queue(std::string_view name) {
  for (auto& queue : queues_) {
    if (queue.name == name) return queue;
  }
  throw std::invalid_argument("no queue " + std::string(name));
}

/// Number of earlier uses of the semaphore that use `uses` of the queue will signal.
static Wait completion(const Queue& queue, std::uint32_t uses, std::uint32_t increment) {
  const std::uint32_t slot = uses % queue.num_queues;
  return {queue.first_semaphore + slot, (uses / queue.num_queues) * increment};
}

void Subgraph::reuse_guard(const Queue& queue, std::uint32_t increment, Wait& gate) {
  const Wait earlier = completion(queue, queue.blocks, increment);
  if (earlier.value == 0) return;
  if (gate.any()) {
    wait(queue.owner, earlier);
  } else {
    gate = earlier;
  }
}

Wait Subgraph::move(std::string_view queue, std::vector<Descriptor> descriptors, Wait gate) {
  Block block;
  block.queue = queue;
  block.descriptors = std::move(descriptors);
  return move_block(std::move(block), gate);
}

Wait Subgraph::move_block(Block block, Wait gate) {
  Queue& queue = find_queue(block.queue);
  reuse_guard(queue, queue.num_queues, gate);
  block.id = queue.blocks;
  Wait done = completion(queue, queue.blocks, queue.num_queues);
  done.value += queue.num_queues;
  block.semaphore = done.semaphore;
  ++queue.blocks;
  stream(queue.owner)
      .add(dma_trigger(block.instance.empty() ? queue.name : block.instance, block.id, gate));
  blocks_[queue.name].push_back(std::move(block));
  return done;
}

Wait Subgraph::dge(std::string_view queue_name, const DgeCopy& copy, Wait gate) {
  Queue& queue = find_queue(queue_name);
  reuse_guard(queue, copy.increment, gate);
  Wait done = completion(queue, queue.blocks, copy.increment);
  done.value += copy.increment;
  ++queue.blocks;
  stream(queue.owner).add(dma_direct2d(copy, static_cast<std::uint8_t>(done.semaphore), gate));
  return done;
}

Stream& Subgraph::stream(Engine engine) {
  return streams_[static_cast<std::size_t>(engine)];
}

Wait Subgraph::compute(Engine engine, Slot slot, Wait gate) {
  const std::uint32_t semaphore = engine_semaphore(engine);
  set_wait(slot, gate);
  set_update(slot, semaphore);
  stream(engine).add(slot);
  return {semaphore, ++computed_[semaphore]};
}

void Subgraph::wait(Engine engine, Wait first, Wait second) {
  stream(engine).add(event_wait(first, second));
}

void Subgraph::finish(const std::vector<Wait>& outgoing) {
  for (const Wait& wait : outgoing) stream(Engine::pool).add(nop(wait));
}

std::vector<PackMember> Subgraph::members(Random& random) const {
  std::vector<PackMember> members;
  const auto put = [&](const std::string& name, std::vector<std::uint8_t> bytes) {
    members.push_back({name_ + "/" + name, std::move(bytes), false});
  };
  put("def.json",
      text_bytes(definition_json({arch_, variables_, queues_, fp8_, !libraries_.empty()})));
  for (const Engine engine : all_engines) {
    const auto index = static_cast<std::size_t>(engine);
    const std::string file = engine_file(engine);
    put(file + ".bin", streams_[index].bytes());
    // Blocks of one queue stay together, as in real engine files (spec 08 section 3).
    std::vector<std::span<const Block>> owned;
    for (const auto& queue : queues_) {
      const auto list = blocks_.find(queue.name);
      if (queue.owner == engine && list != blocks_.end()) owned.emplace_back(list->second);
    }
    put(file + ".json", text_bytes(engine_json(engine, arch_, owned, act_sets_)));
    // Debug data is never read; real files have it, so the samples have members in its place.
    put("debug_info_asm_" + file + ".dbg", random.bytes(96));
    put("debug_info_backend_" + file + ".dbg", random.bytes(160));
  }
  put("debug_info_backend_DMA.dbg", random.bytes(128));
  put("tensor_map.json", text_bytes("{}\n"));
  put("act_info.json", text_bytes(act_info_json(act_sets_)));
  for (const auto& set : act_sets_) {
    put(set.name + "_bkt.bin", bucket_table(set.bucket_entries, random));
    put(set.name + "_ctrl.bin", control_table(set, random));
    put(set.name + ".json", text_bytes(act_profile_json(set)));
  }
  if (!libraries_.empty()) put("ucode_lib.json", text_bytes(ucode_lib_json(libraries_)));
  for (const auto& library : libraries_) put(library.name, random.bytes(library.bytes));
  // Sizes: spec 08 s1.4.
  const bool v2 = arch_ == Arch::v2;
  put("default_opcode_table.bin", random.bytes(v2 ? 2048 : 1024));
  if (v2) {
    put("default_control_table.bin", random.bytes(2048));
  } else {
    put("default_control_fast_table.bin", random.bytes(4096));
    put("default_control_slow_table.bin", random.bytes(4096));
  }
  put("default_datapath_table.bin", random.bytes(v2 ? 8192 : 16384));
  for (const auto& [name, bytes] : files_) put(name, bytes);
  return members;
}

}  // namespace neffld::sample
