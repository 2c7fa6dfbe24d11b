// SPDX-License-Identifier: MIT
#include "neffld/relocate.hpp"

namespace neffld {

std::string_view reloc_form_name(RelocForm form) {
  switch (form) {
    case RelocForm::opcode:
      return "opcode";
    case RelocForm::var_address:
      return "var_address";
    case RelocForm::queue_register:
      return "queue_register";
    case RelocForm::descriptor_count:
      return "descriptor_count";
    case RelocForm::branch_offset:
      return "branch_offset";
    case RelocForm::ring_pointer:
      return "ring_pointer";
    case RelocForm::ring_io:
      return "ring_io";
    case RelocForm::ring_section:
      return "ring_section";
    case RelocForm::ring_register:
      return "ring_register";
    case RelocForm::pointer_cell:
      return "pointer_cell";
    case RelocForm::table_entry:
      return "table_entry";
    case RelocForm::return_address:
      return "return_address";
    case RelocForm::collective_index:
      return "collective_index";
    case RelocForm::record_byte:
      return "record_byte";
    case RelocForm::library_address:
      return "library_address";
  }
  return "unknown";
}

Ledger::Counts& Ledger::counts(std::uint32_t kbin) {
  while (kbin >= counts_.size()) counts_.emplace_back();
  return counts_[kbin];
}

std::uint64_t Ledger::count_of(std::uint32_t kbin, RelocForm form) const {
  return kbin < counts_.size() ? counts_[kbin][static_cast<std::size_t>(form)] : 0;
}

void Ledger::set_ip_map(std::uint32_t kbin, Engine engine, IpMap map) {
  ip_maps_.insert_or_assign({kbin, engine}, std::move(map));
}

void Ledger::take(Ledger&& other) {
  for (std::uint32_t kbin = 0; kbin < other.counts_.size(); ++kbin) {
    Counts& sums = counts(kbin);
    for (std::size_t form = 0; form < reloc_form_count; ++form) {
      sums[form] += other.counts_[kbin][form];
    }
  }
  for (auto& [key, map] : other.ip_maps_) ip_maps_.insert_or_assign(key, std::move(map));
}

const IpMap* Ledger::ip_map(std::uint32_t kbin, Engine engine) const {
  const auto found = ip_maps_.find({kbin, engine});
  return found == ip_maps_.end() ? nullptr : &found->second;
}

}  // namespace neffld
