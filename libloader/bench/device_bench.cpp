// SPDX-License-Identifier: MIT
#include "device_bench.hpp"

#include <fmt/format.h>

#include <barrier>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "measure.hpp"
#include "neuron_abi/ioctl.h"
#include "parse_cache.hpp"
#include "stager.hpp"
#include "timed_device.hpp"

namespace neffld::bench {
namespace {

constexpr std::uint64_t most_copied = 1ull << 30;  // by one call of the driver (decision 34)

/// One simulated device and a session on it.
struct Machine {
  std::shared_ptr<SimDevice> device;
  std::shared_ptr<TimedDevice> timed;
  std::unique_ptr<Session> session;

  static Result<Machine> open(Arch arch, bool keep) {
    Machine machine;
    SimOptions options;
    options.architecture = static_cast<std::uint32_t>(arch);
    NEFFLD_ASSIGN(machine.device, SimDevice::create(options));
    NEFFLD_ASSIGN(std::unique_ptr<DeviceFile> file, machine.device->open());
    machine.timed = std::make_shared<TimedDevice>(std::move(file), keep);
    NEFFLD_ASSIGN(machine.session, Session::open(std::make_unique<ForwardingFile>(machine.timed)));
    return machine;
  }
};

Bytes constants_of(const Variable& variable) {
  return variable.kind == VarKind::file ? variable.payload : Bytes();
}

/// The least calls a load of this plan can make.
std::uint64_t least_calls(const Plan& plan, std::span<const Section> sections) {
  const std::vector<DeviceMemory> nowhere(plan.requests.size());
  const std::uint64_t queues = queue_inits(plan, nowhere, false).size();
  std::uint64_t calls = 2 * plan.requests.size();
  for (const Section& section : sections) {
    calls += (section.bytes.size() + most_copied - 1) / most_copied;
  }
  return calls + (queues + NEURON_MAX_QUEUE_INIT_BATCH - 1) / NEURON_MAX_QUEUE_INIT_BATCH;
}

/// One more thread, which the caller joins. `threads` has room for it. NRT_RESOURCE if there is
/// none.
template <class Body>
Result<void> start_thread(std::vector<std::thread>& threads, Body body) {
  try {
    threads.emplace_back(std::move(body));
    return {};
  } catch (const std::system_error& error) {
    return fail(Status::resource, ErrorClass::resource, {},
                fmt::format("Failed to create thread {} of {} that load at the same time: {}",
                            threads.size() + 1, threads.capacity(), error.code().message()));
  }
}

}  // namespace

struct DeviceBench::State {
  explicit State(const Subject& of) : subject(of) {}

  const Subject& subject;
  Machine model_machine;  ///< holds `model`, for as long as its sections are looked at
  LoadedModel* model = nullptr;
  std::vector<Section> sections;
  std::uint64_t load_calls = 0;
  double weight_copies = 0;
  std::uint64_t weight_bytes = 0, section_bytes = 0;
  std::optional<HostPages> copy;  ///< where memcpy puts the sections

  std::vector<Machine> machines;  ///< one a thread; the first has loads of its own
  ParseCache cache;
  std::optional<ParseCache::Lease> lease;
  NeffHeader header{};
  std::optional<std::uint64_t> peak;

  Best allocate, first_copy, queues, load, warm_copy, memory_copy;
  Best verified, plain, reload, alone, together;

  std::uint32_t threads() const {
    const std::uint32_t wanted = subject.options.cores;
    return std::max(1u, wanted != 0 ? wanted : std::thread::hardware_concurrency());
  }
  Arch arch() const { return subject.parsed.manifest.arch; }

  LoadOptions load_options(bool one_thread) const {
    LoadOptions options = subject.options.loading;
    options.one_thread = one_thread;
    return options;
  }

  Result<void> prepare() {
    NEFFLD_ASSIGN(model_machine, Machine::open(arch(), true));
    for (const Kbin& kbin : subject.parsed.kbins) {
      for (const Variable& variable : kbin.variables) {
        model_machine.timed->watch(constants_of(variable));
        weight_bytes += constants_of(variable).size();
      }
    }
    model_machine.timed->reset();
    NEFFLD_ASSIGN(model, model_machine.session->load(subject.parsed, load_options(true)));
    load_calls = model_machine.timed->calls();
    count_weight_copies(model_machine.timed->direct());
    NEFFLD_ASSIGN(sections, relocated_sections(*model));
    for (const Section& section : sections) section_bytes += section.bytes.size();
    return {};
  }

