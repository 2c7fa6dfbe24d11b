// SPDX-License-Identifier: MIT
#include "devices.hpp"

#include <catch2/catch.hpp>
#include <mutex>

#include "sample_catalogue.hpp"

namespace neffld::test {

int ScriptedFile::ioctl(std::uint32_t command, void* argument) noexcept {
  const std::scoped_lock lock(mutex_);
  const bool refused =
      script_->refused == command && script_->fail_at != 0 && script_->calls >= script_->fail_at;
  if (++script_->calls != script_->fail_at && !refused) return inner_->ioctl(command, argument);
  script_->failed_command = command;
  if (script_->half_copy && command == NEURON_IOCTL_MEM_BUF_COPY64) {
    neuron_mem_buf_copy64 half = *static_cast<const neuron_mem_buf_copy64*>(argument);
    half.size /= 2;
    static_cast<void>(inner_->ioctl(command, &half));
  }
  return script_->answer;
}

Bench::Bench(std::uint32_t architecture, std::uint64_t hbm_bytes) {
  auto created = SimDevice::create({.architecture = architecture, .hbm_bytes = hbm_bytes});
  REQUIRE(created);
  device = *created;
  auto file = device->open();
  REQUIRE(file);
  auto second = device->open();
  REQUIRE(second);
  peer = std::move(*second);
  auto opened = Session::open(std::make_unique<ScriptedFile>(std::move(*file), script));
  REQUIRE(opened);
  session = std::move(*opened);
}

std::pair<std::uint64_t, std::uint64_t> Bench::held() const {
  const auto counters = device->counters();
  return {counters.live_handles, counters.live_device_bytes};
}

Bytes sample_bytes(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::uint8_t>, std::less<>> made;
  const std::scoped_lock lock(mutex);
  auto found = made.find(name);
  if (found == made.end()) {
    auto packed = sample::pack(sample::make_sample(name));
    REQUIRE(packed);
    found = made.emplace(std::string(name), std::move(*packed)).first;
  }
  return found->second;
}

std::vector<std::string> loadable_samples() {
  std::vector<std::string> names;
  for (const auto& entry : sample::catalogue()) {
    if (entry.name != "scale" && entry.name != "refused-v3") names.emplace_back(entry.name);
  }
  return names;
}

std::uint32_t architecture_of(std::string_view name) {
  return name.ends_with("-v2") ? 2 : 3;
}

ParsedModel parsed(std::string_view name) {
  auto model = parse_model(sample_bytes(name), Arch::any);
  if (!model) FAIL(to_sentence(model.error()));
  return std::move(*model);
}

LoadedModel& load(Bench& bench, std::string_view name, const LoadOptions& options) {
  auto model = bench.session->load(parsed(name), options);
  if (!model) FAIL(to_sentence(model.error()));
  return **model;
}

IoMap io_addresses(const ParsedModel& model, std::uint64_t first) {
  constexpr std::uint64_t unit = 0x10000;
  IoMap io;
  for (const auto* tensors : {&model.manifest.inputs, &model.manifest.outputs}) {
    for (const auto& [name, tensor] : *tensors) {
      if (!io.emplace(name, first).second) continue;
      first += (tensor.size + unit - 1) / unit * unit;
    }
  }
  return io;
}

namespace {

void copy(Bench& bench, std::uint64_t handle, std::uint64_t offset, std::uint8_t* bytes,
          std::uint64_t size, bool to_device) {
  neuron_mem_buf_copy64 argument{};
  argument.mem_handle = handle;
  argument.buffer_ptr = reinterpret_cast<std::uintptr_t>(bytes);
  argument.size = size;
  argument.offset = offset;
  argument.copy_to_mem_handle = to_device;
  REQUIRE(bench.peer->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &argument) == 0);
}

}  // namespace

std::vector<std::uint8_t> peek(Bench& bench, std::uint64_t handle, std::uint64_t size,
                               std::uint64_t offset) {
  std::vector<std::uint8_t> bytes(size);
  copy(bench, handle, offset, bytes.data(), size, false);
  return bytes;
}

void poke(Bench& bench, std::uint64_t handle, std::uint64_t offset, std::uint8_t value) {
  copy(bench, handle, offset, &value, 1, true);
}

std::vector<std::pair<std::string, std::uint64_t>> layout(const LoadedModel& model) {
  std::vector<std::pair<std::string, std::uint64_t>> entries;
  for (const AllocationInfo& info : model.allocations) entries.emplace_back(info.owner, info.pa);
  return entries;
}

}  // namespace neffld::test
