// SPDX-License-Identifier: MIT
// What other processes on the device see of this one: its data store, its cores (spec 07
// sections 3.2 and 6.4).
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench.hpp"
#include "data_store.hpp"
#include "neffld/sim_control.hpp"
#include "neuron_abi/ioctl.h"
#include "nrt/nrt_version.h"
#include "runtime.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::int32_t somebody = 987654321;      // no process has this number
constexpr std::uint64_t sample_macs = 1'048'576;  // hlo_stats.json of dge-v3

/// Another process on the device.
std::unique_ptr<DeviceFile> other_process(SimDevice& device, std::int32_t process = somebody) {
  std::unique_ptr<DeviceFile> file;
  REQUIRE(sim_open_as(device, process, Access::read_write, file) == 0);
  return file;
}

/// The store of this process, as another one reads it.
const std::uint8_t* store_of(DeviceFile& reader, std::int32_t process) {
  neuron_neuron_ds argument{};
  argument.pid = process;
  REQUIRE(reader.ioctl(NEURON_IOCTL_ACQUIRE_NEURON_DS, &argument) == 0);
  const auto mapped = reader.mmap(argument.mmap_offset, argument.size, false);
  REQUIRE(mapped);
  return static_cast<const std::uint8_t*>(*mapped);
}

// The driver's layout, spelled out once more (spec 06 section 8).
std::uint64_t counter(const std::uint8_t* store, std::uint32_t core, std::uint32_t id) {
  std::uint64_t value = 0;
  std::memcpy(&value, store + (core < 4 ? 256 + core * 248 : 57984 + (core - 4) * 768) + id * 8,
              sizeof value);
  return value;
}

nrt::StoreModel model_at(const std::uint8_t* store, std::uint32_t slot) {
  nrt::StoreModel model{};
  std::memcpy(&model, store + 2048 + slot * sizeof model, sizeof model);
  return model;
}

/// Marks physical cores for another process.
int mark(DeviceFile& file, std::uint32_t first, std::uint32_t last) {
  neuron_crwl_nc_map_ext0 map{};
  map.nc_count = last - first + 1;
  map.start_nc_index = first;
  map.end_nc_index = last;
  return file.ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, &map);
}
int unmark_all(DeviceFile& file) {
  neuron_crwl_nc_map_ext0 map{};
  map.bitmap[0] = ~std::uint64_t{0};
  return file.ioctl(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, &map);
}

}  // namespace

