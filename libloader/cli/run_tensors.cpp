// SPDX-License-Identifier: MIT
#include "run_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neffld::cli {
namespace {

constexpr std::uint64_t piece_bytes = 4u << 20;

}  // namespace

Result<std::unique_ptr<RunTensors>> RunTensors::allocate(std::shared_ptr<DeviceFile> file,
                                                         const LoadedModel& model) {
  const Manifest& manifest = model.parsed.manifest;
  auto tensors = std::unique_ptr<RunTensors>(new RunTensors(std::move(file), manifest));
  Request request;
  request.category = tensor_category;
  if (!model.plan.kbins.empty()) {
    request.hbm = model.plan.kbins[0].hbm;
    request.core = model.plan.kbins[0].core;
  }
  for (const auto* side : {&manifest.inputs, &manifest.outputs}) {
    for (const auto& [name, tensor] : *side) {
      if (tensors->memory_.contains(name)) continue;
      request.size = std::max<std::uint64_t>(tensor.size, 1);
      request.owner = fmt::format("tensor {}", name);
      tensors->list_.reserve(tensors->list_.size() + 1);
      NEFFLD_ASSIGN(const DeviceMemory memory, tensors->calls_.allocate(request));
      tensors->list_.add(memory);
      tensors->memory_.emplace(name, memory);
    }
  }
  return tensors;
}

std::map<std::string, std::uint64_t, std::less<>> RunTensors::addresses() const {
  std::map<std::string, std::uint64_t, std::less<>> addresses;
  for (const auto& [name, memory] : memory_) addresses.emplace(name, memory.pa);
  return addresses;
}

std::uint64_t RunTensors::size_of(const std::string& name) const {
  const auto input = manifest_.inputs.find(name);
  return input != manifest_.inputs.end() ? input->second.size : manifest_.outputs.at(name).size;
}

Result<void> RunTensors::write(const std::string& name, TensorSource& source,
                               const PieceSink& also) {
  const std::uint64_t handle = memory_.at(name).handle;
  std::uint64_t offset = 0;
  return source.read([&](Bytes piece) -> Result<void> {
    NEFFLD_TRY(calls_.copy_in(handle, offset, piece));
    offset += piece.size();
    return also ? also(piece) : Result<void>();
  });
}

Result<void> RunTensors::spoil_outputs() {
  for (const auto& [name, tensor] : manifest_.outputs) {
    if (manifest_.inputs.contains(name)) continue;
    const std::vector<std::uint8_t> pattern(std::min(tensor.size, piece_bytes), 0xFF);
    for (std::uint64_t done = 0; done < tensor.size; done += pattern.size()) {
      const std::uint64_t piece = std::min<std::uint64_t>(tensor.size - done, pattern.size());
      NEFFLD_TRY(calls_.copy_in(memory_.at(name).handle, done, Bytes(pattern).first(piece)));
    }
  }
  return {};
}

Result<void> RunTensors::read(const std::string& name, const PieceSink& sink) {
  const std::uint64_t size = size_of(name);
  std::vector<std::uint8_t> buffer(std::min(size, piece_bytes));
  for (std::uint64_t done = 0; done < size;) {
    const MutableBytes piece =
        MutableBytes(buffer).first(std::min<std::uint64_t>(size - done, buffer.size()));
    NEFFLD_TRY(calls_.copy_out(memory_.at(name).handle, done, piece));
    NEFFLD_TRY(sink(piece));
    done += piece.size();
  }
  return {};
}

}  // namespace neffld::cli
