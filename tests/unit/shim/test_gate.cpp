// SPDX-License-Identifier: MIT
// Decision 24: what reaches a device whose driver is not our simulator.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>

#include "command_table.hpp"
#include "gate_rules.hpp"
#include "neffld/back_ends.hpp"
#include "neuron_abi/ioctl.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::optional<int> pass(std::uint32_t, void*) {
  return std::nullopt;
}

/// A gate over a foreign device of the test's making.
struct Gated {
  explicit Gated(bool experimental = false, std::uint32_t architecture = 3,
                 FakeFile::Answer answer = pass) {
    auto fake = std::make_unique<FakeFile>(std::move(answer), foreign(), architecture);
    calls = fake->calls;
    auto gate = gate_hardware(std::move(fake), {experimental});
    REQUIRE(gate);
    file = std::move(*gate);
    calls->clear();
  }

  /// The answer of a call that must not arrive, with the reason checked.
  template <class T>
  int refused(std::uint32_t command, T argument, std::string_view why = "") {
    calls->clear();
    const int answer = file->ioctl(command, &argument);
    INFO(file->refusal());
    CHECK(answer < 0);
    CHECK(file->refusal().find(" is refused on ") != std::string::npos);
    CHECK(file->refusal().find("/dev/neuron0") != std::string::npos);
    CHECK(file->refusal().find(why) != std::string::npos);
    CHECK(std::count(calls->begin(), calls->end(), command) == 0);
    return answer;
  }

  std::uint64_t allocate(std::uint64_t size = 4096, std::uint32_t core = 0) {
    std::uint64_t handle = 0;
    neuron_mem_alloc_v2mt64 alloc{};
    alloc.size = size;
    alloc.nc_id = core;
    alloc.mem_type = NEURON_MEM_TENSORS_DEVICE;
    alloc.mem_handle_ptr = address_of(&handle);
    REQUIRE(file->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc) == 0);
    return handle;
  }

  std::size_t count(std::uint32_t command) const {
    return static_cast<std::size_t>(std::count(calls->begin(), calls->end(), command));
  }

  std::shared_ptr<std::vector<std::uint32_t>> calls;
  std::unique_ptr<DeviceFile> file;
};

using Argument = std::array<std::uint8_t, shim::max_argument_bytes>;

}  // namespace

TEST_CASE("every command that is not known to be harmless is refused, one by one") {
  Gated gated;
  std::size_t never = 0, experimental = 0, unknown = 0;
  for (const auto& info : shim::all_commands()) {
    const auto* rule = shim::find_gate_rule(info.value);
    if (rule != nullptr && rule->verdict == shim::Verdict::allowed) continue;
    never += rule != nullptr && rule->verdict == shim::Verdict::never;
    experimental += rule != nullptr && rule->verdict == shim::Verdict::experimental;
    unknown += rule == nullptr;
    INFO(info.name);
    CHECK(gated.refused(info.value, Argument{}) == -EPERM);
  }
  CHECK(never >= 20);
  CHECK(experimental == 5);
  CHECK(unknown >= 15);
  CHECK(gated.refused(0x12345678, Argument{}) == -EPERM);
}

TEST_CASE("with --experimental the device still never acts") {
  Gated gated(true);
  for (const std::uint32_t command :
       {NEURON_IOCTL_DMA_QUEUE_COPY_START, NEURON_IOCTL_SEMAPHORE_INCREMENT,
        NEURON_IOCTL_SEMAPHORE_WRITE, NEURON_IOCTL_PROGRAM_ENGINE_NC64, NEURON_IOCTL_PROGRAM_ENGINE,
        NEURON_IOCTL_BAR_WRITE, NEURON_IOCTL_EVENT_SET, NEURON_IOCTL_DMA_ENG_SET_STATE,
        NEURON_IOCTL_HBM_SCRUB_START, NEURON_IOCTL_DEVICE_RESET}) {
    CHECK(gated.refused(command, Argument{}) == -EPERM);
  }
}