TEST_CASE("the data store tells who the process is and which models it holds") {
  setenv("NEURON_PROCESS_TAG", "nightly", 1);
  Bench bench;
  unsetenv("NEURON_PROCESS_TAG");
  const auto reader = other_process(bench.sim());
  const std::uint8_t* store = store_of(*reader, getpid());
  CHECK(std::memcmp(store, "nds\0", 4) == 0);
  nrt::StoreProcess process{};
  std::memcpy(&process, store + 1248, sizeof process);
  CHECK(std::string(process.magic, 4) == "NPRC");
  CHECK(std::string(process.tag) == "nightly");
  CHECK(process.framework == NRT_FRAMEWORK_TYPE_NO_FW);
  CHECK(std::string(process.runtime_version).starts_with("2.31."));

  const auto& file = neff("dge-lnc2-v3");
  NRT_STATUS status = NRT_FAILURE;
  nrt_model_t* model = bench.load(file, status, 1);
  REQUIRE(status == NRT_SUCCESS);
  nrt_model_t* second = nullptr;
  REQUIRE(nrt_load_collectives(file.data(), file.size(), 3, -1, 5, 6, &second) == NRT_INVALID);
  setenv("NEURON_RT_ROOT_COMM_ID", "10.0.0.1:62128", 1);
  REQUIRE(nrt_load_collectives(file.data(), file.size(), 3, -1, 5, 6, &second) == NRT_SUCCESS);
  unsetenv("NEURON_RT_ROOT_COMM_ID");
  const auto header = check_header(file);
  REQUIRE(header);
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    const nrt::StoreModel shown = model_at(store, slot);
    CHECK(shown.h_nn != 0);
    CHECK(shown.core == (slot < 2 ? 2 : 6) + slot % 2);
    CHECK(shown.subgraph == slot % 2);
    CHECK(shown.subgraphs == 2);
    CHECK(std::equal(shown.uuid, shown.uuid + 16, header->uuid));
    std::uint64_t halves[2];
    std::memcpy(halves, header->uuid, sizeof halves);
    CHECK(shown.trace_uuid == (halves[0] ^ halves[1]));
    CHECK(shown.gid == (slot < 2 ? 0 : 5));
    CHECK(shown.mac_count == 0);  // the file has no hlo_stats.json
    CHECK(std::string(shown.name) == header_name(*header));
  }
  CHECK(model_at(store, 0).h_nn + 1 == model_at(store, 2).h_nn);
  CHECK(model_at(store, 0).h_model != model_at(store, 2).h_model);
  CHECK(model_at(store, 4).h_nn == 0);
  {
    const auto& registry = nrt::Runtime::get().registry;
    const auto first = registry.acquire(registry.ids().at(0));
    const auto other = registry.acquire(registry.ids().at(1));
    CHECK(first->interned_id == other->interned_id);  // one UUID
  }
  CHECK(nrt_unload(model) == NRT_SUCCESS);
  CHECK(model_at(store, 0).h_nn == 0);
  CHECK(model_at(store, 2).h_nn != 0);
  CHECK(nrt_unload(second) == NRT_SUCCESS);
  CHECK(model_at(store, 3).h_nn == 0);
  model = bench.load(neff("dge-v3"), status, 1);
  REQUIRE(status == NRT_SUCCESS);
  CHECK(model_at(store, 0).mac_count == sample_macs);
  CHECK(nrt_unload(model) == NRT_SUCCESS);
}

TEST_CASE("the counters of a core: loads, failures by status, bytes by use") {
  Bench bench;
  const auto reader = other_process(bench.sim());
  const std::uint8_t* store = store_of(*reader, getpid());
  std::uint64_t loads[8];
  for (std::uint32_t core = 0; core < 8; ++core) loads[core] = counter(store, core, 27);
  NRT_STATUS status = NRT_FAILURE;
  nrt_model_t* model = bench.load(neff("dge-lnc2-v3"), status, 2);
  REQUIRE(status == NRT_SUCCESS);
  for (std::uint32_t core = 0; core < 8; ++core) {
    CHECK(counter(store, core, 27) - loads[core] == (core == 4 || core == 5 ? 1 : 0));
  }
  nrt_tensor_t* tensor = nullptr;
  REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 2, 5000, "t", &tensor) == NRT_SUCCESS);
  CHECK(counter(store, 4, 23) == 8192);
  CHECK(counter(store, 4, 22) > 0);
  std::uint64_t sum = 0;
  for (std::uint32_t core : {4U, 5U}) {
    for (std::uint32_t id = 22; id <= 26; ++id) sum += counter(store, core, id);
  }
  nrt_vnc_memory_stats_t stats{};
  std::size_t written = 0;
  REQUIRE(nrt_get_vnc_memory_stats(2, &stats, sizeof stats, &written) == NRT_SUCCESS);
  CHECK(sum == stats.bytes_used);
  nrt_tensor_free(&tensor);
  CHECK(nrt_unload(model) == NRT_SUCCESS);
  for (std::uint32_t core = 0; core < 8; ++core) {
    for (std::uint32_t id = 22; id <= 26; ++id) CHECK(counter(store, core, id) == 0);
  }

  // 2 -> 19 on the first core of the virtual one.
  const std::uint64_t invalid = counter(store, 2, 19);
  bench.load(neff("refused-v3"), status, 1);
  CHECK(status == NRT_INVALID);
  CHECK(counter(store, 2, 19) == invalid + 1);
  CHECK(counter(store, 3, 19) == 0);
}

