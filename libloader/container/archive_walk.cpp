// SPDX-License-Identifier: MIT
#include "archive_walk.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <cerrno>

#include "member_name.hpp"
#include "tar_header.hpp"

namespace neffld {
namespace {

/// Members the original loader drops by this suffix (spec 01 section 5.3): pre-lowering data.
constexpr std::string_view dropped_suffix = "wavegraph-bin.json";

struct ArchiveFree {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using ArchiveReader = std::unique_ptr<archive, ArchiveFree>;

/// libarchive converts names through the locale of the thread; UTF-8 leaves them as they are
/// whatever the program chose.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
    if (utf8 != locale_t{}) previous_ = uselocale(utf8);
  }
  ~Utf8Locale() {
    if (previous_ != locale_t{}) uselocale(previous_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t previous_ = {};
};

Where at(const TarEntry& entry) {
  return Where{printable_name(entry.name), "tar header", std::nullopt, entry.header_offset};
}

tl::unexpected<Error> library_error(archive* reader, Where where, const char* what) {
  const char* text = archive_error_string(reader);
  auto sentence = fmt::format("{} {}", what, text != nullptr ? text : "(no reason given)");
  if (archive_errno(reader) == ENOMEM) {
    return fail(Status::resource, ErrorClass::resource, std::move(where), std::move(sentence));
  }
  return invalid(std::move(where), std::move(sentence));
}

/// Reads a tar in memory: only the tar format, no filters, so nothing else can be sniffed.
Result<ArchiveReader> open_tar(Bytes tar) {
  ArchiveReader reader(archive_read_new());
  if (!reader) {
    return fail(Status::resource, ErrorClass::resource, {}, "host memory is exhausted");
  }
  if (archive_read_support_format_tar(reader.get()) != ARCHIVE_OK ||
      archive_read_open_memory(reader.get(), tar.data(), tar.size()) != ARCHIVE_OK) {
    return library_error(reader.get(), {}, "Failed to open NEFF");
  }
  return reader;
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
    NEFFLD_TRY(expect_end());
    if (entries != 0) facts_.tar_dialect = tar_variant_name(variant);
    NEFFLD_TRY(sort_and_check());
    return std::move(table_);
  }

 private:
  tl::unexpected<Error> too_many(const TarEntry& entry) const {
    return fail(Status::resource, ErrorClass::resource, at(entry),
                fmt::format("the archive has more than {} entries, the limit", limits_.members));
  }

  /// libarchive's next header. It is opened only when the first header has passed the strict
  /// reading: opening already judges that header, and only says "unrecognized".
  Result<int> next_header(archive_entry*& seen) {
    if (!reader_) {
      NEFFLD_ASSIGN(reader_, open_tar(tar_));
    }
    return archive_read_next_header(reader_.get(), &seen);
  }

  /// Lets libarchive read the same entry and insists on agreement: RETRY and WARN, which it
  /// returns for damage it worked around, are failures.
  Result<void> read_header(const TarEntry& entry) {
    archive_entry* seen = nullptr;
    NEFFLD_ASSIGN(const int code, next_header(seen));
    if (code != ARCHIVE_OK) {
      return library_error(reader_.get(), at(entry), "failure while reading NEFF metadata:");
    }
    const char* name = archive_entry_pathname(seen);
    const auto type = archive_entry_filetype(seen);
    const bool agrees = archive_read_header_position(reader_.get()) ==
                            static_cast<std::int64_t>(entry.header_offset) &&
                        name != nullptr && entry.name == name &&
                        archive_entry_size(seen) == static_cast<std::int64_t>(entry.size) &&
                        archive_entry_sparse_count(seen) == 0 &&
                        archive_entry_hardlink(seen) == nullptr &&
                        type == (entry.directory ? AE_IFDIR : AE_IFREG);
    if (agrees) return {};
    return invalid(at(entry),
                   fmt::format("failure while reading NEFF metadata: ambiguous tar header, a "
                               "second reading gives '{}' of {} bytes, type {:o}",
                               printable_name(name != nullptr ? name : ""),
                               archive_entry_size(seen), unsigned{type}));
  }

  /// The body as one view. libarchive over one memory block hands out pointers into that block.
  Result<Bytes> body(const TarEntry& entry) {
    const Bytes expected = tar_.subspan(entry.data_offset, entry.size);
    if (expected.empty()) return expected;
    const void* block = nullptr;
    std::size_t size = 0;
    std::int64_t position = 0;
    if (archive_read_data_block(reader_.get(), &block, &size, &position) != ARCHIVE_OK) {
      return library_error(reader_.get(), at(entry),
                           "(open NEFF) failure while reading the member:");
    }
    if (block != expected.data() || size != expected.size() || position != 0) {
      return invalid(at(entry),
                     "(open NEFF) the member's bytes do not lie in one piece behind its "
                     "header");
    }
    return expected;
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
    NEFFLD_TRY(read_header(entry));
    if (entry.directory) return {};
    if (name.ends_with(dropped_suffix)) {
      ++facts_.skipped_members;
      return {};
    }
    NEFFLD_ASSIGN(const Bytes bytes, body(entry));
    table_.names.emplace_back(name);
    table_.members.push_back(Member{table_.names.back(), bytes});
    return {};
  }

  Result<void> expect_end() {
    archive_entry* seen = nullptr;
    NEFFLD_ASSIGN(const int code, next_header(seen));
    if (code == ARCHIVE_EOF) return {};
    return library_error(reader_.get(), Where{"", "tar end", std::nullopt, std::nullopt},
                         "failure while reading NEFF metadata:");
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
  ArchiveReader reader_;
  const ContainerLimits& limits_;
  ContainerFacts& facts_;
  MemberTable table_;
};

}  // namespace

Result<MemberTable> walk_archive(Bytes tar, const ContainerLimits& limits, ContainerFacts& facts) {
  if (tar.empty()) return invalid({}, "Failed to open NEFF: the archive is empty, 0 bytes");
  const Utf8Locale locale;
  return Walk(tar, limits, facts).run();
}

}  // namespace neffld