TEST_CASE("the calls that crash the real kernel never arrive") {
  Gated v3(true), v2(true, 2);
  SECTION("counts and acknowledgements") {
    v3.refused(NEURON_IOCTL_DMA_QUEUE_COPY_START, neuron_dma_queue_copy_start{0, 0, 1, 0});
    v3.refused(NEURON_IOCTL_DMA_ACK_COMPLETED, neuron_dma_ack_completed{0, 0, 1});
  }
  SECTION("engines and queues that do not exist") {
    v2.refused(NEURON_IOCTL_DMA_ENG_GET_STATE, neuron_dma_eng_get_state{34, 0}, "crash");
    v3.refused(NEURON_IOCTL_DMA_ENG_GET_STATE, neuron_dma_eng_get_state{132, 0}, "crash");
    v2.refused(NEURON_IOCTL_DMA_QUEUE_GET_STATE, neuron_dma_queue_get_state{34, 0, 0, 0});
    v3.refused(NEURON_IOCTL_DMA_QUEUE_GET_STATE, neuron_dma_queue_get_state{0, 16, 0, 0});
    v3.refused(NEURON_IOCTL_DMA_QUEUE_GET_STATE, neuron_dma_queue_get_state{100000, 0, 0, 0});
    neuron_dma_queue_state tx{}, rx{};
    neuron_dma_queue_get_state good{33, 15, address_of(&tx), address_of(&rx)};
    CHECK(v2.file->ioctl(NEURON_IOCTL_DMA_QUEUE_GET_STATE, &good) == 0);
  }
  SECTION("events and semaphores of cores that do not exist") {
    for (const std::uint32_t core : {8u, 200u, 255u}) {
      v3.refused(NEURON_IOCTL_EVENT_GET, neuron_event{core, 0, 0});
    }
    v2.refused(NEURON_IOCTL_EVENT_GET, neuron_event{2, 0, 0});
    v2.refused(NEURON_IOCTL_SEMAPHORE_READ, neuron_semaphore{0, 256, 0});
    neuron_event event{7, 255, 0};
    CHECK(v3.file->ioctl(NEURON_IOCTL_EVENT_GET, &event) == 0);
  }
  SECTION("registers by address") {
    v3.refused(NEURON_IOCTL_BAR_READ, neuron_bar_rw{0, 0, 0, 1}, "kernel address");
  }
  SECTION("rings on the driver's own queues") {
    const std::uint64_t a = v2.allocate(), b = v3.allocate();
    for (const std::uint32_t engine : {32u, 33u}) {
      v2.refused(NEURON_IOCTL_DMA_QUEUE_INIT, neuron_dma_queue_init{engine, 0, 64, 64, a, a, 0, 0});
    }
    v3.refused(NEURON_IOCTL_DMA_QUEUE_INIT, neuron_dma_queue_init{128, 0, 64, 64, b, b, 0, 0},
               "belongs to the driver");
    v3.refused(NEURON_IOCTL_DMA_QUEUE_INIT, neuron_dma_queue_init{0, 15, 64, 64, b, b, 0, 0});
    neuron_dma_queue_init_batch batch{};
    batch.count = 2;
    batch.entries[0] = {0, 0, 64, 64, b, b, 0, 0};
    batch.entries[1] = {128, 0, 64, 64, b, b, 0, 0};
    v3.refused(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch, "DMA engine 128");
  }
  SECTION("neighbours beyond the table") {
    for (const std::uint32_t index : {64u, 255u, 0xFFFFFFFFu}) {
      v3.refused(NEURON_IOCTL_DEVICE_BDF_EXT, neuron_device_bdf_ext{index, 0, 0, 0, 0}, "crash");
    }
    neuron_device_bdf_ext itself{256, 0, 0, 0, 0};  // cut to 8 bits: the device itself
    CHECK(v3.file->ioctl(NEURON_IOCTL_DEVICE_BDF_EXT, &itself) == 0);
  }
  SECTION("host memory of type 19") {
    neuron_mem_alloc_v2mt64 alloc{};
    alloc.size = 4096;
    alloc.host_memory = 1;
    alloc.mem_type = NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE;
    CHECK(v3.refused(NEURON_IOCTL_MEM_ALLOC_V2MT64, alloc, "type 19") == -EINVAL);
  }
  SECTION("a forked child") {
    v3.calls->clear();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::uint64_t handle = 0;
      neuron_mem_alloc_v2mt64 alloc{};
      alloc.size = 4096;
      alloc.mem_handle_ptr = address_of(&handle);
      const int answer = v3.file->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc);
      _exit(answer == -EACCES && v3.calls->empty() ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("memory of others is out of reach: handles, ranges, mappings") {
  Gated gated;
  const std::uint64_t own = gated.allocate(5000);  // 8192 bytes are given
  std::vector<std::uint8_t> buffer(16384);
  const auto copy = [&](std::uint64_t handle, std::uint64_t offset, std::uint64_t size) {
    return neuron_mem_buf_copy64{handle, address_of(buffer.data()), size, offset, 1};
  };
  gated.refused(NEURON_IOCTL_MEM_FREE, neuron_mem_free{own + 1}, "was not allocated");
  gated.refused(NEURON_IOCTL_MEM_BUF_COPY64, copy(own + 1, 0, 1), "was not allocated");
  gated.refused(NEURON_IOCTL_MEM_BUF_COPY64, copy(own, 0, 8193), "leave the 8192 bytes");
  gated.refused(NEURON_IOCTL_MEM_BUF_COPY64, copy(own, ~0ull - 7, 16));  // wraps in the driver
  gated.refused(NEURON_IOCTL_MEM_COPY64, neuron_mem_copy64{own, 99, 1, 0, 0});
  gated.refused(NEURON_IOCTL_MEM_COPY64, neuron_mem_copy64{own, own, 4096, 0, 8192});
  gated.refused(NEURON_IOCTL_MEMSET64, neuron_memset64{own, 8192, 0, 1});
  gated.refused(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64,
                neuron_dma_copy_descriptors64{own, address_of(buffer.data()), 513, 0, 0});
  auto fits = copy(own, 8191, 1);
  CHECK(gated.file->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &fits) == 0);
  CHECK_FALSE(gated.file->mmap(0, 4096, true));
  neuron_mem_get_extended_info info{};
  info.mem_handle = own;
  REQUIRE(gated.file->ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) == 0);
  CHECK_FALSE(gated.file->mmap(info.pa, 4096, true));
  CHECK(gated.file->mmap(info.pa, 8192, true));
  neuron_mem_free free{own};
  CHECK(gated.file->ioctl(NEURON_IOCTL_MEM_FREE, &free) == 0);
  gated.refused(NEURON_IOCTL_MEM_FREE, free, "was not allocated");
}

