// SPDX-License-Identifier: MIT
// Builds synthetic NEFFs with the layout of real compiler outputs (spec 08), for tests, the demo
// and benchmarks. Everything is deterministic: content comes from a seed only.
//
// Builders are test code that runs on known input: a contradiction in a sample (unknown queue, two
// state buffers) throws std::invalid_argument. To make broken files, change the result.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/container.hpp"
#include "sample_slots.hpp"

namespace neffld::sample {

/// splitmix64: tiny, seedable, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  std::vector<std::uint8_t> bytes(std::size_t count);

 private:
  std::uint64_t state_;
};

/// A numpy v1 file: 118 bytes of header text, data at 128 (spec 08 s2.5). `descr` e.g. "<f4".
std::vector<std::uint8_t> npy_file(std::string_view descr, const std::vector<std::uint64_t>& shape,
                                   const std::vector<std::uint8_t>& payload);

constexpr std::uint64_t sb_partition_stride = 262144;  ///< bytes between SBUF partitions

/// One variable of def.json. Which fields are written depends on `type` (spec 08 s2.5).
struct Variable {
  std::string name, type;
  std::uint32_t id = 0;
  std::uint64_t size = 0, alignment = 0;
  std::string file_name;
  std::uint64_t backing_offset = 0;
  std::string backing_buf;  ///< empty: key absent, as in real files
  std::uint32_t referenced = 0;
  std::vector<std::uint32_t> list;
};

/// One side of a descriptor: sizes[0] and steps in bytes, index 0 innermost (spec 08 s3.1).
struct Side {
  std::string var;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::int64_t> steps;
  std::string dtype = "float32";
};

struct Descriptor {
  Side from, to;
  std::string op = "copy";                   ///< empty: key absent (transposes)
  unsigned tiling_dims = 1;                  ///< 0: key absent
  std::uint32_t transpose_element_size = 0;  ///< 0: not a transpose
  std::vector<std::uint32_t> transpose_shape;
};

/// `rows` runs of `run` bytes, `stride` apart.
Side rows(std::string var, std::uint64_t offset, std::uint64_t run, std::uint64_t rows,
          std::int64_t stride, std::string dtype = "float32");
/// `run` bytes at `byte` of the first `partitions` SBUF partitions.
Side sbuf(std::uint64_t byte, std::uint64_t run, std::uint64_t partitions = 128,
          std::string dtype = "float32");
Descriptor copy(Side from, Side to);
Descriptor cast(Side from, Side to);
/// WZXY transpose of tiles [1, 1, y, x] (spec 08 s3.4).
Descriptor transpose(Side from, Side to, std::uint32_t element_size, std::uint32_t y,
                     std::uint32_t x);

struct Block {
  std::uint32_t id = 0;
  std::string queue;
  std::string instance;  ///< written as instance_name when not empty
  std::vector<Descriptor> descriptors;
  std::optional<std::uint32_t> semaphore, event;
  std::vector<std::uint32_t> remote_semaphores;
  std::string function_start;
};

struct Queue {
  std::string name, type;
  Engine owner = Engine::pool;
  std::uint32_t first_semaphore = 8;
  std::uint32_t num_queues = 16;
  std::optional<std::uint64_t> dge_scratch_size;  ///< software DGE: `dynamic_dma` is written
  std::vector<std::string> instances;             ///< queue_instances
  std::uint32_t blocks = 0;                       ///< static blocks or D4 records so far
};

/// An activation function set with its three files (spec 08 s1.4, s2.8).
struct ActSet {
  std::string name;
  std::uint32_t bucket_entries = 941, control_entries = 89, functions = 15;
};

/// A GPSIMD library of `bytes` random bytes with functions named `<stem>0`, `<stem>1` and so on, of
/// which every third has a sub opcode (spec 02 section 8.3).
struct Library {
  std::string name;
  std::uint64_t bytes = 0;
  std::string stem;
  std::uint32_t functions = 1;
  std::uint32_t total_cpus = 8;
  bool built_in = false;
};

/// One subgraph. Moves and computes keep count of the semaphores, so a sample states its data flow
/// and gets waits that match; `stream()` gives direct access for everything else.
class Subgraph {
 public:
  Subgraph(Arch arch, std::string name);

  const std::string& name() const { return name_; }
  Arch arch() const { return arch_; }

