// SPDX-License-Identifier: MIT
// Writes device images.

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "container/new_file.hpp"
#include "image_notes.hpp"
#include "neffld/device_image.hpp"
#include "neffld/session.hpp"

namespace neffld {
namespace {

constexpr std::size_t piece_bytes = 4u << 20;
constexpr int zstd_level = 3;

/// A file that bytes are appended to, optionally through a zstd stream.
class ImageFile {
 public:
  static Result<ImageFile> create(const std::string& path, bool compress) {
    NEFFLD_ASSIGN(NewFile file, NewFile::create(path));
    ImageFile image(std::move(file));
    if (!compress) return image;
    image.stream_.reset(ZSTD_createCStream());
    if (!image.stream_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(image.stream_.get(), ZSTD_c_compressionLevel, zstd_level);
    image.compressed_.resize(ZSTD_CStreamOutSize());
    return image;
  }

  Result<void> append(Bytes bytes) {
    return stream_ ? compress(bytes, ZSTD_e_continue) : write(bytes);
  }

  Result<void> finish() {
    if (stream_) NEFFLD_TRY(compress({}, ZSTD_e_end));
    if (ftruncate(file_.descriptor(), static_cast<off_t>(size_)) != 0) return write_error();
    return file_.finish();
  }

 private:
  explicit ImageFile(NewFile file) : file_(std::move(file)) {}

  tl::unexpected<Error> write_error() const {
    return file_error(file_.path(), "cannot be written", errno);
  }

  /// Zeros become holes: an untouched scratchpad page costs no disk.
  Result<void> write(Bytes bytes) {
    const bool zeros = !bytes.empty() && bytes[0] == 0 &&
                       std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
    size_ += bytes.size();
    if (zeros && !stream_) {
      if (lseek(file_.descriptor(), static_cast<off_t>(size_), SEEK_SET) < 0) return write_error();
      return {};
    }
    return file_.append(bytes);
  }

  Result<void> compress(Bytes bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{compressed_.data(), compressed_.size(), 0};
      const std::size_t rest = ZSTD_compressStream2(stream_.get(), &out, &in, directive);
      if (ZSTD_getErrorCode(rest) == ZSTD_error_memory_allocation) return host_shortage();
      if (ZSTD_isError(rest)) {
        return fail(Status::failure, ErrorClass::file, {.member = file_.path()},
                    fmt::format("zstd: {}", ZSTD_getErrorName(rest)));
      }
      NEFFLD_TRY(write(Bytes(compressed_).first(out.pos)));
      const bool done = directive == ZSTD_e_end ? rest == 0 : in.pos == in.size;
      if (done) return {};
    }
  }

  struct Close {
    void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
  };
  NewFile file_;
  std::unique_ptr<ZSTD_CStream, Close> stream_;
  std::vector<std::uint8_t> compressed_;
  std::uint64_t size_ = 0;
};

template <class T>
void append_struct(std::vector<std::uint8_t>& bytes, const T& value) {
  const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

void pad_to(std::vector<std::uint8_t>& bytes, std::size_t multiple) {
  bytes.resize((bytes.size() + multiple - 1) / multiple * multiple);
}

void append_note(std::vector<std::uint8_t>& notes, std::uint32_t type, std::string_view text) {
  Elf64_Nhdr header{};
  header.n_namesz = note_owner.size() + 1;
  header.n_descsz = static_cast<Elf64_Word>(text.size());
  header.n_type = type;
  append_struct(notes, header);
  notes.insert(notes.end(), note_owner.begin(), note_owner.end());
  notes.push_back(0);
  pad_to(notes, 4);
  notes.insert(notes.end(), text.begin(), text.end());
  pad_to(notes, 4);
}

/// One note of each type a model, in loading order.
Result<std::vector<std::uint8_t>> model_notes(const Session& session) {
  std::vector<std::uint8_t> notes;
  for (const auto& model : session.models()) {
    NEFFLD_ASSIGN(const Layout layout, layout_of(*model));
    const std::string text = layout_to_json(layout);
    if (text.size() > std::numeric_limits<Elf64_Word>::max()) {
      return fail(Status::resource, ErrorClass::resource, {},
                  fmt::format("the layout has {} bytes, a note holds at most 4 GiB", text.size()));
    }
    append_note(notes, note_type_model, model_json(layout));
    append_note(notes, note_type_layout, text);
  }
  return notes;
}

std::vector<const AllocationInfo*> live_allocations(const Session& session) {
  std::vector<const AllocationInfo*> all;
  for (const auto& model : session.models()) {
    for (const AllocationInfo& info : model->allocations) all.push_back(&info);
  }
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->seq < b->seq; });
  return all;
}

/// File header, program headers and notes.
Result<std::vector<std::uint8_t>> head_of(const Session& session,
                                          const std::vector<const AllocationInfo*>& allocations) {
  const std::size_t headers = allocations.size() + 1;
  if (headers >= PN_XNUM) {
    return fail(Status::resource, ErrorClass::resource, {},
                fmt::format("{} allocations do not fit an ELF core file, expected fewer than {}",
                            allocations.size(), PN_XNUM - 1));
  }
  NEFFLD_ASSIGN(const std::vector<std::uint8_t> notes, model_notes(session));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_CORE;
  header.e_machine = EM_NONE;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(headers);
  std::vector<std::uint8_t> head;
  append_struct(head, header);

  std::uint64_t offset = sizeof header + headers * sizeof(Elf64_Phdr);
  Elf64_Phdr note{};
  note.p_type = PT_NOTE;
  note.p_offset = offset;
  note.p_filesz = notes.size();
  note.p_align = 4;
  append_struct(head, note);
  offset += notes.size();
  for (const AllocationInfo* info : allocations) {
    Elf64_Phdr load{};
    load.p_type = PT_LOAD;
    load.p_flags = PF_R | PF_W;
    load.p_offset = offset;
    load.p_paddr = info->pa;
    load.p_filesz = load.p_memsz = info->size;
    append_struct(head, load);
    offset += info->size;
  }
  head.insert(head.end(), notes.begin(), notes.end());
  return head;
}

}  // namespace

Result<void> write_core_image(Session& session, const std::string& path, bool compress) {
  const std::vector<const AllocationInfo*> allocations = live_allocations(session);
  NEFFLD_ASSIGN(const std::vector<std::uint8_t> head, head_of(session, allocations));
  NEFFLD_ASSIGN(ImageFile file, ImageFile::create(path, compress));
  NEFFLD_TRY(file.append(head));
  std::vector<std::uint8_t> piece;
  for (const AllocationInfo* info : allocations) {
    for (std::uint64_t done = 0; done < info->size; done += piece.size()) {
      piece.resize(std::min<std::uint64_t>(piece_bytes, info->size - done));
      NEFFLD_TRY(session.read(info->handle, done, piece));
      NEFFLD_TRY(file.append(piece));
    }
  }
  return file.finish();
}

}  // namespace neffld
