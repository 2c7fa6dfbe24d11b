// SPDX-License-Identifier: MIT
// DMA engines, queue initialisation and starting (spec 06 section 4.7).
#include <cerrno>
#include <memory>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr std::uint32_t engine = 5;  // of core 0 on both architectures

/// Two pages for rings.
struct Pair {
  explicit Pair(const Trial& t) : tx(t.chunk({4096})), rx(t.chunk({4096})) {}
  std::uint64_t tx, rx;
};

void engine_state(Trial& t) {
  neuron_dma_eng_state state{};
  neuron_dma_eng_get_state get{engine, pointer(&state)};
  t.result("DMA_ENG_GET_STATE", t.client().call(NEURON_IOCTL_DMA_ENG_GET_STATE, get), 0);
  t.equal("DMA_ENG_GET_STATE", "revision", state.revision_id, 4);
  t.equal("DMA_ENG_GET_STATE", "max queues", state.max_queues, 16);
  t.equal("DMA_ENG_GET_STATE", "queues", state.num_queues, 16);
  t.holds("DMA_ENG_GET_STATE", state.tx_state >= 1 && state.tx_state <= 3,
          std::to_string(state.tx_state), "a state from 1 to 3");
}

void engine_out_of_range(Trial& t) {
  neuron_dma_eng_state state{};
  neuron_dma_eng_get_state get{132, pointer(&state)};
  t.result("DMA_ENG_GET_STATE of engine 132", t.client().call(NEURON_IOCTL_DMA_ENG_GET_STATE, get),
           -EINVAL);
  neuron_dma_eng_set_state set{132, NEURON_DMA_SET_NORMAL};
  t.result("DMA_ENG_SET_STATE of engine 132", t.client().call(NEURON_IOCTL_DMA_ENG_SET_STATE, set),
           -EINVAL);
}

void absent_engine(Trial& t) {
  neuron_dma_eng_state state{};
  neuron_dma_eng_get_state get{34, pointer(&state)};
  t.result("DMA_ENG_GET_STATE of engine 34", t.client().call(NEURON_IOCTL_DMA_ENG_GET_STATE, get),
           -EINVAL);
}

void set_state(Trial& t) {
  const auto set = [&](std::uint32_t state, std::uint32_t expected) {
    neuron_dma_eng_set_state change{engine, state};
    t.result(fmt::format("DMA_ENG_SET_STATE {}", state),
             t.client().call(NEURON_IOCTL_DMA_ENG_SET_STATE, change), 0);
    neuron_dma_eng_state now{};
    neuron_dma_eng_get_state get{engine, pointer(&now)};
    t.result("DMA_ENG_GET_STATE", t.client().call(NEURON_IOCTL_DMA_ENG_GET_STATE, get), 0);
    t.equal(fmt::format("DMA_ENG_SET_STATE {}", state), "state", now.tx_state, expected);
  };
  set(NEURON_DMA_SET_ABORT, NEURON_DMA_ENG_ABORT);
  set(NEURON_DMA_SET_DISABLE, NEURON_DMA_ENG_IDLE);
  set(NEURON_DMA_SET_NORMAL, NEURON_DMA_ENG_NORMAL);
  set(9, NEURON_DMA_ENG_NORMAL);
}

void fresh_queue(Trial& t) {
  if (!t.facts().fresh) t.skip("a queue that was used before keeps its ring");
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 9, states), 0);
  t.equal("DMA_QUEUE_GET_STATE of a fresh queue", "status", states.tx.sw_status,
          NEURON_DMA_QUEUE_ENABLED);
  t.equal("DMA_QUEUE_GET_STATE of a fresh queue", "length", states.tx.length, 0);
}

void absent_queue(Trial& t) {
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE of queue 16", t.client().queue_states(engine, 16, states), -EINVAL);
  t.result("DMA_QUEUE_GET_STATE of engine 132", t.client().queue_states(132, 0, states), -EINVAL);
  t.result("DMA_QUEUE_GET_STATE of engine 100000", t.client().queue_states(100000, 0, states),
           -EINVAL);
}

void init_programs(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT", t.client().queue_init({engine, 0, 48, 32, ring.tx, ring.rx, 0, 0}), 0);
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 0, states), 0);
  t.equal("DMA_QUEUE_INIT", "TX base", states.tx.base_addr, t.pa_of(ring.tx));
  t.equal("DMA_QUEUE_INIT", "RX base", states.rx.base_addr, t.pa_of(ring.rx));
  t.equal("DMA_QUEUE_INIT", "TX length", states.tx.length, 48);
  t.equal("DMA_QUEUE_INIT", "RX length", states.rx.length, 32);
  t.equal("DMA_QUEUE_INIT", "TX head", states.tx.head_pointer, 0);
  t.equal("DMA_QUEUE_INIT", "TX tail", states.tx.tail_pointer, 0);
}

