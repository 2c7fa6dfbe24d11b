// SPDX-License-Identifier: MIT
// Relocation: a pure function from kbins, plan and addresses to section contents and a ledger
// (spec 05, design rules 1 and 2).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"
#include "neffld/kbin.hpp"
#include "neffld/plan.hpp"

namespace neffld {

/// What kind of field was rewritten, and with what.
enum class RelocForm : std::uint8_t {
  opcode,            ///< pseudo opcode -> real opcode (1 byte)
  var_address,       ///< var-id operand -> device address (8 bytes)
  queue_register,    ///< register address of a WRITE (8 bytes)
  descriptor_count,  ///< number of descriptors a tail increment publishes (4 bytes)
  branch_offset,     ///< byte offset of a relative branch (8 bytes)
  ring_pointer,      ///< descriptor pointer to a placed variable
  ring_io,           ///< descriptor pointer to an input or output
  ring_section,      ///< descriptor pointer to a section of the loader (tables, constant block)
  ring_register,     ///< descriptor pointer to a device register or engine-local memory
  pointer_cell,      ///< content of a pointer variable
  table_entry,       ///< element of a dge-table
  return_address,    ///< where a call comes back to, in its MOVE (8 bytes)
  collective_index,  ///< number of a collective, written to its trigger (4 bytes)
  record_byte,       ///< hints or target mode of a record (1 byte)
  library_address,   ///< where a GPSIMD library lies, in the function table (8 bytes)
};
inline constexpr std::size_t reloc_form_count = 15;
std::string_view reloc_form_name(RelocForm form);

/// What a relocated field refers to.
struct Symbol {
  enum class Kind : std::uint8_t { none, variable, queue, section, device_register };
  Kind kind = Kind::none;
  std::uint32_t index = 0;   ///< var_id, queue set, request index
  std::uint64_t addend = 0;  ///< bytes behind the symbol; the address of a register
};

/// The record of the NEFF a relocated field comes from.
struct SourceRecord {
  enum class Kind : std::uint8_t { none, slot, descriptor, block, variable, library };
  Kind kind = Kind::none;
  std::uint32_t index = 0;  ///< slot number, descriptor, block or library index, var_id
};

/// One patched field. `request` and `offset` say where it lies.
struct LedgerRow {
  std::uint64_t offset = 0;  ///< bytes in the section
  std::uint64_t old_value = 0, new_value = 0;
  std::uint32_t kbin = 0;
  std::uint32_t request = 0;
  std::uint8_t width = 0;  ///< bytes
  RelocForm form = RelocForm::opcode;
  Symbol symbol;
  SourceRecord source;
};

// ---- Instruction pointers (spec 05 A8) ----

enum class IpChange : std::uint32_t { insert = 0, modify = 1, remove = 2 };
enum class IpSection : std::uint32_t { preamble = 0, postamble = 1, main = 2, function = 3 };

/// kbin_patch row: `count` slots were inserted or removed at byte `offset` of the section; of the
/// image for preamble and postamble.
struct IpRow {
  std::uint32_t offset = 0;
  std::uint32_t count = 0;
  IpChange change = IpChange::insert;
  IpSection section = IpSection::main;
};

/// Maps instruction pointers of one engine's image to instructions of the NEFF, which count from 1.
/// Every relocation produces it. Nothing of the model depends on it.
struct IpMap {
  std::vector<IpRow> rows;
  std::uint64_t main_offset = 0, main_bytes = 0;          ///< MAIN inside the image
  std::uint64_t function_offset = 0, function_bytes = 0;  ///< all functions
  std::uint64_t source_slots = 0;                         ///< records of the NEFF
  std::vector<std::string> warnings;                      ///< rows that are missing
};

/// NEFF instruction of the record at `byte_offset` of the image. Errors (NRT_FAILURE): offsets
/// outside MAIN and the functions, a map without its anchor rows.
Result<std::uint64_t> neff_ip(const IpMap& map, std::uint64_t byte_offset);

/// The records of an image that one NEFF instruction became.
struct DeviceIps {
  std::uint64_t offset = 0;  ///< bytes from the image start; of what follows when `count` is 0
  std::uint64_t count = 0;   ///< consecutive records
};
/// The inverse of neff_ip. Error: no such instruction.
Result<DeviceIps> device_ips(const IpMap& map, std::uint64_t neff_ip);

/// Takes every row as it is made.
using LedgerSink = std::function<void(const LedgerRow&)>;

/// Counts what relocation did and, with a sink, passes every row on. Rows are not stored: a large
/// model has millions, and relocating again produces the same ones.
class Ledger {
 public:
  using Counts = std::array<std::uint64_t, reloc_form_count>;

