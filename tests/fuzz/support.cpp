// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "neffld/auto_bind.hpp"
#include "neffld/compatibility.hpp"
#include "neffld/disassembler.hpp"
#include "neffld/sim_control.hpp"
#include "neffld/sync_model.hpp"
#include "neuron_abi/ioctl.h"
#include "sample_catalogue.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::uint64_t small_file = 32 << 20;
constexpr std::chrono::milliseconds execution_limit{50};
constexpr std::size_t most_slots = 256, most_disassembled = 4096;

bool has_no_controls(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return true;
}

LoadOptions load_limits() {
  LoadOptions options;
  options.max_ring_bytes = 16 << 20;
  options.one_thread = true;  // the same calls in the same order each time
  return options;
}

/// What on a device belongs to somebody, or to its cores.
struct Held {
  std::uint64_t handles, device_bytes, host_bytes;
  bool operator==(const Held&) const = default;
};

Held held(const SimDevice& device) {
  const auto counters = device.counters();
  return {counters.live_handles, counters.live_device_bytes, sim_live_host_bytes(device)};
}

/// Cores keep the notification rings of an execution until they are reset (spec 06 section 3).
void reset_cores(SimDevice& device) {
  auto file = device.open();
  if (!file) broken("a device can be opened again", to_sentence(file.error()));
  neuron_nc_reset request{NEURON_NC_RESET_WHOLE_DEVICE, 0};
  promise((*file)->ioctl(NEURON_IOCTL_NC_RESET, &request) == 0, "a device can be reset");
  neuron_nc_reset_ready ready{request.request_id, 0};
  promise((*file)->ioctl(NEURON_IOCTL_NC_RESET_READY, &ready) == 0, "a reset comes to its end");
}

void use(Session& session, LoadedModel& model) {
  auto io = free_io_addresses(session, model);
  if (!good(io)) return;
  if (!good(session.bind(model, *io))) return;
  const auto verified = session.verify(model);
  if (!verified) broken("what was loaded reads back", to_sentence(verified.error()));
  const auto layout = layout_of(model);
  if (!good(layout)) return;
  inspect(*layout, *session_memory(session));
  ExecuteOptions options;
  options.timeout = execution_limit;
  good(session.execute(model, options));
}

void load_on_device(ParsedModel model) {
  const std::uint32_t architecture = model.manifest.arch == Arch::v2 ? 2 : 3;
  auto device = SimDevice::create({.architecture = architecture});
  if (!device) broken("a device can be made", to_sentence(device.error()));
  const auto before = held(**device);
  {
    auto file = (*device)->open();
    if (!file) broken("a device can be opened", to_sentence(file.error()));
    auto session = Session::open(std::move(*file));
    if (!session) broken("a session can be opened", to_sentence(session.error()));
    const auto opened = held(**device);
    auto loaded = (*session)->load(std::move(model), load_limits());
    if (good(loaded)) {
      use(**session, **loaded);
      const auto unloaded = (*session)->unload(**loaded);
      if (!unloaded) broken("a model can be unloaded", to_sentence(unloaded.error()));
    } else {
      promise(held(**device) == opened, "a refused load leaves nothing on the device",
              to_sentence(loaded.error()));
    }
  }
  reset_cores(**device);
  const auto after = held(**device);
  promise(after == before, "a closed session leaves nothing on the device",
          fmt::format("{} handles, {} and {} bytes of device and host; before {}, {}, {}",
                      after.handles, after.device_bytes, after.host_bytes, before.handles,
                      before.device_bytes, before.host_bytes));
}

}  // namespace

void broken(std::string_view promise, std::string_view detail) {
  fmt::print(stderr, "BROKEN PROMISE: {}: {}\n", promise, detail);
  std::fflush(stderr);
  std::abort();
}

void judge(const Error& error) {
  const std::string sentence = to_sentence(error);
  promise(error.status != Status::success, "a refusal has a status", sentence);
  promise(!error.text.empty() && has_no_controls(sentence), "a refusal is one line", sentence);
}

ParseOptions parse_limits() {
  ParseOptions options;
  options.container.limits.inflated_bytes = small_file;
  options.container.limits.member_bytes = small_file;
  options.container.limits.members = 4096;
  options.build.max_variables = 65536;
  return options;
}

void load(Bytes neff) {
  CompatibilityOptions compatibility;
  compatibility.parse = parse_limits();
  good(check_compatibility(neff, compatibility));
  auto model = parse_model(neff, Arch::any, parse_limits());
  if (!good(model) || model->kbins.empty()) return;
  load_on_device(std::move(*model));
}

