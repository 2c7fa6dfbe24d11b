// SPDX-License-Identifier: MIT
#include "execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api.hpp"
#include "completion.hpp"
#include "inspection.hpp"
#include "log.hpp"
#include "models.hpp"
#include "tensor_api.hpp"

namespace neffld::nrt {
namespace {

constexpr std::uint64_t stand_in_bounce_bytes = 4ull << 20;  // between host memory and its stand-in

tl::unexpected<Error> refuse(std::string text) {
  return fail(Status::invalid, ErrorClass::usage, {}, std::move(text));
}

/// Copies between two storages that an execution has for itself.
Result<void> copy_exclusive(Storage& from, std::uint64_t from_offset, Storage& to,
                            std::uint64_t to_offset, std::uint64_t size) {
  std::vector<std::uint8_t> bounce(std::min(size, stand_in_bounce_bytes));
  for (std::uint64_t done = 0; done < size; done += bounce.size()) {
    const MutableBytes piece =
        MutableBytes(bounce).first(std::min<std::uint64_t>(size - done, bounce.size()));
    NEFFLD_TRY(from.read(from_offset + done, piece, false));
    NEFFLD_TRY(to.write(to_offset + done, piece, false));
  }
  return {};
}

}  // namespace

/// One tensor of the NEFF: it must be in the set, as large as the NEFF says, and on the model's
/// virtual core.
Result<ExecutionRequest::Use> ExecutionRequest::check(Runtime& runtime, const TensorSet& set,
                                                      const std::string& name,
                                                      const TensorInfo& wanted, bool output) const {
  const auto entry = set.tensors.find(name);
  if (entry == set.tensors.end()) {
    return refuse(fmt::format("Failed to find tensor {} in tensor set", name));
  }
  Use use{name, output, runtime.tensors.find(entry->second), {}, nullptr};
  if (use.tensor == nullptr) return refuse(fmt::format("tensor {} in the set was freed", name));
  const std::uint64_t size = use.tensor->view().size;
  NEFFLD_ASSIGN(use.view, part_of(*use.tensor, 0, size));
  if (size != wanted.size) {
    return refuse(
        fmt::format("tensor {} has {} bytes, the model expects {}", name, size, wanted.size));
  }
  if (!use.view.storage->is_device()) return use;
  const DevicePlace& place = use.view.storage->place();
  NEFFLD_ASSIGN(const DevicePlace own, runtime.place_of(model_->vnc));
  if (place.device != own.device || place.hbm != own.hbm) {
    return refuse(
        fmt::format("Tensor {} allocated on HBM {} was passed to a model loaded on lnc {}.", name,
                    place.hbm, model_->vnc));
  }
  return use;
}

const ExecutionRequest::Use* ExecutionRequest::find(const std::string& name) const {
  const auto found =
      std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.name == name; });
  return found == uses_.end() ? nullptr : &*found;
}

Result<void> ExecutionRequest::add(Runtime& runtime, const TensorSet& set, bool output) {
  const auto& wanted = output ? model_->outputs : model_->inputs;
  for (const auto& [name, tensor] : wanted) {
    NEFFLD_ASSIGN(Use use, check(runtime, set, name, tensor, output));
    if (const Use* twin = find(name)) {
      const View& view = twin->view;
      if (view.storage != use.view.storage || view.offset != use.view.offset) {
        return refuse(
            fmt::format("tensor {} is an input and an output of the model, expected the "
                        "same memory in both sets",
                        name));
      }
    }
    uses_.reserve(uses_.size() + 1);
    use.view.storage->begin_use(output);
    uses_.push_back(std::move(use));
  }
  return {};
}

Result<std::unique_ptr<ExecutionRequest>> ExecutionRequest::make(Runtime& runtime,
                                                                 const void* model,
                                                                 const void* input_set,
                                                                 const void* output_set) {
  NEFFLD_ASSIGN(ModelRegistry::Reference record, find_model(runtime, model));
  NEFFLD_ASSIGN(const std::shared_ptr<TensorSet> inputs, find_set(runtime, input_set, "input_set"));
  NEFFLD_ASSIGN(const std::shared_ptr<TensorSet> outputs,
                find_set(runtime, output_set, "output_set"));
  if (inputs->tensors.size() != record->inputs.size()) {
    return refuse(fmt::format("Incorrect number of inputs, expected: {}, received: {}",
                              record->inputs.size(), inputs->tensors.size()));
  }
  std::unique_ptr<ExecutionRequest> request(new ExecutionRequest(std::move(record)));
  NEFFLD_TRY(request->add(runtime, *inputs, false));
  NEFFLD_TRY(request->add(runtime, *outputs, true));
  NEFFLD_ASSIGN(request->device_, runtime.device_of(request->model().vnc));
  if (!request->device_->traits().simulated) {
    return fail(Status::invalid, ErrorClass::unsupported, {},
                "executing on real hardware is refused: the encodings it needs are not known");
  }
  NEFFLD_TRY(request->check_ranks());
  return request;
}

