// SPDX-License-Identifier: MIT
// Register access, mappings, scrubbing, data stores (spec 06 sections 4.2, 4.6 and 6).
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

std::uint64_t misc_ram(const Trial& t) {
  return t.facts().v2() ? 0x30FA0000 : 0x6C84000;
}
std::uint64_t engine_5(const Trial& t) {
  return t.facts().v2() ? neuron_v2_bar0_dma_engine(5) : neuron_v3_bar0_dma_engine(5);
}

void bar_refusals(Trial& t) {
  std::uint32_t value = 0;
  const Client& c = t.client();
  t.result("BAR_READ of BAR 1", c.registers(NEURON_IOCTL_BAR_READ, 0, value, 1), -EINVAL);
  t.result("BAR_READ of BAR 4", c.registers(NEURON_IOCTL_BAR_READ, 0, value, 4), -EINVAL);
  // The driver reads the addresses before it counts them.
  std::vector<std::uint64_t> addresses(101);
  std::vector<std::uint32_t> values(101);
  neuron_bar_rw many{0, pointer(addresses.data()), pointer(values.data()), 101};
  t.result("BAR_READ of 101 registers", c.call(NEURON_IOCTL_BAR_READ, many), -EINVAL);
}

void bar_write_refusals(Trial& t) {
  std::uint32_t value = 0;
  const Client& c = t.client();
  t.result("BAR_WRITE of BAR 2", c.registers(NEURON_IOCTL_BAR_WRITE, 0, value, 2), -EINVAL);
  t.result("BAR_WRITE of BAR 4", c.registers(NEURON_IOCTL_BAR_WRITE, 0, value, 4), -EINVAL);
  for (const std::uint32_t word : {0x1F0u, 0x1F4u, 0x1F8u, 0x1FCu, 0x800u}) {
    t.result(fmt::format("BAR_WRITE of misc RAM +{:#x}", word),
             c.registers(NEURON_IOCTL_BAR_WRITE, misc_ram(t) + word, value), -EINVAL);
  }
}

void queue_registers_protected(Trial& t) {
  std::uint32_t value = 0;
  for (const std::uint32_t offset : {0x28u, 0x2Cu, 0x38u, 0x44u, 0x48u}) {
    t.result(fmt::format("BAR_WRITE of queue register {:#x}", offset),
             t.client().registers(NEURON_IOCTL_BAR_WRITE,
                                  engine_5(t) + neuron_udma_tx_register(0, offset), value),
             -EINVAL);
  }
}

void routing_id(Trial& t) {
  std::uint32_t value = 0xDEADBEEF;
  t.result("BAR_READ of the routing id",
           t.client().registers(NEURON_IOCTL_BAR_READ, misc_ram(t) + 0x24, value), 0);
  t.holds("BAR_READ of the routing id", value < NEURON_MAX_DEVICES, fmt::format("{:#x}", value),
          "a number below 64");
}

void read_back(Trial& t) {
  const std::uint64_t cfg = engine_5(t) + neuron_udma_tx_register(0, 0x20);
  std::uint32_t value = 0x03000000;
  t.result("BAR_WRITE of a queue's cfg", t.client().registers(NEURON_IOCTL_BAR_WRITE, cfg, value),
           0);
  value = 0;
  t.result("BAR_READ of a queue's cfg", t.client().registers(NEURON_IOCTL_BAR_READ, cfg, value), 0);
  t.equal("BAR_READ of a queue's cfg", "value", value, 0x03000000);
}

void read_nothing(Trial& t) {
  neuron_bar_rw none{0, 0, 0, 0};
  t.result("BAR_READ of 0 registers", t.client().call(NEURON_IOCTL_BAR_READ, none), 0);
}

void outside_the_bar(Trial& t) {
  neuron_device_info info{};
  t.result("DEVICE_INFO", t.client().call(NEURON_IOCTL_DEVICE_INFO, info), 0);
  std::uint32_t value = 0;
  t.result("BAR_READ of kernel address 0",
           t.client().registers(NEURON_IOCTL_BAR_READ, 0ull - info.bar_address[0], value), -EINVAL);
  t.result("BAR_READ behind the BAR",
           t.client().registers(NEURON_IOCTL_BAR_READ, info.bar_size[0], value), -EINVAL);
}

