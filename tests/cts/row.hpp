// SPDX-License-Identifier: MIT
// What a conformance row is: one behaviour of a Neuron driver, and how it can be asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neffld::cts {

class Trial;

/// Architectures a row speaks about.
enum class For : std::uint8_t { both, v2, v3 };

/// What a row may do to a device that is not simulated.
enum class Safety : std::uint8_t {
  harmless,   ///< reads, or touches only memory of its own: runs everywhere
  intrusive,  ///< changes cores, queues or registers others may use: only with --all
  simulated,  ///< can kill the real kernel (spec 11 B.4) or makes the device act (decision 24)
};

/// What a row needs to find before it can judge.
enum class Needs : std::uint8_t { nothing, idle };  ///< idle: only carve-outs in device memory

/// Driver generations by their minor version: 24, 27 or 30.
struct Generations {
  std::uint32_t first = 24;
  std::uint32_t last = 30;
};

struct Row {
  std::string_view name;  ///< "group.behaviour", unique
  For architectures = For::both;
  Safety safety = Safety::harmless;
  Needs needs = Needs::nothing;
  Generations generations;
  std::string_view spec;  ///< chapter and section the expectation is taken from
  void (*run)(Trial&) = nullptr;

  std::string_view group() const { return name.substr(0, name.find('.')); }
};

/// All rows, in the order of their groups. Each rows_*.cpp adds its own.
const std::vector<Row>& rows();

using Rows = std::vector<Row>;

/// Adds a row for both architectures that is harmless and needs nothing; the caller sets the rest.
inline Row& add(Rows& rows, std::string_view name, void (*run)(Trial&), std::string_view spec) {
  rows.push_back({.name = name, .spec = spec, .run = run});
  return rows.back();
}

void add_identity(Rows& rows);
void add_memory(Rows& rows);
void add_placement(Rows& rows);
void add_copies(Rows& rows);
void add_rings(Rows& rows);
void add_descriptors(Rows& rows);
void add_sync(Rows& rows);
void add_cores(Rows& rows);
void add_notifications(Rows& rows);
void add_marks(Rows& rows);
void add_registers(Rows& rows);
void add_surface(Rows& rows);
void add_lifetimes(Rows& rows);
void add_access(Rows& rows);
void add_attach(Rows& rows);
void add_processes(Rows& rows);
void add_foreign(Rows& rows);
void add_sharing(Rows& rows);

}  // namespace neffld::cts
