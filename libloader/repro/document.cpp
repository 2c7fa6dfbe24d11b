// SPDX-License-Identifier: MIT
#include "document.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "neffld/bytes.hpp"

namespace neffld {
namespace {

TarDialect dialect_of(const std::string& name) {
  if (name == "pax") return TarDialect::pax;
  return name == "gnu" ? TarDialect::gnu : TarDialect::ustar;
}

/// The next text in quotes of `text`, taken off it with all before; empty at its end.
std::string_view take_quoted(std::string_view& text) {
  const std::size_t begin = std::min(text.find('"'), text.size());
  const std::size_t end = text.find('"', std::min(begin + 1, text.size()));
  if (end == std::string_view::npos) return text = {};
  const std::string_view found = text.substr(begin + 1, end - begin - 1);
  text.remove_prefix(end + 1);
  return found;
}

/// The files that a document gives as "file_name". It is not parsed, because it may be what is
/// broken.
void add_constants(std::string_view text, const std::string& folder, std::set<std::string>& names) {
  constexpr std::string_view key = "\"file_name\"";
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos;) {
    text.remove_prefix(at + key.size());
    at = 0;
    names.insert(folder + std::string(take_quoted(text)));
  }
}

}  // namespace

std::string folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(name.substr(0, slash + 1));
}

PackOptions header_options(const Container& container) {
  const NeffHeader& header = container.header();
  PackOptions options;
  options.dialect = dialect_of(container.facts().tar_dialect);
  options.pkg_version = header.pkg_version;
  options.version_major = header.neff_version_major;
  options.version_minor = header.neff_version_minor;
  options.build_version = header_build(header);
  options.uuid.emplace();
  options.num_tpb = header.num_tpb;
  options.requested_tpb_count = header.requested_tpb_count;
  std::copy_n(header.tpb_per_node, options.tpb_per_node.size(), options.tpb_per_node.begin());
  // Before major version 2 nobody looks at them, and the writer would raise the version.
  options.feature_bits = options.version_major < 2 ? 0 : std::uint64_t{header.feature_bits};
  options.vnc_size = header.vnc_size;
  options.word_swapped_hash = container.facts().hash_form == HashForm::word_swapped;
  options.pad_payload = false;
  return options;
}

Document::Document(const Container& container, Judge& judge)
    : judge_(judge), options_(header_options(container)) {
  for (const Member& member : container.members()) {
    members_.push_back(
        {std::string(member.name), {member.bytes.begin(), member.bytes.end()}, false});
    if (!member.name.ends_with(".json")) continue;
    add_constants(as_text(member.bytes), folder_of(member.name), constants_);
  }
}

bool Document::is_constant(const PackMember& member) const {
  return member.name.ends_with(".npy") || constants_.contains(member.name);
}

std::vector<std::size_t> Document::largest_first() const {
  std::vector<std::size_t> order(members_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [this](std::size_t i) { return members_[i].bytes.size(); });
  return order;
}

bool Document::shows() {
  if (!may_try()) return false;
  PackOptions options = options_;
  options.compression = Compression::none;  // to be read once
  const auto file = pack_neff(members_, options);
  if (!file) end_if_shortage(file.error());
  return file && judge_.shows(*file);
}

bool Document::replace(std::size_t member, std::vector<std::uint8_t> bytes) {
  std::swap(members_[member].bytes, bytes);
  if (shows()) return true;
  std::swap(members_[member].bytes, bytes);
  return false;
}

bool Document::replace_all(std::vector<PackMember> members) {
  std::swap(members_, members);
  if (shows()) return true;
  std::swap(members_, members);
  return false;
}

bool Document::shows_with(const Kept& kept) {
  std::vector<PackMember> all = std::exchange(members_, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) members_.push_back(std::move(all[i]));
  }
  const bool result = shows();
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) all[i] = std::move(members_[next++]);
  }
  members_ = std::move(all);
  return result;
}

bool Document::drop_members(std::size_t most_parts) {
  const Kept kept = remove_units(members_.size(), most_parts,
                                 [this](const Kept& some) { return shows_with(some); });
  std::size_t i = 0;
  return std::erase_if(members_, [&](const PackMember&) { return !kept[i++]; }) != 0;
}

Result<std::vector<std::uint8_t>> Document::file() const {
  return pack_neff(members_, options_);
}

}  // namespace neffld