TEST_CASE("an argument that cannot be read is refused, one that cannot be written survives") {
  Gated gated;
  CHECK(gated.file->ioctl(NEURON_IOCTL_MEM_FREE, nullptr) == -EFAULT);
  CHECK(gated.file->ioctl(NEURON_IOCTL_MEM_FREE, reinterpret_cast<void*>(8)) == -EFAULT);
  CHECK(gated.calls->empty());
  static const neuron_device_basic_info constant{};
  CHECK(gated.file->ioctl(NEURON_IOCTL_DEVICE_BASIC_INFO,
                          const_cast<neuron_device_basic_info*>(&constant)) == 0);
}

TEST_CASE("each core is marked before the first call that names it, and given back") {
  Gated gated;
  gated.allocate(4096, 2);
  REQUIRE(gated.calls->size() == 2);
  CHECK((*gated.calls)[0] == NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0);
  gated.allocate(4096, 2);
  CHECK(gated.count(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0) == 1);
  gated.allocate(4096, 5);
  CHECK(gated.count(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0) == 2);
  neuron_mem_alloc_v2mt64 alloc{};
  alloc.nc_id = 8;
  gated.refused(NEURON_IOCTL_MEM_ALLOC_V2MT64, alloc, "core 8 does not exist");
  gated.file.reset();
  CHECK(gated.calls->back() == NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0);
}

TEST_CASE("the marks given back are exactly those taken") {
  std::uint64_t unmarked = 0;
  Gated gated(false, 3, [&](std::uint32_t command, void* argument) -> std::optional<int> {
    if (command == NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0) {
      unmarked = static_cast<neuron_crwl_nc_map_ext0*>(argument)->bitmap[0];
    }
    return std::nullopt;
  });
  gated.allocate(4096, 1);
  gated.allocate(4096, 6);
  gated.file.reset();
  CHECK(unmarked == 0x42);
}

TEST_CASE("a core in use is refused, with who is on the device") {
  Gated gated(false, 3, [](std::uint32_t command, void* argument) -> std::optional<int> {
    if (command == NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0) return -EBUSY;
    if (command != NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO) return std::nullopt;
    auto* head = static_cast<neuron_get_apps_info*>(argument);
    auto* apps = reinterpret_cast<neuron_app_info*>(head + 1);
    head->size = 2;
    apps[0].pid = getpid();
    apps[1].pid = 4242;
    return 0;
  });
  neuron_mem_alloc_v2mt64 alloc{};
  alloc.size = 4096;
  CHECK(gated.refused(NEURON_IOCTL_MEM_ALLOC_V2MT64, alloc,
                      "core 0 is in use (attached: pid 4242)") == -EBUSY);
}

