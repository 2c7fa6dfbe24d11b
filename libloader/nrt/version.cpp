// SPDX-License-Identifier: MIT
#include "version.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace neffld::nrt {
namespace {

constexpr std::size_t round4(std::size_t size) {
  return (size + 3) & ~std::size_t{3};
}

/// The GNU build id among the notes of one loaded segment.
std::string id_in_notes(const unsigned char* notes, std::size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const std::size_t name_at = sizeof note, text_at = name_at + round4(note.n_namesz);
    const std::size_t next = text_at + round4(note.n_descsz);
    if (next > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes + name_at, "GNU", 4) == 0) {
      std::string id;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        id += fmt::format("{:02x}", notes[text_at + i]);
      }
      return id;
    }
    notes += next;
    size -= next;
  }
  return {};
}

struct Search {
  std::uintptr_t inside;  ///< an address of the library
  std::string id;
};

int look_at(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto segments = [&](auto&& visit) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      visit(info->dlpi_phdr[i], info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  };
  bool ours = false;
  segments([&](const ElfW(Phdr) & header, std::uintptr_t at) {
    ours |= header.p_type == PT_LOAD && search.inside >= at && search.inside - at < header.p_memsz;
  });
  if (!ours) return 0;
  segments([&](const ElfW(Phdr) & header, std::uintptr_t at) {
    if (header.p_type != PT_NOTE || !search.id.empty()) return;
    search.id = id_in_notes(reinterpret_cast<const unsigned char*>(at), header.p_memsz);
  });
  return 1;
}

}  // namespace

std::string open_version_text() {
  return "open loader " NEFFLD_VERSION;
}

std::string build_id() {
  Search search{reinterpret_cast<std::uintptr_t>(&look_at), {}};
  dl_iterate_phdr(look_at, &search);
  return search.id;
}

}  // namespace neffld::nrt
