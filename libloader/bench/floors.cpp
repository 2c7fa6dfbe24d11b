// SPDX-License-Identifier: MIT
#include "floors.hpp"

#include <rapidjson/document.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "arena.hpp"

namespace neffld::bench {
namespace {

constexpr std::size_t zlib_step = std::size_t{1} << 30;  // its counters have 32 bits

tl::unexpected<Error> cannot(const char* what, std::string_view member) {
  return fail(Status::failure, ErrorClass::format, {.member = std::string(member)},
              std::string(what) + ", which the loader reads");
}

}  // namespace

struct ZlibFloor::Memory {
  Arena arena;
};
ZlibFloor::ZlibFloor() : memory_(std::make_unique<Memory>()) {}
ZlibFloor::~ZlibFloor() = default;

void ZlibFloor::release() {
  memory_->arena = Arena();
}

Result<void> ZlibFloor::run(Bytes payload, std::uint64_t bytes) {
  NEFFLD_ASSIGN(memory_->arena, Arena::reserve(static_cast<std::size_t>(bytes)));
  const MutableBytes out = memory_->arena.bytes();
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return cannot("zlib has no memory for", "");
  std::size_t read = 0, written = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    const std::size_t offered_in = std::min(payload.size() - read, zlib_step);
    const std::size_t offered_out = std::min(out.size() - written, zlib_step);
    stream.next_in = const_cast<Bytef*>(payload.data()) + read;
    stream.avail_in = static_cast<uInt>(offered_in);
    stream.next_out = out.data() + written;
    stream.avail_out = static_cast<uInt>(offered_out);
    code = inflate(&stream, Z_NO_FLUSH);
    read += offered_in - stream.avail_in;
    written += offered_out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return cannot("zlib cannot inflate the payload", "gzip payload");
  return {};
}

struct DomFloor::Documents {
  std::vector<rapidjson::Document> all;
};
DomFloor::DomFloor() : documents_(std::make_unique<Documents>()) {}
DomFloor::~DomFloor() = default;

void DomFloor::release() {
  documents_->all.clear();
}

Result<void> DomFloor::run(std::span<const Member* const> members) {
  for (const Member* member : members) {
    rapidjson::Document& document = documents_->all.emplace_back();
    const std::string_view text = as_text(member->bytes);
    document.Parse(text.data(), text.size());
    if (document.HasParseError()) return cannot("RapidJSON refuses the member", member->name);
  }
  return {};
}

Result<void> scan_json(std::span<const Member* const> members) {
  for (const Member* member : members) {
    const std::string_view text = as_text(member->bytes);
    rapidjson::MemoryStream stream(text.data(), text.size());
    rapidjson::Reader reader;
    rapidjson::BaseReaderHandler<> nobody;
    if (!reader.Parse(stream, nobody)) return cannot("RapidJSON refuses the member", member->name);
  }
  return {};
}

}  // namespace neffld::bench