void init_host_ring(Trial& t) {
  const std::uint64_t ring = t.chunk({.size = 4096, .host = 1, .type = NEURON_MEM_DMA_RINGS_HOST});
  t.result("DMA_QUEUE_INIT with host rings",
           t.client().queue_init({engine, 0, 32, 32, ring, ring, 0, 0}), 0);
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 0, states), 0);
  t.equal("DMA_QUEUE_INIT with host rings", "TX base", states.tx.base_addr, t.pa_of(ring));
}

/// A pair of counts and its answer.
void counts(const Trial& t, std::uint32_t tx, std::uint32_t rx, int expected) {
  const Pair ring(t);
  t.result(fmt::format("DMA_QUEUE_INIT with {} and {} descriptors", tx, rx),
           t.client().queue_init({engine, 0, tx, rx, ring.tx, ring.rx, 0, 0}), expected);
}

void count_range(Trial& t) {
  counts(t, 16, 32, -EINVAL);
  counts(t, 32, 16, -EINVAL);
  counts(t, 0, 0, -EINVAL);
  counts(t, 0x1000000, 32, -EINVAL);
  counts(t, 32, 32, 0);
}

void count_multiple(Trial& t) {
  counts(t, 33, 32, -EPERM);
  counts(t, 32, 40, -EPERM);
}

void length_unchecked(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT with 2^24 - 16 descriptors on a page",
           t.client().queue_init({engine, 0, NEURON_RING_MAX_DESCS, 32, ring.tx, ring.rx, 0, 0}),
           t.facts().clean ? -EINVAL : 0);
}

void missing_rings(Trial& t) {
  const Pair ring(t);
  const int clean = t.facts().clean ? -EINVAL : 0;
  t.result("DMA_QUEUE_INIT without rings", t.client().queue_init({engine, 0, 32, 32, 0, 0, 0, 0}),
           0);
  t.result("DMA_QUEUE_INIT with an RX count of 0",
           t.client().queue_init({engine, 0, 32, 0, ring.tx, 0, 0, 0}), -EINVAL);
  t.result("DMA_QUEUE_INIT with unknown handles",
           t.client().queue_init({engine, 1, 32, 32, 2999998, 2999999, 0, 0}), clean);
}

void completion_ring(Trial& t) {
  const Pair ring(t);
  const std::uint64_t done = t.chunk({4096});
  t.result("DMA_QUEUE_INIT with a completion ring",
           t.client().queue_init({engine, 0, 32, 32, ring.tx, ring.rx, done, 0}), -EPERM);
  t.result("DMA_QUEUE_INIT with a completion ring that is too small",
           t.client().queue_init({engine, 0, 256, 272, ring.tx, ring.rx, done, 0}), -EINVAL);
}

void init_out_of_range(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT of queue 16",
           t.client().queue_init({engine, 16, 32, 32, ring.tx, ring.rx, 0, 0}), -EINVAL);
  t.result("DMA_QUEUE_INIT of engine 132",
           t.client().queue_init({132, 0, 32, 32, ring.tx, ring.rx, 0, 0}), -EINVAL);
}

void init_absent_engine(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT of engine 34",
           t.client().queue_init({34, 0, 32, 32, ring.tx, ring.rx, 0, 0}), -EINVAL);
}

void copy_queue(Trial& t) {
  const Pair ring(t);
  const std::uint32_t own = t.facts().v2() ? 32 : 128;
  t.result("DMA_QUEUE_INIT of the driver's own copy queue",
           t.client().queue_init({own, 0, 32, 32, ring.tx, ring.rx, 0, 0}), -EINVAL);
  const std::uint64_t handle = t.chunk({4096});
  t.write(handle, pattern(64, 1));
}

void init_fault(Trial& t) {
  t.result("DMA_QUEUE_INIT from a bad pointer",
           t.client().at(NEURON_IOCTL_DMA_QUEUE_INIT, bad_pointer), -EACCES);
  t.result("DMA_QUEUE_INIT_BATCH from a bad pointer",
           t.client().at(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, bad_pointer), -EACCES);
}