  /// What does not reach the device straight from the container was copied on the host before.
  void count_weight_copies(std::uint64_t direct) {
    if (weight_bytes == 0) return;
    const std::uint64_t indirect = weight_bytes > direct ? weight_bytes - direct : 0;
    weight_copies = static_cast<double>(direct + 2 * indirect) / static_cast<double>(weight_bytes);
    if (subject.parsed.file) weight_copies += 1;  // an uncompressed file is only lent to us
  }

  Result<void> open_machines() {
    while (machines.size() < threads()) {
      NEFFLD_ASSIGN(Machine machine, Machine::open(arch(), true));
      machines.push_back(std::move(machine));
    }
    NEFFLD_ASSIGN(header, check_header(subject.file));
    // The slot is named by the uuid; a file without one gets one, or it would never be shared.
    if (std::all_of(std::begin(header.uuid), std::end(header.uuid),
                    [](std::uint8_t byte) { return byte == 0; })) {
      header.uuid[0] = 1;
    }
    NEFFLD_ASSIGN(ParseCache::Lease made, acquire());
    lease.emplace(std::move(made));
    return {};
  }
  Result<ParseCache::Lease> acquire() {
    return cache.acquire(parse_key(subject.file, header, 0), [&] {
      return parse_model(subject.file, Arch::any, subject.options.parse);
    });
  }

  /// A load on a device nobody has used: every page of its memory is new, too.
  Result<void> first_load() {
    NEFFLD_ASSIGN(Machine machine, Machine::open(arch(), true));
    ParsedModel parsed = subject.parsed;
    machine.timed->reset();
    const std::uint64_t before = minor_faults();
    NEFFLD_TRY(load.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(LoadedModel * loaded,
                    machine.session->load(std::move(parsed), load_options(true)));
      static_cast<void>(loaded);
      return {};
    }));
    first_copy.take(machine.timed->seconds(TimedDevice::Kind::copy), minor_faults() - before);
    allocate.take(machine.timed->seconds(TimedDevice::Kind::allocate));
    queues.take(machine.timed->seconds(TimedDevice::Kind::queues));
    return {};
  }

  /// Writes every section of the loaded model again.
  Result<void> stage_again() {
    DeviceCalls calls(*model_machine.timed);
    return warm_copy.run([&]() -> Result<void> {
      for (const Section& section : sections) {
        const std::uint64_t handle = model->allocations[section.request].handle;
        if (section.descriptors) {
          const SectionKind kind = model->plan.requests[section.request].kind;
          NEFFLD_TRY(calls.copy_descriptors(handle, section.bytes, kind == SectionKind::ring_tx));
        } else {
          NEFFLD_TRY(calls.copy_in(handle, 0, section.bytes));
        }
      }
      return {};
    });
  }
  Result<void> copy_again() {
    if (!copy) {
      copy.emplace(section_bytes);
      std::memset(copy->bytes().data(), 1, copy->bytes().size());
    }
    return memory_copy.run([&]() -> Result<void> {
      std::uint8_t* to = copy->bytes().data();
      for (const Section& section : sections) {
        if (!section.bytes.empty()) std::memcpy(to, section.bytes.data(), section.bytes.size());
        to += section.bytes.size();
      }
      return {};
    });
  }

  /// From the file's bytes to a registered model; the model goes again afterwards.
  Result<void> whole_load(Machine& machine, bool verify, bool one_thread, Best* best) {
    ParseOptions parse = subject.options.parse;
    parse.container.verify_hash = verify;
    LoadedModel* loaded = nullptr;
    const auto work = [&]() -> Result<void> {
      NEFFLD_ASSIGN(ParsedModel parsed, parse_model(subject.file, Arch::any, parse));
      NEFFLD_ASSIGN(loaded, machine.session->load(std::move(parsed), load_options(one_thread)));
      return {};
    };
    NEFFLD_TRY(best != nullptr ? best->run(work) : work());
    return machine.session->unload(*loaded);
  }
  Result<void> load_again() {
    Machine& machine = machines.front();
    LoadedModel* loaded = nullptr;
    NEFFLD_TRY(reload.run([&]() -> Result<void> {
      NEFFLD_ASSIGN(const ParseCache::Lease held, acquire());
      NEFFLD_ASSIGN(loaded, machine.session->load(held.model(), load_options(false)));
      return {};
    }));
    return machine.session->unload(*loaded);
  }

  /// Every thread loads the file on its own device; the time is that of the slowest.
  Result<void> load_together() {
    const std::size_t count = machines.size();
    std::vector<Result<void>> results(count);
    std::uint64_t faults = 0;
    std::chrono::steady_clock::time_point begin;
    // Before the first of them goes on.
    std::barrier start(static_cast<std::ptrdiff_t>(count), [&]() noexcept {
      faults = minor_faults();
      begin = std::chrono::steady_clock::now();
    });
    std::vector<std::thread> threads;
    threads.reserve(count);
    Result<void> started;
    for (std::size_t i = 0; i < count; ++i) {
      if (started) {
        started = start_thread(threads, [&, i] {
          start.arrive_and_wait();
          results[i] = whole_load(machines[i], false, true, nullptr);
        });
      }
      if (!started) start.arrive_and_drop();  // the others wait for all
    }
    for (std::thread& thread : threads) thread.join();
    NEFFLD_TRY(std::move(started));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    for (Result<void>& result : results) NEFFLD_TRY(std::move(result));
    together.take(took.count(), minor_faults() - faults);
    return {};
  }
  /// As one of those threads, unload included.
  Result<void> load_alone() {
    return alone.run([&] { return whole_load(machines.front(), false, true, nullptr); });
  }

  Result<void> round() {
    NEFFLD_TRY(first_load());
    NEFFLD_TRY(copy_again());
    NEFFLD_TRY(stage_again());
    if (!subject.options.ratios) return {};
    if (machines.empty()) NEFFLD_TRY(open_machines());
    NEFFLD_TRY(whole_load(machines.front(), true, false, &verified));
    NEFFLD_TRY(whole_load(machines.front(), false, false, &plain));
    NEFFLD_TRY(load_again());
    NEFFLD_TRY(load_alone());
    return load_together();
  }

  Result<void> measure_peak() {
    NEFFLD_ASSIGN(Machine machine, Machine::open(arch(), false));
    const PeakMemory memory;
    NEFFLD_TRY(whole_load(machine, true, false, nullptr));
    peak = memory.bytes();
    return {};
  }

  /// Bytes a load has to hold on the host: the payload, and what it makes of it.
  std::uint64_t needed_bytes() const {
    std::uint64_t bytes = subject.container().facts().inflated_bytes;
    for (const Section& section : sections) {
      if (section.own) bytes += section.bytes.size();
    }
    return bytes;
  }
};

