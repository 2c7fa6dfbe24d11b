// SPDX-License-Identifier: MIT
// neffld ip: device addresses of instructions to slots of the NEFF, and back (spec 05 A8).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "commands.hpp"
#include "json_out.hpp"
#include "loading.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

constexpr std::uint64_t slot_bytes = 64;

/// What the user asks for: a device address (0x...) or a slot (decimal, from 0 as in messages).
struct Place {
  bool is_address = false;
  std::uint64_t value = 0;
};

Result<Place> parse_place(const std::string& text) {
  Place place;
  place.is_address = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (place.is_address ? 2 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, place.value, place.is_address ? 16 : 10);
  if (begin != end && stop == end && error == std::errc()) return place;
  return fail(Status::invalid, ErrorClass::usage, {.path = text},
              "expected a device address (0x...) or a slot number");
}

/// One engine's stream on the device.
struct Stream {
  const Kbin* kbin;
  Engine engine;
  const IpMap* map;
  std::uint64_t base, bytes;
};

std::vector<Stream> streams_of(const LoadedModel& model, const std::string& engine) {
  std::vector<Stream> streams;
  for (std::uint32_t i = 0; i < model.parsed.kbins.size(); ++i) {
    for (const Engine e : all_engines) {
      if (!engine.empty() && engine != engine_name(e)) continue;
      const IpMap* map = model.ledger.ip_map(i, e);
      if (!map) continue;
      const StreamPlan& plan = model.plan.kbins[i].streams[static_cast<std::size_t>(e)];
      streams.push_back({&model.parsed.kbins[i], e, map, model.addresses.sections[plan.request],
                         plan.slots_out * slot_bytes});
    }
  }
  return streams;
}

/// One line of the answer.
struct Answer {
  const Stream* stream;
  std::uint64_t slot;     ///< of the NEFF, from 0
  std::uint64_t address;  ///< asked for, or where the slot's records start
  std::uint64_t record;   ///< of the slot's records, from 0
  std::uint64_t records;  ///< that the slot became
};

std::string to_text(const Answer& answer) {
  const std::string where =
      fmt::format("0x{:011x}  {} {:<4} slot {} (neff ip {})", answer.address,
                  one_line(answer.stream->kbin->name), engine_name(answer.stream->engine),
                  answer.slot, answer.slot + 1);
  if (answer.records == 0) return where + ", removed: this is what follows\n";
  if (answer.records == 1) return where + "\n";
  return where + fmt::format(", record {} of {}\n", answer.record + 1, answer.records);
}

std::string to_json(const Answer& answer) {
  JsonLine line;
  line.object([&] {
    line.hex("address", answer.address);
    line.field("subgraph", answer.stream->kbin->name);
    line.field("engine", engine_name(answer.stream->engine));
    line.field("slot", answer.slot);
    line.field("neff_ip", answer.slot + 1);
    line.field("record", answer.record);
    line.field("records", answer.records);
  });
  return std::string(line.text()) + '\n';
}

Result<Answer> answer_address(const std::vector<Stream>& streams, std::uint64_t address) {
  const auto stream =
      std::find_if(streams.begin(), streams.end(), [address](const Stream& candidate) {
        return address >= candidate.base && address - candidate.base < candidate.bytes;
      });
  if (stream == streams.end()) {
    return fail(Status::failure, ErrorClass::check, {},
                fmt::format("address 0x{:x} lies in no instruction image", address));
  }
  const std::uint64_t offset = address - stream->base;
  const auto number = neff_ip(*stream->map, offset);
  if (!number) {  // its text counts from the image's start
    Error error = number.error();
    error.where.path = fmt::format("{} {}", stream->kbin->name, engine_name(stream->engine));
    error.text =
        fmt::format("address 0x{:x} is image offset 0x{:x}: {}", address, offset, error.text);
    return tl::unexpected<Error>(std::move(error));
  }
  NEFFLD_ASSIGN(const DeviceIps place, device_ips(*stream->map, *number));
  return Answer{&*stream, *number - 1, address, (offset - place.offset) / slot_bytes, place.count};
}

Result<std::vector<Answer>> answers_to(const std::vector<Stream>& streams, Place place) {
  std::vector<Answer> answers;
  if (place.is_address) {
    NEFFLD_ASSIGN(const Answer answer, answer_address(streams, place.value));
    answers.push_back(answer);
    return answers;
  }
  for (const Stream& stream : streams) {
    const auto found = device_ips(*stream.map, place.value + 1);
    if (!found) continue;
    answers.push_back({&stream, place.value, stream.base + found->offset, 0, found->count});
  }
  if (!answers.empty()) return answers;
  return fail(Status::failure, ErrorClass::check, {},
              fmt::format("no stream has a slot {}", place.value));
}

struct IpCommand {
  LoadingOptions loading;
  std::string file, engine, format = "text";
  std::vector<std::string> places;

  Result<void> run() {
    std::vector<Place> wanted;
    for (const std::string& text : places) {
      NEFFLD_ASSIGN(const Place place, parse_place(text));
      wanted.push_back(place);
    }
    loading.files = {file};
    NEFFLD_ASSIGN(Loading result, load_files(loading));
    const std::vector<Stream> streams = streams_of(*result.session->models()[0], engine);
    for (const Stream& stream : streams) {  // they cost exactness, never the answer
      for (const std::string& warning : stream.map->warnings) {
        print_note(fmt::format("warning: {} {}: {}", one_line(stream.kbin->name),
                               engine_name(stream.engine), one_line(warning)));
      }
    }
    for (const Place place : wanted) {
      NEFFLD_ASSIGN(const std::vector<Answer> answers, answers_to(streams, place));
      for (const Answer& answer : answers) {
        NEFFLD_TRY(print_text(format == "json" ? to_json(answer) : to_text(answer)));
      }
    }
    return {};
  }
};

}  // namespace

void add_ip(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "ip", "Load a NEFF and map device addresses of instructions to its slots, and back");
  auto state = std::make_shared<IpCommand>();
  command->add_option("FILE", state->file, "NEFF file")->required();
  command
      ->add_option("PLACE", state->places,
                   "Device addresses (0x...) or slots of the NEFF (decimal, from 0)")
      ->required();
  command->add_option("--engine", state->engine, "Only this engine's stream")
      ->check(CLI::IsMember({"pe", "act", "pool", "dve", "sp"}));
  command->add_option("--format", state->format, "text, or json: one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  state->loading.add_device_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
