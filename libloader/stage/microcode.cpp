// SPDX-License-Identifier: MIT
// GPSIMD libraries, on architectures that stage them: their memory and the table that tells the
// engine which function lies where (spec 04 section 2.3 "ucode libs"). Sources give the size of the
// table and the names of its fields; where in an entry they lie is ours, and so are the alignments
// (docs/choices.md). Nothing the loader runs reads the table.
#include <fmt/format.h>

#include <algorithm>

#include "builders.hpp"
#include "core_state.hpp"
#include "neffld/sha256.hpp"
#include "patcher.hpp"

namespace neffld {
namespace {

constexpr std::size_t most_libraries = 9, most_functions = 97, most_per_library = 28;
constexpr std::size_t longest_name = 64;
constexpr std::uint64_t library_align = 64;

// The function table: an entry for each function, then the queue registers of the custom-op rings.
constexpr std::uint64_t entry_bytes = 280;
constexpr std::uint64_t queue_register_pairs = 8, pair_bytes = 8;
constexpr std::uint64_t table_bytes =
    most_functions * entry_bytes + queue_register_pairs * pair_bytes;
enum EntryOffset : std::uint64_t {
  at_name = 0,
  at_opcode = 256,
  at_sub_opcode = 257,
  at_cpu_id = 260,
  at_total_cpus = 264,
  at_address = 272,
};

/// Where each library starts in their memory, and behind the last one its size.
std::vector<std::uint64_t> library_offsets(const Kbin& kbin) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;
  for (const UcodeLibrary& library : kbin.ucode_libraries) {
    offsets.push_back((end + library_align - 1) / library_align * library_align);
    end = offsets.back() + library.content.size();
  }
  offsets.push_back(end);
  return offsets;
}

Result<void> check_library(const UcodeLibrary& library) {
  const auto refuse = [&](std::string text) {
    return invalid({.path = "ucode_lib"},
                   fmt::format("UCode Library {} {}", library.name, std::move(text)));
  };
  if (library.content.empty()) return refuse("is empty, expected at least 1 byte");
  if (library.functions.size() > most_per_library) {
    return refuse(
        fmt::format("has {} functions, expected at most {}, as many as a GPSIMD core holds",
                    library.functions.size(), most_per_library));
  }
  for (const UcodeFunction& function : library.functions) {
    if (function.name.size() <= longest_name) continue;
    return refuse(fmt::format("has a function whose name has {} bytes, expected at most {}",
                              function.name.size(), longest_name));
  }
  return {};
}

Result<void> check_limits(const Kbin& kbin) {
  const std::size_t count = kbin.ucode_libraries.size();
  if (count > most_libraries) {
    return fail(Status::failure, ErrorClass::format, {.path = "ucode_lib"},
                fmt::format("Exceeded max number of GPSIMD libs: found {}, expected at most {}",
                            count, most_libraries));
  }
  std::size_t functions = 0;
  for (const UcodeLibrary& library : kbin.ucode_libraries) {
    NEFFLD_TRY(check_library(library));
    functions += library.functions.size();
  }
  if (functions <= most_functions) return {};
  return invalid({.path = "ucode_lib"},
                 fmt::format("found {} functions in all libraries, expected at most {}", functions,
                             most_functions));
}

/// Adds a number, or a field behind its length: fields whose boundaries move have another hash.
void add_number(Sha256& hash, std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes{};
  store_le(MutableBytes(bytes), 0, value);
  hash.add(bytes);
}
void add_field(Sha256& hash, Bytes bytes) {
  add_number(hash, bytes.size());
  hash.add(bytes);
}

std::uint8_t opcode_byte(std::int64_t opcode) {
  return static_cast<std::uint8_t>(opcode);  // written with or without sign
}

std::vector<std::uint8_t> library_memory(const Kbin& kbin,
                                         const std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint8_t> memory(offsets.back());
  for (std::size_t i = 0; i < kbin.ucode_libraries.size(); ++i) {
    const Bytes content = kbin.ucode_libraries[i].content;
    std::copy(content.begin(), content.end(),
              memory.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
  }
  return memory;
}

void put_function(const UcodeLibrary& library, const UcodeFunction& function, MutableBytes entry) {
  std::copy(function.name.begin(), function.name.end(), entry.begin() + at_name);
  entry[at_opcode] = opcode_byte(function.opcode);
  entry[at_sub_opcode] = opcode_byte(function.sub_opcode.value_or(0));
  store_le(entry, at_cpu_id, library.cpu_id);
  store_le(entry, at_total_cpus, library.total_cpus);
}

Result<std::vector<std::uint8_t>> function_table(const EmitContext& context, std::uint32_t first,
                                                 const std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint8_t> table(table_bytes);
  Patcher patcher = context.patcher(table, first + 1);
  std::uint64_t entry = 0;
  for (std::uint32_t i = 0; i < context.kbin().ucode_libraries.size(); ++i) {
    const UcodeLibrary& library = context.kbin().ucode_libraries[i];
    for (const UcodeFunction& function : library.functions) {
      put_function(library, function, MutableBytes(table).subspan(entry, entry_bytes));
      NEFFLD_TRY(patcher.patch(
          entry + at_address, RelocForm::library_address, context.address_of(first) + offsets[i],
          {Symbol::Kind::section, first, offsets[i]}, {SourceRecord::Kind::library, i}));
      entry += entry_bytes;
    }
  }
  return table;
}

}  // namespace

LibraryId library_id(const UcodeLibrary& library) {
  Sha256 hash;
  add_field(hash, as_bytes(library.name));
  for (const std::uint32_t value : {library.flags, library.cpu_id, library.total_cpus}) {
    add_number(hash, value);
  }
  add_number(hash, library.functions.size());
  for (const UcodeFunction& function : library.functions) {
    add_field(hash, as_bytes(function.name));
    add_number(hash, opcode_byte(function.opcode));
    add_number(hash, opcode_byte(function.sub_opcode.value_or(0)));
  }
  add_field(hash, library.content);
  return hash.finish();
}

Result<void> plan_microcode(PlanContext& context) {
  const Kbin& kbin = context.kbin();
  KbinPlan& out = context.out();
  const std::size_t count = kbin.ucode_libraries.size();
  if (count == 0) return {};
  if (!context.arch.caps.ucode_libraries) {
    out.warnings.push_back(
        fmt::format("{}: {} GPSIMD libraries are not staged: no source says that "
                    "{} has any",
                    kbin.name, count, arch_name(context.arch.arch)));
    return {};
  }
  NEFFLD_TRY(check_limits(kbin));
  LibrarySetPlan& set = out.libraries.emplace();
  if (count == 1) {
    set.shared = library_id(kbin.ucode_libraries.front());
    const CoreState state = state_of(context.options, out.core);
    if (std::find(state.libraries.begin(), state.libraries.end(), *set.shared) !=
        state.libraries.end()) {
      return {};
    }
  }
  set.first = context.add(SectionKind::ucode_libraries, 0, library_offsets(kbin).back(),
                          library_align, MemUsage::code, "ucode libraries");
  const std::uint32_t table = context.add(SectionKind::ucode_table, 0, table_bytes, library_align,
                                          MemUsage::code, "ucode table");
  for (const std::uint32_t request : {*set.first, table}) {
    context.plan.requests[request].shared = set.shared.has_value();
  }
  out.warnings.push_back(fmt::format(
      "{}: the table of GPSIMD functions has zeros for the queue registers of custom-op rings: the "
      "queue allocation table they come from is not known",
      kbin.name));
  return {};
}

Result<void> emit_microcode(const EmitContext& context) {
  const auto& set = context.planned().libraries;
  if (!set || !set->first) return {};
  const std::vector<std::uint64_t> offsets = library_offsets(context.kbin());
  NEFFLD_TRY(context.sink({*set->first, library_memory(context.kbin(), offsets), false}));
  NEFFLD_ASSIGN(const std::vector<std::uint8_t> table,
                function_table(context, *set->first, offsets));
  return context.sink({*set->first + 1, table, false});
}

}  // namespace neffld
