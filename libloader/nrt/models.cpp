// SPDX-License-Identifier: MIT
#include "models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "api.hpp"
#include "inspection.hpp"
#include "log.hpp"

namespace neffld::nrt {
namespace {

constexpr std::uint64_t lnc_feature = 0x400;  // the header's vnc_size counts

/// The file's logical core size must be the process's.
Result<void> check_core_size(const NeffHeader& header, const Topology& topology) {
  const std::uint32_t wanted = header.vnc_size;
  if ((header.feature_bits & lnc_feature) == 0 || wanted == topology.core_size) return {};
  return fail(Status::invalid, ErrorClass::unsupported,
              {.member = "NEFF header", .path = "vnc_size"},
              fmt::format("the NEFF was compiled for LNC size {}, this process uses size {}; {}",
                          wanted, topology.core_size,
                          topology.arch == Arch::v2
                              ? "a v2 device has size 1 only, NEFFLD_DEVICE selects the device"
                              : fmt::format("set {}={}", topology.core_size_variable, wanted)));
}

/// Gives a virtual core back unless the load got through.
class VncClaim {
 public:
  VncClaim(Runtime& runtime, std::uint32_t vnc) : runtime_(runtime), vnc_(vnc) {}
  ~VncClaim() {
    if (!kept_) runtime_.release_vnc(vnc_);
  }
  VncClaim(const VncClaim&) = delete;
  VncClaim& operator=(const VncClaim&) = delete;
  std::uint32_t vnc() const { return vnc_; }
  void keep() { kept_ = true; }

