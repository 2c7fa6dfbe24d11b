// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "commands.hpp"
#include "loading.hpp"
#include "neffld/container.hpp"

namespace neffld::cli {
namespace {

struct PackCommand {
  std::string folder, output, uuid;
  PackOptions options;

  Result<void> run() {
    if (!uuid.empty()) {
      NEFFLD_TRY(parse_uuid());
    }
    NEFFLD_ASSIGN(const std::vector<PackMember> members, read_folder(folder));
    NEFFLD_TRY(check_output(output, files_of(members)));
    const bool has_graph = std::any_of(members.begin(), members.end(), [](const PackMember& m) {
      return m.name == "neff.json" || m.name == "kelp.json";
    });
    if (!has_graph) {
      return invalid({.member = folder}, "has no neff.json, which every NEFF needs");
    }
    NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes, pack_neff(members, options));
    NEFFLD_TRY(check_header(bytes));  // an option may ask for what no loader accepts
    return write_file(output, bytes);
  }

  std::vector<std::string> files_of(const std::vector<PackMember>& members) const {
    std::vector<std::string> files;
    for (const PackMember& member : members) files.push_back(folder + "/" + member.name);
    return files;
  }

  Result<void> parse_uuid() {
    std::array<std::uint8_t, 16> bytes{};
    std::size_t digits = 0;
    for (const char c : uuid) {
      if (c == '-') continue;
      const std::size_t value = std::string_view("0123456789abcdef")
                                    .find(static_cast<char>(c | (c >= 'A' && c <= 'F' ? 0x20 : 0)));
      if (value == std::string_view::npos || digits == 32) {
        digits = 0;
        break;
      }
      bytes[digits / 2] = static_cast<std::uint8_t>(bytes[digits / 2] * 16u + value);
      ++digits;
    }
    if (digits != 32) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--uuid"},
                  fmt::format("found '{}', expected 32 hexadecimal digits", uuid));
    }
    options.uuid = bytes;
    return {};
  }
};

struct UnpackCommand {
  LoadingOptions loading;
  std::string file, folder;

  Result<void> run() const {
    const ContainerOptions options = parse_options(loading, Stage::parse).container;
    NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes,
                  read_file(file, options.limits.file_bytes()));
    auto container = parse_container(bytes, options);
    if (!container) return tl::unexpected<Error>(in_file(std::move(container.error()), file));
    return unpack_neff(*container, folder);
  }
};

/// An option that takes one of some words. CLI's own transformers print the numbers behind them.
template <class Value>
void add_choice(CLI::App& command, const char* name, Value& value, const char* meaning,
                const std::map<std::string, Value>& choices) {
  std::set<std::string> words;
  for (const auto& [word, chosen] : choices) words.insert(word);
  command
      .add_option_function<std::string>(
          name, [&value, choices](const std::string& word) { value = choices.at(word); }, meaning)
      ->transform(CLI::IsMember(words, CLI::ignore_case));
}

}  // namespace

void add_pack(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand("pack", "Write a NEFF from a folder of members");
  auto state = std::make_shared<PackCommand>();
  command->add_option("DIR", state->folder, "Folder that holds neff.json and the rest")->required();
  command->add_option("-o,--output", state->output, "The NEFF to write")
      ->required()
      ->check(not_empty());
  command->add_option("--name", state->options.name, "Model name in the header");
  command->add_option("--uuid", state->uuid, "UUID in the header (default: a random one)");
  command->add_option("--features", state->options.feature_bits, "Feature bits")
      ->check(unsigned_number());
  command->add_option("--vnc-size", state->options.vnc_size, "Logical core size")
      ->check(unsigned_number())
      ->capture_default_str();
  add_choice(*command, "--dialect", state->options.dialect,
             "Tar dialect: ustar (default), pax, gnu",
             {{"ustar", TarDialect::ustar}, {"pax", TarDialect::pax}, {"gnu", TarDialect::gnu}});
  add_choice(*command, "--compression", state->options.compression,
             "Payload compression: none, stored, deflate (default)",
             {{"none", Compression::none},
              {"stored", Compression::stored},
              {"deflate", Compression::deflate}});
  command->add_flag(
      "--word-swapped-hash", state->options.word_swapped_hash,
      "Store the payload hash with each 4-byte group reversed, as newer compilers do");
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

void add_unpack(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand("unpack", "Write the members of a NEFF into a folder");
  auto state = std::make_shared<UnpackCommand>();
  command->add_option("FILE", state->file, "A NEFF")->required();
  command->add_option("DIR", state->folder, "An empty or new folder")->required();
  state->loading.add_container_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