  explicit Ledger(LedgerSink sink = {}) : sink_(std::move(sink)) {}
  bool wants_rows() const { return static_cast<bool>(sink_); }
  void pass(const LedgerRow& row) const { sink_(row); }
  /// Counters of one kbin, by form. The reference stays valid as long as the ledger.
  Counts& counts(std::uint32_t kbin);
  /// Number of relocations of one form in one kbin.
  std::uint64_t count_of(std::uint32_t kbin, RelocForm form) const;

  void set_ip_map(std::uint32_t kbin, Engine engine, IpMap map);
  /// Adds the counts and IP maps of another ledger.
  void take(Ledger&& other);
  /// The IP map of one engine's stream; null before relocate().
  const IpMap* ip_map(std::uint32_t kbin, Engine engine) const;

 private:
  LedgerSink sink_;
  std::deque<Counts> counts_;
  std::map<std::pair<std::uint32_t, Engine>, IpMap> ip_maps_;
};

/// Device addresses that relocation needs.
struct Addresses {
  std::vector<std::uint64_t> sections;  ///< by request index
  /// Scratchpad page addresses, by physical core.
  std::map<std::uint32_t, std::vector<std::uint64_t>> scratchpad_pages;
  /// Inputs and outputs by name; absent names stay templates.
  std::map<std::string, std::uint64_t, std::less<>> io;
};

/// Device address of a variable: placed at load, or bound. Nothing for what has none (yet).
std::optional<std::uint64_t> variable_address(const Kbin& kbin, const KbinPlan& plan,
                                              const Addresses& addresses, std::uint32_t var_id);

/// Contents of one section, valid during the call only.
struct SectionContent {
  std::uint32_t request = 0;
  Bytes bytes;               ///< from the start of the section
  bool descriptors = false;  ///< written with the copy-descriptors call
};
using SectionSink = std::function<Result<void>(const SectionContent&)>;

/// Produces the contents of every section of a model whose bytes are defined, in the plan's order,
/// and records each patched field. Uses nothing but its arguments; the kbins stay as they are.
/// Errors: NRT_INVALID with the record named.
Result<void> relocate(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses,
                      Ledger& ledger, const SectionSink& sink);

/// The part of relocate() that belongs to one kbin. Parts of different kbins may run at the same
/// time, each with a ledger of its own (Ledger::take).
Result<void> relocate_kbin(std::span<const Kbin> kbins, const Plan& plan,
                           const Addresses& addresses, Ledger& ledger, const SectionSink& sink,
                           std::uint32_t kbin_index);

/// The rings of template queue sets once inputs and outputs have addresses, at the requests added
/// by plan_bound_rings.
Result<void> relocate_bound(std::span<const Kbin> kbins, const Plan& plan,
                            const Addresses& addresses, Ledger& ledger, const SectionSink& sink);

/// Pointer cells and tables alone: what binding changes among the sections of load time. The ledger
/// gets the entries that name inputs and outputs; relocate() has recorded the others.
Result<void> relocate_pointers(std::span<const Kbin> kbins, const Plan& plan,
                               const Addresses& addresses, Ledger& ledger, const SectionSink& sink);

/// One half of a host vring of a template set, before bind.
struct HostVring {
  std::uint32_t kbin = 0;
  const RingPlan* ring = nullptr;
  bool tx = false;
  Bytes bytes;  ///< `used` descriptors
};
/// Authors the vrings of all template sets with template pointers for unbound variables.
Result<void> author_template_vrings(std::span<const Kbin> kbins, const Plan& plan,
                                    const Addresses& addresses,
                                    const std::function<Result<void>(const HostVring&)>& sink);

/// The IP map of one engine's stream alone, from the plan: any addresses give the same one.
Result<IpMap> build_ip_map(std::span<const Kbin> kbins, const Plan& plan, std::uint32_t kbin_index,
                           Engine engine);

}  // namespace neffld
