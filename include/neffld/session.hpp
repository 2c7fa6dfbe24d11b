// SPDX-License-Identifier: MIT
// The load pipeline as a whole: parse a NEFF, load it on a device, bind, verify, unload.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/container.hpp"
#include "neffld/device_file.hpp"
#include "neffld/execution.hpp"
#include "neffld/kbin.hpp"
#include "neffld/manifest.hpp"
#include "neffld/plan.hpp"
#include "neffld/relocate.hpp"
#include "neffld/stream_scans.hpp"

namespace neffld {

/// Runtime interface versions this loader speaks (spec 06, version handshake).
inline constexpr std::uint32_t oldest_runtime_interface = 5, newest_runtime_interface = 11;

/// The stages of a load, in order; `--until` names one.
enum class Stage : std::uint8_t { guard, parse, graph, build, plan, stage, relocate };
std::string_view stage_name(Stage stage);

/// What one stage took.
struct StageTime {
  Stage stage = Stage::guard;
  double seconds = 0;
  std::uint64_t bytes = 0;  ///< bytes read, inflated, allocated or copied by the stage
};

struct Progress {
  Stage stage = Stage::guard;
  std::uint64_t done = 0, total = 0;  ///< bytes
};
using ProgressSink = std::function<void(const Progress&)>;

struct ParseOptions {
  ContainerOptions container;
  BuildOptions build;
  Stage until = Stage::build;  ///< guard, parse, graph or build
  ProgressSink progress;
};

/// Everything that is known about a NEFF without a device. Kbins point into the container; the
/// whole owns what it points to. A copy shares file and container, so it is cheap and may be loaded
/// on its own.
struct ParsedModel {
  NeffHeader header;
  /// A copy of the file if its payload is not compressed, else null.
  std::shared_ptr<const std::vector<std::uint8_t>> file;
  std::shared_ptr<const Container> container;  ///< from Stage::parse on
  Manifest manifest;                           ///< from Stage::graph on
  std::vector<Kbin> kbins;                     ///< from Stage::build on
  /// For the plans of all copies; null when the parse is not shared.
  std::shared_ptr<StreamScans> scans;
  bool foreign_arch = false;  ///< allow_legacy let a file for another architecture in
  std::vector<StageTime> times;
};

/// Stages guard to build. `device` is the architecture to load for; `Arch::any` takes the one the
/// file names (v3 for "*"). Makes no device call.
Result<ParsedModel> parse_model(Bytes file, Arch device, const ParseOptions& options = {});

/// Stage plan: plan_model() over a parsed model, timed in `model.times`. Makes no device call.
Result<Plan> plan_parsed_model(ParsedModel& model, const PlanOptions& options,
                               const ProgressSink& progress = {});

/// Bindings of a model whose rings stay on the device, the one in force among them ([ours], spec 04
/// section 13 row 14).
inline constexpr std::uint32_t default_io_ring_sets = 16;

struct LoadOptions {
  std::uint32_t logical_core = 0;
  std::uint32_t logical_core_size = 0;  ///< physical cores of a logical one, 0 = the architecture's
  ScratchpadOptions scratchpad;
  /// Size of each HBM if it is not the architecture's. Only the out-of-memory report needs it: the
  /// driver does not tell.
  std::uint64_t hbm_bytes = 0;
  std::uint64_t max_ring_bytes = PlanOptions().max_ring_bytes;
  std::uint64_t packet_bytes = 0;  ///< PlanOptions::packet_bytes
  /// Size of the cache of bound rings; the least recently used set goes first. 0 and 1 keep the
  /// binding in force only.
  std::uint32_t io_ring_sets = default_io_ring_sets;
  /// Stage::stage allocates but fills nothing and programs no queue; Stage::relocate does it all.
  Stage until = Stage::relocate;
  /// Builds the subgraphs one after the other, so that the same calls come in the same order each
  /// time. Else each has a thread of its own; addresses are the same either way.
  bool one_thread = false;
  ProgressSink progress;  ///< called by one thread at a time
};

/// One live allocation as reports show it.
struct AllocationInfo {
  std::uint64_t seq = 0;  ///< order in the session, from 0
  std::uint64_t pa = 0;
  std::uint64_t size = 0;       ///< bytes the driver gave
  std::uint64_t requested = 0;  ///< bytes asked for
  std::uint64_t align = 0;
  std::uint32_t category = 0, hbm = 0, core = 0;
  MemUsage usage = MemUsage::runtime;
  std::uint64_t handle = 0;
  std::string owner;
};

/// A model on a device. Owned by its session.
struct LoadedModel {
  std::uint32_t h_nn = 0, h_model = 0;  ///< registry key, device-side key
  ParsedModel parsed;
  Plan plan;
  Addresses addresses;
  Ledger ledger;
  /// Its own, the shared ones it was first to need, and the rings of the binding in force.
  std::vector<AllocationInfo> allocations;
  bool relocated = false;  ///< every section is filled; false after LoadOptions::until = stage
  bool queues_initialised = false;
  bool bound = false;
};

/// One open device and the models on it. Not thread-safe: one thread at a time.
class Session {
 public:
  /// Asks the device who it is. Errors: class device; driver versions this loader does not speak.
  static Result<std::unique_ptr<Session>> open(std::unique_ptr<DeviceFile> device);
  ~Session();

  Arch arch() const;
  const DeviceTraits& device() const;

  /// Stages plan, stage, relocate and register. On failure the device is as it was before.
  /// Statuses: NRT_RESOURCE out of memory, queues or descriptors; NRT_INVALID what cannot run.
  Result<LoadedModel*> load(ParsedModel model, const LoadOptions& options = {});

  /// Gives inputs and outputs device addresses: resolves the template rings into a set of their
  /// own, fills tables and pointer cells, and points the queues of cores that are free or the
  /// model's own at the new rings. Every name of the model must be present. May be repeated: the
  /// last binding is in force, and the rings of earlier ones are kept (LoadOptions::io_ring_sets)
  /// and found again by the array of addresses (spec 04 section 8.3). On failure the binding before
  /// stays in force.
  Result<void> bind(LoadedModel& model, std::map<std::string, std::uint64_t, std::less<>> io);

  /// Runs a bound model once and waits for its end. If another model ran last on its cores, they are
  /// switched over first (decision 33). Whatever goes wrong, the session stays usable and the next
  /// execution starts from a clean state. Statuses: NRT_INVALID not bound, a record that is illegal
  /// or not modelled, no simulated device (decision 24); NRT_TIMEOUT engines that wait for each
  /// other or never end, and the time is up; NRT_EXEC_.. what the device reported. Errors name
  /// engine and slot of the NEFF.
  Result<ExecutionReport> execute(LoadedModel& model, const ExecuteOptions& options = {});

  /// Reads every section back and compares it with a relocation at the actual addresses. Error:
  /// class check, naming owner, offset, expected and found byte. Returns the bytes compared.
  Result<std::uint64_t> verify(LoadedModel& model);

  /// Frees everything the model owns, last allocation first.
  Result<void> unload(LoadedModel& model);

  std::span<const std::unique_ptr<LoadedModel>> models() const;
  /// Who held how much when the last load or bind ran out of device memory, as lines for a person
  /// (spec 03 section 9.2); empty if that did not happen.
  const std::string& memory_report() const;
  /// Copies memory of a live allocation out of the device.
  Result<void> read(std::uint64_t handle, std::uint64_t offset, MutableBytes out);
  /// ioctls made so far by command value.
  const std::map<std::uint32_t, std::uint64_t>& calls() const;

  struct State;
  explicit Session(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace neffld