void inspect(const Layout& layout, const DeviceMemoryView& memory) {
  const Locator locator(layout);
  for (std::uint32_t subgraph = 0; subgraph < layout.subgraphs.size(); ++subgraph) {
    for (const Layout::Stream& stream : layout.subgraphs[subgraph].streams) {
      if (!stream.section) continue;
      const Layout::Section& section = layout.sections[*stream.section];
      for (std::uint64_t slot = 0; slot < stream.slots_out && slot < most_disassembled; ++slot) {
        std::uint8_t record[instruction_bytes];
        if (!good(memory.read(section.pa + slot * sizeof record, record))) break;
        const std::string text = disassemble(record, {locator, subgraph});
        promise(has_no_controls(text), "a record is one line", text);
        for (const RecordAddress& found : addresses_in(record)) locator.text(found.address);
      }
    }
  }
  good(run_tokens(layout, memory, {.max_records = 20'000, .max_descriptors = 200'000}));
}

std::vector<std::uint8_t> Slot::with(Bytes content) const {
  std::vector<PackMember> members = shell_->members;
  members[member_].bytes.assign(content.begin(), content.end());
  PackOptions options = shell_->options;
  options.compression = Compression::none;
  auto file = pack_neff(members, options);
  if (!file) broken("a shell can be packed", to_sentence(file.error()));
  return std::move(*file);
}

Slots slots_of(std::span<const std::string_view> samples,
               const std::function<bool(std::string_view name)>& wanted) {
  Slots slots;
  std::set<std::pair<std::string_view, std::vector<std::uint8_t>>> seen;
  for (const std::string_view name : samples) {
    const sample::SampleNeff& shell = lean_sample(name);
    for (std::size_t i = 0; i < shell.members.size(); ++i) {
      const PackMember& member = shell.members[i];
      const std::string_view base =
          std::string_view(member.name).substr(member.name.rfind('/') + 1);
      if (!wanted(member.name) || !seen.emplace(base, member.bytes).second) continue;
      slots.emplace_back(shell, i);
    }
  }
  promise(!slots.empty() && slots.size() <= most_slots, "a byte can choose a slot",
          fmt::format("{} slots", slots.size()));
  return slots;
}

void load_with(const Slots& slots, Bytes input) {
  if (input.empty()) return;
  load(slots[input[0] % slots.size()].with(input.subspan(1)));
}

std::vector<Input> seeds_of(const Slots& slots) {
  std::vector<Input> seeds;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Input seed = {static_cast<std::uint8_t>(i)};
    const auto& bytes = slots[i].member().bytes;
    seed.insert(seed.end(), bytes.begin(), bytes.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<std::string> quoted_words(const std::vector<Input>& seeds) {
  std::set<std::string> words;
  for (const Input& seed : seeds) {
    const std::string_view text = as_text(seed);
    for (std::size_t begin = text.find('"'); begin != text.npos; begin = text.find('"', begin)) {
      const std::size_t end = text.find('"', begin + 1);
      if (end == text.npos) break;
      if (end - begin < 40) words.emplace(text.substr(begin, end + 1 - begin));
      begin = end + 1;
    }
  }
  return {words.begin(), words.end()};
}

const sample::SampleNeff& lean_sample(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, sample::SampleNeff, std::less<>> samples;
  const std::scoped_lock lock(mutex);
  const auto found = samples.find(name);
  if (found != samples.end()) return found->second;
  sample::SampleNeff sample = sample::make_sample(name);
  std::erase_if(sample.members, [](const PackMember& member) {
    return member.name.find(".dbg") != std::string::npos;
  });
  return samples.emplace(std::string(name), std::move(sample)).first->second;
}

const std::vector<std::uint8_t>& sample_file(std::string_view name, Compression compression) {
  static std::map<std::pair<std::string, Compression>, std::vector<std::uint8_t>> files;
  std::vector<std::uint8_t>& file = files[{std::string(name), compression}];
  if (!file.empty()) return file;
  const sample::SampleNeff& sample = lean_sample(name);
  PackOptions options = sample.options;
  options.compression = compression;
  auto packed = pack_neff(sample.members, options);
  if (!packed) broken("a sample can be packed", to_sentence(packed.error()));
  return file = std::move(*packed);
}

}  // namespace neffld::fuzz
