// SPDX-License-Identifier: MIT
// The attach gate and the 16 places for processes (spec 06 section 2).
#include <algorithm>
#include <array>
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

struct Named {
  const char* name;
  std::uint32_t command;
};
#define NAMED(command)               \
  Named {                            \
#command, NEURON_IOCTL_##command \
  }

/// Flag G of the command table (spec 06 section 3).
constexpr std::array gated = {NAMED(BAR_WRITE),
                              NAMED(POST_METRIC),
                              NAMED(MEM_ALLOC),
                              NAMED(MEM_FREE),
                              NAMED(MEM_COPY),
                              NAMED(MEM_GET_PA),
                              NAMED(MEM_GET_INFO),
                              NAMED(DMA_ENG_INIT),
                              NAMED(DMA_ENG_SET_STATE),
                              NAMED(DMA_QUEUE_INIT),
                              NAMED(DMA_QUEUE_RELEASE),
                              NAMED(DMA_ACK_COMPLETED),
                              NAMED(DMA_COPY_DESCRIPTORS),
                              NAMED(NOTIFICATIONS_INIT_V1),
                              NAMED(NOTIFICATIONS_INIT_V2),
                              NAMED(NOTIFICATIONS_INIT_WITH_REALLOC_V2),
                              NAMED(MEM_COPY_ASYNC),
                              NAMED(MEM_COPY_ASYNC_WAIT),
                              NAMED(DRIVER_INFO_SET)};
#undef NAMED

/// The processes the driver lists as attached, which must be this many to judge a row.
std::vector<std::int32_t> attached(const Trial& t) {
  struct {
    neuron_get_apps_info head;
    neuron_app_info apps[NEURON_MAX_ATTACHED_PROCESSES];
  } reply{};
  reply.head.capacity = NEURON_MAX_ATTACHED_PROCESSES;
  t.result("DEVICE_GET_ALL_APPS_INFO",
           t.client().raw(NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, &reply), 0);
  std::vector<std::int32_t> ids;
  for (std::uint32_t i = 0; i < reply.head.size && i < NEURON_MAX_ATTACHED_PROCESSES; ++i) {
    ids.push_back(reply.apps[i].pid);
  }
  return ids;
}

void be_alone(const Trial& t) {
  const std::size_t others = attached(t).size() - 1;
  if (others != 0) t.skip(fmt::format("{} other processes use the device", others));
}

bool holds(const std::vector<std::int32_t>& ids, std::int32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

void gate(Trial& t) {
  Party owner = t.party();
  const Party child = t.child_of(owner);
  // The gate comes before the argument is read, so a bad pointer is not noticed.
  for (const Named& one : gated) {
    t.result(fmt::format("{} by a process that is not attached", one.name),
             child.client.at(one.command, bad_pointer), -EACCES);
  }
}

void gate_is_exact(Trial& t) {
  Party owner = t.party();
  const Party child = t.child_of(owner);
  const std::uint64_t handle = t.chunk(owner.client, {2 * page});
  Bytes bytes = pattern(64, 21);
  t.result("MEM_BUF_COPY64 by an unattached process", child.client.write(handle, bytes), 0);
  t.result("MEM_COPY64 by an unattached process",
           child.client.copy_chunk(handle, handle, 64, 0, page), 0);
  Bytes seen(64);
  t.result("MEM_BUF_COPY64 by an unattached process", child.client.read(handle, seen, page), 0);
  t.same_bytes("MEM_COPY64 by an unattached process", seen, bytes);
  t.result("MEMSET64 by an unattached process", child.client.fill(handle, 0, 7, 64), 0);
  neuron_mem_get_extended_info info{};
  info.mem_handle = handle;
  t.result("MEM_GET_EXTENDED_INFO by an unattached process",
           child.client.call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info), 0);
  t.equal("MEM_GET_EXTENDED_INFO", "pid", static_cast<std::uint64_t>(info.pid),
          static_cast<std::uint64_t>(owner.id()));
}

