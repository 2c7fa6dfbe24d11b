// SPDX-License-Identifier: MIT
#include "neffld/repro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "damaged_file.hpp"
#include "document.hpp"
#include "json_tree.hpp"
#include "shrink_member.hpp"

namespace neffld {
namespace {

/// From coarse to fine, so that large parts go while a load of them is still slow.
constexpr std::size_t rounds[] = {4, 32, 256, any_parts};

void reduce(Document& document, const Judge& judge, bool keep_weights) {
  if (!keep_weights) zero_arrays(document);  // first, should the time not last
  for (const std::size_t parts : rounds) {
    for (bool changed = true; changed && !judge.stopped();) {
      changed = document.drop_members(parts);
      for (const std::size_t member : document.largest_first()) {
        changed |= shrink_member(document, member, parts, keep_weights);
      }
    }
  }
}

/// Slots of the stream an engine's JSON names; 0 for another document.
std::uint64_t slots_of(const Container& container, const Member& member) {
  if (!member.name.ends_with(".json")) return 0;
  const auto root = parse_json_parts(member.bytes);
  if (!root) return 0;
  for (const JsonPart& part : root->parts) {
    if (part.key != "instr" || part.kind != JsonPart::Kind::text) continue;
    const Member* stream = container.find(folder_of(member.name) + part.text);
    return stream == nullptr ? 0 : stream->bytes.size() / 64;
  }
  return 0;
}

ReproSize size_of(Bytes file, const Container& container) {
  ReproSize size;
  size.bytes = file.size();
  size.members = container.members().size() + container.facts().skipped_members;
  for (const Member& member : container.members()) {
    size.inflated += member.bytes.size();
    size.slots += slots_of(container, member);
  }
  return size;
}

/// What a reader of the report should know about the bytes that are left.
void tell_contents(Repro& repro, const Document& document) {
  for (const PackMember& member : document.members()) {
    repro.members.push_back(member.name);
    const bool constant = document.is_constant(member);
    if (!constant && member.name.ends_with(".json")) continue;
    const std::size_t from = constant ? elements_offset(member) : 0;
    const bool zero = std::all_of(member.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                  member.bytes.end(), [](std::uint8_t byte) { return byte == 0; });
    if (!zero) (constant ? repro.weights_left : repro.binary_left).push_back(member.name);
  }
}

/// The file with its model name and UUID blanked. Nothing else depends on them.
std::vector<std::uint8_t> without_names(Bytes file) {
  std::vector<std::uint8_t> bytes(file.begin(), file.end());
  if (bytes.size() < sizeof(NeffHeader)) return bytes;
  NeffHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::ranges::fill(header.name, '\0');
  std::ranges::fill(header.uuid, std::uint8_t{0});
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Result<void> reduce_members(Repro& repro, Bytes file, const Container& container, Judge& judge,
                            const ReproOptions& options) {
  repro.before = size_of(file, container);
  Document document(container, judge);
  if (!document.shows() && !judge.stopped()) {
    return fail(Status::failure, ErrorClass::check, {},
                fmt::format("written anew, the file no longer shows the error: it is in how the "
                            "file is packed, send the file itself. The error was: {}",
                            to_sentence(repro.error_before)));
  }
  reduce(document, judge, options.keep_weights);
  NEFFLD_ASSIGN(repro.file, document.file());
  if (repro.file.size() <= file.size()) {
    tell_contents(repro, document);
  } else {  // stopped before it paid, or packed better than we can
    repro.file = without_names(file);
    tell_contents(repro, Document(container, judge));
  }
  repro.after.bytes = repro.file.size();
  // Of a wanted status there may be an archive left that is refused itself.
  if (const auto after = parse_container(repro.file, options.container)) {
    repro.after = size_of(repro.file, *after);
  }
  return {};
}

void reduce_damaged(Repro& repro, Bytes file, Judge& judge, const ReproOptions& options) {
  DamagedFile damaged(file, options.container.limits.inflated_bytes);
  repro.container_damaged = true;
  repro.before = {file.size(), damaged.content_bytes(), 0, 0};
  damaged.reduce(judge);
  repro.file = damaged.file();
  repro.after = {repro.file.size(), damaged.content_bytes(), 0, 0};
  if (repro.file.size() <= file.size()) return;
  repro.file = without_names(file);
  repro.after = repro.before;
}

/// The error a file shows, if it is the one that is wanted.
Result<Error> first_error(Bytes file, const LoadProbe& probe, const std::string& wanted) {
  std::optional<Error> error = probe(file);
  if (!error) {
    return fail(Status::failure, ErrorClass::check, {},
                "shows no error: it loads, so there is nothing to reproduce");
  }
  if (!wanted_error(*error, wanted)(*error)) {
    return fail(Status::failure, ErrorClass::check, {},
                fmt::format("shows another error than '{}': {}", wanted, to_sentence(*error)));
  }
  return std::move(*error);
}

Result<Repro> reduce_file(Bytes file, const LoadProbe& probe, const ReproOptions& options) {
  Repro repro;
  NEFFLD_ASSIGN(repro.error_before, first_error(file, probe, options.wanted));
  const ErrorTest same = wanted_error(repro.error_before, options.wanted);
  Judge judge(probe, same, options);
  if (const auto container = parse_container(file, options.container)) {
    NEFFLD_TRY(reduce_members(repro, file, *container, judge, options));
  } else {
    end_if_shortage(container.error());
    reduce_damaged(repro, file, judge, options);
  }
  // The proof, with the compression and hash that were left out on the way.
  const std::optional<Error> after = probe(repro.file);
  if (!after || !same(*after)) {
    return fail(Status::failure, ErrorClass::check, {},
                fmt::format("the reduced file does not show the error once it is compressed, so it "
                            "is not written. The error was: {}",
                            to_sentence(repro.error_before)));
  }
  repro.error_after = *after;
  repro.work = judge.work();
  repro.stopped_early = judge.stopped();
  return repro;
}

}  // namespace

Result<Repro> make_repro(Bytes file, const LoadProbe& probe, const ReproOptions& options) {
  const LoadProbe checked = [&probe](Bytes candidate) {
    std::optional<Error> error = probe(candidate);
    if (error) end_if_shortage(*error);
    return error;
  };
  return guarded([&]() -> Result<Repro> {
    try {
      return reduce_file(file, checked, options);
    } catch (HostShortage& shortage) {
      return tl::unexpected<Error>(std::move(shortage.error));
    }
  });
}

}  // namespace neffld
