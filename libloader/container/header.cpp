// SPDX-License-Identifier: MIT
// The 1024-byte NEFF header: preflight gates and readable fields (spec 01 sections 1, 2 and 4).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "neffld/container.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t header_bytes = sizeof(NeffHeader);
constexpr std::uint64_t newest_major = 2;
/// Bits 0..26. Bits 27..62 are refused, bit 63 is never tested (spec 01 section 4).
constexpr std::uint64_t supported_features = 0x7FFFFFF;
constexpr std::uint64_t refused_features = 0x7FFFFFFFF8000000;

std::string fixed_text(const void* field, std::size_t size) {
  const auto* text = static_cast<const char*>(field);
  return {text, std::find(text, text + size, '\0')};
}

Where field(const char* name, std::uint64_t offset) {
  return Where{"NEFF header", name, std::nullopt, offset};
}

tl::unexpected<Error> too_new(Where where, std::string text) {
  return fail(Status::unsupported_neff_version, ErrorClass::unsupported, std::move(where),
              std::move(text));
}

std::vector<unsigned> bit_numbers(std::uint64_t bits) {
  std::vector<unsigned> numbers;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1) != 0) numbers.push_back(bit);
  }
  return numbers;
}

/// Gates 1 to 3: what must hold before the header may be read at all.
Result<NeffHeader> read_header(Bytes file) {
  if (file.data() == nullptr) return invalid({}, "Invalid NEFF buffer: no bytes were given");
  if (file.size() < header_bytes) {
    return invalid({}, fmt::format("Invalid number of NEFF bytes received {:x}: a NEFF starts with "
                                   "a header of {} bytes, found {}",
                                   file.size(), header_bytes, file.size()));
  }
  NeffHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.header_size >= file.size()) {
    return invalid(
        field("header_size", offsetof(NeffHeader, header_size)),
        fmt::format("Invalid NEFF file size hdr sz: {:x}, file sz: {:x}: the header size must be "
                    "smaller than the file",
                    std::uint64_t{header.header_size}, file.size()));
  }
  return header;
}

/// Gates 4 and 5. They come before the size and packager gates, so a file that is too new says so.
Result<void> check_version(const NeffHeader& header) {
  const std::uint64_t major = header.neff_version_major, minor = header.neff_version_minor;
  if (major > newest_major) {
    return too_new(
        field("neff_version_major", offsetof(NeffHeader, neff_version_major)),
        fmt::format("NEFF version: {}.{} is not supported, accepted version range: {}.x-{}.x",
                    major, minor, 0, newest_major));
  }
  const std::uint64_t unknown = header.feature_bits & refused_features;
  if (major == newest_major && unknown != 0) {
    return too_new(
        field("feature_bits", offsetof(NeffHeader, feature_bits)),
        fmt::format("This NEFF (version: {}.{}, features: 0x{:x}) has been compiled by a newer "
                    "version of Neuron compiler. Features supported by this Neuron Runtime: "
                    "0x{:x}. Please update the aws-neuronx-runtime-lib package to the latest "
                    "version. Unknown feature bits: {}; accepted are bits 0 to 26",
                    newest_major, minor, unknown, supported_features,
                    fmt::join(bit_numbers(unknown), ", ")));
  }
  return {};
}

/// Gates 6 and 7.
Result<void> check_payload_fields(const NeffHeader& header, std::uint64_t file_size) {
  if (header.data_size > file_size - header_bytes) {
    return invalid(
        field("data_size", offsetof(NeffHeader, data_size)),
        fmt::format("Invalid NEFF data size({:x} vs {:x}): {} payload bytes are announced, {} "
                    "follow the header",
                    std::uint64_t{header.data_size}, file_size, std::uint64_t{header.data_size},
                    file_size - header_bytes));
  }
  if (header.pkg_version != 1 && header.pkg_version != 2) {
    return too_new(field("pkg_version", offsetof(NeffHeader, pkg_version)),
                   fmt::format("Unsupported NEFF packager: {}, accepted are 1 and 2",
                               std::uint64_t{header.pkg_version}));
  }
  return {};
}

/// Names of the packager command line and of def.json `neff_features` (spec 01 section 4).
struct NamedBit {
  unsigned bit;
  const char* name;
};
constexpr NamedBit named_bits[] = {
    {0, "bin-weights"},
    {1, "collective_has_offset"},
    {2, "neff_feature_custom_ops"},
    {3, "neff_coalesced_ccops"},
    {4, "neff_queue_set_instances"},
    {5, "neff_has_functions"},
    {6, "neff_feature_dynamic_pwp"},
    {7, "neff_feature_indirect_memcpy_32b_sem_wait"},
    {8, "neff_feature_indirect_memcpy_bound_check"},
    {9, "neff_feature_DMA_desc_higher_dim"},
    {10, "neff_feature_vnc"},
    {11, "DVE perf mode"},
    {12, "DGE"},
    {13, "POOL rsqrt"},
    {14, "neff_feature_remote_sem"},
    {15, "DGE cast"},
    {16, "vector DGE"},
    {17, "embedding stride 32"},
    {20, "SQI no rearm"},
    {21, "hardware DGE"},
    {22, "partial SB-to-SB collectives"},
    {24, "arch level > 39 companion"},
    {25, "large tensor support"},
};

}  // namespace

std::string header_name(const NeffHeader& header) {
  // A name that fills the field has no NUL; 255 bytes of it count (spec 01 section 12).
  return fixed_text(header.name, sizeof header.name - 1);
}

std::string header_build(const NeffHeader& header) {
  return fixed_text(header.neff_build_version, sizeof header.neff_build_version);
}

std::string header_uuid(const NeffHeader& header) {
  std::string text;
  for (std::size_t i = 0; i < sizeof header.uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", header.uuid[i]);
  }
  return text;
}

std::vector<std::string> feature_names(std::uint64_t feature_bits) {
  std::vector<std::string> names;
  for (const unsigned bit : bit_numbers(feature_bits)) {
    const auto* named = std::find_if(std::begin(named_bits), std::end(named_bits),
                                     [bit](const NamedBit& entry) { return entry.bit == bit; });
    names.push_back(named != std::end(named_bits) ? named->name : fmt::format("bit {}", bit));
  }
  return names;
}

Result<NeffHeader> check_header(Bytes file) {
  return guarded([&]() -> Result<NeffHeader> {
    NEFFLD_ASSIGN(const NeffHeader header, read_header(file));
    NEFFLD_TRY(check_version(header));
    NEFFLD_TRY(check_payload_fields(header, file.size()));
    return header;
  });
}

}  // namespace neffld
