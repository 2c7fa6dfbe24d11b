// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "json_out.hpp"
#include "ledger_text.hpp"
#include "loading.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

constexpr std::size_t ledger_flush_bytes = 1u << 20;

/// Prints ledger rows of one model as text or as one JSON object a line.
class RowPrinter {
 public:
  RowPrinter(const LoadedModel& model, bool json, std::string form)
      : model_(model), json_(json), form_(std::move(form)) {}

  void operator()(const LedgerRow& row) {
    const std::string_view form = reloc_form_name(row.form);
    if (!form_.empty() && form != form_) return;
    const std::string& owner = model_.plan.requests[row.request].owner;
    const std::uint64_t address = model_.addresses.sections[row.request] + row.offset;
    if (json_) {
      print_json(row, address, form, owner);
    } else {
      print_text_line(row, address, form, owner);
    }
    if (text_.size() >= ledger_flush_bytes) flush();
  }

  Result<void> finish() {
    flush();
    return std::move(result_);
  }

 private:
  void print_json(const LedgerRow& row, std::uint64_t address, std::string_view form,
                  std::string_view owner) {
    JsonLine line;
    line.object([&] {
      line.hex("address", address);
      line.field("subgraph", kbin(row).name);
      line.field("section", owner);
      line.field("offset", row.offset);
      line.field("width", std::uint32_t{row.width});
      line.field("form", form);
      line.hex("old", row.old_value);
      line.hex("new", row.new_value);
      line.field("symbol", row_symbol(model_, row));
      line.field("addend", row.symbol.addend);
      line.field("source", row_source(model_, row));
    });
    text_ += line.text();
    text_ += '\n';
  }

  void print_text_line(const LedgerRow& row, std::uint64_t address, std::string_view form,
                       std::string_view owner) {
    const int digits = 2 * row.width;
    const std::string addend =
        row.symbol.addend ? fmt::format("+0x{:x}", row.symbol.addend) : std::string();
    fmt::format_to(std::back_inserter(text_),
                   "0x{:011x}  {:<16} 0x{:0{}x} -> 0x{:0{}x}  {:<28} {:<24} {}\n", address, form,
                   row.old_value, digits, row.new_value, digits,
                   one_line(row_symbol(model_, row)) + addend, one_line(row_source(model_, row)),
                   one_line(owner));
  }

  void flush() {
    if (result_) result_ = print_text(text_);
    text_.clear();
  }
  const Kbin& kbin(const LedgerRow& row) const { return model_.parsed.kbins[row.kbin]; }

  const LoadedModel& model_;
  bool json_;
  std::string form_;
  std::string text_;
  Result<void> result_;
};

struct RelocsCommand {
  LoadingOptions loading;
  std::string format = "text", form;

  Result<void> run() {
    NEFFLD_ASSIGN(Loading result, load_files(loading));
    const SectionSink no_contents = [](const SectionContent&) { return Result<void>(); };
    for (const auto& model : result.session->models()) {
      RowPrinter printer(*model, format == "json", form);
      Ledger ledger([&printer](const LedgerRow& row) { printer(row); });
      NEFFLD_TRY(relocate(model->parsed.kbins, model->plan, model->addresses, ledger, no_contents));
      if (model->bound) {
        NEFFLD_TRY(relocate_bound(model->parsed.kbins, model->plan, model->addresses, ledger,
                                  no_contents));
      }
      NEFFLD_TRY(printer.finish());
    }
    return {};
  }
};

}  // namespace

namespace {

std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < reloc_form_count; ++i) {
    names.emplace_back(reloc_form_name(static_cast<RelocForm>(i)));
  }
  return names;
}

}  // namespace

void add_relocs(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "relocs", "Load NEFFs and print the ledger: every relocated field, old and new value, why");
  auto state = std::make_shared<RelocsCommand>();
  command->add_option("FILE", state->loading.files, "NEFF files")->required();
  command->add_option("--format", state->format, "text, or json: one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--form", state->form, "Only relocations of this form, e.g. var_address")
      ->check(CLI::IsMember(form_names()));
  state->loading.add_device_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
