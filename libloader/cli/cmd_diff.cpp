// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "inspected.hpp"
#include "json_out.hpp"
#include "neffld/image_diff.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

std::string as_text(const Difference& d) {
  std::string text = d.what;
  if (d.count > 1) text += fmt::format(" and {} more", d.count - 1);
  return text + fmt::format("\n  < {}\n  > {}\n", d.first.empty() ? "-" : d.first,
                            d.second.empty() ? "-" : d.second);
}

std::string as_json(const Difference& d) {
  JsonLine out;
  out.object([&] {
    out.field("what", d.what);
    out.field("first", d.first);
    out.field("second", d.second);
    out.field("count", d.count);
  });
  return std::string(out.text()) + "\n";
}

struct DiffCommand {
  std::string first, second, format = "text";
  LoadingOptions loading;

  /// An image is as it was written; a NEFF gets its rings only if the image it meets has them.
  Result<std::pair<Inspected, Inspected>> open() const {
    NEFFLD_ASSIGN(const bool image_first, is_image_file(first));
    NEFFLD_ASSIGN(const bool image_second, is_image_file(second));
    if (!image_first && image_second) {
      NEFFLD_ASSIGN(Inspected b, inspect_file(second, loading, true));
      NEFFLD_ASSIGN(Inspected a, inspect_file(first, loading, b.bound()));
      return std::pair(std::move(a), std::move(b));
    }
    NEFFLD_ASSIGN(Inspected a, inspect_file(first, loading, true));
    NEFFLD_ASSIGN(Inspected b, inspect_file(second, loading, a.bound()));
    return std::pair(std::move(a), std::move(b));
  }

  Result<void> run() {
    NEFFLD_ASSIGN(const auto sides, open());
    const auto& [a, b] = sides;
    if (a.layouts.size() != b.layouts.size()) {
      return fail(Status::failure, ErrorClass::check, {},
                  fmt::format("{} holds {} models, {} holds {}", first, a.layouts.size(), second,
                              b.layouts.size()));
    }
    std::uint64_t count = 0, bytes = 0;
    for (std::size_t i = 0; i < a.layouts.size(); ++i) {
      NEFFLD_ASSIGN(const DiffResult result,
                    diff_models({a.layouts[i], a.memory()}, {b.layouts[i], b.memory()}));
      count += result.differences.size();
      bytes += result.bytes;
      for (const Difference& difference : result.differences) {
        NEFFLD_TRY(print_text(format == "json" ? as_json(difference) : as_text(difference)));
      }
    }
    if (count != 0) {
      return fail(Status::failure, ErrorClass::check, {},
                  fmt::format("{} and {} differ in {} things", first, second, count));
    }
    if (format == "json") return {};
    return print_text(fmt::format("equal: {} bytes compared\n", bytes));
  }
};

}  // namespace

void add_diff(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "diff", "Compare two NEFFs or images after taking addresses out, and name what differs");
  auto state = std::make_shared<DiffCommand>();
  command->add_option("A", state->first, "A NEFF or an image")->required();
  command->add_option("B", state->second, "A NEFF or an image")->required();
  command->add_option("--format", state->format, "text, or json: one object a difference")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  state->loading.add_device_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
