// SPDX-License-Identifier: MIT
// What fuzz targets share: limits that keep a run small, samples with one part replaced, and the
// whole way of a NEFF through the loader.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/device_image.hpp"
#include "neffld/error.hpp"
#include "neffld/layout.hpp"
#include "neffld/session.hpp"
#include "sample_neff.hpp"
#include "target.hpp"

namespace neffld::fuzz {

/// A finding: says what promise was broken and ends the program.
[[noreturn]] void broken(std::string_view promise, std::string_view detail);
inline void promise(bool kept, std::string_view what, std::string_view detail = {}) {
  if (!kept) broken(what, detail);
}

/// Every refusal has a status and is one line of text.
void judge(const Error& error);
template <class T>
bool good(const Result<T>& result) {
  if (!result) judge(result.error());
  return result.has_value();
}

/// The loader's own limits, small enough for 512 MiB and a second.
ParseOptions parse_limits();

/// Parses a NEFF; what can be parsed is checked, loaded on a simulated device, bound, read back,
/// run by the token model and by the device, and unloaded. Promises: a refusal leaves nothing on
/// the device; what was loaded reads back as relocated; unloading gives all back.
void load(Bytes neff);

/// What the tools do with any memory that claims to be a model's: names for addresses, records as
/// text, the token model.
void inspect(const Layout& layout, const DeviceMemoryView& memory);

/// A member of a sample, to be replaced by the input. The shell is a NEFF without compression.
class Slot {
 public:
  Slot(const sample::SampleNeff& shell, std::size_t member) : shell_(&shell), member_(member) {}
  const PackMember& member() const { return shell_->members[member_]; }
  std::vector<std::uint8_t> with(Bytes content) const;

 private:
  const sample::SampleNeff* shell_;
  std::size_t member_;
};

/// Members of samples that `wanted` accepts, each content once; at most 256.
using Slots = std::vector<Slot>;
Slots slots_of(std::span<const std::string_view> samples,
               const std::function<bool(std::string_view name)>& wanted);

/// Inputs of targets with slots begin with a byte that chooses one: load()s the shell around the
/// rest.
void load_with(const Slots& slots, Bytes input);
/// The members as they are.
std::vector<Input> seeds_of(const Slots& slots);
/// run() and seeds() of a target that has nothing but slots.
template <const Slots& (*slots)()>
void run_slots(Bytes input) {
  load_with(slots(), input);
}
template <const Slots& (*slots)()>
std::vector<Input> seeds_of_slots() {
  return seeds_of(slots());
}
/// Every text in quotes of the seeds, each once.
std::vector<std::string> quoted_words(const std::vector<Input>& seeds);

/// The sample of a name without the members no stage reads.
const sample::SampleNeff& lean_sample(std::string_view name);
/// Its bytes as a NEFF. Made once.
const std::vector<std::uint8_t>& sample_file(std::string_view name, Compression compression);

inline std::string text_of(Bytes bytes) {
  return std::string(as_text(bytes));
}
inline Input input_of(std::string_view text) {
  const Bytes bytes = as_bytes(text);
  return Input(bytes.begin(), bytes.end());
}

}  // namespace neffld::fuzz