void resource_is(const Trial& t, neuron_resource_mmap_info info, std::uint64_t offset,
                 std::uint64_t size) {
  const std::string sent = fmt::format("RESOURCE_MMAP_INFO of block {}, id {}, resource {}",
                                       info.block, info.block_id, info.resource);
  t.result(sent, t.client().call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info), 0);
  t.equal(sent, "offset", info.offset, offset);
  t.equal(sent, "size", info.size, size);
}

void resources_v2(Trial& t) {
  resource_is(t, {NEURON_MMAP_BLOCK_TPB, 1, NEURON_MMAP_SEMAPHORE}, 0xFFFC6700000, 0x2000);
  resource_is(t, {NEURON_MMAP_BLOCK_TPB, 0, NEURON_MMAP_SBUF}, 0xFFFC0000000, 0x2000000);
  resource_is(t, {NEURON_MMAP_BLOCK_TOPSP, 5, NEURON_MMAP_ALL}, 0xFFFD1400000, 0x400000);
  resource_is(t, {NEURON_MMAP_BLOCK_TOPSP, 0, NEURON_MMAP_SEMAPHORE}, 0xFFFD0000000, 0x2000);
}

void resources_v3(Trial& t) {
  resource_is(t, {NEURON_MMAP_BLOCK_TPB, 7, NEURON_MMAP_SEMAPHORE}, 0x2002700000 + 7 * 0x4000000,
              0x2000);
  resource_is(t, {NEURON_MMAP_BLOCK_TPB, 0, NEURON_MMAP_SBUF}, 0x2000000000, 0x2000000);
  resource_is(t, {NEURON_MMAP_BLOCK_TOPSP, 1, NEURON_MMAP_ALL}, 0x82C0000000, 0x400000);
  resource_is(t, {NEURON_MMAP_BLOCK_TOPSP, 8, NEURON_MMAP_SEMAPHORE}, 0x808280000000, 0x2000);
  resource_is(t, {NEURON_MMAP_BLOCK_HBM, 1, NEURON_MMAP_DMEM}, t.facts().hbm_base(1),
              t.facts().hbm_bytes);
}

void unknown_resources(Trial& t) {
  const auto refused = [&](std::uint32_t block, std::uint32_t id, std::uint32_t resource) {
    neuron_resource_mmap_info info{block, id, resource, 0, 0};
    t.result(fmt::format("RESOURCE_MMAP_INFO of block {}, id {}, resource {}", block, id, resource),
             t.client().call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info), -EINVAL);
  };
  refused(NEURON_MMAP_BLOCK_TPB, t.facts().cores(), NEURON_MMAP_SEMAPHORE);
  refused(NEURON_MMAP_BLOCK_TOPSP, t.facts().topsps(), NEURON_MMAP_ALL);
  refused(NEURON_MMAP_BLOCK_TPB, 0, NEURON_MMAP_DMEM);
  refused(3, 0, 0);
  refused(NEURON_MMAP_BLOCK_TPB, 0, 4);
}

void map_chunk(Trial& t) {
  const std::uint64_t handle = t.chunk({8192});
  const auto view = t.client().file().mmap(t.pa_of(handle), 8192, true);
  t.holds("mmap of a chunk", view.has_value(), view ? "" : to_sentence(view.error()), "a mapping");
  const Bytes bytes = pattern(8192, 14);
  std::memcpy(*view, bytes.data(), bytes.size());
  const Bytes seen = t.read(handle, 8192);
  t.client().file().munmap(*view, 8192);
  t.same_bytes("a store into a mapped chunk, then a read", seen, bytes);
}

void map_refusals(Trial& t) {
  if (!t.facts().in_process && geteuid() == 0) {
    t.skip("with CAP_SYS_RAWIO every length is mapped (11 B.1), run it as another user");
  }
  const std::uint64_t address = t.pa_of(t.chunk({8192}));
  t.holds("mmap of half a chunk", !t.client().file().mmap(address, 4096, false), "a mapping",
          "a refusal");
  t.holds("mmap of more than a chunk", !t.client().file().mmap(address, 12288, false), "a mapping",
          "a refusal");
}

