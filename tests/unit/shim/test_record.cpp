// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <set>

#include "command_table.hpp"
#include "neuron_abi/ioctl.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

CompareReport replayed(const std::string& path, DeviceFile& device, bool all = true,
                       bool literal = false) {
  auto reader = TraceReader::open(path);
  REQUIRE(reader);
  auto report = replay_trace(**reader, device, {all, literal});
  if (!report) FAIL(to_sentence(report.error()));
  return std::move(*report);
}

CompareReport compared(const std::string& first, const std::string& second, bool all = true) {
  auto a = TraceReader::open(first), b = TraceReader::open(second);
  REQUIRE(a);
  REQUIRE(b);
  auto report = diff_traces(**a, **b, {all});
  if (!report) FAIL(to_sentence(report.error()));
  return std::move(*report);
}

std::string first_line(const CompareReport& report) {
  return report.differences.empty() ? "none" : to_line(report.differences.front());
}

/// Records what `body` does to a fresh device and returns the events.
template <class Body>
std::vector<TraceEvent> recorded(Body body, const TraceOptions& options = {}) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("t");
  {
    auto writer = TraceWriter::create(path, options);
    REQUIRE(writer);
    const auto device = record_calls(fresh_device(), *writer);
    body(*device);
  }
  auto events = events_of(read_all(path));
  if (!events) FAIL(to_sentence(events.error()));
  return std::move(*events);
}

std::vector<TraceCall> calls_of(const std::vector<TraceEvent>& events) {
  std::vector<TraceCall> calls;
  for (const TraceEvent& event : events) {
    if (event.call) calls.push_back(*event.call);
  }
  return calls;
}

std::uint64_t allocate(DeviceFile& device, std::uint64_t size, std::uint32_t hbm = 0) {
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 alloc{};
  alloc.size = size;
  alloc.dram_channel = hbm;
  alloc.mem_type = NEURON_MEM_TENSORS_DEVICE;
  alloc.mem_handle_ptr = address_of(&handle);
  REQUIRE(device.ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc) == 0);
  return handle;
}

int copy(DeviceFile& device, std::uint64_t handle, std::uint64_t buffer, std::uint64_t size,
         bool in) {
  neuron_mem_buf_copy64 argument{};
  argument.mem_handle = handle;
  argument.buffer_ptr = buffer;
  argument.size = size;
  argument.copy_to_mem_handle = in;
  return device.ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &argument);
}

}  // namespace

TEST_CASE("every command of the interface has one row, whose pointers lie in its argument") {
  std::set<std::uint32_t> values;
  for (const auto& info : shim::all_commands()) {
    INFO(info.name);
    CHECK(values.insert(info.value).second);
    CHECK(shim::find_command(info.value) == &info);
    CHECK(info.pointers.size() <= 2);
    const std::uint32_t behind = info.repeat.behind ? info.repeat.limit * info.repeat.stride : 0;
    CHECK(info.bytes + behind <= shim::max_argument_bytes);
    std::size_t pointer_fields = 0;
    for (const auto& field : info.fields) {
      CHECK(field.offset + field.bytes <= info.bytes);
      pointer_fields += field.kind == shim::FieldKind::pointer;
    }
    CHECK(pointer_fields == info.pointers.size());
    // A command that encodes its struct's size must agree with the row.
    const std::uint32_t encoded = NEURON_IOCTL_SIZE_OF(info.value);
    if (encoded != 8) CHECK((encoded == info.bytes || info.bytes == 12296));
  }
  CHECK(values.size() == 98);
  CHECK(shim::find_command(NEURON_IOCTL_MEM_FREE + 0x100) == nullptr);
}

TEST_CASE("a recorded load replays on a fresh device with every reply equal") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("load.trace");
  const bool keep = GENERATE(false, true);
  record_sample(path, "vecadd-v3", {keep, false});
  const auto device = fresh_device();
  const CompareReport report = replayed(path, *device);
  CHECK(first_line(report) == "none");
  CHECK(report.calls > 20);
  // Verification reads every section back: compared when the trace knows what was written.
  CHECK((report.not_compared == 0) == keep);
}

