// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "neffld/container.hpp"
#include "neffld/session.hpp"
#include "sample_catalogue.hpp"
#include "sample_neff.hpp"

namespace neffld::test {

std::unique_ptr<DeviceFile> fresh_device(std::uint32_t architecture) {
  SimOptions options;
  options.architecture = architecture;
  auto device = SimDevice::create(options);
  REQUIRE(device);
  auto file = (*device)->open();
  REQUIRE(file);
  return std::move(*file);
}

FakeFile::FakeFile(Answer answer, DeviceTraits traits, std::uint32_t architecture)
    : answer_(std::move(answer)), traits_(std::move(traits)), inner_(fresh_device(architecture)) {}

int FakeFile::ioctl(std::uint32_t command, void* argument) noexcept {
  calls->push_back(command);
  if (const auto result = answer_(command, argument)) return *result;
  return inner_->ioctl(command, argument);
}

Result<void> try_load(std::unique_ptr<DeviceFile> device, std::string_view name) {
  NEFFLD_ASSIGN(const auto session, Session::open(std::move(device)));
  NEFFLD_ASSIGN(const auto packed, sample::pack(sample::make_sample(name)));
  NEFFLD_ASSIGN(auto parsed, parse_model(packed, session->arch()));
  LoadOptions options;
  options.one_thread = true;  // recordings are compared call by call
  NEFFLD_ASSIGN(LoadedModel * model, session->load(std::move(parsed), options));
  NEFFLD_TRY(session->verify(*model));
  return session->unload(*model);
}

void load_sample(std::unique_ptr<DeviceFile> device, std::string_view name) {
  if (const auto result = try_load(std::move(device), name); !result) {
    FAIL(to_sentence(result.error()));
  }
}

void record_sample(const std::string& path, std::string_view name, const TraceOptions& options) {
  auto writer = TraceWriter::create(path, options);
  REQUIRE(writer);
  load_sample(record_calls(fresh_device(), *writer), name);
  REQUIRE((*writer)->finish());
}

std::vector<std::uint8_t> read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_all(const std::string& path, Bytes bytes) {
  std::ofstream file(path, std::ios::binary);
  file << as_text(bytes);
  REQUIRE(file.flush());
}

Result<std::vector<TraceEvent>> events_of(Bytes trace) {
  NEFFLD_ASSIGN(const auto reader, TraceReader::from_bytes(trace));
  std::vector<TraceEvent> events;
  for (;;) {
    NEFFLD_ASSIGN(auto event, reader->next());
    if (!event) return events;
    events.push_back(std::move(*event));
  }
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace neffld::test
