// SPDX-License-Identifier: MIT
// Allocation, freeing and look-up by handle and by address (spec 06 sections 4.5 and 5).
#include <unistd.h>

#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

void refuse(Trial& t, std::string_view sent, const Memory& memory, int expected) {
  std::uint64_t handle = 0;
  t.result(sent, t.client().alloc(memory, handle), expected);
  t.equal(sent, "stored handle", handle, 0);
}

void size_limits(Trial& t) {
  refuse(t, "an allocation of 0 bytes", {0}, -ENOMEM);
  refuse(t, "an allocation of 2^63 - 1 bytes", {(1ull << 63) - 1}, -ENOMEM);
  refuse(t, "an allocation of 2^63 bytes", {1ull << 63}, -EINVAL);
  refuse(t, "an allocation of 2^64 - 1 bytes", {~0ull}, -EINVAL);
}

void host_size_zero(Trial& t) {
  refuse(t, "a host allocation of 0 bytes", {.size = 0, .host = 1, .type = 0}, -ENOMEM);
}

void scratchpad_size_zero(Trial& t) {
  refuse(t, "a type-19 allocation of 0 bytes",
         {.size = 0, .type = NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE}, -ENOMEM);
}

void channel_limit(Trial& t) {
  const std::uint32_t hbms = t.facts().hbms();
  refuse(t, "an allocation in an HBM that is not there", {.size = page, .hbm = hbms}, -EINVAL);
  refuse(t, "a host allocation with the same HBM",
         {.size = page, .host = 1, .hbm = hbms, .type = 0}, -EINVAL);
  t.chunk({.size = page, .hbm = hbms - 1});
}

void core_limit_is_8(Trial& t) {
  refuse(t, "an allocation for core 8", {.size = page, .nc = 8}, -EINVAL);
  refuse(t, "a host allocation for core 8", {.size = page, .host = 1, .nc = 8, .type = 0}, -EINVAL);
  t.chunk({.size = page, .nc = 7});
}

void region_ignored(Trial& t) {
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 argument{};
  argument.size = page;
  argument.dram_region = 99;
  argument.mem_type = NEURON_MEM_TENSORS_DEVICE;
  argument.mem_handle_ptr = pointer(&handle);
  t.result("MEM_ALLOC_V2MT64 with region 99",
           t.client().call(NEURON_IOCTL_MEM_ALLOC_V2MT64, argument), 0);
}

void host_align_refused(Trial& t) {
  refuse(t, "a host allocation with align 1", {.size = page, .align = 1, .host = 1, .type = 0},
         -EINVAL);
  refuse(t, "a host allocation with align 4096",
         {.size = page, .align = page, .host = 1, .type = 0}, -EINVAL);
}

void align_limit(Trial& t) {
  refuse(t, "an allocation with align 2^31", {.size = page, .align = 1ull << 31}, -EINVAL);
}

void small_align_ignored(Trial& t) {
  for (const std::uint64_t align : {1ull, 3ull, 4095ull, 4096ull}) {
    t.chunk({.size = page, .align = align});
  }
}

void unknown_types(Trial& t) {
  for (const std::uint32_t type : {20u, 99u, 0xFFFFFFFFu}) t.chunk({.size = page, .type = type});
}

void all_forms(Trial& t) {
  const Client& c = t.client();
  std::uint64_t handle = 0;
  neuron_mem_alloc oldest{page, 0, 0, 0, 0, pointer(&handle)};
  t.result("MEM_ALLOC", c.call(NEURON_IOCTL_MEM_ALLOC, oldest), 0);
  t.pa_of(handle);
  neuron_mem_alloc_v2 aligned{page, 8192, 0, 0, 0, 0, pointer(&handle)};
  t.result("MEM_ALLOC_V2", c.call(NEURON_IOCTL_MEM_ALLOC_V2, aligned), 0);
  t.equal("MEM_ALLOC_V2 with align 8192", "address modulo 8192", t.pa_of(handle) % 8192, 0);
  neuron_mem_alloc_v2mt typed{page, 0, 0, 0, 0, 0, 8, pointer(&handle)};
  t.result("MEM_ALLOC_V2MT", c.call(NEURON_IOCTL_MEM_ALLOC_V2MT, typed), 0);
  t.pa_of(handle);
}

