// SPDX-License-Identifier: MIT
// What goes with a process and what outlives it: exit, close, fork, dup (spec 06 section 2).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr std::uint32_t shared_engine = 2, shared_queue = 3;

void exit_frees(Trial& t) {
  const std::uint32_t before = t.chunks_in(0);
  Party other = t.party();
  for (const std::uint64_t size : {page, 8 * page, std::uint64_t{4} << 20}) {
    t.chunk(other.client, {size});
  }
  t.equal("three allocations by another process", "chunks", t.chunks_in(0), before + 3);
  other.process->exit();
  t.equal("its exit without close", "chunks", t.chunks_in(0), before);
}

void exit_frees_own_only(Trial& t) {
  const Party stays = t.party();
  Party goes = t.party();
  const std::uint64_t kept = t.chunk(stays.client, {page});
  const std::uint64_t gone = t.chunk(goes.client, {page});
  t.result("MEM_BUF_COPY64 to a foreign chunk", goes.client.write(kept, pattern(16, 3)), 0);
  goes.process->exit();
  Bytes seen(16);
  t.result("MEM_BUF_COPY64 of a chunk whose owner stayed", stays.client.read(kept, seen), 0);
  t.same_bytes("bytes a process wrote before it left", seen, pattern(16, 3));
  t.result("MEM_BUF_COPY64 of a chunk whose owner left", stays.client.read(gone, seen), -EINVAL);
}

void same_addresses_again(Trial& t) {
  std::uint64_t first = 0;
  for (int run = 0; run < 3; ++run) {
    const Party other = t.party();
    const std::uint64_t handle = t.chunk(other.client, {3 << 20});
    std::uint64_t address = 0;
    t.result("MEM_GET_PA", other.client.pa(handle, address), 0);
    if (run == 0) first = address;
    t.equal("the same allocation by the next process", "address", address, first);
  }
}

void child_closes(Trial& t) {
  Party parent = t.party();
  const std::uint64_t handle = t.chunk(parent.client, {page});
  Party child = t.child_of(parent);
  t.result("close by a forked child", child.process->close(child.descriptor), 0);
  t.result("MEM_FREE of nothing by the parent", parent.client.free(0), -EINVAL);
  Bytes bytes(16);
  t.result("MEM_BUF_COPY64 by the parent", parent.client.read(handle, bytes), 0);
}

void child_exits(Trial& t) {
  Party parent = t.party();
  const std::uint64_t handle = t.chunk(parent.client, {page});
  for (int i = 0; i < 5; ++i) t.child_of(parent);
  std::uint64_t address = 0;
  t.result("MEM_GET_PA after five children came and went", parent.client.pa(handle, address), 0);
}

void file_outlives_parent(Trial& t) {
  Party parent = t.party();
  const std::uint64_t handle = t.chunk(parent.client, {page});
  const Party child = t.child_of(parent);
  parent.process->exit();
  // The file is still open in the child, but the memory went with the process that was attached.
  Bytes bytes(16);
  t.result("MEM_BUF_COPY64 of the dead parent's chunk", child.client.read(handle, bytes), -EINVAL);
  neuron_device_basic_info info{};
  t.result("DEVICE_BASIC_INFO through the inherited file",
           child.client.call(NEURON_IOCTL_DEVICE_BASIC_INFO, info), 0);
  t.result("MEM_FREE through the inherited file", child.client.free(handle), -EACCES);
}

void child_attaches(Trial& t) {
  Party parent = t.party();
  Party child = t.child_of(parent);
  const int own = child.process->open(Access::read_write);
  t.holds("open by a forked child", own >= 0, result_text(own), "a descriptor");
  // Attached now, also through the inherited file.
  const std::uint64_t handle = t.chunk(child.client, {page});
  neuron_mem_get_extended_info info{};
  info.mem_handle = handle;
  t.result("MEM_GET_EXTENDED_INFO", parent.client.call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info),
           0);
  t.equal("a chunk allocated through an inherited file", "pid",
          static_cast<std::uint64_t>(info.pid), static_cast<std::uint64_t>(child.id()));
  child.process->exit();
  Bytes bytes(16);
  t.result("MEM_BUF_COPY64 of the dead child's chunk", parent.client.read(handle, bytes), -EINVAL);
}

void close_order(Trial& t) {
  Party other = t.party();
  const std::uint64_t first = t.chunk(other.client, {page});
  const int second = other.process->open(Access::read_write);
  t.result("close of the file it was allocated through", other.process->close(other.descriptor), 0);
  Bytes bytes(16);
  const Client rest = other.process->client(second);
  t.result("MEM_BUF_COPY64 through the other file", rest.read(first, bytes), 0);
}

void handles_are_counted(Trial& t) {
  const std::uint32_t before = t.chunks_in(0);
  for (int i = 0; i < 50; ++i) {
    const Party other = t.party();
    t.chunk(other.client, {page});
    t.chunk(other.client, {1 << 20});
  }
  t.equal("50 processes with two allocations each", "chunks", t.chunks_in(0), before);
}

void freed_by_another(Trial& t) {
  const std::uint32_t before = t.chunks_in(0);
  Party owner = t.party();
  const Party other = t.party();
  const std::uint64_t handle = t.chunk(owner.client, {page});
  t.result("MEM_FREE of a foreign chunk", other.client.free(handle), 0);
  t.result("MEM_FREE by its owner after that", owner.client.free(handle), -EINVAL);
  owner.process->exit();
  t.equal("the owner's exit after that", "chunks", t.chunks_in(0), before);
}

void queue_of(const Trial& t, const Client& client, QueueStates& states) {
  t.result("DMA_QUEUE_GET_STATE", client.queue_states(shared_engine, shared_queue, states), 0);
}

