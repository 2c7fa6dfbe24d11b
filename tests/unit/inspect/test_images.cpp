// SPDX-License-Identifier: MIT
// Images come back as they were written; broken ones are refused with a sentence.
#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "neffld/container.hpp"
#include "scratch_folder.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

/// A small valid image as bytes: single-core sample, scratchpad-free.
const std::vector<std::uint8_t>& good_image() {
  static const std::vector<std::uint8_t> bytes = [] {
    const Staged staged("single-core-v3");
    const ScratchFolder folder;
    REQUIRE(write_core_image(*staged.bench.session, folder.path("image"), false));
    auto read = read_file(folder.path("image"));
    REQUIRE(read);
    return std::move(*read);
  }();
  return bytes;
}

Result<std::unique_ptr<DeviceImage>> open_bytes(Bytes bytes, const ImageLimits& limits = {}) {
  const ScratchFolder folder;
  const std::string path = folder.path("image");
  REQUIRE(write_file(path, bytes));
  return DeviceImage::open(path, limits);
}

Elf64_Phdr& program_header(std::vector<std::uint8_t>& bytes, std::size_t i) {
  return *reinterpret_cast<Elf64_Phdr*>(bytes.data() + sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Phdr));
}

void check_bad(Bytes bytes, const char* text) {
  const auto image = open_bytes(bytes);
  INFO(text);
  REQUIRE_FALSE(image);
  CHECK(image.error().error_class == ErrorClass::format);
  CHECK(to_sentence(image.error()).find(text) != std::string::npos);
}

std::vector<std::uint8_t> compressed(Bytes bytes) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

}  // namespace