void pa_form(Trial& t) {
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64_pa argument{};
  argument.size = page;
  argument.mem_type = NEURON_MEM_TENSORS_DEVICE;
  argument.mem_handle_ptr = pointer(&handle);
  t.result("MEM_ALLOC_V2MT64_PA", t.client().call(NEURON_IOCTL_MEM_ALLOC_V2MT64_PA, argument), 0);
  t.equal("MEM_ALLOC_V2MT64_PA", "pa", argument.pa, t.pa_of(handle));
}

void pa_form_unknown(Trial& t) {
  neuron_mem_alloc_v2mt64_pa argument{};
  argument.size = page;
  t.result("MEM_ALLOC_V2MT64_PA before 2.30",
           t.client().call(NEURON_IOCTL_MEM_ALLOC_V2MT64_PA, argument), -EINVAL);
}

void free_unknown(Trial& t) {
  t.result("MEM_FREE of handle 0", t.client().free(0), -EINVAL);
  t.result("MEM_FREE of a handle never given", t.client().free(no_handle), -EINVAL);
  t.result("MEM_FREE of handle 2^32 + 1", t.client().free((1ull << 32) + 1), -EINVAL);
  t.result("MEM_FREE of handle 2^64 - 1", t.client().free(~0ull), -EINVAL);
}

void free_twice(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  t.result("MEM_FREE", t.client().free(handle), 0);
  t.result("MEM_FREE a second time", t.client().free(handle), -EINVAL);
}

void use_after_free(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  t.result("MEM_FREE", t.client().free(handle), 0);
  std::uint64_t address = 0;
  Bytes bytes(16);
  t.result("MEM_GET_PA of a freed handle", t.client().pa(handle, address), -EINVAL);
  t.result("MEM_BUF_COPY64 to a freed handle", t.client().write(handle, bytes), -EINVAL);
  t.result("MEM_BUF_COPY64 from a freed handle", t.client().read(handle, bytes), -EINVAL);
  t.result("MEMSET64 of a freed handle", t.client().fill(handle, 0, 0, 16), -EINVAL);
}

void handles_are_lifo(Trial& t) {
  const std::uint64_t a = t.chunk({page});
  const std::uint64_t b = t.chunk({page});
  t.chunk({page});
  t.result("MEM_FREE", t.client().free(a), 0);
  t.result("MEM_FREE", t.client().free(b), 0);
  t.equal("an allocation after two frees", "handle", t.chunk({page}), b);
  t.equal("the next allocation", "handle", t.chunk({page}), a);
}

void first_handle(Trial& t) {
  if (!t.facts().fresh) t.skip("the handle table of a driver that ran before is not empty");
  t.equal("the first allocation", "handle", t.chunk({page}), 1);
  t.equal("the second allocation", "handle", t.chunk({page}), 2);
}

void fault_rolls_back(Trial& t) {
  const std::uint64_t before = t.chunk({page});
  const std::uint64_t place = t.pa_of(before);
  t.result("MEM_FREE", t.client().free(before), 0);
  neuron_mem_alloc_v2mt64 argument{};
  argument.size = page;
  argument.mem_type = NEURON_MEM_TENSORS_DEVICE;
  argument.mem_handle_ptr = bad_pointer;
  t.residue("MEM_ALLOC_V2MT64 with a bad handle pointer",
            t.client().call(NEURON_IOCTL_MEM_ALLOC_V2MT64, argument), 8);
  const std::uint64_t after = t.chunk({page});
  t.equal("the allocation after it", "handle", after, before);
  t.equal("the allocation after it", "address", t.pa_of(after), place);
}

