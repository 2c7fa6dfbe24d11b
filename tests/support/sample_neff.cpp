// SPDX-License-Identifier: MIT
#include "sample_neff.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "sample_json.hpp"

namespace neffld::sample {
namespace {

PackMember text_member(std::string name, const std::string& text) {
  return {std::move(name), {text.begin(), text.end()}, false};
}

/// Container facts of the two producers (spec 08 section 1).
PackOptions pack_options(Arch arch, std::size_t subgraphs, Random& random) {
  PackOptions options;
  std::array<std::uint8_t, 16> uuid;
  const auto noise = random.bytes(uuid.size());
  std::copy(noise.begin(), noise.end(), uuid.begin());
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0F) | 0x40);  // version 4
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3F) | 0x80);
  options.uuid = uuid;
  options.vnc_size = static_cast<std::uint32_t>(subgraphs);
  if (arch == Arch::v2) {
    options.dialect = TarDialect::pax;
    options.version_major = 1;
    options.owner = {1000, 1000, 1'700'000'000, 0664, 0775, "", ""};
  } else {
    options.feature_bits = 0xC00;
    options.word_swapped_hash = true;
  }
  return options;
}

/// Byte-wise ascending; v3 packagers append neff.json at the end (spec 08 s1.3).
void order_members(std::vector<PackMember>& members, Arch arch) {
  const bool last = arch != Arch::v2;
  std::sort(members.begin(), members.end(), [last](const PackMember& a, const PackMember& b) {
    const bool a_last = last && a.name == "neff.json", b_last = last && b.name == "neff.json";
    return a_last != b_last ? b_last : a.name < b.name;
  });
}

}  // namespace

std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15ull;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::vector<std::uint8_t> Random::bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t at = 0; at < count; at += 8) {
    const Le64 word(next());
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, count - at));
  }
  return bytes;
}

std::vector<std::uint8_t> npy_file(std::string_view descr, const std::vector<std::uint64_t>& shape,
                                   const std::vector<std::uint8_t>& payload) {
  constexpr std::size_t data_at = 128;
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const auto dim : shape) text += std::to_string(dim) + ", ";
  text += "), }";
  if (10 + text.size() >= data_at) throw std::invalid_argument("npy header too long: " + text);
  text.resize(data_at - 10 - 1, ' ');
  text += '\n';
  constexpr std::array<std::uint8_t, 10> magic = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
  std::vector<std::uint8_t> file(data_at + payload.size());
  std::copy(magic.begin(), magic.end(), file.begin());
  std::copy(text.begin(), text.end(), file.begin() + magic.size());
  std::copy(payload.begin(), payload.end(), file.begin() + data_at);
  return file;
}

std::uint64_t Tensor::bytes() const {
  std::uint64_t size = dtype_size(dtype);
  for (const auto dim : shape) size *= dim;
  return size;
}

SampleBuilder::SampleBuilder(std::string name, Arch arch, std::uint64_t seed)
    : name_(std::move(name)), arch_(arch), random_(seed) {}

void SampleBuilder::input(std::string name, std::string dtype, std::vector<std::uint64_t> shape) {
  inputs_.push_back({std::move(name), std::move(dtype), std::move(shape)});
}

void SampleBuilder::output(std::string name, std::string dtype, std::vector<std::uint64_t> shape) {
  outputs_.push_back({std::move(name), std::move(dtype), std::move(shape)});
}

std::uint64_t SampleBuilder::bytes(std::string_view name) const {
  for (const auto* tensors : {&inputs_, &outputs_}) {
    for (const auto& tensor : *tensors) {
      if (tensor.name == name) return tensor.bytes();
    }
  }
  throw std::invalid_argument("no tensor " + std::string(name));
}

Subgraph& SampleBuilder::subgraph() {
  if (subgraphs_.size() >= 256) throw std::invalid_argument("more than 256 subgraphs");
  const std::string number = std::to_string(subgraphs_.size());
  const std::string name = (number.size() == 1 ? "sg0" : "sg") + number;
  subgraphs_.push_back(std::make_unique<Subgraph>(arch_, name));
  return *subgraphs_.back();
}

Subgraph& SampleBuilder::empty_subgraph() {
  Subgraph& graph = subgraph();
  graph.state_buffer();
  for (const auto& tensor : inputs_) graph.input(tensor.name, tensor.bytes());
  for (const auto& tensor : outputs_) graph.output(tensor.name, tensor.bytes());
  return graph;
}

SampleNeff SampleBuilder::build() {
  SampleNeff neff;
  neff.name = name_;
  neff.options = pack_options(arch_, subgraphs_.size(), random_);
  if (feature_bits_) neff.options.feature_bits = *feature_bits_;
  neff.options.name = name_ + ".neff";
  std::vector<std::string> names;
  for (const auto& graph : subgraphs_) {
    names.push_back(graph->name());
    auto members = graph->members(random_);
    neff.members.insert(neff.members.end(), std::make_move_iterator(members.begin()),
                        std::make_move_iterator(members.end()));
  }
  auto& members = neff.members;
  members.push_back(text_member("neff.json", neff_json(inputs_, outputs_, subgraphs_.size())));
  members.push_back(text_member("kelf-0.json", kelf_json(names, arch_)));
  members.push_back(text_member("info.json", info_json(neff.options.name)));
  members.push_back({"debug_info/debug_info_penguin.dbg_sg000000", random_.bytes(200), false});
  if (arch_ == Arch::v2) members.push_back(text_member("metrics.json", metrics_json()));
  if (mac_count_) members.push_back(text_member("hlo_stats.json", hlo_stats_json(*mac_count_)));
  order_members(members, arch_);
  return neff;
}

Result<std::vector<std::uint8_t>> pack(const SampleNeff& sample) {
  return pack_neff(sample.members, sample.options);
}

}  // namespace neffld::sample
