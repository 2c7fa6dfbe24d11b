// SPDX-License-Identifier: MIT
#include "bench.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "neffld/back_ends.hpp"
#include "runtime.hpp"

namespace neffld {
namespace test {
namespace {

std::shared_ptr<SimDevice> device;
std::vector<Fault> plan;
std::shared_ptr<FaultLog> log;

std::shared_ptr<SimDevice> make_device(std::uint32_t architecture) {
  auto made = SimDevice::create({.architecture = architecture});
  REQUIRE(made);
  return *made;
}

/// The devices of both architectures live as long as the program.
std::shared_ptr<SimDevice> device_of(std::uint32_t architecture) {
  static std::map<std::uint32_t, std::shared_ptr<SimDevice>> devices;
  auto& found = devices[architecture];
  if (found == nullptr) found = make_device(architecture);
  return found;
}

}  // namespace
}  // namespace test

// This one is linked, not the library's.
Result<OpenedDevice> open_device(const DeviceOptions&) {
  OpenedDevice opened;
  NEFFLD_ASSIGN(opened.file, test::device->open());
  opened.file = test::plan_faults(std::move(opened.file), test::plan, test::log);
  return opened;
}

namespace test {

const std::vector<std::uint8_t>& neff(std::string_view name) {
  static std::map<std::string, std::vector<std::uint8_t>, std::less<>> made;
  auto found = made.find(name);
  if (found == made.end()) {
    found = made.emplace(std::string(name), packed(sample::make_sample(name))).first;
  }
  return found->second;
}

std::vector<std::uint8_t> packed(const sample::SampleNeff& sample) {
  auto file = sample::pack(sample);
  REQUIRE(file);
  return std::move(*file);
}

std::vector<std::uint8_t> with_member(std::string_view name, std::string_view member,
                                      std::string_view text) {
  sample::SampleNeff sample = sample::make_sample(name);
  const auto found = std::find_if(sample.members.begin(), sample.members.end(),
                                  [&](const PackMember& one) { return one.name == member; });
  REQUIRE(found != sample.members.end());
  found->bytes.assign(text.begin(), text.end());
  return packed(sample);
}

Bench::Bench(const BenchOptions& options)
    : log_(std::make_shared<FaultLog>()),
      device_(options.executes ? make_device(options.architecture)
                               : device_of(options.architecture)),
      executes_(options.executes) {
  log_->on_strike = options.on_strike;
  device = device_;
  plan = options.plan;
  log = log_;
  setenv("NEFFLD_DEVICE", options.architecture == 2 ? "sim:v2" : "sim:v3", 1);
  setenv("NEURON_RT_LOG_LEVEL", "QUIET", 1);
  if (options.logical_core_size != 0) {
    setenv("NEFFLD_SIM_LNC", std::to_string(options.logical_core_size).c_str(), 1);
  } else {
    unsetenv("NEFFLD_SIM_LNC");
  }
  REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
}

Bench::~Bench() {
  nrt_close();
  if (!executes_) CHECK(device_->counters().live_handles == 0);
}

SimDevice& Bench::sim() const {
  return *device;
}

std::uint64_t Bench::live_handles() const {
  return device->counters().live_handles;
}

nrt_model_t* Bench::load(const std::vector<std::uint8_t>& file, NRT_STATUS& status, int vnc) {
  nrt_model_t* model = reinterpret_cast<nrt_model_t*>(this);
  status = nrt_load(file.data(), file.size(), vnc, -1, &model);
  CHECK((status == NRT_SUCCESS) == (model != nullptr));
  return model;
}

void Bench::load_and_unload(const std::vector<std::uint8_t>& file) {
  NRT_STATUS status = NRT_FAILURE;
  nrt_model_t* model = load(file, status);
  REQUIRE(status == NRT_SUCCESS);
  REQUIRE(nrt_unload(model) == NRT_SUCCESS);
}

void Bench::check_clean(const std::vector<std::uint8_t>& good) {
  nrt::Runtime& runtime = nrt::Runtime::get();
  CHECK(runtime.registry.ids().empty());
  CHECK(runtime.parse_cache.empty());
  // -1 takes the least used core, the lowest of several: core 0 if the failed load gave it back.
  NRT_STATUS status = NRT_FAILURE;
  nrt_model_t* model = load(good, status, -1);
  REQUIRE(status == NRT_SUCCESS);
  nrt_model_info_t info{};
  std::size_t written = 0;
  CHECK(nrt_get_model_info(model, &info, sizeof info, &written) == NRT_SUCCESS);
  CHECK(info.vnc == 0);
  REQUIRE(nrt_unload(model) == NRT_SUCCESS);
  CHECK(live_handles() == 0);
}

Io::Io(nrt_model_t* model, int vnc) : model_(model) {
  nrt_tensor_info_array_t* info = nullptr;
  REQUIRE(nrt_get_model_tensor_info(model, &info) == NRT_SUCCESS);
  for (auto& set : sets_) REQUIRE(nrt_allocate_tensor_set(&set) == NRT_SUCCESS);
  for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t& one = info->tensor_array[i];
    nrt_tensor_t* tensor = nullptr;
    REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, vnc, one.size, one.name, &tensor) ==
            NRT_SUCCESS);
    tensors_.push_back(tensor);
    REQUIRE(nrt_add_tensor_to_tensor_set(sets_[one.usage], one.name, tensor) == NRT_SUCCESS);
  }
  nrt_free_model_tensor_info(info);
}

Io::~Io() {
  for (nrt_tensor_t* tensor : tensors_) nrt_tensor_free(&tensor);
  for (auto& set : sets_) nrt_destroy_tensor_set(&set);
}

}  // namespace test
}  // namespace neffld