void get_info(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  std::uint64_t offset = 1, address = 2;
  neuron_mem_get_info both{handle, pointer(&offset), pointer(&address)};
  t.result("MEM_GET_INFO", t.client().call(NEURON_IOCTL_MEM_GET_INFO, both), 0);
  t.equal("MEM_GET_INFO", "pa", address, t.pa_of(handle));
  t.equal("MEM_GET_INFO", "mmap offset", offset, address);
  neuron_mem_get_info no_offset{handle, 0, pointer(&address)};
  t.result("MEM_GET_INFO without mmap offset",
           t.client().call(NEURON_IOCTL_MEM_GET_INFO, no_offset), 0);
  neuron_mem_get_info no_pa{handle, pointer(&offset), 0};
  t.residue("MEM_GET_INFO without pa", t.client().call(NEURON_IOCTL_MEM_GET_INFO, no_pa), 8);
  neuron_mem_get_info unknown{no_handle, pointer(&offset), pointer(&address)};
  t.result("MEM_GET_INFO of an unknown handle", t.client().call(NEURON_IOCTL_MEM_GET_INFO, unknown),
           -EINVAL);
}

void extended_info(Trial& t) {
  const std::uint64_t handle = t.chunk({5000});
  neuron_mem_get_extended_info info{};
  info.mem_handle = handle;
  info.host_memory = 77;
  t.result("MEM_GET_EXTENDED_INFO", t.client().call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info), 0);
  t.equal("MEM_GET_EXTENDED_INFO", "size", info.size, 8192);
  t.equal("MEM_GET_EXTENDED_INFO", "pa", info.pa, t.pa_of(handle));
  t.equal("MEM_GET_EXTENDED_INFO", "mmap offset", info.mmap_offset, info.pa);
  t.equal("MEM_GET_EXTENDED_INFO", "host flag", info.host_memory, 0);
  t.equal("MEM_GET_EXTENDED_INFO", "version", info.version, 0);
  t.equal("MEM_GET_EXTENDED_INFO", "pid", static_cast<std::uint64_t>(info.pid),
          static_cast<std::uint64_t>(getpid()));
}

void extended_info_unknown(Trial& t) {
  neuron_mem_get_extended_info info{};
  info.mem_handle = no_handle;
  info.size = 77;
  t.residue("MEM_GET_EXTENDED_INFO of an unknown handle",
            t.client().call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info), 22, -EINVAL);
  t.equal("MEM_GET_EXTENDED_INFO of an unknown handle", "size", info.size, 77);
}

void host_chunks(Trial& t) {
  const std::uint64_t handle = t.chunk({.size = page, .host = 1, .type = 0});
  const std::uint64_t address = t.pa_of(handle);
  t.equal("a host allocation", "host bits", address & t.facts().host_base(), t.facts().host_base());
  t.equal("a host allocation", "offset in its page", address % page, 0);
  t.chunk({.size = page, .host = 2, .type = 0});
}

void address_lookup(Trial& t) {
  const std::uint64_t handle = t.chunk({8192});
  const std::uint64_t address = t.pa_of(handle);
  neuron_mem_mc_get_info_v2 info{};
  info.pa = address + 5000;
  t.result("MEM_MC_GET_INFO_V2 inside a chunk",
           t.client().call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info), 0);
  t.equal("MEM_MC_GET_INFO_V2", "start", info.mmap_offset, address);
  t.equal("MEM_MC_GET_INFO_V2", "size", info.size, 8192);
  t.equal("MEM_MC_GET_INFO_V2", "handle", info.mem_handle, handle);
  t.result("MEM_FREE", t.client().free(handle), 0);
  info.pa = address;
  t.result("MEM_MC_GET_INFO_V2 of a freed address",
           t.client().call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info), -ENOMEM);
}

void lookup_outside(Trial& t) {
  neuron_mem_mc_get_info info{};
  info.pa = ~0ull;
  t.result("MEM_MC_GET_INFO of address 2^64 - 1",
           t.client().call(NEURON_IOCTL_MEM_MC_GET_INFO, info), -ENOMEM);
}

