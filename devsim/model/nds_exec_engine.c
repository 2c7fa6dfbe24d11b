/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * One record of one engine (spec 05 A1, A2 and A5, spec 10 section 1): wait, execute, update. What
 * has no rule is refused, so that no program ends with results it should not have.
 */
#include "nds_internal.h"

#define RECORD NEURON_RECORD_BYTES

/* What an executed record does with the program counter. */
struct outcome {
  int error;      /* 0, or -EINVAL with `field`, or what compute or the bus said */
  uint32_t field; /* offending byte of the record, 0 = all of it */
  uint64_t next;  /* program counter behind the record */
};

struct opcode_range {
  uint8_t first;
  uint8_t last;
};

/* Compute opcodes of any architecture (spec 05 A2). */
static bool is_compute(uint8_t opcode) {
  static const struct opcode_range ranges[] = {
      {0x01, 0x0A}, {0x21, 0x25}, {0x30, 0x30}, {0x41, 0x4F}, {0x51, 0x54},
      {0x58, 0x58}, {0x5E, 0x74}, {0x76, 0x7F}, {0x81, 0x96}, {0x98, 0x9E},
      {0xBC, 0xBC}, {0xBE, 0xBE}, {0xE0, 0xEA}, {0xF0, 0xF0}, {0xF2, 0xF2},
  };
  size_t index;

  for (index = 0; index < sizeof ranges / sizeof ranges[0]; index++)
    if (opcode >= ranges[index].first && opcode <= ranges[index].last) return true;
  return false;
}

static struct nds_exec_engine* engine_at(struct nds_device* device, uint32_t core,
                                         uint32_t engine) {
  return &device->exec.core[core].engine[engine];
}

static int fetch(struct nds_device* device, const struct nds_exec_engine* engine, uint8_t* record) {
  struct nds_target target = nds_bus_resolve(device, engine->base + engine->pc);

  if (target.kind != NDS_TARGET_MEMORY || target.bytes < RECORD) return -EFAULT;
  return nds_os_space_read(target.space, target.offset, record, RECORD);
}

/* The byte of a record's header that has no rule, 0 = none. */
static uint32_t wrong_header_byte(const uint8_t* record) {
  uint32_t which;

  if (record[NEURON_AT_WORD_LENGTH] != NEURON_RECORD_WORD_LENGTH) return NEURON_AT_WORD_LENGTH;
  if (record[NEURON_AT_DEBUG_COMMAND]) return NEURON_AT_DEBUG_COMMAND;
  for (which = 0; which < 2; which++) {
    if (!neuron_wait_is_known(neuron_wait_of(record, which).mode))
      return which ? NEURON_AT_SECOND_WAIT_MODE : NEURON_AT_WAIT_MODE;
    if (!neuron_update_is_known(neuron_update_of(record, which).mode))
      return which ? NEURON_AT_SECOND_UPDATE_MODE : NEURON_AT_UPDATE_MODE;
  }
  return 0;
}

static bool waits_hold(struct nds_device* device, uint32_t core, const uint8_t* record) {
  uint32_t which;

  for (which = 0; which < 2; which++) {
    struct neuron_sync wait = neuron_wait_of(record, which);
    uint64_t place = neuron_wait_names_event(wait.mode)
                         ? neuron_event_offset(wait.index)
                         : neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_READ, wait.index);

    if (!wait.mode) continue;
    if (!neuron_wait_holds(wait.mode, nds_events_read(device, core, place), wait.value))
      return false;
  }
  return true;
}

static void consume_waits(struct nds_device* device, uint32_t core, const uint8_t* record) {
  uint32_t which;

  for (which = 0; which < 2; which++) {
    struct neuron_sync wait = neuron_wait_of(record, which);
    uint32_t after;

    if (neuron_wait_consumes(wait.mode, &after))
      nds_events_write(device, core, neuron_event_offset(wait.index), after);
  }
}

/* In one store or read-modify-write, because ioctls may change the same semaphore. */
static void update(struct nds_device* device, uint32_t core, struct neuron_sync update) {
  uint32_t from_zero;

  if (!update.mode) return;
  from_zero = neuron_update_result(update.mode, 0, update.value);
  if (neuron_update_names_event(update.mode))
    nds_events_write(device, core, neuron_event_offset(update.index), from_zero);
  else if (neuron_update_replaces(update.mode))
    nds_events_write(device, core, neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_SET, update.index),
                     from_zero);
  else
    nds_events_write(device, core,
                     neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_INCREMENT, update.index),
                     from_zero);
}

