// SPDX-License-Identifier: MIT
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace transcripts {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t piece_bytes = 65536;

}  // namespace

void write_pattern(std::uint8_t* to, std::uint64_t bytes, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (std::uint64_t i = 0; i < bytes; i += 8) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const std::uint64_t word = state ^ state >> 29;
    std::memcpy(to + i, &word, std::min<std::uint64_t>(8, bytes - i));
  }
}

Buffer::Buffer(std::uint64_t usable) : usable_(usable) {
  void* at = mmap(nullptr, usable + page_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::uint8_t*>(at);
  mprotect(data_ + usable, page_bytes, PROT_NONE);
}

Buffer::~Buffer() {
  munmap(data_, usable_ + page_bytes);
}

/// Calls visit(page number, offset in the page, bytes, bytes before).
template <class Visit>
void Shadow::each(std::uint64_t from, std::uint64_t bytes, Visit visit) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = from + done;
    const std::uint64_t part = std::min(page_bytes - at % page_bytes, bytes - done);
    visit(at / page_bytes, at % page_bytes, part, done);
    done += part;
  }
}

void Shadow::write(std::uint64_t to, const std::uint8_t* from, std::uint64_t bytes) {
  each(to, bytes,
       [&](std::uint64_t number, std::uint64_t offset, std::uint64_t part, std::uint64_t done) {
         Page& page = pages_[number];
         if (page.bytes.empty()) page.bytes.assign(page_bytes, page.value);
         std::memcpy(page.bytes.data() + offset, from + done, part);
       });
}

void Shadow::fill(std::uint64_t to, std::uint8_t value, std::uint64_t bytes) {
  each(to, bytes,
       [&](std::uint64_t number, std::uint64_t offset, std::uint64_t part, std::uint64_t) {
         Page& page = pages_[number];
         if (part == page_bytes) {
           page = {value, {}};
           return;
         }
         if (page.bytes.empty()) page.bytes.assign(page_bytes, page.value);
         std::memset(page.bytes.data() + offset, value, part);
       });
}

void Shadow::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t part = std::min(piece_bytes, bytes - done);
    write(to + done, read(from + done, part).data(), part);
    done += part;
  }
}

std::vector<std::uint8_t> Shadow::read(std::uint64_t from, std::uint64_t bytes) const {
  std::vector<std::uint8_t> out(bytes);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t offset = (from + done) % page_bytes;
    const std::uint64_t part = std::min(page_bytes - offset, bytes - done);
    const auto page = pages_.find((from + done) / page_bytes);
    if (page != pages_.end() && page->second.bytes.empty()) {
      std::memset(out.data() + done, page->second.value, part);
    } else if (page != pages_.end()) {
      std::memcpy(out.data() + done, page->second.bytes.data() + offset, part);
    }
    done += part;
  }
  return out;
}

}  // namespace transcripts