void carve_out_lookup(Trial& t) {
  for (std::uint32_t hbm = 0; hbm < t.facts().hbms(); ++hbm) {
    neuron_mem_mc_get_info info{};
    info.pa = t.facts().hbm_base(hbm) + NEURON_HBM_CARVEOUT_SIZE - 1;
    t.result("MEM_MC_GET_INFO of the carve-out",
             t.client().call(NEURON_IOCTL_MEM_MC_GET_INFO, info), 0);
    t.equal("MEM_MC_GET_INFO", "start", info.mmap_offset, t.facts().hbm_base(hbm));
    t.equal("MEM_MC_GET_INFO", "size", info.size, NEURON_HBM_CARVEOUT_SIZE);
  }
}

void carve_out_handle(Trial& t) {
  neuron_mem_mc_get_info_v2 first{}, second{};
  t.result("MEM_MC_GET_INFO_V2 of address 0",
           t.client().call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, first), 0);
  t.holds("MEM_MC_GET_INFO_V2 of address 0", first.mem_handle != 0, "handle 0", "a new handle");
  t.result("MEM_MC_GET_INFO_V2 again", t.client().call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, second), 0);
  t.equal("MEM_MC_GET_INFO_V2 again", "handle", second.mem_handle, first.mem_handle);
}

}  // namespace

void add_memory(Rows& rows) {
  add(rows, "memory.size-limits", size_limits, "06 5.1, 11 B.2.2");
  add(rows, "memory.host-size-zero", host_size_zero, "11 B.2.2");
  add(rows, "memory.scratchpad-size-zero", scratchpad_size_zero, "11 B.2.2");
  add(rows, "memory.channel-limit-for-host-too", channel_limit, "06 5.1");
  add(rows, "memory.core-limit-is-8", core_limit_is_8, "06 5.1, 11 B.3");
  add(rows, "memory.region-is-ignored", region_ignored, "06 5.1, 11 B.2.2");
  add(rows, "memory.host-align-refused", host_align_refused, "06 5.1, 11 B.2.2");
  add(rows, "memory.align-limit", align_limit, "11 B.2.2");
  add(rows, "memory.small-align-ignored", small_align_ignored, "11 B.2.2");
  add(rows, "memory.unknown-types-accepted", unknown_types, "06 3");
  add(rows, "memory.older-forms", all_forms, "06 4.5");
  add(rows, "memory.form-with-address", pa_form, "06 3").generations = {30, 30};
  add(rows, "memory.form-with-address-unknown", pa_form_unknown, "06 3, 06 12.1").generations = {
      24, 27};
  add(rows, "memory.free-unknown-handle", free_unknown, "06 4.5");
  add(rows, "memory.free-twice", free_twice, "06 4.5, 11 B.3");
  add(rows, "memory.use-after-free", use_after_free, "06 4.5");
  add(rows, "memory.handles-are-lifo", handles_are_lifo, "06 5.4, 11 B.3").needs = Needs::idle;
  add(rows, "memory.first-handle-is-1", first_handle, "06 5.4");
  add(rows, "memory.faulting-handle-pointer-rolls-back", fault_rolls_back, "11 B.2.3").needs =
      Needs::idle;
  add(rows, "memory.get-info-null-pointers", get_info, "06 4.5, 11 B.1");
  add(rows, "memory.extended-info", extended_info, "06 4.5, 11 B.1");
  add(rows, "memory.extended-info-unknown-handle", extended_info_unknown, "06 4.5, 11 B.1");
  add(rows, "memory.host-chunks", host_chunks, "06 5.1, 11 B.2.2");
  add(rows, "memory.address-lookup", address_lookup, "06 4.5");
  add(rows, "memory.address-lookup-outside", lookup_outside, "06 4.5");
  add(rows, "memory.carve-outs-are-chunks", carve_out_lookup, "06 5.3");
  add(rows, "memory.carve-out-handle-is-reused", carve_out_handle, "11 B.2.6").safety =
      Safety::intrusive;
}

}  // namespace neffld::cts
