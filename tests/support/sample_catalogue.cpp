// SPDX-License-Identifier: MIT
#include "sample_catalogue.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace neffld::sample {

std::span<const CatalogueEntry> catalogue() {
  static const std::vector<CatalogueEntry> all = [] {
    std::vector<CatalogueEntry> entries;
    for (const auto part : {catalogue_parts::static_samples(), catalogue_parts::shape_samples(),
                            catalogue_parts::dge_samples(), catalogue_parts::control_samples(),
                            catalogue_parts::special_samples()}) {
      entries.insert(entries.end(), part.begin(), part.end());
    }
    std::sort(entries.begin(), entries.end(),
              [](const CatalogueEntry& a, const CatalogueEntry& b) { return a.name < b.name; });
    return entries;
  }();
  return all;
}

SampleNeff make_sample(std::string_view name, std::uint64_t seed) {
  for (const auto& entry : catalogue()) {
    if (entry.name == name) return entry.make(name, seed);
  }
  throw std::invalid_argument("no sample is called " + std::string(name));
}

}  // namespace neffld::sample