TEST_CASE("a replay tells the first reply that differs") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("load.trace");
  record_sample(path, "vecadd-v3");
  const auto device = fresh_device();
  allocate(*device, 4096);  // shifts handles and addresses
  const CompareReport first = replayed(path, *device, false, true);
  CHECK(first_line(first) == "#3 MEM_ALLOC_V2MT64: mem_handle: 1 / 2");
  CHECK(first.differences.size() == 1);
  const auto other = fresh_device(2);
  CHECK(first_line(replayed(path, *other, false)) == "#1 COMPATIBLE_VERSION: max: 11 / 7");
}

TEST_CASE("a replay takes the handles and addresses a device hands out for the recorded ones") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("load.trace");
  record_sample(path, "vecadd-v3", {true, false});
  const auto device = fresh_device();
  // Other handles, and other addresses in both pools of every HBM.
  for (std::uint32_t hbm = 0; hbm < 4; ++hbm) {
    allocate(*device, 4096, hbm);
    allocate(*device, 1 << 20, hbm);
  }
  const CompareReport report = replayed(path, *device);
  CHECK(first_line(report) == "none");
  CHECK(report.translated > 20);
  CHECK(report.not_compared > 0);  // rings read back hold the device's own addresses
  const auto same = fresh_device();
  CHECK(replayed(path, *same).translated == 0);
}

TEST_CASE("an address that a device tells differently the second time is a difference") {
  const ScratchFolder scratch;
  const auto use = [](DeviceFile& device) {
    const std::uint64_t handle = allocate(device, 8192);
    for (int i = 0; i < 2; ++i) {
      neuron_mem_get_extended_info info{};
      info.mem_handle = handle;
      CHECK(device.ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) == 0);
    }
    std::uint64_t pa = 0;
    neuron_mem_get_pa get{handle, address_of(&pa)};
    CHECK(device.ioctl(NEURON_IOCTL_MEM_GET_PA, &get) == 0);
  };
  {
    auto writer = TraceWriter::create(scratch.path("t"));
    REQUIRE(writer);
    use(*record_calls(fresh_device(), *writer));
  }
  const std::uint64_t wrong = GENERATE(0u, 4096u);
  FakeFile shifted(
      [&](std::uint32_t command, void* argument) -> std::optional<int> {
        if (command != NEURON_IOCTL_MEM_GET_PA) return {};
        auto* get = static_cast<neuron_mem_get_pa*>(argument);
        CHECK(get->mem_handle == 2);
        *reinterpret_cast<std::uint64_t*>(static_cast<std::uintptr_t>(get->pa_ptr)) =
            0x5c0001000 + wrong;
        return 0;
      },
      {"sim:v3", true});
  allocate(shifted, 4096);
  const CompareReport report = replayed(scratch.path("t"), shifted);
  CHECK(report.differences.size() == (wrong == 0 ? 0u : 1u));
}

TEST_CASE("two recordings of the same load are equal, byte for byte") {
  const ScratchFolder scratch;
  for (const char* name : {"a", "b"}) record_sample(scratch.path(name), "vecadd-v3");
  CHECK(read_all(scratch.path("a")) == read_all(scratch.path("b")));
  CHECK(first_line(compared(scratch.path("a"), scratch.path("b"))) == "none");
}

TEST_CASE("diff finds an injected difference at the right call") {
  const ScratchFolder scratch;
  record_sample(scratch.path("a"), "vecadd-v3");
  const auto record = [&](const char* name, FakeFile::Answer answer) {
    auto writer = TraceWriter::create(scratch.path(name));
    REQUIRE(writer);
    auto fake = std::make_unique<FakeFile>(std::move(answer), DeviceTraits{"sim:v3", true});
    load_sample(record_calls(std::move(fake), *writer), "vecadd-v3");
  };
  std::uint64_t calls = 0;
  std::uint64_t changed = 0;
  record("b", [&](std::uint32_t command, void* argument) -> std::optional<int> {
    ++calls;
    if (command != NEURON_IOCTL_MEM_GET_EXTENDED_INFO || calls < 10 || changed != 0) return {};
    changed = calls;
    static_cast<neuron_mem_get_extended_info*>(argument)->pa = 0xABC000;
    static_cast<neuron_mem_get_extended_info*>(argument)->size = 4096;
    return 0;
  });
  REQUIRE(changed != 0);
  const CompareReport report = compared(scratch.path("a"), scratch.path("b"), false);
  REQUIRE(!report.differences.empty());
  CHECK(report.differences[0].call == changed);
  CHECK(report.differences[0].command == "MEM_GET_EXTENDED_INFO");
}

