// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "inspected.hpp"
#include "json_out.hpp"
#include "neffld/disassembler.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

constexpr std::size_t flush_bytes = 1u << 20;
constexpr std::size_t left_column = 60;

/// Prints one stream: records of the NEFF (when there is one) beside those of the image.
class StreamPrinter {
 public:
  StreamPrinter(const Locator& locator, std::uint32_t subgraph, Engine engine, Bytes before,
                std::uint64_t base, Bytes after, bool json)
      : context_{locator, subgraph},
        layout_(locator.layout()),
        engine_(engine),
        before_(before),
        base_(base),
        after_(after),
        json_(json) {}

  Result<void> run() {
    const Layout::Subgraph& subgraph = layout_.subgraphs[context_.subgraph];
    const Layout::Stream& stream = subgraph.stream(engine_);
    if (!json_) {
      text_ += fmt::format("{} {} {}: {} records in the NEFF, {} in the image at 0x{:x}\n",
                           one_line(layout_.name), one_line(subgraph.name), engine_name(engine_),
                           stream.slots_in, stream.slots_out, base_);
    }
    std::uint64_t next = 0;  // first slot of the NEFF that is not printed yet
    const std::uint64_t slots_before = before_.size() / instruction_bytes;
    for (std::uint64_t image = 0; image < after_.size() / instruction_bytes; ++image) {
      const auto source = source_slot(stream, image);
      if (source) {
        for (; next < *source && next < slots_before; ++next) print(next, std::nullopt);
      }
      const bool first = source && *source == next;
      print(source, image, source && !first);
      if (first) ++next;
      if (text_.size() >= flush_bytes) NEFFLD_TRY(flush());
    }
    for (; next < slots_before; ++next) print(next, std::nullopt);
    return flush();
  }

 private:
  Result<void> flush() {
    auto result = print_text(text_);
    text_.clear();
    return result;
  }

  Bytes record(Bytes stream, std::uint64_t slot) const {
    return stream.subspan(slot * instruction_bytes, instruction_bytes);
  }
  std::string words(Bytes bytes) const {
    return mnemonic(layout_.arch, bytes) + " " + disassemble(bytes, context_);
  }

  /// `continued`: a further record of the NEFF slot printed above.
  void print(std::optional<std::uint64_t> source, std::optional<std::uint64_t> image,
             bool continued = false) {
    const bool have_before = source && *source < before_.size() / instruction_bytes;
    const Bytes old = have_before ? record(before_, *source) : Bytes();
    const Bytes now = image ? record(after_, *image) : Bytes();
    if (json_) return print_json(source, image, old, now);
    const bool same = have_before && image && std::equal(old.begin(), old.end(), now.begin());
    const std::string number = source ? fmt::format("{}", *source) : std::string("-");
    std::string left = have_before && !continued ? words(old) : std::string();
    if (source && continued) left = "  ...";
    if (!source) left = "(the loader's)";
    if (same) left = mnemonic(layout_.arch, old);
    const std::string right =
        image ? fmt::format("{:>6} {}", *image, words(now)) : std::string("     - (removed)");
    if (left.size() > left_column) {  // the right side goes on a line of its own
      text_ +=
          fmt::format("{:>6} {}\n{:>6} {:<{}} | {}\n", number, left, "", "", left_column, right);
    } else {
      text_ += fmt::format("{:>6} {:<{}} | {}\n", number, left, left_column, right);
    }
    if (have_before && !continued && !same) {
      text_ += fmt::format("{:>6} < {}\n", "", record_hex(old));
    }
    if (image) text_ += fmt::format("{:>6} {} {}\n", "", same ? "=" : ">", record_hex(now));
  }

  void print_json(std::optional<std::uint64_t> source, std::optional<std::uint64_t> image,
                  Bytes old, Bytes now) {
    JsonLine line;
    const auto side = [&](const char* name, std::uint64_t slot, Bytes bytes) {
      line.object(name, [&] {
        line.field("slot", slot);
        line.field("mnemonic", mnemonic(layout_.arch, bytes));
        line.field("text", disassemble(bytes, context_));
        line.field("bytes", record_hex(bytes));
      });
    };
    line.object([&] {
      line.field("subgraph", layout_.subgraphs[context_.subgraph].name);
      line.field("engine", engine_name(engine_));
      if (source) line.field("neff_slot", *source);
      if (image) line.hex("address", base_ + *image * instruction_bytes);
      if (!old.empty()) side("before", *source, old);
      if (!now.empty()) side("after", *image, now);
    });
    text_ += line.text();
    text_ += '\n';
  }

  DisassemblyContext context_;
  const Layout& layout_;
  Engine engine_;
  Bytes before_;
  std::uint64_t base_;
  Bytes after_;
  bool json_;
  std::string text_;
};

struct DisasmCommand {
  std::string file, format = "text", engine, subgraph;
  LoadingOptions loading;

  Result<void> run() {
    NEFFLD_ASSIGN(const Inspected inspected, inspect_file(file, loading, false));
    bool printed = false;
    for (std::size_t i = 0; i < inspected.layouts.size(); ++i) {
      const Locator locator(inspected.layouts[i]);
      for (std::uint32_t s = 0; s < inspected.layouts[i].subgraphs.size(); ++s) {
        if (!subgraph.empty() && inspected.layouts[i].subgraphs[s].name != subgraph) continue;
        printed = true;
        NEFFLD_TRY(print_subgraph(inspected, i, locator, s));
      }
    }
    if (printed) return {};
    return fail(Status::invalid, ErrorClass::usage, {.path = "--subgraph"},
                fmt::format("'{}' is no subgraph of {}", subgraph, file));
  }

  Result<void> print_subgraph(const Inspected& inspected, std::size_t model, const Locator& locator,
                              std::uint32_t s) const {
    const Layout& layout = locator.layout();
    for (const Engine e : all_engines) {
      if (!engine.empty() && engine_name(e) != engine) continue;
      const Layout::Stream& stream = layout.subgraphs[s].stream(e);
      if (!stream.section) continue;
      const std::uint64_t base = layout.sections[*stream.section].pa;
      std::vector<std::uint8_t> after(std::size_t{stream.slots_out} * instruction_bytes);
      NEFFLD_TRY(inspected.memory().read(base, after));
      const LoadedModel* loaded = inspected.model(model);
      const Bytes before = loaded ? loaded->parsed.kbins[s].engine(e).slots : Bytes();
      StreamPrinter printer(locator, s, e, before, base, after, format == "json");
      NEFFLD_TRY(printer.run());
    }
    return {};
  }
};

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  names.reserve(all_engines.size());
  for (const Engine engine : all_engines) names.emplace_back(engine_name(engine));
  return names;
}

}  // namespace

void add_disasm(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "disasm", "Print instruction streams before and after relocation side by side");
  auto state = std::make_shared<DisasmCommand>();
  command
      ->add_option("FILE", state->file,
                   "A NEFF, loaded as relocs does, or an image (only the relocated side)")
      ->required();
  command->add_option("--engine", state->engine, "Only this engine")
      ->check(CLI::IsMember(engine_names()));
  command->add_option("--subgraph", state->subgraph, "Only this subgraph, e.g. sg00");
  command->add_option("--format", state->format, "text, or json: one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  state->loading.add_device_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