void scrub_limit(Trial& t) {
  neuron_hbm_scrub_start start{0, t.facts().hbms(), 0, 0};
  t.result("HBM_SCRUB_START of an HBM that is not there",
           t.client().call(NEURON_IOCTL_HBM_SCRUB_START, start), -EPERM);
}

void data_store(Trial& t) {
  neuron_neuron_ds first{0, 0, 0}, second{0, 0, 0};
  t.result("ACQUIRE_NEURON_DS", t.client().call(NEURON_IOCTL_ACQUIRE_NEURON_DS, first), 0);
  t.equal("ACQUIRE_NEURON_DS", "size", first.size, 256 << 10);
  t.result("ACQUIRE_NEURON_DS again", t.client().call(NEURON_IOCTL_ACQUIRE_NEURON_DS, second), 0);
  t.equal("ACQUIRE_NEURON_DS again", "mmap offset", second.mmap_offset, first.mmap_offset);
}

void unknown_data_store(Trial& t) {
  neuron_neuron_ds store{0x7FFFFFF0, 0, 0};
  t.result("ACQUIRE_NEURON_DS of an unknown process",
           t.client().call(NEURON_IOCTL_ACQUIRE_NEURON_DS, store), -ENOENT);
  t.result("RELEASE_NEURON_DS of an unknown process",
           t.client().call(NEURON_IOCTL_RELEASE_NEURON_DS, store), 0);
}

void printk_limits(Trial& t) {
  const char text[] = "text";
  std::vector<char> large(513, 0);
  neuron_printk cut{pointer(text), 4, 0};
  t.result("PRINTK without a NUL at the end", t.client().call(NEURON_IOCTL_PRINTK, cut), -EBADMSG);
  neuron_printk too_long{pointer(large.data()), 513, 0};
  t.result("PRINTK of 513 bytes", t.client().call(NEURON_IOCTL_PRINTK, too_long), -EFAULT);
  neuron_printk bad{bad_pointer, 6, 0};
  t.residue("PRINTK of a bad pointer", t.client().call(NEURON_IOCTL_PRINTK, bad), 6);
}

void dmabuf_of_nothing(Trial& t) {
  std::uint64_t fd = 0;
  neuron_dmabuf_fd argument{0, 4096, pointer(&fd)};
  t.result("DMABUF_FD of an address nothing is mapped at",
           t.client().call(NEURON_IOCTL_DMABUF_FD, argument), -EINVAL);
}

}  // namespace

void add_registers(Rows& rows) {
  add(rows, "registers.bar-refusals", bar_refusals, "06 4.2, 11 B.3");
  add(rows, "registers.bar-read-of-nothing", read_nothing, "06 4.2");
  add(rows, "registers.write-refusals", bar_write_refusals, "06 4.2, 11 B.3").safety =
      Safety::intrusive;
  add(rows, "registers.queue-registers-protected", queue_registers_protected, "06 4.2, 11 B.3")
      .safety = Safety::intrusive;
  add(rows, "registers.routing-id", routing_id, "06 8").safety = Safety::intrusive;
  add(rows, "registers.read-back", read_back, "11 B.3").safety = Safety::simulated;
  add(rows, "registers.read-outside-the-bar", outside_the_bar, "11 B.4").safety = Safety::simulated;
  add(rows, "registers.resources-v2", resources_v2, "06 6, 11 B.3").architectures = For::v2;
  add(rows, "registers.resources-v3", resources_v3, "06 6, 11 B.3").architectures = For::v3;
  add(rows, "registers.unknown-resources", unknown_resources, "06 6");
  add(rows, "registers.map-a-chunk", map_chunk, "06 6");
  add(rows, "registers.map-other-lengths", map_refusals, "06 6, 11 B.1");
  add(rows, "registers.scrub-limit", scrub_limit, "06 4.6, 11 B.2.17");
  add(rows, "registers.data-store", data_store, "06 4.5, 11 B.2.16");
  add(rows, "registers.data-store-of-unknown-process", unknown_data_store, "06 4.5, 11 B.2.16");
  add(rows, "registers.printk-limits", printk_limits, "06 4.1");
  add(rows, "registers.dmabuf-of-nothing", dmabuf_of_nothing, "06 4.5");
}

}  // namespace neffld::cts
