/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* The life of an execution: doorbell, request, start, end, failure (spec 04 sections 9 and 12). */
#include "nds_internal.h"

static uint32_t queue_index(uint32_t core, uint32_t engine) {
  return (core * NEURON_DMA_ENGINES_PER_CORE + engine) * NEURON_MAX_DMA_QUEUES +
         NEURON_RUNTIME_QUEUE;
}

void nds_exec_post_status(struct nds_device* device, uint32_t core, uint32_t engine,
                          enum neuron_notification_subtype subtype) {
  uint32_t slot = nds_exec_slot(&device->exec.core[core].engine[engine]);
  struct neuron_notification record = {
      .pc_low = (uint16_t)slot,
      .pc_high = (uint8_t)(slot >> 16 & 0xF),
      .kind = (uint8_t)(NEURON_NOTIFICATION_EXPLICIT + 4 * engine),
      .subtype = (uint16_t)subtype,
  };

  nds_nq_post(device, core, NEURON_NQ_INDEX_INFER_STATUS + engine, record);
}

void nds_exec_post_error(struct nds_device* device, uint32_t core, uint32_t engine, uint32_t slot,
                         enum neuron_exec_error error, uint32_t field) {
  struct neuron_notification record = {
      .pc_low = (uint16_t)slot,
      .pc_high = (uint8_t)(slot >> 16 & 0xF),
      .kind = NEURON_NOTIFICATION_TPB_ERROR,
      .sub_id = (uint16_t)error,
      .subtype = (uint16_t)(engine | field << 8),
  };

  nds_nq_post(device, core, NEURON_NQ_INDEX_ERROR, record);
}

static void stop_engines(struct nds_exec_core* core) {
  uint32_t engine;

  core->running = false;
  for (engine = 0; engine < NEURON_ENGINES_PER_CORE; engine++) {
    core->engine[engine].state = NDS_ENGINE_STOPPED;
    core->engine[engine].transfer_count = 0;
  }
}

/* The request is no longer outstanding: semaphore 0 counts those. */
static void retire_request(struct nds_device* device, uint32_t core) {
  stop_engines(&device->exec.core[core]);
  nds_events_write(
      device, core,
      neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_DECREMENT, NEURON_SEMAPHORE_INFERENCE_START),
      1);
}

void nds_exec_end_in_error(struct nds_device* device, uint32_t core) {
  device->exec.counters.failures++;
  nds_dma_empty_model_queues(device, core);
  retire_request(device, core);
}

void nds_exec_fail(struct nds_device* device, uint32_t core, uint32_t engine,
                   enum neuron_exec_error error, uint32_t field) {
  struct nds_exec_core* at = &device->exec.core[core];

  /* It may have been stopped while the runner gave way. */
  if (!at->running) return;
  nds_exec_post_error(device, core, engine, nds_exec_slot(&at->engine[engine]), error, field);
  nds_exec_end_in_error(device, core);
}

enum neuron_exec_error nds_exec_class_of(int error) {
  if (error == -ENOMEM) return NEURON_EXEC_OUT_OF_MEMORY;
  return error == -E2BIG ? NEURON_EXEC_ENDLESS : NEURON_EXEC_DMA_ABORT;
}

static void post_ring_error(struct nds_device* device, uint32_t queue, int error) {
  uint32_t engine = queue / NEURON_MAX_DMA_QUEUES;
  uint32_t slot = engine % NEURON_DMA_ENGINES_PER_CORE | queue % NEURON_MAX_DMA_QUEUES << 4;

  nds_exec_post_error(device, engine / NEURON_DMA_ENGINES_PER_CORE, NEURON_EXEC_RING, slot,
                      nds_exec_class_of(error), 0);
}

void nds_exec_ring_failed(struct nds_device* device, uint32_t queue, int error) {
  uint32_t core = queue / NEURON_MAX_DMA_QUEUES / NEURON_DMA_ENGINES_PER_CORE;

  if (core >= device->profile->cores || !device->exec.core[core].running) return;
  post_ring_error(device, queue, error);
  nds_exec_end_in_error(device, core);
}

void nds_exec_check_end(struct nds_device* device, uint32_t core) {
  uint32_t engine;

  for (engine = 0; engine < NEURON_ENGINES_PER_CORE; engine++)
    if (device->exec.core[core].engine[engine].state != NDS_ENGINE_FINISHED) return;
  device->exec.counters.executions++;
  retire_request(device, core);
}

void nds_exec_reset_core(struct nds_device* device, uint32_t core) {
  stop_engines(&device->exec.core[core]);
  device->exec.core[core].rung = 0;
}

void nds_exec_drop_process(struct nds_device* device, int32_t tgid) {
  uint32_t core;

  nds_dma_lock(device);
  for (core = 0; core < device->profile->cores; core++) {
    struct nds_exec_core* at = &device->exec.core[core];

    if (tgid && at->owner != tgid) continue;
    if (at->running) retire_request(device, core);
    at->rung = 0;
  }
  nds_dma_unlock(device);
}

static bool request_is_there(struct nds_device* device, uint32_t core) {
  return nds_events_read(device, core, neuron_event_offset(NEURON_EVENT_REQUEST_LOAD)) != 0;
}

