// SPDX-License-Identifier: MIT
// The build stage as a list of passes.
#include "kbin/build.hpp"

#include <fmt/format.h>

#include "kbin/def_json.hpp"
#include "kbin/dma.hpp"
#include "kbin/remote.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

constexpr std::size_t max_graphs = 256;  // spec 01 section 12

Subgraph start(const MemberSource& source, const Manifest& manifest, const BuildOptions& options,
               const GraphEntry& graph) {
  Subgraph subgraph{.source = source,
                    .options = options,
                    .arch = arch_table(manifest.arch),
                    .def_member = graph.definition,
                    .kbin = {}};
  const std::size_t slash = graph.definition.rfind('/');
  subgraph.kbin.name = graph.name;
  if (slash != std::string::npos) subgraph.kbin.dir = graph.definition.substr(0, slash);
  subgraph.kbin.arch = manifest.arch;
  return subgraph;
}

Result<void> build_one(Subgraph& subgraph, const std::string& kelf_member) {
  const Member* def = subgraph.source(subgraph.def_member);
  if (def == nullptr) {
    return invalid({kelf_member, "$.graphs", std::nullopt, std::nullopt},
                   fmt::format("the definition \"{}\" of graph {} is not in the archive",
                               printable(subgraph.def_member), printable(subgraph.kbin.name)));
  }
  return read_subgraph(subgraph, *def);
}

}  // namespace

Result<std::vector<Kbin>> build_kbins_from(const MemberSource& source, const Manifest& manifest,
                                           const BuildOptions& options) {
  const Where kelf{manifest.kelf_member, "$.graphs", std::nullopt, std::nullopt};
  if (manifest.arch == Arch::any) {
    return invalid({manifest.kelf_member, "$.target", std::nullopt, std::nullopt},
                   "Invalid target = 0");
  }
  if (manifest.graphs.empty() || manifest.graphs.size() > max_graphs) {
    return invalid(kelf, fmt::format("found {} graphs, allowed are 1 to {}", manifest.graphs.size(),
                                     max_graphs));
  }
  // Every subgraph on its own; the first one that fails decides the error.
  std::vector<Subgraph> subgraphs;
  for (const GraphEntry& graph : manifest.graphs) {
    subgraphs.push_back(start(source, manifest, options, graph));
    NEFFLD_TRY(build_one(subgraphs.back(), manifest.kelf_member));
  }
  std::vector<Kbin> kbins;
  kbins.reserve(subgraphs.size());
  for (Subgraph& subgraph : subgraphs) kbins.push_back(std::move(subgraph.kbin));
  // Remote variables name siblings, so they wait for all of them.
  for (std::size_t i = 0; i < kbins.size(); ++i) {
    NEFFLD_TRY(resolve_remotes(subgraphs[i], kbins, i));
    NEFFLD_TRY(check_remote_sides(subgraphs[i].arch, kbins[i], kbins));
  }
  return kbins;
}

Result<std::vector<Kbin>> build_kbins(const Container& container, const Manifest& manifest,
                                      const BuildOptions& options) {
  return guarded([&] { return build_kbins_from(members_of(container), manifest, options); });
}

}  // namespace neffld
