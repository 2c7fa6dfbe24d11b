/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Whose turn it is. The deterministic schedule gives each engine of each core its turn until it has
 * to wait, and runs rings when they are rung. The random one, for tests, lets everything that may
 * move at some later time do so at a random one (spec 10 section 8).
 */
#include "nds_internal.h"

/* So many control records without a compute record or a transfer, and the device is endless. */
#define QUIET_RECORDS 100000000ull

/* Records between two looks at the clock and at signals. */
#define RECORDS_BETWEEN_LOOKS 64u

/* A turn of the deterministic schedule ends here too, lest an endless engine starve the others. */
#define RECORDS_OF_A_TURN 4096u

/* Engines of a device, for numbers that name one. */
#define ENGINES(device) ((device)->profile->cores * NEURON_ENGINES_PER_CORE)

/* What one call of the runner remembers. */
struct runner {
  struct nds_device* device;
  uint32_t records; /* since it began */
  bool killed;
};

static struct nds_exec_engine* engine_at(struct nds_device* device, uint32_t number) {
  return &device->exec.core[number / NEURON_ENGINES_PER_CORE]
              .engine[number % NEURON_ENGINES_PER_CORE];
}

/* Everything that has not ended is endless. */
static void end_all(struct nds_device* device) {
  uint32_t core, engine;

  for (core = 0; core < device->profile->cores; core++) {
    struct nds_exec_core* at = &device->exec.core[core];

    if (!at->running) continue;
    for (engine = 0; engine < NEURON_ENGINES_PER_CORE; engine++)
      if (at->engine[engine].state == NDS_ENGINE_RUNNING)
        nds_exec_post_error(device, core, engine, nds_exec_slot(&at->engine[engine]),
                            NEURON_EXEC_ENDLESS, 0);
    nds_exec_end_in_error(device, core);
  }
}

/* After a record: gives way and looks at limits. False if the runner must leave. */
static bool goes_on(struct runner* runner) {
  struct nds_device* device = runner->device;

  nds_dma_give_way(device);
  if (++runner->records % RECORDS_BETWEEN_LOOKS) return true;
  runner->killed = runner->killed || nds_os_yield();
  if (device->exec.deadline && nds_os_now() >= device->exec.deadline) end_all(device);
  return !runner->killed;
}

/* One record; rings that it rang run at once unless the schedule is random. False: it waits. */
static bool step(struct runner* runner, uint32_t number) {
  struct nds_device* device = runner->device;
  uint32_t core = number / NEURON_ENGINES_PER_CORE;
  uint32_t engine = number % NEURON_ENGINES_PER_CORE;

  if (!nds_exec_step(device, core, engine)) return false;
  if (!device->exec.random && device->dma.rung) {
    device->exec.quiet = 0;
    if (!nds_dma_run_in_execution(device)) runner->killed = true;
  }
  if (++device->exec.quiet >= QUIET_RECORDS) {
    nds_exec_fail(device, core, engine, NEURON_EXEC_ENDLESS, NEURON_EXEC_QUIET);
    device->exec.quiet = 0;
  }
  return true;
}

static bool start_requests(struct nds_device* device) {
  bool started = false;
  uint32_t core;

  for (core = 0; core < device->profile->cores; core++)
    started = nds_exec_start_next(device, core) || started;
  return started;
}

/* One engine until it has to wait. True if it moved. */
static bool take_turn(struct runner* runner, uint32_t number) {
  uint32_t records = 0;

  while (records < RECORDS_OF_A_TURN && step(runner, number)) {
    records++;
    if (!goes_on(runner)) break;
  }
  return records != 0;
}

static void run_in_turns(struct runner* runner) {
  struct nds_device* device = runner->device;
  bool moved = true;

  while (moved && !runner->killed) {
    uint32_t number;

    moved = start_requests(device);
    /* Descriptors of a request may ring too, and a runner that was killed may have left some. */
    if (device->dma.rung) runner->killed = !nds_dma_run_in_execution(device);
    for (number = 0; number < ENGINES(device) && !runner->killed; number++)
      moved = take_turn(runner, number) || moved;
  }
}

/* A generator of 64-bit numbers (xorshift64*); its state is never 0. */
static uint32_t draw(struct nds_device* device, uint32_t below) {
  uint64_t x = device->exec.random;

  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  device->exec.random = x;
  return (uint32_t)((x * 0x2545F4914F6CDD1Dull) >> 32) % below;
}

enum mover { MOVE_ENGINE, MOVE_RING, MOVE_TRANSFER, MOVERS };

