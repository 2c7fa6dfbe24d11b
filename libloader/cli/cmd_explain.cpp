// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "inspected.hpp"
#include "json_out.hpp"
#include "ledger_text.hpp"
#include "neffld/disassembler.hpp"
#include "neffld/explain.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

constexpr std::size_t max_addresses = 1024;

std::string patch_line(const LoadedModel& model, const LedgerRow& row) {
  const int digits = 2 * row.width;
  const std::string addend =
      row.symbol.addend ? fmt::format(" + 0x{:x}", row.symbol.addend) : std::string();
  return fmt::format("0x{:x} {} 0x{:0{}x} -> 0x{:0{}x}, {}{}, from {}",
                     model.addresses.sections[row.request] + row.offset, reloc_form_name(row.form),
                     row.old_value, digits, row.new_value, digits, one_line(row_symbol(model, row)),
                     addend, one_line(row_origin(model, row)));
}

std::string reference_line(const LoadedModel& model, const LedgerRow& row) {
  return fmt::format("0x{:x} in {} ({}), from {}",
                     model.addresses.sections[row.request] + row.offset,
                     one_line(model.plan.requests[row.request].owner), reloc_form_name(row.form),
                     one_line(row_origin(model, row)));
}

void fact_line(std::string& text, std::string_view name, std::string_view content) {
  text += fmt::format("  {:<11} {}\n", name, content);
}

std::string as_text(const Explanation& e, const LoadedModel* model) {
  std::string text = fmt::format("0x{:x}\n", e.address);
  fact_line(text, "is", e.what);
  for (const std::string& also : e.also) fact_line(text, "also", also);
  if (e.record) {
    const ExplainedRecord& record = *e.record;
    std::string head = fmt::format("{} {} at 0x{:x}", record.kind, record.number, record.address);
    if (record.source_slot) head += fmt::format(", from NEFF slot {}", *record.source_slot);
    if (record.kind == "instruction" && !record.source_slot) head += ", the loader's own";
    fact_line(text, "record", head);
    fact_line(text, "says", record.text);
    if (record.kind != "bytes") fact_line(text, "bytes", record_hex(record.bytes));
  }
  if (!model) return text;
  for (const LedgerRow& row : e.patches) fact_line(text, "patched", patch_line(*model, row));
  if (e.record && e.patches.empty()) fact_line(text, "patched", "nothing");
  for (const LedgerRow& row : e.references)
    fact_line(text, "referenced", reference_line(*model, row));
  if (e.reference_count > e.references.size()) {
    fact_line(text, "referenced",
              fmt::format("by {} more", e.reference_count - e.references.size()));
  }
  return text;
}

void row_object(JsonLine& out, const LoadedModel& model, const LedgerRow& row) {
  out.object([&] {
    out.hex("address", model.addresses.sections[row.request] + row.offset);
    out.field("section", model.plan.requests[row.request].owner);
    out.field("width", std::uint32_t{row.width});
    out.field("form", reloc_form_name(row.form));
    out.hex("old", row.old_value);
    out.hex("new", row.new_value);
    out.field("symbol", row_symbol(model, row));
    out.field("addend", row.symbol.addend);
    out.field("source", row_origin(model, row));
  });
}

std::string as_json(const Explanation& e, const LoadedModel* model) {
  JsonLine out;
  out.object([&] {
    out.hex("address", e.address);
    out.field("what", e.what);
    out.strings("also", e.also);
    if (e.record) {
      out.object("record", [&] {
        out.field("kind", e.record->kind);
        out.hex("address", e.record->address);
        out.field("number", e.record->number);
        if (e.record->source_slot) out.field("neff_slot", *e.record->source_slot);
        out.field("text", e.record->text);
        out.field("bytes", record_hex(e.record->bytes));
      });
    }
    if (!model) return;
    out.array("patches", e.patches, [&](const LedgerRow& row) { row_object(out, *model, row); });
    out.field("reference_count", e.reference_count);
    out.array("references", e.references,
              [&](const LedgerRow& row) { row_object(out, *model, row); });
  });
  return std::string(out.text()) + "\n";
}

/// The layout that knows most about an address: one with a section there, else a variable.
std::size_t best_layout(const std::vector<Locator>& locators, std::uint64_t address) {
  const auto rank = [&](const Locator& locator) {
    const Place::Kind kind = locator.locate(address).kind;
    return kind == Place::Kind::section ? 2 : kind == Place::Kind::variable ? 1 : 0;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < locators.size(); ++i) {
    if (rank(locators[i]) > rank(locators[best])) best = i;
  }
  return best;
}

struct ExplainCommand {
  std::string file, format = "text";
  std::vector<std::string> words;
  LoadingOptions loading;

  Result<void> run() {
    if (words.size() > max_addresses) {
      return fail(
          Status::invalid, ErrorClass::usage, {.path = "ADDRESS"},
          fmt::format("found {} addresses, expected at most {}", words.size(), max_addresses));
    }
    std::vector<std::uint64_t> addresses;
    for (const std::string& word : words) {
      NEFFLD_ASSIGN(const std::uint64_t address, parse_address(word, "ADDRESS"));
      addresses.push_back(address);
    }
    NEFFLD_ASSIGN(const Inspected inspected, inspect_file(file, loading, false));
    const std::vector<Locator> locators(inspected.layouts.begin(), inspected.layouts.end());
    std::vector<std::vector<Explanation>> of_layout(locators.size());
    std::vector<std::pair<std::size_t, std::size_t>> order;  // layout, position in its list
    for (const std::uint64_t address : addresses) {
      const std::size_t i = best_layout(locators, address);
      NEFFLD_ASSIGN(Explanation e, explain_address(locators[i], inspected.memory(), address));
      order.emplace_back(i, of_layout[i].size());
      of_layout[i].push_back(std::move(e));
    }
    std::string text;
    for (std::size_t i = 0; i < of_layout.size(); ++i) {
      const LoadedModel* model = inspected.model(i);
      if (model && !of_layout[i].empty()) NEFFLD_TRY(explain_patches(*model, of_layout[i]));
    }
    for (const auto& [i, position] : order) {
      const LoadedModel* model = inspected.model(i);
      const Explanation& e = of_layout[i][position];
      text += format == "json" ? as_json(e, model) : as_text(e, model);
    }
    return print_text(text);
  }
};

}  // namespace

void add_explain(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say what lives at device addresses, what was patched there and why");
  auto state = std::make_shared<ExplainCommand>();
  command->add_option("FILE", state->file, "A NEFF, loaded as relocs does, or an image")
      ->required();
  command->add_option("ADDRESS", state->words, "Device addresses, 0x hexadecimal or decimal")
      ->required();
  command->add_option("--format", state->format, "text, or json: one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  state->loading.add_device_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