static void refuse(struct outcome* outcome, uint32_t field) {
  outcome->error = -EINVAL;
  outcome->field = field;
}

static void write_csr(struct nds_device* device, const uint8_t* record, struct outcome* outcome) {
  uint64_t pa = neuron_record_u64(record, NEURON_AT_WRITE_ADDRESS);
  uint32_t value = neuron_record_u32(record, NEURON_AT_WRITE_VALUE);
  struct nds_target target = nds_bus_resolve(device, pa);
  int error;

  if (record[NEURON_AT_WRITE_SIZE] != sizeof value) {
    refuse(outcome, NEURON_AT_WRITE_SIZE);
    return;
  }
  /* The ring would run descriptors twice, or leave out as many. */
  if (target.kind == NDS_TARGET_DMA &&
      nds_dma_register_over_runs(device, target.index, (uint32_t)target.offset, value)) {
    refuse(outcome, NEURON_AT_WRITE_VALUE);
    return;
  }
  /* Collectives are triggered in a TOPSP, and nobody runs those. */
  error = nds_bus_is_foreign(device, pa) ? -EFAULT : nds_bus_write(device, pa, &value, 4);
  if (error == -EFAULT) error = -EINVAL;
  outcome->error = error;
  outcome->field = NEURON_AT_WRITE_ADDRESS;
}

static void notify(struct nds_device* device, uint32_t core, uint32_t engine, const uint8_t* record,
                   struct outcome* outcome) {
  struct neuron_sync update = neuron_update_of(record, 0);
  uint32_t index;

  for (index = NEURON_AT_PAYLOAD; index < RECORD; index++) {
    if (!record[index]) continue;
    refuse(outcome, index);
    return;
  }
  /* Only the one that ends an execution has a known meaning (decision 30). */
  if (!update.mode || neuron_update_names_event(update.mode) ||
      update.index != NEURON_SEMAPHORE_DONE) {
    refuse(outcome, NEURON_AT_UPDATE_MODE);
    return;
  }
  nds_exec_post_status(device, core, engine, NEURON_NOTIFICATION_END);
  engine_at(device, core, engine)->ended = true;
}

static void move(struct nds_exec_engine* engine, const uint8_t* record, struct outcome* outcome) {
  uint32_t count = record[NEURON_AT_OPERATION];
  uint8_t source = record[NEURON_AT_SOURCE];
  uint32_t index;

  if (count > 8) {
    refuse(outcome, NEURON_AT_OPERATION);
    return;
  }
  if (!neuron_dtype_is_word(record[NEURON_AT_DTYPE])) {
    refuse(outcome, NEURON_AT_DTYPE);
    return;
  }
  if (source != NEURON_SOURCE_IMMEDIATE && source != NEURON_SOURCE_REGISTER) {
    refuse(outcome, NEURON_AT_SOURCE);
    return;
  }
  for (index = 0; index < count; index++)
    engine->registers[record[NEURON_AT_MOVE_TARGETS + index]] =
        source == NEURON_SOURCE_IMMEDIATE
            ? neuron_record_u32(record, NEURON_AT_MOVE_IMMEDIATES + 4 * index)
            : engine->registers[record[NEURON_AT_MOVE_SOURCES + index]];
}

/* The place of a second register operand is not known, so operands are immediates. */
static void alu(struct nds_exec_engine* engine, const uint8_t* record, struct outcome* outcome) {
  uint32_t left = engine->registers[record[NEURON_AT_ALU_SOURCE]];
  uint32_t right = neuron_record_u32(record, NEURON_AT_ALU_IMMEDIATE);
  uint8_t dtype = record[NEURON_AT_DTYPE];
  uint32_t result;

  if (!neuron_dtype_is_word(dtype))
    refuse(outcome, NEURON_AT_DTYPE);
  else if (record[NEURON_AT_SOURCE] != NEURON_SOURCE_IMMEDIATE)
    refuse(outcome, NEURON_AT_SOURCE);
  else if (!neuron_alu(record[NEURON_AT_OPERATION], dtype, left, right, &result))
    refuse(outcome, NEURON_AT_OPERATION);
  else
    engine->registers[record[NEURON_AT_ALU_TARGET]] = result;
}