void queues_are_parked(Trial& t) {
  Party other = t.party();
  const std::uint64_t ring = t.chunk(other.client, {16 * page});
  std::uint64_t address = 0;
  t.result("MEM_GET_PA", other.client.pa(ring, address), 0);
  t.result("DMA_QUEUE_INIT",
           other.client.queue_init({shared_engine, shared_queue, 128, 128, ring, ring, 0, 0}), 0);
  QueueStates states;
  queue_of(t, t.client(), states);
  t.equal("DMA_QUEUE_GET_STATE", "base", states.tx.base_addr, address);
  other.process->exit();
  queue_of(t, t.client(), states);
  // Onto a ring of the driver's own, so that the freed memory is not touched.
  t.holds("DMA_QUEUE_GET_STATE after the owner's exit", states.tx.base_addr != address,
          "the freed ring", "another base");
  t.equal("DMA_QUEUE_GET_STATE after the owner's exit", "tx length", states.tx.length, 64);
  t.equal("DMA_QUEUE_GET_STATE after the owner's exit", "rx base", states.rx.base_addr,
          states.tx.base_addr);
}

void queue_changes_owner(Trial& t) {
  Party first = t.party();
  Party second = t.party();
  const std::uint64_t ring = t.chunk(first.client, {16 * page});
  const std::uint64_t other = t.chunk(second.client, {16 * page});
  t.result("DMA_QUEUE_INIT",
           first.client.queue_init({shared_engine, shared_queue, 64, 64, ring, ring, 0, 0}), 0);
  t.result("DMA_QUEUE_INIT by another process",
           second.client.queue_init({shared_engine, shared_queue, 96, 96, other, other, 0, 0}), 0);
  first.process->exit();
  QueueStates states;
  queue_of(t, t.client(), states);
  t.equal("DMA_QUEUE_GET_STATE after the first owner's exit", "length", states.tx.length, 96);
  second.process->exit();
  queue_of(t, t.client(), states);
  t.equal("DMA_QUEUE_GET_STATE after the second owner's exit", "length", states.tx.length, 64);
}

void notifications_stay(Trial& t) {
  neuron_notifications_init_v2 request{0, NEURON_NQ_DEV_CORE, NEURON_NQ_NOTIFY, 1, 4096, 1, 0, 0, 0,
                                       0};
  Party other = t.party();
  t.result("NOTIFICATIONS_INIT_V2 by another process",
           other.client.call(NEURON_IOCTL_NOTIFICATIONS_INIT_V2, request), 0);
  const std::uint64_t handle = request.mem_handle;
  other.process->exit();
  t.result("NOTIFICATIONS_INIT_V2 of the same queue after its exit",
           t.client().call(NEURON_IOCTL_NOTIFICATIONS_INIT_V2, request), 0);
  t.equal("NOTIFICATIONS_INIT_V2 of the same queue after its exit", "handle", request.mem_handle,
          handle);
  neuron_nc_reset reset{1, 0};
  t.result("NC_RESET", t.client().call(NEURON_IOCTL_NC_RESET, reset), 0);
  neuron_nc_reset_ready ready{reset.request_id, 0};
  t.result("NC_RESET_READY", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  Bytes bytes(16);
  t.result("MEM_BUF_COPY64 of the queue after a reset", t.client().read(handle, bytes), -EINVAL);
}

void core_state_stays(Trial& t) {
  neuron_nc_reset reset{1, 0};
  t.result("NC_RESET", t.client().call(NEURON_IOCTL_NC_RESET, reset), 0);
  neuron_nc_reset_ready ready{reset.request_id, 0};
  t.result("NC_RESET_READY", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  std::uint32_t state = 0;
  {
    const Party other = t.party();
    t.result("CINIT_SET_STATE", other.client.core_init(0, NEURON_CINIT_STARTED, state), 0);
    t.result("CINIT_SET_STATE", other.client.core_init(0, NEURON_CINIT_COMPLETED, state), 0);
  }
  t.result("CINIT_SET_STATE", t.client().core_init(0, 0, state), 0);
  t.equal("CINIT_SET_STATE after the process has gone", "state", state, NEURON_CINIT_COMPLETED);
}

}  // namespace

void add_processes(Rows& rows) {
  const auto idle = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).needs = Needs::idle;
  };
  const auto intrusive = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).safety = Safety::intrusive;
  };
  idle("processes.exit-frees-memory", exit_frees, "06 2, 11 B.2.19");
  add(rows, "processes.exit-frees-only-its-own", exit_frees_own_only, "06 2, 11 B.3");
  idle("processes.next-run-gets-the-same-addresses", same_addresses_again, "06 5.4, 11 B.1");
  add(rows, "processes.close-by-a-child-changes-nothing", child_closes, "06 2, 11 B.3");
  add(rows, "processes.exit-of-a-child-changes-nothing", child_exits, "06 2");
  add(rows, "processes.inherited-file-outlives-its-memory", file_outlives_parent, "06 2");
  add(rows, "processes.child-that-opens-is-attached", child_attaches, "06 2");
  add(rows, "processes.memory-belongs-to-the-process-not-the-file", close_order, "06 2");
  idle("processes.fifty-come-and-go", handles_are_counted, "06 2");
  idle("processes.memory-freed-by-another", freed_by_another, "06 2, 11 B.3");
  intrusive("processes.exit-parks-its-queues", queues_are_parked, "06 2, 11 A.4");
  intrusive("processes.queue-belongs-to-its-last-initialiser", queue_changes_owner, "06 2, 4.7");
  intrusive("processes.notification-queues-outlive-them", notifications_stay, "06 2");
  intrusive("processes.core-state-outlives-them", core_state_stays, "06 4.4");
}

}  // namespace neffld::cts
