// SPDX-License-Identifier: MIT
#include "neffld/image_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "neffld/disassembler.hpp"
#include "neffld/explain.hpp"
#include "neffld/text.hpp"
#include "section_records.hpp"

namespace neffld {
namespace {

constexpr std::size_t compared_bytes = 1u << 20;  // about; whole records

/// Numbers for names, the same for both sides.
class Names {
 public:
  std::uint32_t operator()(std::string name) {
    return ids_.try_emplace(std::move(name), static_cast<std::uint32_t>(ids_.size())).first->second;
  }

 private:
  std::map<std::string, std::uint32_t> ids_;
};

/// What an address names, independent of where things were placed.
using Meaning = std::tuple<Place::Kind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;

class Side {
 public:
  Side(const DiffSide& side, Names& names)
      : layout(side.layout), memory(side.memory), locator(side.layout) {
    for (const Layout::Subgraph& subgraph : layout.subgraphs) {
      subgraphs_.push_back(names("s" + subgraph.name));
      auto& ids = variables_.emplace_back();
      for (const Layout::Variable& variable : subgraph.variables) {
        ids.push_back(names("v" + variable.name));
      }
    }
    for (const Layout::Section& section : layout.sections) {
      sections_.push_back(names("o" + section.owner));
    }
  }

  Meaning meaning(std::uint64_t address) const {
    const Place place = locator.locate(address);
    constexpr std::uint32_t no_subgraph = 0x8000'0000;
    const std::uint32_t owner =
        place.subgraph ? subgraphs_[*place.subgraph] : no_subgraph | place.core;
    switch (place.kind) {
      case Place::Kind::section:
        return {place.kind, owner, sections_[place.index], 0, place.offset};
      case Place::Kind::variable:
        return {place.kind, owner, variables_[*place.subgraph][place.index], 0, place.offset};
      case Place::Kind::hbm:
      case Place::Kind::host:
      case Place::Kind::nothing:
        return {place.kind, 0, 0, 0, address};
      default:
        return {place.kind, owner, place.index, place.part, place.offset};
    }
  }

  const Layout& layout;
  const DeviceMemoryView& memory;
  Locator locator;

 private:
  std::vector<std::uint32_t> subgraphs_, sections_;
  std::vector<std::vector<std::uint32_t>> variables_;
};

class Comparison {
 public:
  Comparison(const DiffSide& first, const DiffSide& second)
      : a_(first, names_), b_(second, names_) {}

  Result<DiffResult> run() {
    if (a_.layout.arch != b_.layout.arch) {
      add("architecture", std::string(arch_name(a_.layout.arch)),
          std::string(arch_name(b_.layout.arch)));
      return std::move(result_);
    }
    compare_subgraphs();
    NEFFLD_TRY(compare_sections());
    return std::move(result_);
  }

 private:
  void add(std::string what, std::string first, std::string second, std::uint64_t count = 1) {
    result_.differences.push_back({std::move(what), std::move(first), std::move(second), count});
  }

  /// Pairs things of both sides by key; `both` gets indices, leftovers become differences.
  template <class Both>
  Result<void> pair_up(const std::map<std::string, std::size_t>& first,
                       const std::map<std::string, std::size_t>& second, Both both) {
    for (const auto& [key, i] : first) {
      const auto other = second.find(key);
      if (other == second.end()) {
        add(one_line(key), "present", "");
      } else {
        NEFFLD_TRY(both(key, i, other->second));
      }
    }
    for (const auto& [key, i] : second) {
      if (!first.contains(key)) add(one_line(key), "", "present");
    }
    return {};
  }

  static std::string variable_text(const Layout::Variable& variable) {
    return fmt::format("{} of {} bytes{}", var_kind_name(variable.kind), variable.size,
                       variable.pa ? "" : ", without an address");
  }
  static std::string queue_text(const Layout::Queue& queue) {
    return fmt::format("owner {}, hardware queue {}, {} semaphores{}", engine_name(queue.owner),
                       queue.id ? fmt::format("{}", *queue.id) : std::string("none"),
                       queue.semaphores.size(), queue.is_template ? ", template" : "");
  }

  void compare_subgraphs() {
    const auto variables = [](const Layout& layout) {
      std::map<std::string, std::string> texts;
      for (const Layout::Subgraph& subgraph : layout.subgraphs) {
        texts.emplace(subgraph.name, "subgraph");
        for (const Layout::Variable& variable : subgraph.variables) {
          texts.emplace(subgraph.name + " variable " + variable.name, variable_text(variable));
        }
        for (const Layout::Queue& queue : subgraph.queues) {
          texts.emplace(subgraph.name + " queue " + queue.name, queue_text(queue));
        }
      }
      return texts;
    };
    const auto first = variables(a_.layout), second = variables(b_.layout);
    for (const auto& [key, text] : first) {
      const auto other = second.find(key);
      const std::string theirs = other == second.end() ? std::string() : other->second;
      if (text != theirs) add(one_line(key), text, theirs);
    }
    for (const auto& [key, text] : second) {
      if (!first.contains(key)) add(one_line(key), "", text);
    }
  }

