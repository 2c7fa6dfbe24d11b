// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "archive_oracle.hpp"
#include "container/gzip_write.hpp"
#include "container/tar_write.hpp"
#include "support.hpp"

namespace neffld::fuzz {
namespace {

/// A header in front of gzip around the archive.
std::vector<std::uint8_t> shell_around(Bytes archive) {
  std::vector<std::uint8_t> payload = gzip_stored(archive);
  const auto& sample = sample_file("single-core-v3", Compression::stored);
  std::vector<std::uint8_t> file(sample.begin(), sample.begin() + sizeof(NeffHeader));
  NeffHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  header.data_size = payload.size();
  std::memcpy(file.data(), &header, sizeof header);
  file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

bool stays_inside(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != name.npos) return false;
  const std::string padded = "/" + std::string(name) + "/";
  return padded.find("/../") == padded.npos && padded.find("//") == padded.npos;
}

void run(Bytes input) {
  const std::vector<std::uint8_t> file = shell_around(input);
  const auto container = parse_container(file, parse_limits().container);
  if (const auto text = test::dispute(input, parse_limits().container.limits)) {
    broken("libarchive reads the same members in an archive that is accepted", *text);
  }
  if (!good(container)) return;
  std::string_view before;
  for (const Member& member : container->members()) {
    const std::string name(member.name);
    promise(stays_inside(name), "member names stay inside a folder", name);
    promise(before < member.name, "members ascend and are there once", name);
    promise(member.bytes.size() <= input.size(), "members lie in the archive", name);
    std::uint8_t sum = 0;  // every byte can be read
    for (const std::uint8_t byte : member.bytes) sum = static_cast<std::uint8_t>(sum + byte);
    static_cast<void>(sum);
    promise(container->find(member.name) == &member, "members are found by name", name);
    before = member.name;
  }
  good(read_manifest(*container));
}

std::vector<Input> seeds() {
  std::vector<Input> archives;
  const std::string long_name = "sg00/" + std::string(120, 'n');
  std::vector<PackMember> members = {
      {"neff.json", {'{', '}'}, false},
      {"sg00/", {}, true},
      {"sg00/value.bin", std::vector<std::uint8_t>(700, 'v'), false}};
  for (const TarDialect dialect : {TarDialect::ustar, TarDialect::pax, TarDialect::gnu}) {
    auto archive = write_tar(members, dialect, {}, dialect == TarDialect::gnu);
    if (!archive) broken("an archive can be written", to_sentence(archive.error()));
    archives.push_back(std::move(*archive));
    members.push_back(
        {dialect == TarDialect::ustar ? long_name : long_name + long_name, {}, false});
  }
  const auto sample = write_tar(lean_sample("vecadd-v2").members, TarDialect::ustar, {}, false);
  archives.push_back(*sample);
  return archives;
}

std::vector<std::string> words() {
  return {std::string("ustar\00000", 8),
          std::string("ustar  \0", 8),
          "././@LongLink",
          "30 mtime=1.5\n",
          "12 size=700\n",
          "18 path=sg00/abc\n",
          "27 GNU.sparse.major=1\n",
          "21 hdrcharset=BINARY\n",
          "14 linkpath=x\n",
          "9 path=\xCC\x81\n",
          "../",
          "/",
          std::string(512, '\0'),
          std::string("\x80\0\0\0\0\0\0\0\0\0\2\0", 12),
          "77777777777"};
}

}  // namespace

const Target tar_archive = {"tar_archive", "the archive inside a valid header and gzip member",
                            64 << 10,      run,
                            seeds,         words};

}  // namespace neffld::fuzz
