// SPDX-License-Identifier: MIT
#include "neffld/bench.hpp"

#include <array>

namespace neffld::bench {
namespace {

constexpr std::array<Target, 12> all = {{
    {RatioId::inflate, "inflate", true, 1.9,
     "time of zlib over time of ours: the payload into fresh memory of huge pages, CRC checked"},
    {RatioId::json, "json", true, 3,
     "time of RapidJSON's default DOM over the JSON members a load reads, over time of ours from "
     "them to section tables"},
    {RatioId::parse, "parse", false, 1.3,
     "time from the file's bytes to section tables (no header hash), over inflating and one SAX "
     "scan of the JSON members"},
    {RatioId::integrity, "integrity", false, 1.15,
     "time of a whole load with the header hash verified over one without; gzip CRC, lengths and "
     "tar sums are checked in both"},
    {RatioId::weight_copies, "weight_copies", false, 1,
     "bytes of constants copied, on the host and to the device, over bytes of constants", true},
    {RatioId::peak_memory, "peak_memory", false, 1.25,
     "rise of host memory during a whole load whose device keeps nothing, over inflated payload, "
     "instruction images and rings; the caller's file is not counted"},
    {RatioId::debug_members, "debug_members", false, 1.02,
     "time from an uncompressed tar to section tables with the members no load needs (.dbg) over "
     "the same without them"},
    {RatioId::relocation, "relocation", false, 0.10,
     "time of every patch of instructions, tables and cells, made again through the patch "
     "primitive on finished sections, over inflating; pointers are authored with descriptors"},
    {RatioId::parallel, "parallel", true, 0.8,
     "loads a second with a thread and a device on every processor, over as many times one "
     "thread's"},
    {RatioId::staging, "staging", true, 0.8,
     "time of memcpy of a model's sections between warm memory, over the device calls that write "
     "them again"},
    {RatioId::reload, "reload", false, 0.25,
     "time of a load whose parse is in the cache over a whole load without header hash, both on "
     "a device used before"},
    {RatioId::device_calls, "device_calls", false, 1.05,
     "device calls of a load over the least for its plan: two an allocation, one a GiB of a "
     "section, one a full batch of queues",
     true},
}};

}  // namespace

std::span<const Target> targets() {
  return all;
}

const Target& target_of(RatioId id) {
  return all[static_cast<std::size_t>(id)];
}

bool too_small(const Target& target, const Sizes& sizes) {
  return !target.counted && sizes.inflated_bytes < least_inflated_bytes;
}

}  // namespace neffld::bench