TEST_CASE("the counters of a core: inferences, multiplications, executions that failed") {
  setenv("NEFFLD_COMPUTE", "skip", 1);
  Bench bench({.executes = true});
  const auto reader = other_process(bench.sim());
  const std::uint8_t* store = store_of(*reader, getpid());
  struct Counts {
    std::uint64_t inferences[8], macs[8], invalid;
  };
  const auto read = [&] {
    Counts counts{};
    for (std::uint32_t core = 0; core < 8; ++core) {
      counts.inferences[core] = counter(store, core, 28);
      counts.macs[core] = counter(store, core, 29);
    }
    counts.invalid = counter(store, 2, 19);
    return counts;
  };
  const Counts before = read();
  NRT_STATUS status = NRT_FAILURE;
  nrt_model_t* model = bench.load(neff("dge-v3"), status, 1);
  REQUIRE(status == NRT_SUCCESS);
  Io io(model, 1);
  for (int i = 0; i < 3; ++i) REQUIRE(io.execute() == NRT_SUCCESS);
  const Counts after = read();
  for (std::uint32_t core = 0; core < 8; ++core) {
    const bool own = core == 2 || core == 3;
    CHECK(after.inferences[core] - before.inferences[core] == (own ? 3 : 0));
    CHECK(after.macs[core] - before.macs[core] == (core == 2 ? 3 * sample_macs : 0));
  }
  // A call that is refused is no execution.
  CHECK(nrt_execute(model, nullptr, nullptr) == NRT_INVALID);
  CHECK(read().invalid == before.invalid);
  CHECK(nrt_unload(model) == NRT_SUCCESS);
  unsetenv("NEFFLD_COMPUTE");
}

TEST_CASE("an execution that fails counts by its status and as no inference") {
  // The first doorbell does not reach the device.
  Bench bench({.plan = {{.nth = 1, .command = NEURON_IOCTL_SEMAPHORE_INCREMENT, .answer = -EIO}},
               .executes = true});
  const auto reader = other_process(bench.sim());
  const std::uint8_t* store = store_of(*reader, getpid());
  NRT_STATUS status = NRT_FAILURE;
  nrt_model_t* model = bench.load(neff("copy-shapes-v3"), status);
  REQUIRE(status == NRT_SUCCESS);
  Io io(model, 0);
  const std::uint64_t inferences = counter(store, 0, 28);
  std::uint64_t failed = 0;
  for (std::uint32_t id = 16; id <= 20; ++id) failed += counter(store, 0, id);
  status = io.execute();
  CHECK(status == NRT_FAILURE);
  CHECK(counter(store, 0, 28) == inferences);
  std::uint64_t then = 0;
  for (std::uint32_t id = 16; id <= 20; ++id) then += counter(store, 0, id);
  CHECK(then == failed + 1);
  CHECK(io.execute() == NRT_SUCCESS);
  CHECK(counter(store, 0, 28) == inferences + 1);
  CHECK(nrt_unload(model) == NRT_SUCCESS);
}

TEST_CASE("every status that has a counter raises it") {
  Bench bench;
  const auto reader = other_process(bench.sim());
  const std::uint8_t* seen = store_of(*reader, getpid());
  nrt::DataStore& store = (*nrt::Runtime::get().device_of(0))->store();
  for (const auto& [status, id] : {std::pair{NRT_FAILURE, 16u},
                                   {NRT_RESOURCE, 17u},
                                   {NRT_LOAD_NOT_ENOUGH_NC, 18u},
                                   {NRT_INVALID, 19u},
                                   {NRT_UNSUPPORTED_NEFF_VERSION, 20u},
                                   {NRT_EXEC_OOB, 30u}}) {
    const std::uint64_t before = counter(seen, 5, id);
    store.count_status(5, status);
    CHECK(counter(seen, 5, id) == before + 1);
  }
}

TEST_CASE("a load works without a data store") {
  // The driver refuses it: the first thing asked for behind the driver's identity.
  Bench bench({.plan = {{.nth = 1, .command = NEURON_IOCTL_ACQUIRE_NEURON_DS, .answer = -ENOMEM}}});
  REQUIRE(bench.faults().struck.size() == 1);
  CHECK_FALSE((*nrt::Runtime::get().device_of(0))->store().exists());
  bench.load_and_unload(neff("vecadd-v3"));
}

