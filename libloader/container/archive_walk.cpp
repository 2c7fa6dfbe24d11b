// SPDX-License-Identifier: MIT
#include "archive_walk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "member_name.hpp"
#include "tar_header.hpp"

namespace neffld {
namespace {

/// Members the original loader drops by this suffix (spec 01 section 5.3): pre-lowering data.
constexpr std::string_view dropped_suffix = "wavegraph-bin.json";

Where at(const TarEntry& entry) {
  return Where{printable_name(entry.name), "tar header", std::nullopt, entry.header_offset};
}

class Walk {
 public:
  Walk(Bytes tar, const ContainerLimits& limits, ContainerFacts& facts)
      : tar_(tar), limits_(limits), facts_(facts) {}

  Result<MemberTable> run() {
    TarVariant variant = TarVariant::v7;
    std::uint64_t entries = 0;
    for (std::uint64_t offset = 0;;) {
      NEFFLD_ASSIGN(const bool at_end, tar_ends_at(tar_, offset, facts_.warnings));
      if (at_end) break;
      NEFFLD_ASSIGN(const TarEntry entry, read_tar_entry(tar_, offset, limits_));
      if (++entries > limits_.members) return too_many(entry);
      NEFFLD_TRY(visit(entry));
      variant = std::max(variant, entry.variant);
      offset = entry.next_offset;
    }
    if (entries != 0) facts_.tar_dialect = tar_variant_name(variant);
    NEFFLD_TRY(sort_and_check());
    return std::move(table_);
  }

 private:
  tl::unexpected<Error> too_many(const TarEntry& entry) const {
    return fail(Status::resource, ErrorClass::resource, at(entry),
                fmt::format("the archive has more than {} entries, the limit", limits_.members));
  }

  Result<void> visit(const TarEntry& entry) {
    std::string_view name = entry.name;
    if (name.starts_with("./")) name.remove_prefix(2);
    if (!(entry.directory && name.empty())) {
      if (const auto problem = name_problem(name)) return invalid(at(entry), *problem);
    }
    if (!entry.directory && name.ends_with('/')) {
      return invalid(at(entry), "a regular file has the name of a directory");
    }
    if (entry.directory) return {};
    if (name.ends_with(dropped_suffix)) {
      ++facts_.skipped_members;
      return {};
    }
    table_.names.emplace_back(name);
    table_.members.push_back({table_.names.back(), tar_.subspan(entry.data_offset, entry.size)});
    return {};
  }

  Result<void> sort_and_check() {
    auto& members = table_.members;
    std::ranges::sort(members, {}, &Member::name);
    const auto twin = std::ranges::adjacent_find(members, {}, &Member::name);
    if (twin == members.end()) return {};
    const auto offset = static_cast<std::uint64_t>((twin + 1)->bytes.data() - tar_.data());
    return invalid(Where{printable_name(twin->name), "", std::nullopt, offset},
                   "the archive holds this member twice; names must be unique");
  }

  Bytes tar_;
  const ContainerLimits& limits_;
  ContainerFacts& facts_;
  MemberTable table_;
};

}  // namespace

Result<MemberTable> walk_archive(Bytes tar, const ContainerLimits& limits, ContainerFacts& facts) {
  if (tar.empty()) return invalid({}, "Failed to open NEFF: the archive is empty, 0 bytes");
  return Walk(tar, limits, facts).run();
}

}  // namespace neffld
