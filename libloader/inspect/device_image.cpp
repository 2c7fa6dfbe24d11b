// SPDX-License-Identifier: MIT
// Reads device images; nothing in the file is believed before it is checked.
#include "neffld/device_image.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "image_notes.hpp"
#include "image_source.hpp"
#include "neffld/disassembler.hpp"
#include "neffld/text.hpp"
#include "neuron_abi/udma.h"

namespace neffld {

struct DeviceImage::State {
  std::string path;
  std::unique_ptr<ImageSource> source;
  std::vector<ImageSegment> segments;
  std::vector<Layout> layouts;
  std::uint64_t note_bytes = 0;  ///< of all notes so far

  tl::unexpected<Error> bad(const char* field, std::string finding) const {
    return invalid({.member = path, .path = field}, std::move(finding));
  }
  /// Reads a struct; error when it leaves the file.
  template <class T>
  Result<T> read_struct(std::uint64_t offset, const char* field) const {
    T value{};
    if (source->size() < sizeof value || offset > source->size() - sizeof value) {
      return bad(field,
                 fmt::format("lies at offset {}, the image has {} bytes", offset, source->size()));
    }
    NEFFLD_TRY(source->read(offset, {reinterpret_cast<std::uint8_t*>(&value), sizeof value}));
    return value;
  }

  Result<void> open(const ImageLimits& limits);
  /// The segment that holds all of these bytes, or null; the segments must be sorted.
  const ImageSegment* segment_with(std::uint64_t address, std::uint64_t size) const;
  Result<void> check_sections() const;
  Result<void> check_programs(const ImageLimits& limits) const;
  Result<void> add_segment(const Elf64_Phdr& header);
  Result<void> sort_segments();
  Result<void> read_notes(const Elf64_Phdr& header, const ImageLimits& limits);
};

namespace {

Result<void> check_header(const Elf64_Ehdr& header, const std::string& path) {
  const Where where{.member = path, .path = "ELF header"};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return invalid(where, "is no device image, expected an ELF file or a zstd frame of one");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_CORE || header.e_machine != EM_NONE) {
    return invalid(where,
                   "is another kind of ELF file, expected a 64-bit little-endian core "
                   "without a machine, as `neffld dump` writes it");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr)) {
    return invalid(where, fmt::format("program headers have {} bytes, expected {}",
                                      header.e_phentsize, sizeof(Elf64_Phdr)));
  }
  return {};
}

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

}  // namespace

Result<void> DeviceImage::State::add_segment(const Elf64_Phdr& header) {
  if (header.p_offset > source->size() || header.p_filesz > source->size() - header.p_offset) {
    return bad("PT_LOAD", fmt::format("offset {} and size {} leave the image of {} bytes",
                                      header.p_offset, header.p_filesz, source->size()));
  }
  if (header.p_memsz != header.p_filesz || header.p_filesz > ~header.p_paddr) {
    return bad("PT_LOAD", fmt::format("address 0x{:x} with file size {} and memory size {}, "
                                      "expected equal sizes inside the address space",
                                      header.p_paddr, header.p_filesz, header.p_memsz));
  }
  if (header.p_filesz != 0) segments.push_back({header.p_paddr, header.p_filesz, header.p_offset});
  return {};
}

Result<void> DeviceImage::State::sort_segments() {
  std::sort(segments.begin(), segments.end(),
            [](const ImageSegment& a, const ImageSegment& b) { return a.address < b.address; });
  for (std::size_t i = 1; i < segments.size(); ++i) {
    if (segments[i].address - segments[i - 1].address < segments[i - 1].size) {
      return bad("PT_LOAD", fmt::format("segments at 0x{:x} and 0x{:x} overlap",
                                        segments[i - 1].address, segments[i].address));
    }
  }
  return {};
}

const ImageSegment* DeviceImage::State::segment_with(std::uint64_t address,
                                                     std::uint64_t size) const {
  const auto after =
      std::upper_bound(segments.begin(), segments.end(), address,
                       [](std::uint64_t a, const ImageSegment& s) { return a < s.address; });
  if (after == segments.begin()) return nullptr;
  const ImageSegment& segment = *std::prev(after);
  const std::uint64_t offset = address - segment.address;
  return offset <= segment.size && size <= segment.size - offset ? &segment : nullptr;
}

/// A layout's sizes become buffers, so its sections must be there.
Result<void> DeviceImage::State::check_sections() const {
  for (const Layout& layout : layouts) {
    for (const Layout::Section& section : layout.sections) {
      if (segment_with(section.pa, section.size) != nullptr) continue;
      return bad("layout", fmt::format("{} has {} bytes at 0x{:x}, which no PT_LOAD holds",
                                       one_line(section.owner), section.size, section.pa));
    }
  }
  return {};
}

