// SPDX-License-Identifier: MIT
// Changes inputs of fuzz targets. The same seed makes the same changes on every machine.
#pragma once

#include <string>
#include <vector>

#include "sample_neff.hpp"
#include "target.hpp"

namespace neffld::fuzz {

class Mutator {
 public:
  /// `seeds` and `words` must outlive the object; there is a seed at least.
  Mutator(const std::vector<Input>& seeds, const std::vector<std::string>& words,
          std::size_t most_bytes, std::uint64_t seed)
      : seeds_(seeds), words_(words), most_bytes_(most_bytes), random_(seed) {}

  /// One of the seeds with one to eight changes.
  Input next();

 private:
  void change(Input& input);
  /// Somebody else's bytes: a piece of another seed, or a word.
  Bytes foreign();
  void replace(Input& input, std::size_t at, std::size_t bytes, Bytes with) const;
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_.below(limit)); }

  const std::vector<Input>& seeds_;
  const std::vector<std::string>& words_;
  std::size_t most_bytes_;
  sample::Random random_;
};

}  // namespace neffld::fuzz