/* Some records of the first engine at or behind a random one that can move. */
static bool move_engine(struct runner* runner) {
  struct nds_device* device = runner->device;
  uint32_t first = draw(device, ENGINES(device));
  uint32_t records = 1 + draw(device, 8);
  uint32_t tried;

  for (tried = 0; tried < ENGINES(device); tried++) {
    uint32_t number = (first + tried) % ENGINES(device);

    if (!step(runner, number)) continue;
    while (goes_on(runner) && --records && step(runner, number)) continue;
    return true;
  }
  return false;
}

/* Some pairs of the first queue at or behind a random one that has any. */
static bool move_ring(struct runner* runner) {
  struct nds_device* device = runner->device;
  bool any_order = device->exec.schedule_flags & NDS_SCHEDULE_NO_FIFO;
  uint32_t queues = device->profile->dma_engines * NEURON_MAX_DMA_QUEUES;
  uint32_t first = draw(device, queues);
  uint32_t pairs = 1 + draw(device, 4);
  uint32_t lap, index;

  for (lap = 0; lap < 2; lap++) {
    for (index = lap ? 0 : first; nds_dma_next_waiting(device, index, &index); index++) {
      if (!nds_dma_step(device, index, any_order, draw(device, ~0u))) continue;
      while (--pairs && nds_dma_step(device, index, any_order, draw(device, ~0u))) continue;
      device->exec.quiet = 0;
      (void)goes_on(runner);
      return true;
    }
  }
  return false;
}

static bool move_transfer(struct runner* runner) {
  struct nds_device* device = runner->device;
  uint32_t first = draw(device, ENGINES(device));
  uint32_t tried;

  for (tried = 0; tried < ENGINES(device); tried++) {
    uint32_t number = (first + tried) % ENGINES(device);

    if (!engine_at(device, number)->transfer_count) continue;
    nds_transfer_complete_oldest(device, number / NEURON_ENGINES_PER_CORE,
                                 number % NEURON_ENGINES_PER_CORE);
    (void)goes_on(runner);
    return true;
  }
  return false;
}

static bool move(struct runner* runner, uint32_t what) {
  if (what == MOVE_ENGINE) return move_engine(runner);
  return what == MOVE_RING ? move_ring(runner) : move_transfer(runner);
}

/* Steps between two changes of what is slow and what is fast. */
#define STEPS_OF_A_MOOD 256u

static void run_at_random(struct runner* runner) {
  struct nds_device* device = runner->device;
  uint32_t weight[MOVERS] = {1, 1, 1};
  uint32_t steps = 0;
  bool moved = true;

  while (moved && !runner->killed) {
    uint32_t what, tried;

    if (steps++ % STEPS_OF_A_MOOD == 0)
      for (what = 0; what < MOVERS; what++) weight[what] = 1 + draw(device, 16);
    what = draw(device, weight[0] + weight[1] + weight[2]);
    what =
        what < weight[0] ? MOVE_ENGINE : (what < weight[0] + weight[1] ? MOVE_RING : MOVE_TRANSFER);
    moved = false;
    for (tried = 0; tried < MOVERS && !moved; tried++)
      moved = move(runner, (what + tried) % MOVERS);
    /* The next request restarts the rings of its core, so nothing may be on its way. */
    if (!moved) moved = start_requests(device);
  }
}

/* Tells the host where the engines stand that did not end. */
static void post_stalled(struct nds_device* device) {
  uint32_t number;

  for (number = 0; number < ENGINES(device); number++) {
    const struct nds_exec_engine* engine = engine_at(device, number);
    uint32_t core = number / NEURON_ENGINES_PER_CORE;

    if (engine->state != NDS_ENGINE_RUNNING && engine->state != NDS_ENGINE_HALTED) continue;
    nds_exec_post_error(device, core, number % NEURON_ENGINES_PER_CORE, nds_exec_slot(engine),
                        NEURON_EXEC_STALLED, 0);
  }
}

/* Memory changed behind the event units' back counts too: engines look again. */
static void look_again(struct nds_device* device) {
  uint32_t number;

  for (number = 0; number < ENGINES(device); number++)
    engine_at(device, number)->seen = NDS_EXEC_NEVER;
}

bool nds_exec_run(struct nds_device* device) {
  struct runner runner = {.device = device};

  look_again(device);
  device->exec.quiet = 0;
  device->exec.deadline =
      device->exec.limit_ms ? nds_os_now() + device->exec.limit_ms * 1000000ull : 0;
  if (device->exec.random)
    run_at_random(&runner);
  else
    run_in_turns(&runner);
  if (runner.killed) return false;
  post_stalled(device);
  return true;
}
