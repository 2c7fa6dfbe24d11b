// SPDX-License-Identifier: MIT
#include "archive_oracle.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "container/archive_walk.hpp"
#include "container/tar_header.hpp"

namespace neffld::test {
namespace {

constexpr std::string_view dropped_suffix = "wavegraph-bin.json";  // spec 01 section 5.3

struct ReaderFree {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

/// libarchive converts names through the locale of the thread; UTF-8 leaves them as they are
/// whatever the program chose.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
    if (utf8 == locale_t{}) throw std::runtime_error("this system has no locale C.UTF-8");
    previous_ = uselocale(utf8);
  }
  ~Utf8Locale() { uselocale(previous_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t previous_ = {};
};

/// An entry as libarchive sees it.
struct Entry {
  std::string name;
  unsigned type = 0;
  std::int64_t size = 0, header_offset = 0;
  bool plain = true;  ///< neither sparse nor a link
  Bytes body;         ///< a view into the archive, or of no address if empty
};

class Reader {
 public:
  explicit Reader(Bytes tar) : reader_(archive_read_new()) {
    if (!reader_ || archive_read_support_format_tar(reader_.get()) != ARCHIVE_OK) {
      throw std::runtime_error("libarchive cannot be set up");
    }
    // Opening judges the first header.
    const int code = archive_read_open_memory(reader_.get(), tar.data(), tar.size());
    if (code != ARCHIVE_OK) complain("open", code);
  }

  /// The next entry, or nothing at the end. RETRY and WARN, which it returns for damage it worked
  /// around, are complaints.
  std::optional<Entry> next() {
    if (!complaint_.empty()) return std::nullopt;
    archive_entry* seen = nullptr;
    const int code = archive_read_next_header(reader_.get(), &seen);
    if (code == ARCHIVE_EOF) return std::nullopt;
    if (code != ARCHIVE_OK) {
      complain("header", code);
      return std::nullopt;
    }
    const char* name = archive_entry_pathname(seen);
    Entry entry{name != nullptr ? name : "(no name)",
                archive_entry_filetype(seen),
                archive_entry_size(seen),
                archive_read_header_position(reader_.get()),
                archive_entry_sparse_count(seen) == 0 && archive_entry_hardlink(seen) == nullptr &&
                    archive_entry_symlink(seen) == nullptr,
                {}};
    if (entry.size != 0) read_body(entry);
    return entry;
  }

  const std::string& complaint() const { return complaint_; }

 private:
  /// libarchive over one memory block hands out pointers into that block.
  void read_body(Entry& entry) {
    const void* block = nullptr;
    std::size_t size = 0;
    std::int64_t position = 0;
    const int code = archive_read_data_block(reader_.get(), &block, &size, &position);
    if (code != ARCHIVE_OK) return complain("body", code);
    if (position != 0) complaint_ = fmt::format("its first piece is at {}", position);
    entry.body = {static_cast<const std::uint8_t*>(block), size};
  }

  void complain(const char* what, int code) {
    const char* text = archive_error_string(reader_.get());
    complaint_ = fmt::format("{}: {} ({})", what, text != nullptr ? text : "no reason given", code);
  }

  std::unique_ptr<archive, ReaderFree> reader_;
  std::string complaint_;
};

std::string difference(const TarEntry& ours, const Entry& theirs, Bytes tar) {
  const unsigned type = ours.directory ? AE_IFDIR : AE_IFREG;
  const Bytes body = tar.subspan(ours.data_offset, ours.size);
  if (ours.name != theirs.name) return fmt::format("the name is '{}'", theirs.name);
  if (static_cast<std::int64_t>(ours.size) != theirs.size) {
    return fmt::format("{} bytes instead of {}", theirs.size, ours.size);
  }
  if (static_cast<std::int64_t>(ours.header_offset) != theirs.header_offset) {
    return fmt::format("at {} instead of {}", theirs.header_offset, ours.header_offset);
  }
  if (type != theirs.type || !theirs.plain) return fmt::format("type {:o}", theirs.type);
  if (!body.empty() && (body.data() != theirs.body.data() || body.size() != theirs.body.size())) {
    return fmt::format("{} bytes in a piece elsewhere", theirs.body.size());
  }
  return {};
}

/// Entry by entry, then the end. Appends what is a member.
std::string compare_entries(Bytes tar, const ContainerLimits& limits, std::vector<Member>& members,
                            std::vector<std::string>& names) {
  Reader reader(tar);
  std::vector<std::string> warnings;
  for (std::uint64_t offset = 0;;) {
    const std::optional<Entry> theirs = reader.next();
    const std::string place = fmt::format("entry at {}: ", offset);
    if (!reader.complaint().empty()) return place + reader.complaint();
    const auto at_end = tar_ends_at(tar, offset, warnings);
    if (!at_end || *at_end != !theirs) return place + "only one of the readers sees an entry";
    if (*at_end) return {};
    const auto ours = read_tar_entry(tar, offset, limits);
    if (!ours) return place + "the walk took what the header reader refuses";
    if (auto text = difference(*ours, *theirs, tar); !text.empty()) return place + text;
    offset = ours->next_offset;
    std::string name = theirs->name.starts_with("./") ? theirs->name.substr(2) : theirs->name;
    if (ours->directory || name.ends_with(dropped_suffix)) continue;
    names.push_back(std::move(name));
    members.push_back({{}, theirs->body});
  }
}

}  // namespace

std::optional<std::string> dispute(Bytes tar, const ContainerLimits& limits) {
  const Utf8Locale locale;
  ContainerFacts facts;
  const auto walked = walk_archive(tar, limits, facts);
  if (!walked) return std::nullopt;
  std::vector<Member> members;
  std::vector<std::string> names;
  if (auto text = compare_entries(tar, limits, members, names); !text.empty()) return text;
  for (std::size_t i = 0; i < names.size(); ++i) members[i].name = names[i];
  std::ranges::sort(members, {}, &Member::name);
  const bool same =
      std::ranges::equal(members, walked->members, [](const Member& theirs, const Member& ours) {
        return theirs.name == ours.name && theirs.bytes.size() == ours.bytes.size() &&
               (ours.bytes.empty() || theirs.bytes.data() == ours.bytes.data());
      });
  if (!same) return "the list of members";
  return std::nullopt;
}

}  // namespace neffld::test