TEST_CASE("init takes its cores from the driver and gives them back") {
  const auto device = [] {
    Bench bench;
    return &bench.sim();
  }();
  const auto other = other_process(*device);
  {
    Bench bench;  // all cores
    CHECK(mark(*other, 0, 7) == -EBUSY);
    CHECK(mark(*other, 7, 7) == -EBUSY);
  }
  CHECK(mark(*other, 0, 7) == 0);
  CHECK(unmark_all(*other) == 0);
}

TEST_CASE("closing gives cores and device back although tensors are left") {
  const auto device = [] {
    Bench bench;
    return &bench.sim();
  }();
  const auto other = other_process(*device);
  nrt_tensor_t* left = nullptr;
  {
    Bench bench;
    REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "left", &left) ==
            NRT_SUCCESS);
    REQUIRE(nrt_tensor_get_va(left) != nullptr);
  }
  CHECK(mark(*other, 0, 7) == 0);
  CHECK(unmark_all(*other) == 0);
  {
    Bench bench;  // and the process takes them again
    CHECK(nrt_tensor_get_va(left) == nullptr);
    CHECK(nrt_tensor_memset(left, 0, 1, 1) == NRT_INVALID);
    nrt_tensor_free(&left);
  }
}

TEST_CASE("cores that another process holds are refused with how many are free and who is there") {
  const auto device = [] {
    Bench bench;
    return &bench.sim();
  }();
  const auto other = other_process(*device);
  REQUIRE(mark(*other, 2, 3) == 0);
  const std::string log =
      (std::filesystem::temp_directory_path() / ("nrt-cores-" + std::to_string(getpid()))).string();
  setenv("NEURON_RT_LOG_LEVEL", "ERROR", 1);
  setenv("NEURON_RT_LOG_LOCATION", log.c_str(), 1);
  const auto init = [&](const char* visible) {
    setenv("NEURON_RT_VISIBLE_CORES", visible, 1);
    return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  };
  const auto said = [&] {
    std::ifstream file(log);
    std::stringstream text;
    text << file.rdbuf();
    std::filesystem::remove(log);
    return text.str();
  };
  CHECK(init("1-2") == NRT_FAILURE);
  CHECK(said().find(
            "Requested:lnc1-lnc2 Available:1 Logical Core size 2; the device is in use by pid "
            "987654321") != std::string::npos);
  CHECK(init("2-3") == NRT_SUCCESS);
  std::uint32_t visible = 0;
  CHECK(nrt_get_visible_vnc_count(&visible) == NRT_SUCCESS);
  CHECK(visible == 2);
  nrt_close();
  unsetenv("NEURON_RT_VISIBLE_CORES");
  // Without a wish for certain ones, all of the device are asked for, or one.
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_FAILURE);
  CHECK(said().find("Requested:4 Available:2 ") != std::string::npos);
  setenv("NEURON_RT_NUM_CORES", "1", 1);
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
  nrt_close();
  // The free run begins inside a virtual core.
  REQUIRE(unmark_all(*other) == 0);
  REQUIRE(mark(*other, 0, 0) == 0);
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_INVALID);
  CHECK(said().find("Cannot start process with LNC Size of 2") != std::string::npos);
  unsetenv("NEURON_RT_NUM_CORES");
  // Whatever failed gave its marks back.
  REQUIRE(unmark_all(*other) == 0);
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
  nrt_close();
  unsetenv("NEURON_RT_LOG_LOCATION");
  std::filesystem::remove(log);
}

TEST_CASE("a failed call leaves the last errors in the folder the user names") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("nrt-dump-" + std::to_string(getpid()));
  setenv("NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY", (folder.parent_path() / "nrt-dump-%p").c_str(), 1);
  {
    Bench bench;  // its log is silent, which does not matter here
    NRT_STATUS status = NRT_SUCCESS;
    bench.load(neff("vecadd-v2"), status);
    CHECK(status == NRT_INVALID);
  }
  unsetenv("NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY");
  std::string text;
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::stringstream all;
    all << file.rdbuf();
    text += all.str();
    ++files;
  }
  CHECK(files == 1);
  CHECK(text.find("Failure: NRT_INVALID in nrt_load") != std::string::npos);
  std::filesystem::remove_all(folder);
}