 private:
  Runtime& runtime_;
  std::uint32_t vnc_;
  bool kept_ = false;
};

/// What part a load plays in the cache.
void say_role(const char* text) noexcept {
  try {
    log(Level::debug, "NMGR", "kmgr_load_nn_nc", text);
  } catch (...) {
    // No memory for a line of the log is no reason to fail a load.
  }
}

/// Parses through the cache: loads of one file that overlap share one parse.
Result<ParseCache::Lease> parse(Runtime& runtime, Bytes neff, const NeffHeader& header,
                                const LoadKnobs& knobs) {
  ParseOptions options;
  options.container.verify_hash = knobs.validate_hash;
  options.build.allow_legacy = knobs.allow_legacy;
  const std::uint32_t variant = (knobs.validate_hash ? 1u : 0u) | (knobs.allow_legacy ? 2u : 0u);
  const Arch arch = runtime.topology().arch;
  auto lease = runtime.parse_cache.acquire(
      parse_key(neff, header, variant), [&] { return parse_model(neff, arch, options); },
      []() noexcept { say_role("waiting for cache creation"); });
  if (lease) say_role(ParseCache::role_text(lease->role()));
  return lease;
}

/// A 128-bit uuid in 64 bits: both halves, one over the other ([ours], spec 07 section 6.4).
std::uint64_t fold(const std::array<std::uint8_t, 16>& uuid) {
  std::uint64_t halves[2];
  std::memcpy(halves, uuid.data(), sizeof halves);
  return halves[0] ^ halves[1];
}

std::shared_ptr<ModelRecord> make_record(const ParsedModel& parsed, std::uint32_t vnc,
                                         const std::optional<Rank>& rank, const LoadKnobs& knobs) {
  auto record = std::make_shared<ModelRecord>();
  record->vnc = vnc;
  record->subgraphs = static_cast<std::uint32_t>(parsed.kbins.size());
  record->name = header_name(parsed.header);
  std::copy_n(parsed.header.uuid, record->uuid.size(), record->uuid.begin());
  if (rank) {
    record->gid = rank->id;
    record->ranks = rank->count;
  }
  record->trace_uuid = fold(record->uuid);
  record->mac_count = parsed.manifest.mac_count;
  record->store_slots.assign(record->subgraphs, no_slot);
  record->timeout_seconds = knobs.timeout_seconds;
  record->inputs = parsed.manifest.inputs;
  record->outputs = parsed.manifest.outputs;
  return record;
}

std::shared_ptr<ModelHandle> make_handle(const ModelRecord& record) {
  auto handle = std::make_shared<ModelHandle>();
  handle->vnc = record.vnc;
  handle->gid = record.gid.value_or(0);
  const std::size_t length = std::min(record.name.size(), handle->name.size() - 1);
  std::copy_n(record.name.begin(), length, handle->name.begin());
  handle->uuid = record.uuid;
  return handle;
}

/// What the device's data store says of one subgraph of a loaded model.
StoreModel describe_model(const ModelRecord& record, std::uint32_t subgraph, std::uint32_t core) {
  StoreModel model{};
  model.h_nn = record.h_nn;
  model.h_model = record.bridge.h_model;
  model.core = core;
  model.subgraph = subgraph;
  model.subgraphs = record.subgraphs;
  model.gid = record.gid.value_or(0);
  std::copy(record.uuid.begin(), record.uuid.end(), model.uuid);
  model.mac_count = record.mac_count;
  model.trace_uuid = record.trace_uuid;
  std::copy_n(record.name.begin(), std::min(record.name.size(), sizeof model.name - 1), model.name);
  return model;
}

/// The tail of a load, in the seed page's order. The model is registered already and nothing here
/// can fail: a store that is full or absent keeps nothing.
void finish_load(Runtime& runtime, Device& device, ModelRecord& record) noexcept {
  DataStore& store = device.store();
  const std::uint32_t first_core = runtime.first_core_of(record.vnc);
  for (std::uint32_t i = 0; i < record.subgraphs; ++i) {
    record.store_slots[i] = store.add_model(describe_model(record, i, first_core + i));
  }
  for (std::uint32_t i = 0; i < record.subgraphs; ++i) {
    store.add(first_core + i, Counter::model_loads, 1);
  }
}

/// The outcome of a load that failed, on the first core of its virtual one.
void count_failure(Runtime& runtime, std::uint32_t vnc, const Error& error) {
  if (const auto device = runtime.device_of(vnc)) {
    (*device)->store().count_status(runtime.first_core_of(vnc), public_status(error));
  }
}

/// The stages from parse to register, between claiming a core and making the handle.
Result<std::shared_ptr<ModelRecord>> load_record(Runtime& runtime, Bytes neff,
                                                 const NeffHeader& header, std::uint32_t vnc,
                                                 const std::optional<Rank>& rank,
                                                 const LoadKnobs& knobs) {
  NEFFLD_ASSIGN(const std::shared_ptr<Device> device, runtime.device_of(vnc));
  NEFFLD_ASSIGN(const ParseCache::Lease lease, parse(runtime, neff, header, knobs));
  const std::shared_ptr<ModelRecord> record = make_record(lease.model(), vnc, rank, knobs);
  for (const std::string& warning : lease.model().manifest.warnings) {
    log(Level::warn, "NMGR", "kmgr_load_nn_nc", warning);
  }

  LoadOptions options;
  options.logical_core = runtime.logical_core_of(vnc);
  options.logical_core_size = runtime.topology().core_size;
  options.scratchpad.page_bytes = knobs.scratchpad_page_bytes;
  options.packet_bytes = knobs.packet_bytes;
  options.io_ring_sets = knobs.io_ring_sets;
  ParsedModel own = lease.model();
  const auto loaded =
      device->with_session([&](Session& session) { return session.load(std::move(own), options); });
  if (!loaded) return tl::unexpected<Error>(loaded.error());
  record->bridge = {(*loaded)->h_model, device->number(), *loaded};

  const auto registered =
      guarded([&]() -> Result<std::uint32_t> { return runtime.registry.insert(record); });
  if (!registered) {
    static_cast<void>(
        device->with_session([&](Session& session) { return session.unload(**loaded); }));
    return tl::unexpected<Error>(registered.error());
  }
  finish_load(runtime, *device, *record);
  return record;
}

}  // namespace

Result<void*> load_model(Runtime& runtime, Bytes neff, std::int32_t vnc,
                         const std::optional<Rank>& rank) {
  NEFFLD_ASSIGN(const NeffHeader header, check_header(neff));
  NEFFLD_TRY(check_core_size(header, runtime.topology()));
  NEFFLD_ASSIGN(const std::uint32_t claimed, runtime.claim_vnc(vnc));
  VncClaim claim(runtime, claimed);
  NEFFLD_ASSIGN(const LoadKnobs knobs, read_load_knobs());
  log(Level::debug, "NRT", "nrt_load",
      fmt::format(
          "execution timeout {}, scratchpad page {} MiB, {} ring sets",
          knobs.timeout_seconds ? fmt::format("{} s", knobs.timeout_seconds) : std::string("none"),
          knobs.scratchpad_page_bytes >> 20, knobs.io_ring_sets));

  auto record = load_record(runtime, neff, header, claim.vnc(), rank, knobs);
  if (!record) {
    log_inner_error("NMGR", "kmgr_load_nn_post_metrics",
                    fmt::format("Failed to load NN: {}, err: {}", header_name(header),
                                static_cast<int>(record.error().status)));
    count_failure(runtime, claim.vnc(), record.error());
    inspect_failed_load(knobs, neff, header);
    return tl::unexpected<Error>(record.error());
  }
  claim.keep();
  const std::uint32_t h_nn = (*record)->h_nn;
  // From here on the registered model must not stay behind (the original leaks it on this edge).
  auto handle = guarded([&]() -> Result<void*> {
    auto made = make_handle(**record);
    made->h_nn = h_nn;
    (*record)->interned_id = runtime.intern((*record)->uuid);
    log(Level::info, "NMGR", "kmgr_load_nn_nc",
        fmt::format("Loaded NN \"{}\" ID: {} on virtual core {}", (*record)->name, h_nn,
                    claim.vnc()));
    inspect_loaded(knobs, **record, neff, header);
    return runtime.models.insert(std::move(made));
  });
  if (!handle) {
    static_cast<void>(unload_record(runtime, h_nn));
    return handle;
  }
  return handle;
}

Result<void> unload_record(Runtime& runtime, std::uint32_t h_nn) {
  const std::shared_ptr<ModelRecord> record = runtime.registry.remove(h_nn);
  if (record == nullptr) {
    return fail(Status::invalid_handle, ErrorClass::usage, {},
                fmt::format("Failed to find model: {}", h_nn));
  }
  NEFFLD_ASSIGN(const std::shared_ptr<Device> device, runtime.device_of(record->vnc));
  for (const std::uint32_t slot : record->store_slots) device->store().remove_model(slot);
  auto unloaded = device->with_session(
      [&](Session& session) { return session.unload(*record->bridge.loaded); });
  runtime.release_vnc(record->vnc);
  if (unloaded) log(Level::info, "NMGR", "kmgr_unload_nn", fmt::format("Unloaded NN: {}", h_nn));
  return unloaded;
}

Result<ModelRegistry::Reference> find_model(Runtime& runtime, const void* handle) {
  if (handle == nullptr) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "model"}, "the model is NULL");
  }
  if (const auto found = runtime.models.find(handle)) {
    if (auto reference = runtime.registry.acquire(found->h_nn)) return reference;
  }
  return fail(Status::invalid_handle, ErrorClass::usage, {.path = "model"},
              "the handle is no loaded model");
}

Result<void> unload_model(Runtime& runtime, const void* handle) {
  {
    NEFFLD_ASSIGN(const ModelRegistry::Reference record, find_model(runtime, handle));
    if (const ModelState state = record->state; state != ModelState::ready) {
      return fail(Status::invalid, ErrorClass::usage, {},
                  fmt::format("DLR {} state {}, must be stopped before unloading", record->h_nn,
                              static_cast<std::uint32_t>(state)));
    }
    if (record->references > 1) {
      log(Level::warn, "NMGR", "kmgr_unload_nn",
          fmt::format("Execution requests on model {} have not been drained before unloading",
                      record->h_nn));
    }
  }
  // Of several threads with one handle, one unloads.
  const std::shared_ptr<ModelHandle> taken = runtime.models.take(handle);
  if (taken == nullptr) {
    return fail(Status::invalid_handle, ErrorClass::usage, {.path = "model"},
                "the model was unloaded by another thread");
  }
  return unload_record(runtime, taken->h_nn);
}

}  // namespace neffld::nrt