  // ---- variables: ids ascend from 0 in order of addition; the return value is the id ----
  std::uint32_t add(Variable variable);
  std::uint32_t state_buffer(std::string name = "SB");
  std::uint32_t input(std::string name, std::uint64_t size);
  std::uint32_t output(std::string name, std::uint64_t size);
  /// Constant in an npy member "value_<subgraph>_<name>.npy".
  std::uint32_t file(std::string name, std::string_view descr,
                     const std::vector<std::uint64_t>& shape, std::vector<std::uint8_t> payload,
                     std::uint64_t alignment = 0);
  /// Constant in a raw member "<name>.bin".
  std::uint32_t raw_file(std::string name, std::vector<std::uint8_t> payload,
                         std::uint64_t alignment = 0);
  std::uint32_t scratch(std::string name, std::uint64_t size, std::uint64_t offset);  ///< `virtual`
  std::uint32_t dge_table(std::string name, std::vector<std::uint32_t> list);
  std::uint32_t id_of(std::string_view name) const;
  std::size_t variable_count() const { return variables_.size(); }

  // ---- data movement ----
  Queue& queue(std::string name, std::string type, Engine owner, std::uint32_t first_semaphore,
               std::uint32_t num_queues = 16);
  /// Adds a static block and its C1 in the owner's stream; returns the wait that means "done".
  /// A block that reuses a semaphore is triggered only after all earlier blocks on it are done, as
  /// real compilers do (spec 10 s8).
  Wait move(std::string_view queue, std::vector<Descriptor> descriptors, Wait gate = {});
  /// The same with block fields of the caller's choice (id, queue and semaphore are filled in).
  Wait move_block(Block block, Wait gate = {});
  /// A D4 record on a dynamic queue, in its owner's stream.
  Wait dge(std::string_view queue, const DgeCopy& copy, Wait gate = {});

  // ---- streams ----
  Stream& stream(Engine engine);
  /// Adds a compute record with an update of the engine's semaphore.
  Wait compute(Engine engine, Slot slot, Wait gate = {});
  /// A0 for `first`, and `second` in the same record.
  void wait(Engine engine, Wait first, Wait second = {});
  /// POOL's closing A4 records: one for each wait (spec 08 section 4).
  void finish(const std::vector<Wait>& outgoing);

  void act_set(ActSet set) { act_sets_.push_back(std::move(set)); }
  void ucode_library(Library library) { libraries_.push_back(std::move(library)); }
  void fp8_config() { fp8_ = true; }

  /// Members of this subgraph, names prefixed with its folder.
  std::vector<PackMember> members(Random& random) const;

 private:
  Queue& find_queue(std::string_view name);
  void reuse_guard(const Queue& queue, std::uint32_t increment, Wait& gate);

  Arch arch_;
  std::string name_;
  std::vector<Variable> variables_;
  std::map<std::string, std::vector<std::uint8_t>, std::less<>> files_;
  std::deque<Queue> queues_;  ///< a deque: references stay valid
  std::map<std::string, std::vector<Block>, std::less<>> blocks_;  ///< by queue name
  std::array<Stream, engine_count> streams_;
  std::map<std::uint32_t, std::uint32_t> computed_;  ///< engine semaphore -> increments
  std::vector<ActSet> act_sets_;
  std::vector<Library> libraries_;
  bool fp8_ = false;
};

/// Input or output of the model as neff.json describes it.
struct Tensor {
  std::string name, dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes() const;
};

/// A finished sample.
struct SampleNeff {
  std::string name;
  std::vector<PackMember> members;  ///< in the order of real files: by name, v3 neff.json last
  PackOptions options;
};

/// A whole model.
class SampleBuilder {
 public:
  SampleBuilder(std::string name, Arch arch, std::uint64_t seed = 1);

  /// Declares model inputs and outputs; put them into every subgraph with the same size.
  void input(std::string name, std::string dtype, std::vector<std::uint64_t> shape);
  void output(std::string name, std::string dtype, std::vector<std::uint64_t> shape);
  /// Bytes of a declared input or output.
  std::uint64_t bytes(std::string_view name) const;

  /// Starts the next subgraph: sg00, sg01, ... References stay valid.
  Subgraph& subgraph();
  /// The program real v3 files give to the core that has nothing to do: state buffer, inputs and
  /// outputs, two-slot streams, no queues (spec 08 s2.5). Constants may be added to it.
  Subgraph& empty_subgraph();

  /// Default: v2 0, v3 0xC00 (spec 08 s1.1).
  void feature_bits(std::uint64_t bits) { feature_bits_ = bits; }
  void mac_count(std::uint64_t count) { mac_count_ = count; }
  Random& random() { return random_; }
  Arch arch() const { return arch_; }

  SampleNeff build();

 private:
  std::string name_;
  Arch arch_;
  Random random_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<std::unique_ptr<Subgraph>> subgraphs_;
  std::optional<std::uint64_t> feature_bits_, mac_count_;
};

/// Packs a sample into the bytes of a NEFF.
Result<std::vector<std::uint8_t>> pack(const SampleNeff& sample);

}  // namespace neffld::sample