TEST_CASE("diff tells a changed buffer by its hash, a changed ring by its byte, a missing end") {
  const ScratchFolder scratch;
  const auto record = [&](const char* name, std::uint8_t data, std::uint8_t word, bool more) {
    auto writer = TraceWriter::create(scratch.path(name));
    REQUIRE(writer);
    const auto device = record_calls(fresh_device(), *writer);
    const std::uint64_t handle = allocate(*device, 8192);
    std::vector<std::uint8_t> buffer(8192, data);
    CHECK(copy(*device, handle, address_of(buffer.data()), buffer.size(), true) == 0);
    std::uint8_t ring[32] = {1, 2, 3, 4, word};
    neuron_dma_copy_descriptors64 descriptors{};
    descriptors.mem_handle = handle;
    descriptors.buffer_ptr = address_of(ring);
    descriptors.num_descs = 2;
    CHECK(device->ioctl(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, &descriptors) == 0);
    if (more) allocate(*device, 4096);
  };
  record("a", 1, 5, false);
  record("b", 2, 6, true);
  const CompareReport report = compared(scratch.path("a"), scratch.path("b"));
  REQUIRE(report.differences.size() == 3);
  CHECK(to_line(report.differences[0]) ==
        "#2 MEM_BUF_COPY64: sent buffer: other bytes / than these (only hashes are known)");
  CHECK(to_line(report.differences[1]) ==
        "#3 DMA_COPY_DESCRIPTORS64: sent buffer at byte 0x4: 0x05 / 0x06");
  CHECK(to_line(report.differences[2]) ==
        "#4 trace: what happens: the trace is over / MEM_ALLOC_V2MT64");
}

TEST_CASE("a line names the call, its fields, the result and what came back") {
  const auto calls = calls_of(recorded([](DeviceFile& device) {
    const std::uint64_t handle = allocate(device, 5000);
    std::uint8_t buffer[16] = {0xAB};
    CHECK(copy(device, handle, address_of(buffer), sizeof buffer, true) == 0);
    CHECK(copy(device, 77, address_of(buffer), sizeof buffer, true) == -EINVAL);
    neuron_mem_get_extended_info info{};
    info.mem_handle = 77;
    CHECK(device.ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) == 22);
    CHECK(device.ioctl(0x12345678, buffer) == -EINVAL);
    CHECK(device.ioctl(NEURON_IOCTL_MEM_FREE, nullptr) != 0);
  }));
  REQUIRE(calls.size() == 6);
  CHECK(to_line(calls[0]) ==
        "#1 MEM_ALLOC_V2MT64 size=5000 align=0 host_memory=0 dram_channel=0 dram_region=0 nc_id=0 "
        "mem_type=9 -> 0 mem_handle=1");
  CHECK(to_line(calls[1]).find("buffer=[16 bytes, sha256 ") != std::string::npos);
  CHECK(to_line(calls[2]).find(" -> -EINVAL") != std::string::npos);
  CHECK(to_line(calls[3]).find("-> +22") != std::string::npos);
  CHECK(to_line(calls[4]) ==
        "#5 unknown command 0x12345678 -> -EINVAL (not captured: the argument: this program does "
        "not know the command)");
  CHECK(to_line(calls[5]).find("MEM_FREE argument=null -> ") != std::string::npos);
}

TEST_CASE("a trace holds no address, no padding and no process number of the recording") {
  const auto calls = calls_of(recorded([](DeviceFile& device) {
    std::uint64_t handle = 0;
    neuron_mem_alloc_v2mt64 alloc;
    std::memset(&alloc, 0xEE, sizeof alloc);  // the padding behind mem_type and behind pad
    alloc.size = 4096;
    alloc.align = 0;
    alloc.host_memory = alloc.dram_channel = alloc.dram_region = alloc.nc_id = 0;
    alloc.mem_type = NEURON_MEM_TENSORS_DEVICE;
    alloc.mem_handle_ptr = address_of(&handle);
    CHECK(device.ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc) == 0);
    std::int32_t pid = 0;
    CHECK(device.ioctl(NEURON_IOCTL_DEVICE_APP_PID, &pid) == 0);
    CHECK(pid == getpid());
  }));
  REQUIRE(calls.size() == 2);
  CHECK(shim::field_value(calls[0].sent, offsetof(neuron_mem_alloc_v2mt64, mem_handle_ptr), 8) ==
        1);
  CHECK(std::count(calls[0].sent.begin(), calls[0].sent.end(), 0xEE) == 0);
  CHECK(shim::field_value(calls[1].received, 0, 4) == shim::own_pid);
}

