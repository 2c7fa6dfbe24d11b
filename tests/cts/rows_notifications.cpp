// SPDX-License-Identifier: MIT
// Notification queues (spec 06 section 4.8).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

using Queue = neuron_notifications_init_v2;

Queue on_host(std::uint32_t type, std::uint32_t engine_index, std::uint32_t size = 4096) {
  return {0, NEURON_NQ_DEV_CORE, type, engine_index, size, 1, 0, 0, 0, 0};
}

void make(const Trial& t, std::string_view sent, Queue& queue, int expected) {
  t.result(sent, t.client().call(NEURON_IOCTL_NOTIFICATIONS_INIT_V2, queue), expected);
}

void host_queue(Trial& t) {
  Queue queue = on_host(NEURON_NQ_NOTIFY, 0);
  make(t, "a notification queue in host memory", queue, 0);
  t.equal("a notification queue in host memory", "mmap offset", queue.mmap_offset,
          t.pa_of(queue.mem_handle));
}

void device_queue(Trial& t) {
  Queue queue = on_host(NEURON_NQ_TRACE, 3, 1 << 20);
  queue.on_host_memory = 0;
  queue.dram_channel = 1;
  make(t, "a notification queue of 1 MiB in HBM 1", queue, 0);
  t.equal("a notification queue in HBM", "mmap offset", queue.mmap_offset,
          NEURON_NQ_DEVICE_MMAP_OFFSET);
  t.equal("a notification queue in HBM", "address modulo its size",
          t.pa_of(queue.mem_handle) % (1 << 20), 0);
}

void same_queue(Trial& t) {
  Queue first = on_host(NEURON_NQ_NOTIFY, 0);
  Queue second = on_host(NEURON_NQ_NOTIFY, 0, 8192);
  make(t, "a notification queue", first, 0);
  make(t, "the same queue with another size", second, 0);
  t.equal("the same queue with another size", "handle", second.mem_handle, first.mem_handle);
  neuron_mem_get_extended_info info{};
  info.mem_handle = second.mem_handle;
  t.result("MEM_GET_EXTENDED_INFO", t.client().call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info), 0);
  t.equal("the same queue with another size", "size", info.size, 4096);
}

void realloc_queue(Trial& t) {
  Queue first = on_host(NEURON_NQ_NOTIFY, 0);
  make(t, "a notification queue", first, 0);
  neuron_notifications_init_realloc_v2 again{0, 0, NEURON_NQ_NOTIFY, 0, 8192, 1, 0, 0, 1, 0, 0};
  t.result("the same queue with force_alloc_mem",
           t.client().call(NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2, again), 0);
  neuron_mem_get_extended_info info{};
  info.mem_handle = again.mem_handle;
  t.result("MEM_GET_EXTENDED_INFO", t.client().call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info), 0);
  t.equal("the same queue with force_alloc_mem", "size", info.size, 8192);
}

void sizes(Trial& t) {
  Queue odd = on_host(NEURON_NQ_NOTIFY, 1, 4095);
  make(t, "a notification queue of 4095 bytes", odd, -EINVAL);
  Queue three_pages = on_host(NEURON_NQ_NOTIFY, 1, 12288);
  make(t, "a notification queue of 12288 bytes", three_pages, -EINVAL);
  Queue nothing = on_host(NEURON_NQ_NOTIFY, 1, 0);
  make(t, "a notification queue of 0 bytes", nothing, -ENOMEM);
  nothing.on_host_memory = 0;
  make(t, "a notification queue of 0 bytes in HBM", nothing, -ENOMEM);
}

void device_types(Trial& t) {
  Queue queue = on_host(NEURON_NQ_NOTIFY, 0, 4095);
  queue.nq_dev_type = 2;
  make(t, "a notification queue of device type 2 and a wrong size", queue, -ENOSYS);
}

void device_limits(Trial& t) {
  Queue core = on_host(NEURON_NQ_NOTIFY, 0);
  core.nq_dev_id = t.facts().cores();
  make(t, "a notification queue of a core that is not there", core, -EINVAL);
  Queue topsp = on_host(NEURON_NQ_NOTIFY, 0);
  topsp.nq_dev_type = NEURON_NQ_DEV_TOPSP;
  topsp.nq_dev_id = t.facts().topsps();
  make(t, "a notification queue of a TOPSP that is not there", topsp, -EINVAL);
  Queue channel = on_host(NEURON_NQ_NOTIFY, 7);
  channel.dram_channel = t.facts().hbms();
  make(t, "a host notification queue with an HBM that is not there", channel, -EINVAL);
}