void batch_limits(Trial& t) {
  const auto batch = std::make_unique<neuron_dma_queue_init_batch>();
  const auto send = [&](std::uint32_t count) {
    batch->count = count;
    return t.client().call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, *batch);
  };
  t.result("a batch of 0 queues", send(0), 0);
  t.result("a batch of 256 queues", send(256), -E2BIG);
  t.result("a batch of 2^32 - 1 queues", send(0xFFFFFFFF), -E2BIG);
}

void batch_stops(Trial& t) {
  const Pair ring(t);
  const auto batch = std::make_unique<neuron_dma_queue_init_batch>();
  QueueStates before;
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 4, before), 0);
  batch->count = 3;
  batch->entries[0] = {engine, 2, 64, 32, ring.tx, ring.rx, 0, 0};
  batch->entries[1] = {engine, 3, 33, 32, ring.tx, ring.rx, 0, 0};
  batch->entries[2] = {engine, 4, 64, 32, ring.tx, ring.rx, 0, 0};
  t.result("a batch whose second queue is wrong",
           t.client().call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, *batch), -EPERM);
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 2, states), 0);
  t.equal("its first queue", "length", states.tx.length, 64);
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 4, states), 0);
  t.equal("its third queue", "TX base", states.tx.base_addr, before.tx.base_addr);
  t.equal("its third queue", "TX length", states.tx.length, before.tx.length);
}

void start_unready(Trial& t) {
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE", t.client().queue_states(engine, 8, states), 0);
  if (states.tx.length != 0) t.skip("the queue was used before");
  t.result("DMA_QUEUE_COPY_START of a queue never initialised",
           t.client().copy_start(engine, 8, 1, 1), -EPERM);
  t.result("DMA_QUEUE_COPY_START of queue 16", t.client().copy_start(engine, 16, 1, 1), -EPERM);
  t.result("DMA_QUEUE_COPY_START of engine 132", t.client().copy_start(132, 0, 1, 1), -EINVAL);
}

void start_counts(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT", t.client().queue_init({engine, 0, 64, 32, ring.tx, ring.rx, 0, 0}), 0);
  t.result("DMA_QUEUE_COPY_START with 65 of 64 TX descriptors",
           t.client().copy_start(engine, 0, 65, 1), -EPERM);
  t.result("DMA_QUEUE_COPY_START with 33 of 32 RX descriptors",
           t.client().copy_start(engine, 0, 1, 33), -EPERM);
}

void start_crashes(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT", t.client().queue_init({engine, 0, 32, 32, ring.tx, ring.rx, 0, 0}), 0);
  t.result("DMA_QUEUE_COPY_START with 0 RX descriptors", t.client().copy_start(engine, 0, 1, 0),
           -EINVAL);
  t.result("DMA_QUEUE_INIT with a TX ring only",
           t.client().queue_init({engine, 1, 32, 32, ring.tx, 0, 0, 0}), 0);
  t.result("DMA_QUEUE_COPY_START without an RX ring", t.client().copy_start(engine, 1, 1, 1),
           -EINVAL);
}

void start_copies(Trial& t) {
  const Pair ring(t);
  const Bytes bytes = pattern(256, 12);
  const std::uint64_t from = t.chunk({4096});
  const std::uint64_t to = t.chunk({4096});
  t.write(from, bytes);
  neuron_udma_tx_desc tx[2], rx[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    tx[i] = {NEURON_UDMA_FIRST | NEURON_UDMA_LAST | 128, NEURON_UDMA_META_COPY,
             t.pa_of(from) + 128 * i};
    rx[i] = {128, 0, t.pa_of(to) + 128 * i};
  }
  const Client& c = t.client();
  t.result("DMA_QUEUE_INIT", c.queue_init({engine, 0, 32, 32, ring.tx, ring.rx, 0, 0}), 0);
  t.result("TX descriptors", c.descriptors(ring.tx, tx, 2, 0, NEURON_QUEUE_TX), 0);
  t.result("RX descriptors", c.descriptors(ring.rx, rx, 2, 0, NEURON_QUEUE_RX), 0);
  t.result("DMA_QUEUE_COPY_START of 2 pairs", c.copy_start(engine, 0, 2, 2), 0);
  t.same_bytes("DMA_QUEUE_COPY_START of 2 pairs", t.read(to, bytes.size()), bytes);
  QueueStates states;
  t.result("DMA_QUEUE_GET_STATE", c.queue_states(engine, 0, states), 0);
  t.equal("DMA_QUEUE_COPY_START of 2 pairs", "TX head", states.tx.head_pointer, 2);
  t.result("DMA_QUEUE_INIT again", c.queue_init({engine, 0, 32, 32, ring.tx, ring.rx, 0, 0}), 0);
  t.result("DMA_QUEUE_GET_STATE", c.queue_states(engine, 0, states), 0);
  t.equal("DMA_QUEUE_INIT again", "TX head", states.tx.head_pointer, 0);
}