static bool never(struct nds_device* device, uint32_t core) {
  (void)device;
  (void)core;
  return false;
}

/* Takes the next request from the exec ring: 0, -ENOENT (there is none), or what went wrong. */
static int take_request(struct nds_device* device, uint32_t core,
                        struct neuron_exec_request* request) {
  uint64_t place = nds_tpb_events(device) + NEURON_EXEC_MAILBOX;
  int error = nds_dma_walk(device, queue_index(core, NEURON_EXEC_RING_ENGINE), request_is_there);

  if (error) return error;
  if (!request_is_there(device, core)) return -ENOENT;
  nds_events_write(device, core, neuron_event_offset(NEURON_EVENT_REQUEST_LOAD), 0);
  return nds_os_space_read(device->windows[core].space, place, request, sizeof *request);
}

/* The tables of ACT and DVE: each ring from its start while it carries the first lap's phase. */
static bool load_tables(struct nds_device* device, uint32_t core) {
  static const uint32_t engines[] = {NEURON_ACT_RING_ENGINE, NEURON_DVE_RING_ENGINE};
  uint32_t index;

  for (index = 0; index < 2; index++) {
    uint32_t ring = queue_index(core, engines[index]);
    struct nds_queue* queue = nds_dma_queue_at(device, ring);
    int error;

    nds_ring_restart(&queue->tx);
    nds_ring_restart(&queue->rx);
    error = nds_dma_walk(device, ring, never);
    if (!error) continue;
    nds_exec_ring_failed(device, ring, error);
    return false;
  }
  return true;
}

static void start_engine(struct nds_device* device, uint32_t core, uint32_t engine,
                         uint64_t image) {
  struct nds_exec_engine* at = &device->exec.core[core].engine[engine];
  uint32_t gate = NEURON_SEMAPHORE_ENGINE_START + engine;

  memset(at, 0, sizeof *at);
  at->base = image;
  at->state = NDS_ENGINE_RUNNING;
  at->seen = NDS_EXEC_NEVER;
  /* An execution that ended in an error may have left its gate open. */
  nds_events_write(device, core, neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_SET, gate), 0);
  nds_events_write(device, core, neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_INCREMENT, gate), 1);
}

static void start(struct nds_device* device, uint32_t core,
                  const struct neuron_exec_request* request) {
  struct nds_exec_core* at = &device->exec.core[core];
  uint32_t engine;

  nds_events_begin(device, core);
  nds_dma_restart_model_queues(device, core);
  at->running = true;
  at->dge_table = request->dge_table_pa;
  at->mode = device->exec.mode;
  at->compute = device->exec.compute;
  for (engine = 0; engine < NEURON_ENGINES_PER_CORE; engine++)
    start_engine(device, core, engine, neuron_exec_image(request, engine));
  if (request->load_act_dve_tables && !load_tables(device, core)) return;
  if (at->mode == NDS_COMPUTE_RUN && at->compute.start(at->compute.context, core))
    nds_exec_fail(device, core, NEURON_ENGINE_PE, NEURON_EXEC_OUT_OF_MEMORY, 0);
}

bool nds_exec_start_next(struct nds_device* device, uint32_t core) {
  struct nds_exec_core* at = &device->exec.core[core];
  struct neuron_exec_request request;
  int error;

  if (at->running || !at->rung) return false;
  at->rung--;
  error = take_request(device, core, &request);
  if (error == -ENOENT) {
    at->rung = 0;
    return false;
  }
  if (error) {
    post_ring_error(device, queue_index(core, NEURON_EXEC_RING_ENGINE), error);
    nds_exec_end_in_error(device, core);
    return false;
  }
  start(device, core, &request);
  return true;
}

/* What has stood still since the last runner left is given up for the new request. */
static void give_up_unfinished(struct nds_device* device, uint32_t core) {
  struct nds_exec_core* at = &device->exec.core[core];

  if (!at->running || !at->rung) return;
  nds_os_log("core %u: an execution that did not end is given up", core);
  nds_exec_end_in_error(device, core);
}

static bool has_exec_ring(struct nds_device* device, uint32_t core) {
  const struct nds_queue* queue =
      nds_dma_queue_at(device, queue_index(core, NEURON_EXEC_RING_ENGINE));

  return queue->tx.length && queue->rx.length;
}

void nds_exec_doorbell(struct nds_device* device, uint32_t core, uint32_t count, int32_t tgid) {
  struct nds_exec_core* at = &device->exec.core[core];
  bool can_start;

  if (nds_is_silent(device, NDS_SILENT_DMA)) return;
  nds_dma_lock(device);
  can_start = has_exec_ring(device, core);
  if (can_start) {
    at->rung = count > ~0u - at->rung ? ~0u : at->rung + count;
    at->owner = tgid;
  }
  nds_dma_unlock(device);
  if (!can_start || !nds_mutex_lock_unless_killed(&device->exec.run_lock)) return;
  nds_dma_lock(device);
  give_up_unfinished(device, core);
  (void)nds_exec_run(device);
  nds_dma_unlock(device);
  nds_mutex_unlock(&device->exec.run_lock);
}