/// Tools copy instruction images and rings whole. A compressed image holds any number of zeros in a
/// few bytes, so that a section is there says nothing about memory.
Result<void> DeviceImage::State::check_programs(const ImageLimits& limits) const {
  for (const Layout& layout : layouts) {
    std::uint64_t bytes = 0;
    for (const Layout::Subgraph& subgraph : layout.subgraphs) {
      for (const Layout::Stream& stream : subgraph.streams) {
        bytes += std::uint64_t{stream.slots_out} * instruction_bytes;
      }
      for (const Layout::Ring& ring : subgraph.rings) {
        bytes += std::uint64_t{ring.used} * 2 * NEURON_UDMA_DESC_SIZE;
      }
    }
    if (bytes <= limits.resident_bytes) continue;
    return fail(Status::resource, ErrorClass::resource, {.member = path, .path = "layout"},
                fmt::format("instructions and descriptors have {} bytes, the limit is {}", bytes,
                            limits.resident_bytes));
  }
  return {};
}

Result<void> DeviceImage::State::read_notes(const Elf64_Phdr& segment, const ImageLimits& limits) {
  if (segment.p_offset > source->size() || segment.p_filesz > source->size() - segment.p_offset ||
      segment.p_filesz > limits.note_bytes - note_bytes) {
    return bad("PT_NOTE",
               fmt::format("offset {} and size {} leave the image of {} bytes or the "
                           "limit of {}",
                           segment.p_offset, segment.p_filesz, source->size(), limits.note_bytes));
  }
  note_bytes += segment.p_filesz;
  const std::uint64_t end = segment.p_offset + segment.p_filesz;
  for (std::uint64_t at = segment.p_offset; at < end;) {
    NEFFLD_ASSIGN(const auto note, read_struct<Elf64_Nhdr>(at, "PT_NOTE"));
    const std::uint64_t name_at = at + sizeof note;
    const std::uint64_t text_at = name_at + padded(note.n_namesz);
    const std::uint64_t next = text_at + padded(note.n_descsz);
    if (next > end) return bad("PT_NOTE", fmt::format("the note at offset {} is cut off", at));
    at = next;
    std::string name(note.n_namesz, '\0');
    NEFFLD_TRY(source->read(name_at, {reinterpret_cast<std::uint8_t*>(name.data()), name.size()}));
    if (!name.empty() && name.back() == '\0') name.pop_back();
    if (name != note_owner || note.n_type != note_type_layout) continue;
    std::string text(note.n_descsz, '\0');
    NEFFLD_TRY(source->read(text_at, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
    auto layout = layout_from_json(text);
    if (!layout) {
      layout.error().where.member = path + ": " + layout.error().where.member;
      return tl::unexpected<Error>(std::move(layout.error()));
    }
    layouts.push_back(std::move(*layout));
  }
  return {};
}

Result<void> DeviceImage::State::open(const ImageLimits& limits) {
  NEFFLD_ASSIGN(source, open_image_source(path, limits));
  NEFFLD_ASSIGN(const auto header, read_struct<Elf64_Ehdr>(0, "ELF header"));
  NEFFLD_TRY(check_header(header, path));
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const std::uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (at < header.e_phoff) return bad("e_phoff", "program headers lie behind 2^64");
    NEFFLD_ASSIGN(const auto segment, read_struct<Elf64_Phdr>(at, "program header"));
    if (segment.p_type == PT_LOAD) NEFFLD_TRY(add_segment(segment));
    if (segment.p_type == PT_NOTE) NEFFLD_TRY(read_notes(segment, limits));
  }
  NEFFLD_TRY(sort_segments());
  NEFFLD_TRY(check_sections());
  return check_programs(limits);
}

DeviceImage::DeviceImage(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceImage::~DeviceImage() = default;

Result<std::unique_ptr<DeviceImage>> DeviceImage::open(const std::string& path,
                                                       const ImageLimits& limits) {
  return guarded([&]() -> Result<std::unique_ptr<DeviceImage>> {
    auto state = std::make_unique<State>();
    state->path = path;
    NEFFLD_TRY(state->open(limits));
    return std::make_unique<DeviceImage>(std::move(state));
  });
}

const std::vector<ImageSegment>& DeviceImage::segments() const {
  return state_->segments;
}
const std::vector<Layout>& DeviceImage::layouts() const {
  return state_->layouts;
}

Result<void> DeviceImage::read(std::uint64_t address, MutableBytes out) const {
  if (const ImageSegment* segment = state_->segment_with(address, out.size())) {
    return state_->source->read(segment->file_offset + (address - segment->address), out);
  }
  return fail(Status::invalid, ErrorClass::format, {.member = state_->path},
              fmt::format("holds no {} bytes at 0x{:x}", out.size(), address));
}

}  // namespace neffld