DeviceBench::DeviceBench(const Subject& subject) : state_(std::make_unique<State>(subject)) {}
DeviceBench::~DeviceBench() = default;

Result<void> DeviceBench::prepare() {
  return state_->prepare();
}
const LoadedModel& DeviceBench::model() const {
  return *state_->model;
}
std::span<Section> DeviceBench::sections() {
  return state_->sections;
}
Result<void> DeviceBench::round() {
  return state_->round();
}
Result<void> DeviceBench::finish() {
  return state_->subject.options.ratios ? state_->measure_peak() : Result<void>();
}

void DeviceBench::report(FileReport& report) const {
  const State& s = *state_;
  add_row(report, "allocate", s.allocate, 0, s.model->plan.requests.size(), "allocation");
  add_row(report, "copy to device, first", s.first_copy, s.section_bytes);
  add_row(report, "  again", s.warm_copy, s.section_bytes);
  add_row(report, "  memcpy of the same", s.memory_copy, s.section_bytes);
  add_row(report, "queues", s.queues);
  add_row(report, "load, parsed before", s.load, s.section_bytes);
  if (!s.subject.options.ratios) return;
  add_row(report, "whole load", s.plain, report.sizes.inflated_bytes);
  add_row(report, "  with header hash", s.verified, report.sizes.inflated_bytes);
  add_row(report, "  parse from the cache", s.reload);
  add_row(report, fmt::format("  {} at the same time", s.machines.size()), s.together);
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  add_ratio(report, RatioId::integrity, s.verified.seconds(), s.plain.seconds());
  if (s.weight_bytes != 0) report.ratios.push_back({RatioId::weight_copies, s.weight_copies});
  if (s.peak) add_ratio(report, RatioId::peak_memory, number(*s.peak), number(s.needed_bytes()));
  add_ratio(report, RatioId::parallel, s.alone.seconds(), s.together.seconds());
  add_ratio(report, RatioId::staging, s.memory_copy.seconds(), s.warm_copy.seconds());
  add_ratio(report, RatioId::reload, s.reload.seconds(), s.plain.seconds());
  add_ratio(report, RatioId::device_calls, number(s.load_calls),
            number(least_calls(s.model->plan, s.sections)));
}

}  // namespace neffld::bench