TEST_CASE("an image holds the memory and the layout of the session, compressed or not") {
  for (const bool zstd : {false, true}) {
    for (const char* name : {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3", "pointers-v3"}) {
      INFO(name << (zstd ? " compressed" : ""));
      const Staged staged(name);
      const ScratchFolder folder;
      const std::string path = folder.path("image");
      REQUIRE(write_core_image(*staged.bench.session, path, zstd));
      const auto image = DeviceImage::open(path);
      if (!image) FAIL(to_sentence(image.error()));
      REQUIRE((*image)->layouts().size() == 1);
      CHECK(layout_to_json((*image)->layouts()[0]) == layout_to_json(staged.layout));
      for (const Layout::Section& section : staged.layout.sections) {
        if (section.size > (64u << 20)) continue;  // scratchpad pages
        CHECK(read_section(**image, section) == read_section(*staged.memory, section));
      }
      std::uint8_t byte = 0;
      CHECK_FALSE((*image)->read(1, {&byte, 1}));
      const ImageSegment& last = (*image)->segments().back();
      const auto behind = (*image)->read(last.address + last.size, {&byte, 1});
      REQUIRE_FALSE(behind);
      CHECK(behind.error().error_class == ErrorClass::format);  // a bad file, no difference
      CHECK((*image)->read(last.address + last.size - 1, {&byte, 1}));
    }
  }
}

TEST_CASE("fields of a hostile image are named") {
  const auto with = [](const std::function<void(std::vector<std::uint8_t>&)>& change) {
    std::vector<std::uint8_t> bytes = good_image();
    change(bytes);
    return bytes;
  };
  check_bad(Bytes(), "ELF header");
  check_bad(with([](auto& b) { b[0] = 'X'; }), "no device image");
  check_bad(with([](auto& b) { b[EI_CLASS] = ELFCLASS32; }), "another kind");
  check_bad(with([](auto& b) { b[16] = ET_EXEC; }), "another kind");
  check_bad(with([](auto& b) { b[54] = 1; }), "program headers");
  check_bad(with([](auto& b) { std::memset(b.data() + 32, 0xFF, 8); }), "program header");
  check_bad(with([](auto& b) { b.resize(100); }), "program header");
  check_bad(with([](auto& b) { program_header(b, 1).p_offset = ~0ull - 8; }), "PT_LOAD");
  check_bad(with([](auto& b) { program_header(b, 1).p_filesz = ~0ull; }), "PT_LOAD");
  check_bad(with([](auto& b) { program_header(b, 1).p_memsz += 1; }), "PT_LOAD");
  check_bad(with([](auto& b) { program_header(b, 1).p_paddr = ~0ull - 4; }), "PT_LOAD");
  check_bad(with([](auto& b) { program_header(b, 2).p_paddr = program_header(b, 1).p_paddr + 8; }),
            "overlap");
  check_bad(with([](auto& b) { program_header(b, 1).p_type = PT_NULL; }), "which no PT_LOAD holds");
  check_bad(with([](auto& b) { program_header(b, 0).p_filesz -= 8; }), "PT_NOTE");
  check_bad(with([](auto& b) { program_header(b, 0).p_offset = b.size(); }), "PT_NOTE");
}

TEST_CASE("a layout that contradicts itself is refused with the key") {
  const Staged staged("vecadd-v3");
  const auto check = [&](const char* text, const std::function<void(Layout&)>& change) {
    Layout layout = staged.layout;
    change(layout);
    const auto read = layout_from_json(layout_to_json(layout));
    INFO(text);
    REQUIRE_FALSE(read);
    CHECK(to_sentence(read.error()).find(text) != std::string::npos);
  };
  check("core", [](Layout& l) { l.sections[0].core = 1000; });
  check("core", [](Layout& l) { l.subgraphs[0].core = 8; });
  check("core", [](Layout& l) { l.subgraphs.push_back(l.subgraphs[0]); });
  check("end of the address space", [](Layout& l) { l.sections[0].size = ~0ull; });
  check("end of the address space", [](Layout& l) {
    l.subgraphs[0].variables[0].pa = ~0ull;
    l.subgraphs[0].variables[0].size = 2;
  });
  check("queue", [](Layout& l) { l.subgraphs[0].rings[0].queue = 77; });
  check("tx or rx", [](Layout& l) { l.subgraphs[0].rings[0].tx = 1u << 30; });
  check("room", [](Layout& l) { l.subgraphs[0].rings[0].allocated = 1u << 30; });
  check("section", [](Layout& l) { l.subgraphs[0].streams[0].section = 1u << 30; });
  check("slots_out", [](Layout& l) { l.subgraphs[0].streams[0].slots_out = 1u << 30; });
  check("runs", [](Layout& l) { l.subgraphs[0].streams[2].runs[0].count = ~0u; });
  check("runs", [](Layout& l) { l.subgraphs[0].streams[2].runs[0].source = 1000; });
  check("list", [](Layout& l) { l.subgraphs[0].variables[0].list = {999}; });
  CHECK_FALSE(layout_from_json(""));
  CHECK_FALSE(layout_from_json("[]"));
  CHECK_FALSE(layout_from_json(std::string(1u << 20, '[')));
  CHECK_FALSE(layout_from_json(R"({"name":"a","uuid":"b","arch":"v9"})"));
}

TEST_CASE("no byte of the headers and notes can do harm") {
  const std::vector<std::uint8_t>& good = good_image();
  const std::size_t interesting = std::min<std::size_t>(good.size(), 6000);
  std::size_t refused = 0;
  const ScratchFolder folder;
  const std::string path = folder.path("image");
  for (std::size_t i = 0; i < interesting; i += 3) {
    std::vector<std::uint8_t> bytes(
        good.begin(),
        good.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(good.size(), 2u << 20)));
    bytes[i] ^= 0x81;
    REQUIRE(write_file(path, bytes));
    const auto image = DeviceImage::open(path);
    if (!image) {
      ++refused;
      CHECK_FALSE(to_sentence(image.error()).empty());
      continue;
    }
    for (const Layout& layout : (*image)->layouts()) {  // what is accepted can be used
      const Locator locator(layout);
      static_cast<void>(locator.text(layout.sections.empty() ? 0 : layout.sections[0].pa));
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("compressed images: cut off, damaged, too large") {
  const std::vector<std::uint8_t> whole = compressed(good_image());
  REQUIRE(open_bytes(whole));
  for (const std::size_t size :
       {whole.size() - 1, whole.size() / 2, std::size_t{20}, std::size_t{5}}) {
    const auto image = open_bytes(Bytes(whole).first(size));
    REQUIRE_FALSE(image);
    CHECK(to_sentence(image.error()).find("zstd") != std::string::npos);
  }
  std::vector<std::uint8_t> damaged = whole;
  damaged[damaged.size() / 2] ^= 0xFF;
  static_cast<void>(open_bytes(damaged));  // refused or, with luck, other content; never a crash
  ImageLimits limits;
  limits.inflated_bytes = good_image().size() - 1;
  const auto large = open_bytes(whole, limits);
  REQUIRE_FALSE(large);
  CHECK(large.error().error_class == ErrorClass::resource);
  // Megabytes of one byte are no image, and take no memory to find that out.
  const std::vector<std::uint8_t> bomb = compressed(std::vector<std::uint8_t>(64u << 20, 0x7F));
  limits = {};
  limits.resident_bytes = 1u << 20;
  const auto boom = open_bytes(bomb, limits);
  REQUIRE_FALSE(boom);
  CHECK(boom.error().error_class == ErrorClass::format);
}

TEST_CASE("programs of an image that would take more memory than allowed are refused") {
  // Zeros behind them are free in a compressed image; tools would copy them whole.
  ImageLimits limits;
  limits.resident_bytes = 256;
  const auto image = open_bytes(good_image(), limits);
  REQUIRE_FALSE(image);
  CHECK(image.error().error_class == ErrorClass::resource);
  CHECK(to_sentence(image.error()).find("instructions and descriptors have") != std::string::npos);
}
