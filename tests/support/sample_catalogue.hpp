// SPDX-License-Identifier: MIT
// Named samples. Each covers something real compiler outputs, or the format, contain.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "sample_neff.hpp"

namespace neffld::sample {

struct CatalogueEntry {
  std::string_view name;
  std::string_view covers;  ///< one line for `make-sample --list`
  SampleNeff (*make)(std::string_view name, std::uint64_t seed);
};

/// All named samples, in ascending name order.
std::span<const CatalogueEntry> catalogue();

/// Makes a sample by name; throws std::invalid_argument for an unknown one.
SampleNeff make_sample(std::string_view name, std::uint64_t seed = 1);

/// Sizes for benchmarks. Totals of one subgraph; every subgraph has the same.
struct ScaleParameters {
  Arch arch = Arch::v3;
  std::uint32_t subgraphs = 1;
  std::uint64_t weights_bytes = 1 << 20;  ///< split over `file` variables of at most 64 MiB
  bool bf16_weights = false;              ///< numbers around 0; else bytes that do not compress
  std::uint64_t slots = 10'000;           ///< instruction slots over all engines, at least
  std::uint64_t elements = 12'800;        ///< DMA elements, rounded up to whole blocks of 128
  std::uint64_t element_bytes = 18;
  std::uint64_t variables = 16;  ///< in all, at least what the model needs
  std::uint64_t seed = 1;
};
SampleNeff make_scale_sample(const ScaleParameters& parameters);

namespace catalogue_parts {
// One function per file of samples; the catalogue joins them.
std::span<const CatalogueEntry> static_samples();
std::span<const CatalogueEntry> shape_samples();
std::span<const CatalogueEntry> dge_samples();
std::span<const CatalogueEntry> memory_samples();
std::span<const CatalogueEntry> control_samples();
std::span<const CatalogueEntry> special_samples();
}  // namespace catalogue_parts

}  // namespace neffld::sample
