// SPDX-License-Identifier: MIT
// What disasm, explain, diff and check read: an image file, and the layout in it.
#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "inspect/image_notes.hpp"
#include "neffld/auto_bind.hpp"
#include "neffld/container.hpp"
#include "neffld/explain.hpp"
#include "neffld/image_diff.hpp"
#include "scratch_file.hpp"
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr ImageLimits limits = {
    .inflated_bytes = 1ull << 30, .resident_bytes = 32 << 20, .note_bytes = 8 << 20};

/// A loaded and bound sample: its image as a file, and what is in it.
struct Good {
  std::vector<std::uint8_t> bytes;
  std::unique_ptr<ScratchFile> file;
  std::unique_ptr<DeviceImage> image;
};

Good make_good(const char* name) {
  const ScratchFolder folder;
  auto device = SimDevice::create({});
  auto session = Session::open(std::move(*(*device)->open()));
  auto parsed = parse_model(sample_file(name, Compression::stored), Arch::any);
  auto model = (*session)->load(std::move(*parsed));
  if (!model) broken("a sample loads", to_sentence(model.error()));
  auto io = free_io_addresses(**session, **model);
  if (!io || !(*session)->bind(**model, *io)) broken("a sample can be bound", name);
  const auto written = write_core_image(**session, folder / "image", false);
  if (!written) broken("an image can be written", to_sentence(written.error()));
  Good good;
  good.bytes = std::move(*read_file(folder / "image"));
  good.file = std::make_unique<ScratchFile>(good.bytes);
  good.image = std::move(*DeviceImage::open(good.file->path()));
  return good;
}

const Good& good_image() {
  static const Good made = make_good("single-core-v3");
  return made;
}

void explain(const Layout& layout, const DeviceMemoryView& memory) {
  const Locator locator(layout);
  const std::size_t step = std::max<std::size_t>(layout.sections.size() / 8, 1);
  for (std::size_t i = 0; i < layout.sections.size(); i += step) {
    const Layout::Section& section = layout.sections[i];
    for (const std::uint64_t offset : {std::uint64_t{0}, section.size / 2 | 8}) {
      good(explain_address(locator, memory, section.pa + offset));
      locator.variables_at(section.pa + offset);
    }
  }
}

/// Everything the tools do with one layout, alone and beside a good one.
void use(const Layout& layout, const DeviceMemoryView& memory) {
  promise(layout_to_json(*layout_from_json(layout_to_json(layout))) == layout_to_json(layout),
          "a layout reads back as written");
  inspect(layout, memory);
  explain(layout, memory);
  const DeviceImage& other = *good_image().image;
  const DiffSide side = {layout, memory}, right = {other.layouts()[0], other};
  good(diff_models(side, right));
  good(diff_models(right, side));
  const auto self = diff_models(side, side);
  if (good(self)) promise(self->equal(), "a model equals itself");
}

void open_image(Bytes bytes) {
  const ScratchFile file(bytes);
  good(is_image_file(file.path()));
  const auto image = DeviceImage::open(file.path(), limits);
  if (!good(image)) return;
  std::uint64_t before = 0;
  for (const ImageSegment& segment : (*image)->segments()) {
    promise(segment.address >= before, "segments do not overlap");
    before = segment.address + segment.size;
  }
  for (const Layout& layout : (*image)->layouts()) use(layout, **image);
}

/// Changes to the good image: four bytes of offset, one of length, and so many bytes.
std::vector<std::uint8_t> patched(Bytes patches) {
  std::vector<std::uint8_t> bytes = good_image().bytes;
  while (patches.size() > 5) {
    const std::size_t at = load_le<std::uint32_t>(patches, 0) % bytes.size();
    const std::size_t length =
        std::min({std::size_t{patches[4]} + 1, patches.size() - 5, bytes.size() - at});
    std::memcpy(bytes.data() + at, patches.data() + 5, length);
    patches = patches.subspan(5 + length);
  }
  return bytes;
}

std::vector<std::uint8_t> compressed(Bytes bytes) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