  static std::map<std::string, std::size_t> keyed_sections(const Layout& layout) {
    std::map<std::string, std::size_t> keyed;
    for (std::size_t i = 0; i < layout.sections.size(); ++i) {
      const Layout::Section& section = layout.sections[i];
      const bool named = section.subgraph < layout.subgraphs.size();
      const bool library =
          section.kind == SectionKind::ucode_libraries || section.kind == SectionKind::ucode_table;
      if (!named || (section.shared && !library)) continue;
      keyed.emplace(layout.subgraphs[section.subgraph].name + " " + section.owner, i);
    }
    return keyed;
  }

  Result<void> compare_sections() {
    return pair_up(keyed_sections(a_.layout), keyed_sections(b_.layout),
                   [&](const std::string& key, std::size_t i, std::size_t j) {
                     return compare_section(key, a_.layout.sections[i], b_.layout.sections[j]);
                   });
  }

  Result<void> compare_section(const std::string& key, const Layout::Section& first,
                               const Layout::Section& second) {
    if (first.kind != second.kind || first.size != second.size) {
      add(one_line(key) + " size",
          fmt::format("{} of {} bytes", section_kind_name(first.kind), first.size),
          fmt::format("{} of {} bytes", section_kind_name(second.kind), second.size));
    }
    if (first.kind != second.kind) return {};
    const std::uint64_t size = std::min(first.size, second.size);
    const RecordKind kind = record_kind(first.kind);
    Difference difference;
    difference.count = 0;
    std::vector<std::uint8_t> ours, theirs;
    for (std::uint64_t at = 0; at < size; at += ours.size()) {
      const std::uint64_t whole = compared_bytes / record_size(kind) * record_size(kind);
      ours.resize(std::min<std::uint64_t>(whole, size - at));
      theirs.resize(ours.size());
      NEFFLD_TRY(a_.memory.read(first.pa + at, ours));
      NEFFLD_TRY(b_.memory.read(second.pa + at, theirs));
      result_.bytes += ours.size();
      compare_piece(key, kind, first.subgraph, second.subgraph, at, ours, theirs, difference);
    }
    if (difference.count != 0) result_.differences.push_back(std::move(difference));
    return {};
  }

  void compare_piece(const std::string& key, RecordKind kind, std::uint32_t our_subgraph,
                     std::uint32_t their_subgraph, std::uint64_t at, Bytes ours, Bytes theirs,
                     Difference& difference) {
    const std::size_t size = record_size(kind);
    if (kind == RecordKind::bytes) return compare_bytes(key, at, ours, theirs, difference);
    std::size_t i = 0;
    for (; i + size <= ours.size(); i += size) {
      const Bytes mine = ours.subspan(i, size), other = theirs.subspan(i, size);
      if (same_record(kind, mine, other) || difference.count++ != 0) continue;
      difference.what =
          fmt::format("{} {} {}", one_line(key), record_kind_name(kind), (at + i) / size);
      difference.first = record_text(kind, mine, a_.locator, our_subgraph);
      difference.second = record_text(kind, other, b_.locator, their_subgraph);
    }
    compare_bytes(key, at + i, ours.subspan(i), theirs.subspan(i), difference);
  }

  void compare_bytes(const std::string& key, std::uint64_t at, Bytes ours, Bytes theirs,
                     Difference& difference) {
    if (std::equal(ours.begin(), ours.end(), theirs.begin())) return;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (ours[i] == theirs[i] || difference.count++ != 0) continue;
      difference.what = fmt::format("{} byte 0x{:x}", one_line(key), at + i);
      difference.first = fmt::format("{:02x}", ours[i]);
      difference.second = fmt::format("{:02x}", theirs[i]);
    }
  }

  bool same_address(std::uint64_t mine, std::uint64_t other) const {
    return a_.meaning(mine) == b_.meaning(other);
  }

  bool same_record(RecordKind kind, Bytes mine, Bytes other) const {
    if (kind == RecordKind::instruction) return same_instruction(mine, other);
    const std::size_t pointer = record_size(kind) - sizeof(std::uint64_t);  // the last field of all
    return std::memcmp(mine.data(), other.data(), pointer) == 0 &&
           same_address(load_le<std::uint64_t>(mine, pointer),
                        load_le<std::uint64_t>(other, pointer));
  }

  bool same_instruction(Bytes mine, Bytes other) const {
    const auto addresses = addresses_in(mine);
    const auto theirs = addresses_in(other);
    if (addresses.empty() || addresses.size() != theirs.size()) {
      return std::memcmp(mine.data(), other.data(), mine.size()) == 0;
    }
    std::size_t from = 0;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::size_t at = addresses[i].offset;
      if (theirs[i].offset != at ||
          std::memcmp(mine.data() + from, other.data() + from, at - from) != 0 ||
          !same_address(addresses[i].address, theirs[i].address)) {
        return false;
      }
      from = at + sizeof(std::uint64_t);
    }
    return std::memcmp(mine.data() + from, other.data() + from, mine.size() - from) == 0;
  }

  Names names_;
  Side a_, b_;
  DiffResult result_;
};

}  // namespace

Result<DiffResult> diff_models(const DiffSide& first, const DiffSide& second) {
  return guarded([&] { return Comparison(first, second).run(); });
}

}  // namespace neffld