void acknowledge(Trial& t) {
  const Pair ring(t);
  const auto ack = [&](std::uint32_t queue, std::uint32_t count, std::uint32_t of = engine) {
    neuron_dma_ack_completed argument{of, queue, count};
    return t.client().call(NEURON_IOCTL_DMA_ACK_COMPLETED, argument);
  };
  t.result("DMA_QUEUE_INIT", t.client().queue_init({engine, 0, 64, 64, ring.tx, ring.rx, 0, 0}), 0);
  t.result("DMA_ACK_COMPLETED of 1 descriptor", ack(0, 1), 0);
  t.result("DMA_ACK_COMPLETED of queue 16", ack(16, 1), -EINVAL);
  t.result("DMA_ACK_COMPLETED of engine 132", ack(0, 1, 132), -EINVAL);
}

void acknowledge_odd_ring(Trial& t) {
  const Pair ring(t);
  t.result("DMA_QUEUE_INIT", t.client().queue_init({engine, 0, 48, 48, ring.tx, ring.rx, 0, 0}), 0);
  neuron_dma_ack_completed argument{engine, 0, 1};
  t.result("DMA_ACK_COMPLETED on a ring of 48",
           t.client().call(NEURON_IOCTL_DMA_ACK_COMPLETED, argument), -EINVAL);
}

void quiesce(Trial& t) {
  neuron_dma_quiesce_queues argument{};
  t.result("DMA_QUIESCE_QUEUES", t.client().call(NEURON_IOCTL_DMA_QUIESCE_QUEUES, argument),
           -ENOTTY);
}

}  // namespace

void add_rings(Rows& rows) {
  const auto intrusive = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).safety = Safety::intrusive;
  };
  const auto simulated = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).safety = Safety::simulated;
  };
  add(rows, "rings.engine-state", engine_state, "06 4.7");
  add(rows, "rings.engine-out-of-range", engine_out_of_range, "06 4.7");
  simulated("rings.engine-absent", absent_engine, "11 B.4");
  rows.back().architectures = For::v2;
  intrusive("rings.engine-set-state", set_state, "06 4.7");
  intrusive("rings.fresh-queue-is-enabled", fresh_queue, "11 B.2.13");
  rows.back().needs = Needs::idle;
  simulated("rings.queue-state-out-of-range", absent_queue, "11 B.4, 06 12.4");
  intrusive("rings.init-programs-the-queue", init_programs, "06 4.7");
  intrusive("rings.init-with-host-rings", init_host_ring, "06 4.7");
  intrusive("rings.count-range", count_range, "06 4.7, 11 B.3");
  intrusive("rings.count-multiple-of-16", count_multiple, "06 4.7, 11 B.3");
  // A ring longer than its memory: nothing may ring its doorbell, so only where nothing else runs.
  simulated("rings.length-is-not-checked", length_unchecked, "11 B.2.12");
  intrusive("rings.missing-rings", missing_rings, "06 4.7, 11 B.2.12");
  intrusive("rings.completion-ring-unsupported", completion_ring, "06 4.7, 11 B.2.12");
  intrusive("rings.init-out-of-range", init_out_of_range, "06 4.7");
  intrusive("rings.init-absent-engine", init_absent_engine, "06 4.7");
  rows.back().architectures = For::v2;
  simulated("rings.copy-queue-is-protected", copy_queue, "11 B.4");
  add(rows, "rings.argument-faults", init_fault, "06 2, 11 B.2.3");
  intrusive("rings.batch-limits", batch_limits, "06 4.7, 11 B.2.13");
  intrusive("rings.batch-stops-at-first-failure", batch_stops, "06 4.7");
  simulated("rings.start-of-unready-queues", start_unready, "06 4.7, 11 B.1");
  simulated("rings.start-count-limits", start_counts, "06 4.7");
  simulated("rings.start-without-rx", start_crashes, "11 B.4");
  simulated("rings.start-copies", start_copies, "06 4.7");
  intrusive("rings.acknowledge", acknowledge, "06 4.7");
  simulated("rings.acknowledge-odd-ring", acknowledge_odd_ring, "11 B.4");
  add(rows, "rings.quiesce-is-no-ioctl", quiesce, "06 4.1, 11 B.3");
}

}  // namespace neffld::cts
