// SPDX-License-Identifier: MIT
// neff.json and the KELF descriptor: the graph of a NEFF (spec 01 section 7, spec 02 section 2).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/container.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// Levels of arrays and objects a JSON member may nest unless told otherwise (decision 26).
inline constexpr std::uint32_t default_json_depth = 64;

/// One model input or output as neff.json describes it (spec 01 section 7.1).
struct TensorInfo {
  std::string dtype;             ///< text of neff.json
  std::uint32_t dtype_code = 0;  ///< public dtype code; 0 = unknown
  std::vector<std::uint64_t> shape;
  std::uint64_t size = 0;  ///< bytes
};

struct GraphEntry {
  std::string name;
  std::string definition;  ///< member name of its def.json
};

/// What is known before any subgraph is built.
struct Manifest {
  std::string kelf_member;
  std::string kelf_version;                           ///< text, never gated
  std::string target;                                 ///< text
  Arch arch = Arch::any;                              ///< from `target`; `any` for "*"
  std::map<std::string, TensorInfo> inputs, outputs;  ///< by name, byte-wise order
  std::vector<GraphEntry> graphs;                     ///< ascending byte-wise name (02 s16.1)
  std::uint64_t mac_count = 0;
  std::vector<std::string> warnings;
};

/// Reads neff.json (or kelp.json), the KELF and hlo_stats.json, nested at most `json_depth` levels.
Result<Manifest> read_manifest(const Container& container,
                               std::uint32_t json_depth = default_json_depth);

/// The arch gate of spec 02 section 2.3: `device` is the architecture the model is to run on.
/// With `allow_legacy` a mismatch is a warning (appended to `manifest.warnings`).
/// On success `manifest.arch` is never `any`.
Result<void> check_arch(Manifest& manifest, Arch device, bool allow_legacy);

}  // namespace neffld