TEST_CASE("queues are initialised only with --experimental and with rings that hold them") {
  Gated plain;
  const std::uint64_t ring = plain.allocate();
  plain.refused(NEURON_IOCTL_DMA_QUEUE_INIT, neuron_dma_queue_init{0, 0, 64, 64, ring, ring, 0, 0},
                "--experimental allows it");
  Gated open(true);
  const std::uint64_t own = open.allocate();  // 256 descriptors
  neuron_dma_queue_init init{16, 0, 256, 256, own, own, 0, 0};
  CHECK(open.file->ioctl(NEURON_IOCTL_DMA_QUEUE_INIT, &init) == 0);
  CHECK(open.count(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0) == 2);  // engine 16 is core 1's
  init.tx_desc_count = 272;
  open.refused(NEURON_IOCTL_DMA_QUEUE_INIT, init, "leave the 4096 bytes");
  open.refused(NEURON_IOCTL_DMA_QUEUE_INIT, neuron_dma_queue_init{0, 0, 64, 64, own, 0, 0, 0});
  open.refused(NEURON_IOCTL_DMA_QUEUE_INIT, neuron_dma_queue_init{0, 0, 64, 64, own, own, own, 0});
}

TEST_CASE("resets reach only cores this process has marked") {
  Gated gated(true);
  gated.refused(NEURON_IOCTL_NC_RESET, neuron_nc_reset{0, 0});
  gated.refused(NEURON_IOCTL_NC_RESET, neuron_nc_reset{0xFFFFFFFF, 0});
  neuron_nc_reset reset{6, 0};
  CHECK(gated.file->ioctl(NEURON_IOCTL_NC_RESET, &reset) == 0);
  CHECK(gated.count(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0) == 2);
}

TEST_CASE("a load on foreign hardware stops at the queues with the gate's sentence") {
  auto gate = gate_hardware(std::make_unique<FakeFile>(pass, foreign()));
  REQUIRE(gate);
  const auto result = try_load(std::move(*gate), "vecadd-v3");
  REQUIRE_FALSE(result);
  const std::string sentence = to_sentence(result.error());
  CHECK(sentence.find("DMA_QUEUE_INIT_BATCH is refused on /dev/neuron0") != std::string::npos);
  CHECK(sentence.find("--experimental") != std::string::npos);
  CHECK(result.error().error_class == ErrorClass::unsupported);
  auto open = gate_hardware(std::make_unique<FakeFile>(pass, foreign()), {true});
  REQUIRE(open);
  load_sample(std::move(*open), "vecadd-v3");
}

TEST_CASE("a replay goes through the gate as well") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("t");
  {
    auto writer = TraceWriter::create(path);
    REQUIRE(writer);
    const auto device = record_calls(fresh_device(), *writer);
    neuron_semaphore doorbell{0, 1, 1};
    REQUIRE(device->ioctl(NEURON_IOCTL_SEMAPHORE_INCREMENT, &doorbell) == 0);
  }
  Gated gated(true);
  auto reader = TraceReader::open(path);
  REQUIRE(reader);
  const auto report = replay_trace(**reader, *gated.file);
  REQUIRE(report);
  REQUIRE(report->differences.size() == 1);
  CHECK(
      to_line(report->differences[0]).find("result: 0 / -EPERM (SEMAPHORE_INCREMENT is refused") !=
      std::string::npos);
  CHECK(gated.count(NEURON_IOCTL_SEMAPHORE_INCREMENT) == 0);
}

TEST_CASE("a dry run prints the calls, asks only who the device is, and lets a load proceed") {
  std::vector<std::string> lines;
  auto fake = std::make_unique<FakeFile>(pass, foreign());
  const auto calls = fake->calls;
  auto dry = dry_run(std::move(fake), [&](std::string_view line) { lines.emplace_back(line); });
  REQUIRE(dry);
  CHECK((*dry)->traits().name == "/dev/neuron0 (dry run)");
  CHECK_FALSE((*dry)->traits().simulated);
  auto gate = gate_hardware(std::move(*dry), {true});
  REQUIRE(gate);
  load_sample(std::move(*gate), "vecadd-v3");
  for (const std::uint32_t command : *calls) {
    CHECK((command == NEURON_IOCTL_COMPATIBLE_VERSION || command == NEURON_IOCTL_DRIVER_INFO_GET ||
           command == NEURON_IOCTL_DEVICE_BASIC_INFO));
  }
  const auto prints = [&](std::string_view text) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  CHECK(lines[0].find("every other answer (handles, addresses, sizes, bytes read back) is invented "
                      "by an empty simulated v3 device") != std::string::npos);
  CHECK(prints("asked: COMPATIBLE_VERSION -> 0 max=11 min=10"));
  CHECK(prints("not made: MEM_ALLOC_V2MT64 size=131072 align=256"));
  CHECK(prints("not made: CRWL_NC_RANGE_MARK_EXT0 nc_count=1 start_nc_index=0 end_nc_index=0"));
  CHECK(prints("not made: CRWL_NC_RANGE_UNMARK_EXT0"));
}
