// SPDX-License-Identifier: MIT
// The smallest NEFF that still shows a load error, for bug reports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "neffld/container.hpp"

namespace neffld {

/// Loads a file and tells what went wrong; nothing if it loads. The answer depends on the bytes
/// alone, so each call starts from a fresh device.
using LoadProbe = std::function<std::optional<Error>(Bytes file)>;

/// How far a reduction is.
struct ReproProgress {
  std::uint64_t tried = 0;  ///< candidates that were loaded
  std::uint64_t taken = 0;  ///< those that showed the error and became the file to go on from
  std::uint64_t bytes = 0;  ///< of the last one taken, which is not compressed; 0 before the first
  double seconds = 0;
};

struct ReproOptions {
  ContainerOptions container;  ///< how the file is taken apart: as the probe does it
  /// Which error must stay. Empty: the one the file shows now, see error_kind(). The name of a
  /// status ("NRT_RESOURCE"): any error with it. Else: any error of the status and class shown now
  /// whose sentence has this text in it.
  std::string wanted;
  double seconds = 60;           ///< no candidate is begun after this time
  std::uint64_t tries = 100000;  ///< no more candidates are loaded
  /// Else the bytes of constants become zeros where the error allows it.
  bool keep_weights = false;
  std::function<void(const ReproProgress&)> progress = {};  ///< called after each candidate
};

/// How large a NEFF is.
struct ReproSize {
  std::uint64_t bytes = 0;     ///< of the file
  std::uint64_t inflated = 0;  ///< of its members; of the archive if that is damaged
  std::uint64_t members = 0;   ///< those a loader drops (.dbg) included; 0 if they cannot be told
  std::uint64_t slots = 0;     ///< instruction slots of 64 bytes
};

struct Repro {
  std::vector<std::uint8_t> file;
  Error error_before, error_after;
  ReproSize before, after;
  ReproProgress work;
  bool stopped_early = false;      ///< more might go: seconds or tries of the options were used up
  bool container_damaged = false;  ///< bytes were removed around the damage, members are not known
  std::vector<std::string> members;       ///< names of the members left
  std::vector<std::string> weights_left;  ///< constants with elements that are not zero
  std::vector<std::string> binary_left;   ///< other members that are no JSON and not all zero
};

/// Reduces `file` as long as `probe` shows the same error: members nobody reads, weights, parts of
/// JSON documents and instruction slots go, from coarse to fine. Model name and UUID of the header
/// are blanked. The result is never larger than `file`. The same file and probe give the same
/// result unless the time is up before. Damage of the container itself is reduced byte by byte.
/// Errors: class check if the file loads, or shows another error than the wanted one; class
/// resource when this machine's memory ran out, whatever the wanted error is.
Result<Repro> make_repro(Bytes file, const LoadProbe& probe, const ReproOptions& options = {});

/// What makes two errors the same error: status, class, member, JSON path, whether a record and a
/// byte offset are given, and the text word by word, quoted and bare names included. Positions
/// (record, offset, indexes of arrays, "slot 7" in the text) may differ, and so may all numbers of
/// the text but the first, which in our sentences is the value that is wrong: the others are limits
/// and counts. Of shortages and device failures (classes resource, device) the first may differ,
/// too.
std::string error_kind(const Error& error);

}  // namespace neffld
