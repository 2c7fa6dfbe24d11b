// SPDX-License-Identifier: MIT
#include "model_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "generated.hpp"
#include "neffld/container.hpp"
#include "neffld/forwarding_file.hpp"

namespace neffld::test {
namespace {

/// The value, or a failed test that says why there is none.
template <class T>
T must(Result<T> result) {
  if (!result) FAIL(to_sentence(result.error()));
  return std::move(*result);
}

void must(const Result<void>& result) {
  if (!result) FAIL(to_sentence(result.error()));
}

}  // namespace

std::optional<std::string> real_file(const std::string& number) {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder != nullptr) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(number + "-") && name.ends_with(".neff")) return entry.path().string();
    }
  }
  WARN("SKIPPED: real file " << number << " (NEFFLD_NEFFS)");
  return std::nullopt;
}

bool can_run(const std::string& number) {
  return is_generated(number) || real_file(number).has_value();
}

ModelRun::ModelRun(const std::string& number) {
  for (const reference::Program& program : reference::programs()) {
    if (program.number == number) program_ = &program;
  }
  REQUIRE(program_ != nullptr);
  const auto bytes =
      is_generated(number) ? generated(number) : must(read_file(real_file(number).value()));
  ParsedModel parsed = must(parse_model(bytes, Arch::any));
  SimOptions options;
  options.architecture = static_cast<std::uint32_t>(parsed.manifest.arch);
  device_ = must(SimDevice::create(options));
  file_ = must(device_->open());
  session_ = must(Session::open(std::make_unique<ForwardingFile>(file_)));
  calls_ = std::make_unique<DeviceCalls>(*file_);
  model_ = must(session_->load(std::move(parsed)));
  std::map<std::string, std::uint64_t, std::less<>> io;
  const Manifest& manifest = model_->parsed.manifest;
  for (const auto* side : {&manifest.inputs, &manifest.outputs}) {
    for (const auto& [name, tensor] : *side) {
      Request request;
      request.size = tensor.size;
      request.hbm = model_->plan.kbins[0].hbm;
      request.core = model_->plan.kbins[0].core;
      request.owner = name;
      memory_[name] = must(calls_->allocate(request));
      io[name] = memory_[name].pa;
    }
  }
  must(session_->bind(*model_, io));
}

ModelRun::~ModelRun() = default;

void ModelRun::set_inputs(std::uint64_t seed) {
  inputs_ = reference::make_inputs(*program_, seed);
  for (const reference::Tensor& tensor : inputs_) {
    must(calls_->copy_in(memory_.at(tensor.name).handle, 0, tensor.raw));
  }
}

Result<ExecutionReport> ModelRun::execute() {
  const std::vector<std::uint8_t> spoilt(model_->parsed.manifest.outputs.begin()->second.size,
                                         0xFF);
  must(calls_->copy_in(memory_.at(program_->output.name).handle, 0, spoilt));
  ExecuteOptions options;
  options.timeout = std::chrono::minutes(30);  // file 04 on a machine that is busy
  return session_->execute(*model_, options);
}

reference::Tensor ModelRun::output() {
  reference::Tensor tensor{program_->output.name, program_->type, program_->output.shape, {}};
  tensor.raw.resize(tensor.elements() * reference::bytes_of(tensor.type));
  must(calls_->copy_out(memory_.at(tensor.name).handle, 0, tensor.raw));
  return tensor;
}

reference::Comparison ModelRun::judge() {
  must(execute());
  return reference::compare(*program_, inputs_, output(), 0, 1);
}

ModelRun::Place ModelRun::place_of(std::uint64_t address, std::uint64_t size) const {
  for (const AllocationInfo& info : model_->allocations) {
    if (address >= info.pa && address + size <= info.pa + info.size) {
      return {info.handle, address - info.pa};
    }
  }
  FAIL("no memory of the model holds the address");
  return {};
}

std::vector<std::uint8_t> ModelRun::read(std::uint64_t address, std::uint64_t size) {
  const Place place = place_of(address, size);
  std::vector<std::uint8_t> bytes(size);
  must(calls_->copy_out(place.handle, place.offset, bytes));
  return bytes;
}

void ModelRun::write(std::uint64_t address, Bytes bytes) {
  const Place place = place_of(address, bytes.size());
  must(calls_->copy_in(place.handle, place.offset, bytes));
}

std::uint64_t ModelRun::image(std::uint32_t subgraph, Engine engine) const {
  const StreamPlan& stream = model_->plan.kbins[subgraph].streams[static_cast<std::size_t>(engine)];
  return model_->addresses.sections[stream.request];
}

std::uint32_t ModelRun::image_slots(std::uint32_t subgraph, Engine engine) const {
  return static_cast<std::uint32_t>(
      model_->plan.kbins[subgraph].streams[static_cast<std::size_t>(engine)].slots_out);
}

}  // namespace neffld::test
