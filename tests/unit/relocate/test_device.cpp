// SPDX-License-Identifier: MIT
// Plans staged on a simulated device: the addresses of spec 03 section 10.1.
#include "device_calls.hpp"
#include "neuron_abi/ioctl.h"
#include "stager.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

struct DeviceRig {
  explicit DeviceRig(std::uint32_t architecture) {
    SimOptions options;
    options.architecture = architecture;
    auto created = SimDevice::create(options);
    if (!created) FAIL(to_sentence(created.error()));
    device = *created;
    auto opened = device->open();
    if (!opened) FAIL(to_sentence(opened.error()));
    file = std::move(*opened);
  }
  std::shared_ptr<SimDevice> device;
  std::unique_ptr<DeviceFile> file;
};

/// Programs whose requests are the steps of the example: no exec queues, they are there already.
PlanOptions with_exec_queues() {
  PlanOptions options;
  options.cores.assign(8, CoreState{true, 0, 0});
  return options;
}

TEST_CASE("the worked example of the driver's allocator, planned and staged") {
  DeviceRig rig(3);
  Program program(Arch::v3);
  program.scratch("arena", 4096, 0);
  program.file("weight3m", 3u << 20);
  program.file("weight100k", 100u << 10);
  program.file("four", 4);
  program.add(VarKind::tmp_buf, "aligned", 640u << 10, 64u << 10);
  const Plan plan = planned(std::span(&program.kbin(), 1), with_exec_queues());
  DeviceCalls calls(*rig.file);
  AllocationList memory(calls);
  REQUIRE(allocate_all(calls, plan.requests, memory));
  const auto address = [&](const char* owner) { return memory.live()[request_of(plan, owner)].pa; };
  CHECK(address("scratchpad page 0") == 0x100'0000);
  CHECK(address("variable weight3m") == 0x2100'0000);
  CHECK(address("variable weight100k") == 0x5'C000'0000);
  CHECK(address("variable four") == 0x5'C001'9000);
  CHECK(address("variable aligned") == 0x2130'0000);
}

TEST_CASE("the worked example's contiguous pages, and a variable at the start of their arena") {
  DeviceRig rig(3);
  Program program(Arch::v3);
  constexpr std::uint64_t small = 64ull << 20;
  const auto low = program.scratch("low", 4096, 0);
  const auto high = program.scratch("high", small, small - 4096);
  program.file("weight3m", 3u << 20);
  PlanOptions options = with_exec_queues();
  options.scratchpad.contiguous = true;
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins, options);
  DeviceCalls calls(*rig.file);
  AllocationList memory(calls);
  REQUIRE(allocate_all(calls, plan.requests, memory));
  Addresses addresses;
  for (const DeviceMemory& one : memory.live()) addresses.sections.push_back(one.pa);
  const std::uint64_t page0 = addresses.sections[request_of(plan, "scratchpad page 0")];
  const std::uint64_t page1 = addresses.sections[request_of(plan, "scratchpad page 1")];
  CHECK(page0 == 0x5'BC00'0000);
  CHECK(page1 == 0x5'B800'0000);
  CHECK(addresses.sections[request_of(plan, "variable weight3m")] == 0x100'0000);
  addresses.scratchpad_pages[0] = {page0, page1};
  CHECK(check_pages(plan, addresses));
  const auto address = [&](std::uint32_t var) {
    return variable_address(kbins[0], plan.kbins[0], addresses, var);
  };
  CHECK(address(low) == page1);
  CHECK(address(high) == page1 + small - 4096);
  // A driver that puts the pages anywhere else cannot be used.
  addresses.scratchpad_pages[0] = {page0, page1 - 4096};
  CHECK_FALSE(check_pages(plan, addresses));
  addresses.scratchpad_pages[0] = {page1, page0};
  CHECK_FALSE(check_pages(plan, addresses));
}

TEST_CASE("SBUF of core 5, and partition 3 byte 0x10 of it in a descriptor") {
  std::vector<Program> programs;
  programs.emplace_back(Arch::v3, "sg00");
  Program& program = programs.emplace_back(Arch::v3, "sg01");
  const auto sb = program.state_buffer();
  const auto t = program.add(VarKind::tmp_buf, "t", 64);
  const auto queue = program.queue("q", Engine::sp, 1);
  program.block(queue, 0, {copy(side(t, 0, {8}), side(sb, 3 * 0x40000 + 0x10, {8}))});
  const auto kbins = kbins_of(programs);
  PlanOptions options;
  options.logical_core = 2;
  const Plan plan = planned(kbins, options);
  CHECK(plan.kbins[1].core == 5);
  CHECK(plan.kbins[1].variables[sb].address == 0x8030'0000'0000);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const Bytes rx = result.sections.at(request_of(plan, "ring q.0.0 rx", 5));
  CHECK(load_le<std::uint64_t>(rx, 8) == 0x8030'000C'0010);
}

TEST_CASE("staged sections are on the device as relocation made them, and all of them go again") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    DeviceRig rig(architecture);
    const std::string name = architecture == 2 ? "conv-like-v2" : "pointers-v3";
    const SampleModel model = sample_model(name);
    INFO(name);
    const Plan plan = planned(model.parsed.kbins);
    DeviceCalls calls(*rig.file);
    {
      AllocationList memory(calls);
      REQUIRE(allocate_all(calls, plan.requests, memory));
      CHECK(rig.device->counters().live_handles == plan.requests.size());
      Addresses addresses;
      const std::vector<DeviceMemory> by_request(memory.live().begin(), memory.live().end());
      for (std::size_t i = 0; i < by_request.size(); ++i) {
        addresses.sections.push_back(by_request[i].pa);
        if (plan.requests[i].kind == SectionKind::scratchpad_page) {
          addresses.scratchpad_pages[plan.requests[i].core].push_back(by_request[i].pa);
        }
      }
      Ledger ledger;
      std::uint64_t copied = 0, compared = 0;
      REQUIRE(
          relocate(model.parsed.kbins, plan, addresses, ledger,
                   device_sink(calls, by_request, plan, [&](std::uint64_t n) { copied += n; })));
      Ledger again;
      const SectionSink compare = compare_sink(calls, by_request, plan, compared);
      REQUIRE(relocate(model.parsed.kbins, plan, addresses, again, compare));
      CHECK(copied == compared);
      CHECK(copied == planned_content_bytes(plan));

      // One damaged byte is found and named.
      const auto image = plan.kbins[0].streams[2].request;
      const std::array<std::uint8_t, 1> wrong = {0xEE};
      REQUIRE(calls.copy_in(by_request[image].handle, 65, wrong));
      const auto found = relocate(model.parsed.kbins, plan, addresses, again, compare);
      check_refused(
          found, {"instructions pool", "", std::nullopt, "the device holds 0xee", Status::failure});
      CHECK(found.error().where.offset == 65);
      CHECK(found.error().error_class == ErrorClass::check);
    }
    CHECK(rig.device->counters().live_handles == 0);
  }
}

/// A device that fails one call.
class Failing : public DeviceFile {
 public:
  Failing(DeviceFile& file, std::uint32_t command, std::uint64_t at)
      : file_(&file), command_(command), at_(at) {}
  int ioctl(std::uint32_t command, void* argument) noexcept override {
    if (command == command_ && seen_++ == at_) return -12;  // ENOMEM
    return file_->ioctl(command, argument);
  }
  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    return file_->mmap(offset, length, writable);
  }
  void munmap(void* address, std::uint64_t length) noexcept override {
    file_->munmap(address, length);
  }
  const DeviceTraits& traits() const noexcept override { return file_->traits(); }

 private:
  DeviceFile* file_;
  std::uint32_t command_;
  std::uint64_t at_, seen_ = 0;
};

TEST_CASE("the n-th failing allocation is reported and leaves nothing behind") {
  DeviceRig rig(3);
  const SampleModel model = sample_model("vecadd-v3");
  const Plan plan = planned(model.parsed.kbins);
  for (std::uint64_t n = 0; n < plan.requests.size(); ++n) {
    Failing failing(*rig.file, NEURON_IOCTL_MEM_ALLOC_V2MT64, n);
    DeviceCalls calls(failing);
    {
      AllocationList memory(calls);
      const auto allocated = allocate_all(calls, plan.requests, memory);
      REQUIRE_FALSE(allocated);
      CHECK(memory.size() == n);
      CHECK(allocated.error().status == Status::resource);
      CHECK(to_sentence(allocated.error()).find(plan.requests[n].owner) != std::string::npos);
    }
    CHECK(rig.device->counters().live_handles == 0);
  }
}

}  // namespace
}  // namespace neffld::test