void run_image(Bytes input) {
  if (input.empty()) return;
  const Bytes rest = input.subspan(1);
  switch (input[0] % 3) {
    case 0:
      return open_image(rest);
    case 1:
      return open_image(patched(rest));
    default:
      return open_image(compressed(rest));
  }
}

void append_patch(Input& patches, std::uint32_t at, Bytes bytes) {
  patches.resize(patches.size() + 5);
  store_le(MutableBytes(patches).last(5), 0, at);
  patches.back() = static_cast<std::uint8_t>(bytes.size() - 1);
  patches.insert(patches.end(), bytes.begin(), bytes.end());
}

std::vector<Input> image_seeds() {
  const std::vector<std::uint8_t>& bytes = good_image().bytes;
  Input head = {0}, packed = {0}, empty_patch = {1};
  head.insert(head.end(), bytes.begin(), bytes.begin() + 4096);
  const auto small = compressed(bytes);
  packed.insert(packed.end(), small.begin(), small.end());
  std::vector<Input> seeds = {head, packed, empty_patch};
  head[0] = 2;
  seeds.push_back(head);
  // The heads as they are, then pieces of what they lead to: a mutation hits a field.
  Input heads = {1};
  for (std::uint32_t at = 0; at < 1024; at += 64)
    append_patch(heads, at, Bytes(bytes).subspan(at, 64));
  seeds.push_back(heads);
  for (const ImageSegment& segment : good_image().image->segments()) {
    Input patch = {1};
    const std::size_t size = std::min<std::size_t>(segment.size, 256);
    append_patch(patch, static_cast<std::uint32_t>(segment.file_offset),
                 Bytes(bytes).subspan(segment.file_offset, size));
    seeds.push_back(std::move(patch));
  }
  return seeds;
}

std::vector<std::string> image_words() {
  return {{"\x7f"
           "ELF\2\1\1",
           7},
          {"\x28\xb5\x2f\xfd", 4},
          {"\1\0\0\0\4\0\0\0", 8},
          {"\4\0\0\0", 4}};
}

/// The good image with another layout: a note behind everything else.
std::vector<std::uint8_t> with_layout(Bytes json) {
  std::vector<std::uint8_t> bytes = good_image().bytes;
  const Elf64_Nhdr note = {.n_namesz = 7,
                           .n_descsz = static_cast<std::uint32_t>(json.size()),
                           .n_type = note_type_layout};
  const std::size_t at = bytes.size(), text_at = at + sizeof note + 8;
  bytes.resize(text_at + (json.size() + 3) / 4 * 4);
  std::memcpy(bytes.data() + at, &note, sizeof note);
  std::memcpy(bytes.data() + at + sizeof note, note_owner.data(), note_owner.size());
  std::copy(json.begin(), json.end(), bytes.begin() + static_cast<std::ptrdiff_t>(text_at));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    std::uint8_t* const place = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, place, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    segment.p_offset = at;
    segment.p_filesz = bytes.size() - at;
    std::memcpy(place, &segment, sizeof segment);
  }
  return bytes;
}

void run_layout(Bytes input) {
  open_image(with_layout(input));
}

std::vector<Input> layout_seeds() {
  return {input_of(layout_to_json(good_image().image->layouts()[0]))};
}

std::vector<std::string> layout_words() {
  std::vector<std::string> all = quoted_words(layout_seeds());
  for (const char* word :
       {"18446744073709551615", "4294967295", "\"0xffffffffffffffff\"", "-1", "[]"}) {
    all.emplace_back(word);
  }
  return all;
}

}  // namespace

const Target image_reader = {"image_reader",
                             "a byte: 0 and an image file, 1 and changes to a good one, 2 and an "
                             "image file to be compressed",
                             64 << 10,
                             run_image,
                             image_seeds,
                             image_words};
const Target image_layout = {"image_layout", "the layout note of a good image",
                             32 << 10,       run_layout,
                             layout_seeds,   layout_words};

}  // namespace neffld::fuzz