void last_topsp(Trial& t) {
  Queue topsp = on_host(NEURON_NQ_NOTIFY, 0);
  topsp.nq_dev_type = NEURON_NQ_DEV_TOPSP;
  topsp.nq_dev_id = t.facts().topsps() - 1;
  make(t, "a notification queue of the last TOPSP", topsp, 0);
}

void id_limit(Trial& t) {
  Queue last = on_host(NEURON_NQ_THROTTLE, 15);
  make(t, "notification queue id 95", last, 0);
  Queue by_type = on_host(6, 0);
  make(t, "notification queue type 6", by_type, -EINVAL);
  Queue by_engine = on_host(NEURON_NQ_THROTTLE, 16);
  make(t, "notification queue type 5, engine 16", by_engine, -EINVAL);
}

void id_is_8_bits(Trial& t) {
  Queue zero = on_host(0, 0);
  Queue type = on_host(16, 0);
  Queue engine = on_host(0, 256);
  make(t, "notification queue type 0", zero, 0);
  make(t, "notification queue type 16", type, 0);
  make(t, "notification queue engine 256", engine, 0);
  t.equal("notification queue type 16", "handle", type.mem_handle, zero.mem_handle);
  t.equal("notification queue engine 256", "handle", engine.mem_handle, zero.mem_handle);
}

void oldest_form(Trial& t) {
  neuron_notifications_init_v1 queue{1, NEURON_NQ_NOTIFY, 0, 4096, 77};
  t.result("NOTIFICATIONS_INIT_V1", t.client().call(NEURON_IOCTL_NOTIFICATIONS_INIT_V1, queue), 0);
  t.equal("NOTIFICATIONS_INIT_V1", "host bits of the offset",
          queue.mmap_offset & t.facts().host_base(), t.facts().host_base());
  queue.nc_id = t.facts().cores();
  t.result("NOTIFICATIONS_INIT_V1 of a core that is not there",
           t.client().call(NEURON_IOCTL_NOTIFICATIONS_INIT_V1, queue), -EINVAL);
}

void reset_frees(Trial& t) {
  Queue core = on_host(NEURON_NQ_NOTIFY, 0);
  Queue topsp = on_host(NEURON_NQ_NOTIFY, 0);
  topsp.nq_dev_type = NEURON_NQ_DEV_TOPSP;
  make(t, "a notification queue of core 0", core, 0);
  make(t, "a notification queue of TOPSP 0", topsp, 0);
  neuron_nc_reset request{1, 0};
  t.result("NC_RESET of core 0", t.client().call(NEURON_IOCTL_NC_RESET, request), 0);
  neuron_nc_reset_ready ready{request.request_id, 77};
  t.result("NC_RESET_READY", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  std::uint64_t address = 0;
  t.result("MEM_GET_PA of the core's queue", t.client().pa(core.mem_handle, address), -EINVAL);
  t.result("MEM_GET_PA of the TOPSP's queue", t.client().pa(topsp.mem_handle, address), -EINVAL);
}

void queue_info(Trial& t) {
  neuron_notifications_queue_info info{};
  t.result("NOTIFICATIONS_QUEUE_INFO", t.client().call(NEURON_IOCTL_NOTIFICATIONS_QUEUE_INFO, info),
           -EPERM);
}

}  // namespace

void add_notifications(Rows& rows) {
  const auto intrusive = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).safety = Safety::intrusive;
  };
  intrusive("notifications.host-queue", host_queue, "06 4.8");
  intrusive("notifications.device-queue", device_queue, "06 4.8");
  intrusive("notifications.same-queue-is-returned", same_queue, "06 4.8");
  intrusive("notifications.forced-reallocation", realloc_queue, "06 4.8");
  intrusive("notifications.sizes", sizes, "06 4.8");
  intrusive("notifications.device-type-is-checked-first", device_types, "06 4.8");
  intrusive("notifications.device-limits", device_limits, "06 4.8");
  intrusive("notifications.last-topsp", last_topsp, "06 7.1");
  intrusive("notifications.id-limit", id_limit, "06 4.8");
  intrusive("notifications.id-parts-are-8-bits", id_is_8_bits, "11 B.1");
  intrusive("notifications.oldest-form", oldest_form, "06 4.8");
  intrusive("notifications.reset-frees-core-and-topsp", reset_frees, "11 B.1");
  add(rows, "notifications.queue-info-refused", queue_info, "06 4.1, 11 B.3");
}

}  // namespace neffld::cts