void empty_batch(Trial& t) {
  Party owner = t.party();
  const Party child = t.child_of(owner);
  auto batch = std::make_unique<neuron_dma_queue_init_batch>();
  t.result("DMA_QUEUE_INIT_BATCH of nothing by an unattached process",
           child.client.call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, *batch), 0);
}

void no_allocation(Trial& t) {
  Party owner = t.party();
  const Party child = t.child_of(owner);
  std::uint64_t handle = 77;
  neuron_mem_alloc_v2 v2{page, 0, 0, 0, 0, 0, pointer(&handle)};
  neuron_mem_alloc_v2mt v2mt{};
  v2mt.size = page;
  v2mt.mem_handle_ptr = pointer(&handle);
  const std::uint32_t before = t.chunks_in(0);
  t.result("MEM_ALLOC_V2, unattached", child.client.call(NEURON_IOCTL_MEM_ALLOC_V2, v2), -EACCES);
  t.result("MEM_ALLOC_V2MT, unattached", child.client.call(NEURON_IOCTL_MEM_ALLOC_V2MT, v2mt),
           -EACCES);
  t.result("MEM_ALLOC_V2MT64, unattached", child.client.alloc({page}, handle), -EACCES);
  t.equal("three refused allocations", "handle", handle, 77);
  t.equal("three refused allocations", "chunks", t.chunks_in(0), before);
}

void listed(Trial& t) {
  Party other = t.party();
  const Party child = t.child_of(other);
  const Party free_access = t.party(Access::write_only);
  const auto ids = attached(t);
  t.holds("DEVICE_GET_ALL_APPS_INFO with another process", holds(ids, other.id()), "not listed",
          "listed");
  t.holds("DEVICE_GET_ALL_APPS_INFO with its child", !holds(ids, child.id()), "listed",
          "not listed");
  t.holds("DEVICE_GET_ALL_APPS_INFO with a write-only process", !holds(ids, free_access.id()),
          "listed", "not listed");
  other.process->exit();
  t.holds("DEVICE_GET_ALL_APPS_INFO after its exit", !holds(attached(t), other.id()), "listed",
          "not listed");
}

void first_process(Trial& t) {
  be_alone(t);
  const Party other = t.party();
  std::int32_t first = 0;
  t.result("DEVICE_APP_PID", other.client.call(NEURON_IOCTL_DEVICE_APP_PID, first), 0);
  t.equal("DEVICE_APP_PID with two processes", "pid", static_cast<std::uint64_t>(first),
          static_cast<std::uint64_t>(attached(t).front()));
  t.holds("DEVICE_APP_PID with two processes", first != other.id(), "the second process",
          "the first");
}

void sixteen(Trial& t) {
  be_alone(t);
  std::vector<Party> others;
  for (std::uint32_t i = 1; i < NEURON_MAX_ATTACHED_PROCESSES; ++i) others.push_back(t.party());
  const auto late = t.process();
  t.result("open by a 17th process", late->open(Access::read_write), -EBUSY);
  t.result("open for reading by a 17th process", late->open(Access::read_only), -EBUSY);
  const int free_access = late->open(Access::write_only);
  t.holds("open for writing by a 17th process", free_access >= 0, result_text(free_access),
          "a descriptor");
  const int again = others.front().process->open(Access::read_write);
  t.holds("another open by one of the 16", again >= 0, result_text(again), "a descriptor");
  others.pop_back();
  const int descriptor = late->open(Access::read_write);
  t.holds("open after one of the 16 has gone", descriptor >= 0, result_text(descriptor),
          "a descriptor");
}

void one_place_a_process(Trial& t) {
  Party other = t.party();
  for (int i = 0; i < 40; ++i) {
    const int descriptor = other.process->open(Access::read_write);
    t.holds("40 opens by one process", descriptor >= 0, result_text(descriptor), "a descriptor");
  }
  const Party third = t.party();
  t.result("MEM_FREE of nothing by a third process", third.client.free(0), -EINVAL);
}