TEST_CASE("wrong pointers are recorded as such and replay as such") {
  const ScratchFolder scratch;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE) == 0);
  std::vector<int> results;
  {
    auto writer = TraceWriter::create(scratch.path("t"));
    REQUIRE(writer);
    const auto device = record_calls(fresh_device(), *writer);
    const std::uint64_t handle = allocate(*device, 2 * page);
    results.push_back(copy(*device, handle, 8, 64, true));
    results.push_back(copy(*device, handle, 0, 64, true));
    results.push_back(copy(*device, handle, 8, 64, false));
    results.push_back(copy(*device, handle, address_of(memory), 2 * page, true));  // half is there
    results.push_back(device->ioctl(NEURON_IOCTL_MEM_FREE, reinterpret_cast<void*>(8)));
    results.push_back(copy(*device, handle, address_of(memory), page, true));
  }
  munmap(memory, 2 * page);
  CHECK(std::count_if(results.begin(), results.end(), [](int r) { return r != 0; }) == 5);
  const auto device = fresh_device();
  const CompareReport report = replayed(scratch.path("t"), *device);
  CHECK(first_line(report) == "none");
  CHECK(report.calls == 7);
}

TEST_CASE("mappings are recorded, and that stores through them are not") {
  const auto events = recorded([](DeviceFile& device) {
    const std::uint64_t handle = allocate(device, 4096);
    neuron_mem_get_extended_info info{};
    info.mem_handle = handle;
    REQUIRE(device.ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) == 0);
    auto address = device.mmap(info.mmap_offset, 4096, true);
    REQUIRE(address);
    device.munmap(*address, 4096);
    CHECK_FALSE(device.mmap(0x123000, 4096, true));
  });
  std::vector<std::string> lines;
  for (const TraceEvent& event : events) {
    if (event.mapping) lines.push_back(to_line(*event.mapping));
  }
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("-> mapped (not captured") != std::string::npos);
  CHECK(lines[1] == "munmap length=0x1000");
  CHECK(lines[2].find("-> failed") != std::string::npos);
}

TEST_CASE("a queue batch shows its entries and differs by entry") {
  const ScratchFolder scratch;
  const auto record = [&](const char* name, std::uint32_t qid) {
    auto writer = TraceWriter::create(scratch.path(name));
    REQUIRE(writer);
    const auto device = record_calls(fresh_device(), *writer);
    const std::uint64_t handle = allocate(*device, 4096);
    auto batch = std::make_unique<neuron_dma_queue_init_batch>();
    batch->count = 2;
    for (std::uint32_t i = 0; i < 2; ++i) {
      batch->entries[i] = {i, i == 0 ? 1 : qid, 64, 64, handle, handle, 0, 0};
    }
    batch->entries[7].eng_id = 99;  // behind the count: nobody reads it
    CHECK(device->ioctl(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch.get()) == 0);
  };
  record("a", 2);
  record("b", 3);
  const CompareReport report = compared(scratch.path("a"), scratch.path("b"));
  CHECK(first_line(report) == "#2 DMA_QUEUE_INIT_BATCH: sent [1].qid: 2 / 3");
  CHECK(report.differences.size() == 1);
  auto events = events_of(read_all(scratch.path("a")));
  REQUIRE(events);
  const std::string line = to_line(calls_of(*events)[1]);
  CHECK(line.find("count=2 [0] eng_id=0 qid=1") != std::string::npos);
  CHECK(line.find("99") == std::string::npos);
}

TEST_CASE("a recording that cannot be written disturbs no call and is told at the end") {
  auto writer = TraceWriter::create("/dev/full");
  REQUIRE(writer);
  load_sample(record_calls(fresh_device(), *writer), "vecadd-v3");
  const auto result = (*writer)->finish();
  REQUIRE_FALSE(result);
  CHECK(result.error().error_class == ErrorClass::file);
  CHECK(to_sentence(result.error()).find("No space left") != std::string::npos);
  CHECK_FALSE(TraceWriter::create("/nonexistent/folder/t"));
}
