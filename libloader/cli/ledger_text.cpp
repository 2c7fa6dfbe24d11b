// SPDX-License-Identifier: MIT
#include "ledger_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neffld::cli {
namespace {

const Kbin& kbin_of(const LoadedModel& model, const LedgerRow& row) {
  return model.parsed.kbins[row.kbin];
}

std::string json_of(const Kbin& kbin, Engine engine) {
  const EngineProgram& program = kbin.engine(engine);
  return program.json_member.empty() ? kbin.dir + "/def.json" : program.json_member;
}

std::string block_text(const Kbin& kbin, const DmaBlock& block) {
  return fmt::format("{} queue {} block {}", json_of(kbin, block.engine),
                     kbin.queue_sets[block.queue_set].name, block.id);
}

/// The block a descriptor belongs to; blocks are ascending by first descriptor or searched anyway.
const DmaBlock* block_of(const Kbin& kbin, std::uint32_t descriptor) {
  const auto found = std::find_if(kbin.blocks.begin(), kbin.blocks.end(), [&](const DmaBlock& b) {
    return descriptor >= b.first_descriptor && descriptor - b.first_descriptor < b.descriptor_count;
  });
  return found == kbin.blocks.end() ? nullptr : &*found;
}

}  // namespace

std::string row_symbol(const LoadedModel& model, const LedgerRow& row) {
  switch (row.symbol.kind) {
    case Symbol::Kind::variable:
      return kbin_of(model, row).variables[row.symbol.index].name;
    case Symbol::Kind::queue:
      return kbin_of(model, row).queue_sets[row.symbol.index].name;
    case Symbol::Kind::section:
      return model.plan.requests[row.symbol.index].owner;
    case Symbol::Kind::device_register:
      return "register";
    case Symbol::Kind::none:
      break;
  }
  return "-";
}

std::string row_source(const LoadedModel& model, const LedgerRow& row) {
  switch (row.source.kind) {
    case SourceRecord::Kind::slot:
      return fmt::format("slot {}", row.source.index);
    case SourceRecord::Kind::descriptor:
      return fmt::format("descriptor {}", row.source.index);
    case SourceRecord::Kind::block:
      return fmt::format("block {}", kbin_of(model, row).blocks[row.source.index].id);
    case SourceRecord::Kind::variable:
      return fmt::format("variable {}", kbin_of(model, row).variables[row.source.index].name);
    case SourceRecord::Kind::library:
      return fmt::format("library {}", kbin_of(model, row).ucode_libraries[row.source.index].name);
    case SourceRecord::Kind::none:
      break;
  }
  return "-";
}

std::string row_origin(const LoadedModel& model, const LedgerRow& row) {
  const Kbin& kbin = kbin_of(model, row);
  const Request& request = model.plan.requests[row.request];
  switch (row.source.kind) {
    case SourceRecord::Kind::slot:
      return fmt::format("{} slot {}", kbin.engines[request.index].bin_member, row.source.index);
    case SourceRecord::Kind::descriptor:
      if (const DmaBlock* block = block_of(kbin, row.source.index)) {
        return fmt::format("{} descriptor {}", block_text(kbin, *block),
                           row.source.index - block->first_descriptor);
      }
      break;
    case SourceRecord::Kind::block:
      return block_text(kbin, kbin.blocks[row.source.index]) + " signal";
    case SourceRecord::Kind::variable:
      return fmt::format("{}/def.json variable {}", kbin.dir,
                         kbin.variables[row.source.index].name);
    case SourceRecord::Kind::library:
      return fmt::format("{}/def.json ucode_lib library {}", kbin.dir,
                         kbin.ucode_libraries[row.source.index].name);
    case SourceRecord::Kind::none:
      return "the loader's own rules, no record of the file";
  }
  return row_source(model, row);
}

}  // namespace neffld::cli