/// The other ranks of its collectives are not there.
Result<void> ExecutionRequest::check_ranks() const {
  if (model_->ranks == 1) return {};
  for (const KbinPlan& kbin : model_->bridge.loaded->plan.kbins) {
    if (kbin.collectives == 0) continue;
    return fail(
        Status::invalid, ErrorClass::unsupported, {},
        fmt::format("collectives beyond one rank are not supported: the model was loaded as "
                    "rank {} of {} and has {} collective operations on core {}",
                    model_->gid.value_or(0), model_->ranks, kbin.collectives, kbin.core));
  }
  return {};
}

ExecutionRequest::~ExecutionRequest() {
  for (const Use& use : uses_) use.view.storage->end_use(use.output);
}

const std::string* ExecutionRequest::host_tensor() const {
  for (const Use& use : uses_) {
    if (!use.view.storage->is_device()) return &use.name;
  }
  return nullptr;
}

/// Host memory gets a stand-in on the device with the same bytes; of outputs too, because a program
/// need not write all of one.
Result<void> ExecutionRequest::stage(Runtime& runtime) {
  for (Use& use : uses_) {
    if (use.view.storage->is_device()) continue;
    if (const Use* twin = find(use.name); twin->staged != nullptr) {
      use.staged = twin->staged;
      continue;
    }
    NEFFLD_ASSIGN(const DevicePlace place, runtime.place_of(model_->vnc));
    NEFFLD_ASSIGN(use.staged, Storage::on_device(runtime.storages, place, use.view.size, use.name));
    NEFFLD_TRY(copy_exclusive(*use.view.storage, use.view.offset, *use.staged, 0, use.view.size));
  }
  return {};
}

Result<void> ExecutionRequest::execute(Runtime& runtime) {
  std::map<std::string, std::uint64_t, std::less<>> addresses;
  for (const Use& use : uses_) {
    const Storage& storage = use.staged ? *use.staged : *use.view.storage;
    addresses.emplace(use.name, storage.memory().pa + (use.staged ? 0 : use.view.offset));
  }
  ExecuteOptions options;
  options.timeout = std::chrono::seconds(model_->timeout_seconds);
  options.check_compute = device_->computes();
  const auto report = device_->with_session([&](Session& session) -> Result<ExecutionReport> {
    LoadedModel& loaded = *model_->bridge.loaded;
    NEFFLD_TRY(session.bind(loaded, std::move(addresses)));
    return session.execute(loaded, options);
  });
  if (!report) return tl::unexpected<Error>(report.error());
  for (const std::string& warning : report->warnings) {
    log(Level::warn, "NMGR", "kmgr_exec", warning);
  }
  trace(runtime, *report);
  return {};
}

/// Tells a system trace when the first core began and the last one ended.
void ExecutionRequest::trace(Runtime& runtime, const ExecutionReport& report) const {
  constexpr std::uint64_t ps_in_ns = 1000;
  std::uint64_t begin = UINT64_MAX, end = 0;
  for (const CoreExecution& core : report.cores) {
    begin = std::min(begin, core.begin);
    end = std::max(end, core.end);
  }
  runtime.trace.add(model_->vnc, begin / ps_in_ns, end / ps_in_ns);
}

Result<void> ExecutionRequest::copy_back() {
  for (const Use& use : uses_) {
    if (!use.output || use.staged == nullptr) continue;
    NEFFLD_TRY(copy_exclusive(*use.staged, 0, *use.view.storage, use.view.offset, use.view.size));
  }
  return {};
}

Result<void> ExecutionRequest::go(Runtime& runtime) {
  NEFFLD_TRY(stage(runtime));
  NEFFLD_TRY(execute(runtime));
  NEFFLD_TRY(copy_back());
  for (const Use& use : uses_) {
    if (use.output) complete_output(*use.tensor);
  }
  return {};
}

/// What other processes see of an execution (spec 07 section 6.4): an inference on each core and
/// the model's multiplications on the first one, or on that one how it failed.
void ExecutionRequest::count(Runtime& runtime, const Result<void>& done) noexcept {
  DataStore& store = device_->store();
  const std::uint32_t first_core = runtime.first_core_of(model_->vnc);
  if (!done) return store.count_status(first_core, public_status(done.error()));
  for (std::uint32_t i = 0; i < model_->subgraphs; ++i) {
    store.add(first_core + i, Counter::inferences, 1);
  }
  store.add(first_core, Counter::macs, model_->mac_count);
}

Result<void> ExecutionRequest::run(Runtime& runtime) {
  auto done = guarded([&] { return go(runtime); });
  count(runtime, done);
  if (!done) inspect_failed_execution(*model_);
  return done;
}

}  // namespace neffld::nrt
