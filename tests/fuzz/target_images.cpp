// SPDX-License-Identifier: MIT
// What disasm, explain, diff and check read: an image file, and the layout in it.
#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "inspect/image_notes.hpp"
#include "neffld/auto_bind.hpp"
#include "neffld/container.hpp"
#include "neffld/explain.hpp"
#include "neffld/image_diff.hpp"
#include "scratch_file.hpp"
#include "scratch_folder.hpp"
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr ImageLimits limits = {
    .inflated_bytes = 1ull << 30, .resident_bytes = 32 << 20, .note_bytes = 8 << 20};

/// Samples of both architectures and of every kind of section, whose layouts are short enough. The
/// first one's image is what image_reader changes.
constexpr std::array samples = {
    "single-core-v3",  "vecadd-v2",      "library-v2",   "act-sets-v3",  "cast-v3",
    "control-flow-v2", "remote-lnc2-v3", "deep-sync-v2", "conv-like-v2", "dge-lnc2-v3",
    "pointers-v3",     "rearm-v2",       "placement-v2", "transpose-v3", "scratchpad-lnc2-v3"};

/// A segment that is larger holds zeros: a scratchpad page.
constexpr std::uint64_t most_segment_bytes = 1 << 20;

/// A loaded and bound sample: its image, and what every copy of it is made of.
struct Good {
  std::vector<std::uint8_t> head;  ///< ahead of all segments
  std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> segments;  ///< by file offset
  std::uint64_t size = 0;                                                     ///< of the file
  std::unique_ptr<ScratchFile> file;
  std::unique_ptr<DeviceImage> image;

  void put_into(ScratchFile& copy) const {
    copy.put(0, head);
    for (const auto& [offset, bytes] : segments) copy.put(offset, bytes);
    if (size > 0) copy.put(size - 1, Bytes(std::array<std::uint8_t, 1>{}));
  }
};

std::vector<std::uint8_t> bytes_of(std::ifstream& file, std::uint64_t offset, std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  promise(static_cast<bool>(file), "an image can be read");
  return bytes;
}

/// The image in `path` without the pages it consists of mostly.
void take(Good& good, const std::string& path) {
  const auto whole = DeviceImage::open(path);
  if (!whole) broken("an image can be opened", to_sentence(whole.error()));
  std::ifstream file(path, std::ios::binary);
  good.size = std::filesystem::file_size(path);
  std::uint64_t first = good.size;
  for (const ImageSegment& segment : (*whole)->segments()) {
    first = std::min(first, segment.file_offset);
    if (segment.size > most_segment_bytes) continue;
    good.segments.emplace_back(segment.file_offset,
                               bytes_of(file, segment.file_offset, segment.size));
  }
  good.head = bytes_of(file, 0, first);
}

Good make_good(const char* name) {
  const test::ScratchFolder folder;
  const std::uint32_t architecture = std::string_view(name).ends_with("v2") ? 2 : 3;
  auto device = SimDevice::create({.architecture = architecture});
  auto session = Session::open(std::move(*(*device)->open()));
  auto parsed = parse_model(sample_file(name, Compression::stored), Arch::any);
  auto model = (*session)->load(std::move(*parsed));
  if (!model) broken("a sample loads", to_sentence(model.error()));
  auto io = free_io_addresses(**session, **model);
  if (!io || !(*session)->bind(**model, *io)) broken("a sample can be bound", name);
  const auto written = write_core_image(**session, folder.path("image"), false);
  if (!written) broken("an image can be written", to_sentence(written.error()));
  Good good;
  take(good, folder.path("image"));
  good.file = std::make_unique<ScratchFile>();
  good.put_into(*good.file);
  good.image = std::move(*DeviceImage::open(good.file->path()));
  return good;
}

/// Each is made when it is first asked for.
const Good& good_image(std::size_t number = 0) {
  static std::array<std::optional<Good>, samples.size()> made;
  std::optional<Good>& good = made[number];
  if (!good) good = make_good(samples[number]);
  return *good;
}

const std::vector<std::uint8_t>& good_bytes() {
  static const std::vector<std::uint8_t> bytes = std::move(*read_file(good_image().file->path()));
  return bytes;
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
void use(const Layout& layout, const DeviceMemoryView& memory, const DeviceImage& other) {
  promise(layout_to_json(*layout_from_json(layout_to_json(layout))) == layout_to_json(layout),
          "a layout reads back as written");
  inspect(layout, memory);
  explain(layout, memory);
  const DiffSide side = {layout, memory}, right = {other.layouts()[0], other};
  // Not the other way round as well: a comparison is most of the second an input may take.
  good(diff_models(side, right));
  const auto self = diff_models(side, side);
  if (good(self)) promise(self->equal(), "a model equals itself");
}

void open_image(const ScratchFile& file, const DeviceImage& other) {
  good(is_image_file(file.path()));
  const auto image = DeviceImage::open(file.path(), limits);
  if (!good(image)) return;
  std::uint64_t before = 0;
  for (const ImageSegment& segment : (*image)->segments()) {
    promise(segment.address >= before, "segments do not overlap");
    before = segment.address + segment.size;
  }
  for (const Layout& layout : (*image)->layouts()) use(layout, **image, other);
}

void open_image(Bytes bytes) {
  open_image(ScratchFile(bytes), *good_image().image);
}

/// Changes to the good image: four bytes of offset, one of length, and so many bytes.
std::vector<std::uint8_t> patched(Bytes patches) {
  std::vector<std::uint8_t> bytes = good_bytes();
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
  const std::vector<std::uint8_t>& bytes = good_bytes();
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

/// A note with a layout, as it lies in an image.
std::vector<std::uint8_t> layout_note(Bytes json) {
  const Elf64_Nhdr header = {.n_namesz = 7,
                             .n_descsz = static_cast<std::uint32_t>(json.size()),
                             .n_type = note_type_layout};
  const std::size_t text_at = sizeof header + 8;
  std::vector<std::uint8_t> note(text_at + (json.size() + 3) / 4 * 4);
  std::memcpy(note.data(), &header, sizeof header);
  std::memcpy(note.data() + sizeof header, note_owner.data(), note_owner.size());
  std::copy(json.begin(), json.end(), note.begin() + static_cast<std::ptrdiff_t>(text_at));
  return note;
}

/// The head of a good image whose notes are so many bytes behind everything else.
std::vector<std::uint8_t> head_for(const Good& good, std::size_t note_bytes) {
  std::vector<std::uint8_t> head = good.head;
  Elf64_Ehdr header;
  std::memcpy(&header, head.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    std::uint8_t* const place = head.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, place, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    segment.p_offset = good.size;
    segment.p_filesz = note_bytes;
    std::memcpy(place, &segment, sizeof segment);
  }
  return head;
}

void run_layout(Bytes input) {
  if (input.empty()) return;
  const Good& shell = good_image(input[0] % samples.size());
  const std::vector<std::uint8_t> note = layout_note(input.subspan(1));
  ScratchFile file;
  shell.put_into(file);
  file.put(0, head_for(shell, note.size()));
  file.put(shell.size, note);
  open_image(file, *shell.image);
}

std::vector<Input> layout_seeds() {
  std::vector<Input> seeds;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Input seed = {static_cast<std::uint8_t>(i)};
    const Input text = input_of(layout_to_json(good_image(i).image->layouts()[0]));
    seed.insert(seed.end(), text.begin(), text.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
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
const Target image_layout = {
    "image_layout", "a byte that chooses a good image, and its layout note",
    32 << 10,       run_layout,
    layout_seeds,   layout_words};

}  // namespace neffld::fuzz