void failed_open_keeps_nothing(Trial& t) {
  be_alone(t);
  const auto late = t.process();
  for (int round = 0; round < 3; ++round) {
    std::vector<Party> others;
    for (std::uint32_t i = 1; i < NEURON_MAX_ATTACHED_PROCESSES; ++i) others.push_back(t.party());
    for (int i = 0; i < 20; ++i) {
      t.result("open by a 17th process", late->open(Access::read_write), -EBUSY);
    }
  }
  t.equal("60 refused opens", "attached processes", attached(t).size(), 1);
}

void last_close_detaches(Trial& t) {
  Party other = t.party();
  const int second = other.process->open(Access::read_write);
  const Party child = t.child_of(other);
  t.result("close of one of two files", other.process->close(second), 0);
  t.result("MEM_FREE of nothing after one of two files is closed", other.client.free(0), -EINVAL);
  t.result("close of the last file", other.process->close(other.descriptor), 0);
  t.holds("DEVICE_GET_ALL_APPS_INFO after the last close", !holds(attached(t), other.id()),
          "listed", "not listed");
}

void duplicate_detaches(Trial& t) {
  Party other = t.party();
  const std::uint64_t handle = t.chunk(other.client, {page});
  const int copy = other.process->dup(other.descriptor);
  t.holds("dup", copy >= 0, result_text(copy), "a descriptor");
  // The open was counted once, the closes are counted twice.
  t.result("close of the duplicate", other.process->close(copy), 0);
  t.result("MEM_FREE after a duplicate was closed", other.client.free(handle), -EACCES);
  Bytes bytes(16);
  t.result("MEM_BUF_COPY64 of its chunk", other.client.read(handle, bytes), -EINVAL);
}

void reattach(Trial& t) {
  Party other = t.party();
  const int copy = other.process->dup(other.descriptor);
  t.result("close of the duplicate", other.process->close(copy), 0);
  t.result("MEM_FREE of nothing, detached", other.client.free(0), -EACCES);
  const int again = other.process->open(Access::read_write);
  t.holds("another open", again >= 0, result_text(again), "a descriptor");
  // The old descriptor is served again: the process is attached, not the file.
  t.result("MEM_FREE of nothing through the old file", other.client.free(0), -EINVAL);
}

}  // namespace

void add_attach(Rows& rows) {
  add(rows, "attach.gate-before-the-argument", gate, "06 2, 3, 11 B.3");
  add(rows, "attach.gate-spares-the-siblings", gate_is_exact, "06 2, 11 B.3");
  add(rows, "attach.gate-spares-the-batch", empty_batch, "06 2, 11 B.2.13").safety =
      Safety::intrusive;
  Row& crash = add(rows, "attach.no-allocation-without-a-place", no_allocation, "11 B.4, B.5");
  crash.safety = Safety::simulated;
  crash.needs = Needs::idle;
  add(rows, "attach.processes-are-listed", listed, "06 2, 4.1");
  add(rows, "attach.first-process-is-told", first_process, "06 4.1");
  add(rows, "attach.sixteen-processes", sixteen, "06 2, 11 B.3").safety = Safety::intrusive;
  add(rows, "attach.one-place-a-process", one_place_a_process, "06 2");
  add(rows, "attach.failed-open-keeps-nothing", failed_open_keeps_nothing, "06 2").safety =
      Safety::intrusive;
  add(rows, "attach.last-close-detaches", last_close_detaches, "06 2");
  add(rows, "attach.close-of-a-duplicate-detaches", duplicate_detaches, "06 2, 11 B.3");
  add(rows, "attach.process-not-file-is-attached", reattach, "06 2");
}

}  // namespace neffld::cts