static void jump(struct nds_exec_engine* engine, const uint8_t* record, struct outcome* outcome) {
  uint32_t low = engine->registers[record[NEURON_AT_TARGET_LOW]];
  uint32_t high = engine->registers[record[NEURON_AT_TARGET_HIGH]];
  uint32_t field = NEURON_AT_TARGET_LOW;

  switch (record[NEURON_AT_SOURCE]) {
    case NEURON_TARGET_REGISTERS:
      outcome->next = (low | (uint64_t)high << 32) - engine->base;
      break;
    case NEURON_TARGET_RELATIVE:
      field = NEURON_AT_BRANCH_OFFSET;
      outcome->next = engine->pc + (uint64_t)(int64_t)(int32_t)neuron_record_u32(record, field);
      break;
    case NEURON_TARGET_RELATIVE_REGISTER:
      outcome->next = engine->pc + (uint64_t)(int64_t)(int32_t)low;
      break;
    default:
      refuse(outcome, NEURON_AT_SOURCE);
      return;
  }
  if (outcome->next % RECORD) refuse(outcome, field);
}

static void compare_branch(struct nds_exec_engine* engine, const uint8_t* record,
                           struct outcome* outcome) {
  uint8_t operation = record[NEURON_AT_OPERATION];
  uint8_t dtype = record[NEURON_AT_DTYPE];
  uint32_t left = engine->registers[record[NEURON_AT_COMPARE_LEFT]];
  uint32_t right = operation <= NEURON_COMPARE_LAST_IMMEDIATE
                       ? neuron_record_u32(record, NEURON_AT_COMPARE_IMMEDIATE)
                       : engine->registers[record[NEURON_AT_COMPARE_RIGHT]];

  if (operation > NEURON_COMPARE_LAST)
    refuse(outcome, NEURON_AT_OPERATION);
  else if (operation != NEURON_COMPARE_ALWAYS && !neuron_dtype_is_word(dtype))
    refuse(outcome, NEURON_AT_DTYPE);
  else if (neuron_compare(operation, neuron_widen(dtype, left), neuron_widen(dtype, right)))
    jump(engine, record, outcome);
}

/* Starts a direct transfer; without a seed it is over at once. */
static void start_transfer(struct nds_device* device, uint32_t core, uint32_t engine,
                           const uint8_t* record, struct outcome* outcome) {
  struct nds_exec_engine* at = engine_at(device, core, engine);
  struct nds_transfer transfer;

  outcome->error = nds_transfer_decode(device, core, engine, record, &transfer, &outcome->field);
  if (outcome->error) return;
  if (!device->exec.random) {
    outcome->error = nds_transfer_run(device, core, engine, &transfer, &outcome->field);
    return;
  }
  at->transfers[(at->first_transfer + at->transfer_count) % NDS_EXEC_TRANSFERS] = transfer;
  at->transfer_count++;
}

static void compute(struct nds_device* device, uint32_t core, uint32_t engine,
                    const uint8_t* record, struct outcome* outcome) {
  struct nds_exec_core* at = &device->exec.core[core];

  device->exec.quiet = 0;
  if (at->mode == NDS_COMPUTE_REFUSE) {
    outcome->error = -ENOSYS;
  } else if (at->mode == NDS_COMPUTE_SKIP) {
    device->exec.counters.skipped_compute++;
  } else {
    outcome->error = at->compute.run(at->compute.context, core, engine, record, &outcome->field);
    device->exec.counters.compute_records += !outcome->error;
  }
}

static void execute(struct nds_device* device, uint32_t core, uint32_t engine,
                    const uint8_t* record, struct outcome* outcome) {
  struct nds_exec_engine* at = engine_at(device, core, engine);

  switch (record[NEURON_AT_OPCODE]) {
    /* An engine executes in order, one record at a time: these have nothing left to do. */
    case NEURON_OP_EVENT_SEMAPHORE:
    case NEURON_OP_ENGINE_NOP:
    case NEURON_OP_NOP:
    case NEURON_OP_DRAIN:
    case NEURON_OP_INSTRUCTION_FLUSH:
    case NEURON_OP_SET_ORDERING_MODE:
    case NEURON_OP_BRANCH_PREFETCH_HINT:
      break;
    case NEURON_OP_HALT:
      at->state = NDS_ENGINE_HALTED;
      break;
    case NEURON_OP_WRITE:
      write_csr(device, record, outcome);
      break;
    case NEURON_OP_NOTIFY:
      notify(device, core, engine, record, outcome);
      break;
    case NEURON_OP_MOVE:
      move(at, record, outcome);
      break;
    case NEURON_OP_ALU:
      alu(at, record, outcome);
      break;
    case NEURON_OP_COMPARE_BRANCH:
      compare_branch(at, record, outcome);
      break;
    case NEURON_OP_TENSOR_LOAD:
    case NEURON_OP_TENSOR_STORE:
      outcome->error = nds_exec_tensor_access(device, core, engine, record, &outcome->field);
      break;
    case NEURON_OP_DMA_MEMCPY:
      start_transfer(device, core, engine, record, outcome);
      break;
    default:
      if (is_compute(record[NEURON_AT_OPCODE]))
        compute(device, core, engine, record, outcome);
      else
        refuse(outcome, 0);
      break;
  }
}

static enum neuron_exec_error class_of(int error) {
  if (error == -EINVAL) return NEURON_EXEC_RECORD_REFUSED;
  return error == -ENOSYS ? NEURON_EXEC_NO_COMPUTE : nds_exec_class_of(error);
}

/* Whether a direct transfer finds no room among those on their way. */
static bool must_wait_for_transfers(const struct nds_exec_engine* engine, const uint8_t* record) {
  return record[NEURON_AT_OPCODE] == NEURON_OP_DMA_MEMCPY &&
         engine->transfer_count == NDS_EXEC_TRANSFERS;
}

/* The record has been executed: updates, and where the engine goes on. */
static void complete(struct nds_device* device, uint32_t core, uint32_t engine,
                     const uint8_t* record, uint64_t next) {
  struct nds_exec_engine* at = engine_at(device, core, engine);

  update(device, core, neuron_update_of(record, 0));
  update(device, core, neuron_update_of(record, 1));
  device->exec.counters.records++;
  if (at->state != NDS_ENGINE_RUNNING) return; /* a halted engine stays at its HALT */
  at->pc = next;
  if (!at->ended || next) return;
  at->state = NDS_ENGINE_FINISHED;
  nds_exec_check_end(device, core);
}

static void execute_and_complete(struct nds_device* device, uint32_t core, uint32_t engine,
                                 const uint8_t* record) {
  struct nds_exec_engine* at = engine_at(device, core, engine);
  struct outcome outcome = {.next = at->pc + RECORD};
  uint32_t slot = nds_exec_slot(at);
  uint64_t begin = nds_exec_begin_observing(device);

  if (!at->started) {
    nds_exec_post_status(device, core, engine, NEURON_NOTIFICATION_START);
    at->started = true;
  }
  consume_waits(device, core, record);
  execute(device, core, engine, record, &outcome);
  /* A long transfer gives way, and a doorbell may have failed: the core may stand still now. */
  if (!device->exec.core[core].running || outcome.error == -EINTR) return;
  if (outcome.error) {
    nds_exec_fail(device, core, engine, class_of(outcome.error), outcome.field);
    return;
  }
  complete(device, core, engine, record, outcome.next);
  nds_exec_observe_record(device, core, engine, slot, record[NEURON_AT_OPCODE], begin);
}

bool nds_exec_step(struct nds_device* device, uint32_t core, uint32_t engine) {
  struct nds_exec_engine* at = engine_at(device, core, engine);
  uint64_t version = nds_events_version(device, core);
  uint8_t record[RECORD];
  uint32_t wrong;

  if (at->state != NDS_ENGINE_RUNNING || at->seen == version) return false;
  if (fetch(device, at, record)) {
    nds_exec_fail(device, core, engine, NEURON_EXEC_FETCH, 0);
    return true;
  }
  wrong = wrong_header_byte(record);
  if (wrong) {
    nds_exec_fail(device, core, engine, NEURON_EXEC_RECORD_REFUSED, wrong);
    return true;
  }
  if (!waits_hold(device, core, record)) {
    at->seen = version;
    return false;
  }
  if (must_wait_for_transfers(at, record)) return false;
  execute_and_complete(device, core, engine, record);
  return true;
}
