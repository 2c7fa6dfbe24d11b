/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What records name by address: direct transfers (spec 05 A5, spec 10 section 7.2) and loads and
 * stores of registers.
 */
#include "nds_internal.h"

/* A long transfer looks around after this many runs. */
#define RUNS_BETWEEN_LOOKS 64u

/* The words of a tensor load or store, and what they may span (spec 05 A5). */
#define TENSOR_WORDS 32u
#define TENSOR_WINDOW_SHIFT 24

static int refuse(uint32_t at, uint32_t* field) {
  *field = at;
  return -EINVAL;
}

/* Entry of the model's address table, plus `offset`. An entry of 0 names nothing. */
static int table_address(struct nds_device* device, uint64_t table, const uint8_t* record,
                         uint32_t at, uint32_t offset, uint64_t* pa, uint32_t* field) {
  uint32_t entry = neuron_record_u16(record, at + 4);
  uint64_t address = 0;

  if (!table || record[at + 6]) return refuse(table ? at + 6 : at + 7, field);
  if (nds_bus_read(device, table + 8ull * entry, &address, sizeof address) || !address)
    return refuse(at + 4, field);
  *pa = address + offset;
  return 0;
}

/* The address operand at byte `at` of a record: 0 or -EINVAL with *field. */
static int operand_address(struct nds_device* device, uint32_t core, uint32_t engine,
                           const uint8_t* record, uint32_t at, uint64_t* pa, uint32_t* field) {
  const struct nds_exec_core* of = &device->exec.core[core];
  const uint32_t* registers = of->engine[engine].registers;

  switch (record[at + 7]) {
    case NEURON_ADDRESS_IMMEDIATE:
      *pa = neuron_record_u64(record, at);
      return 0;
    case NEURON_ADDRESS_TABLE:
      return table_address(device, of->dge_table, record, at, neuron_record_u32(record, at), pa,
                           field);
    case NEURON_ADDRESS_TABLE_REGISTER:
      return table_address(device, of->dge_table, record, at, registers[record[at]], pa, field);
    case NEURON_ADDRESS_REGISTERS:
      *pa = registers[record[at]] | (uint64_t)registers[record[at + 1]] << 32;
      return 0;
    default:
      return refuse(at + 7, field);
  }
}

/* Steps and bytes of a run, for the side whose fields begin at byte `at`. */
static void decode_side(const uint8_t* record, uint32_t at, uint32_t dtype,
                        struct nds_transfer_side* side) {
  uint32_t steps = at + (NEURON_AT_DMA_SOURCE_STEPS - NEURON_AT_DMA_SOURCE);
  uint32_t bytes =
      neuron_record_u16(record, at + (NEURON_AT_DMA_SOURCE_BYTES - NEURON_AT_DMA_SOURCE));

  side->step[0] = (int32_t)neuron_record_u32(record, steps);
  side->step[1] = (int32_t)neuron_record_u32(record, steps + 4);
  side->bytes = bytes ? bytes : NEURON_UDMA_MAX_DESC_BYTES;
  side->dtype = dtype;
}

static struct nds_cast_side cast_side(const struct nds_transfer_side* side, uint64_t pa) {
  struct nds_cast_side at = {.pa = pa, .bytes = side->bytes, .dtype = side->dtype};

  return at;
}

static bool sizes_agree(const struct nds_transfer* transfer) {
  struct nds_cast_side from = cast_side(&transfer->from, 0);
  struct nds_cast_side to = cast_side(&transfer->to, 0);

  if (from.dtype == to.dtype) return from.bytes == to.bytes;
  return nds_cast_fits(&from, &to);
}

/* Parts of the record that would mean something the model does not do; 0 = none. */
static uint32_t not_modelled(const uint8_t* record) {
  static const uint8_t must_be_zero[] = {NEURON_AT_DMA_COMPUTE_OP, NEURON_AT_DMA_SOURCE_BOUND,
                                         NEURON_AT_DMA_TARGET_BOUND};
  uint32_t index;

  for (index = 0; index < sizeof must_be_zero; index++)
    if (record[must_be_zero[index]]) return must_be_zero[index];
  return 0;
}

int nds_transfer_decode(struct nds_device* device, uint32_t core, uint32_t engine,
                        const uint8_t* record, struct nds_transfer* out, uint32_t* field) {
  uint32_t counts = neuron_record_u32(record, NEURON_AT_DMA_SOURCE_COUNTS);
  uint32_t wrong = not_modelled(record);
  int error;

  memset(out, 0, sizeof *out);
  if (wrong) return refuse(wrong, field);
  error = operand_address(device, core, engine, record, NEURON_AT_DMA_SOURCE, &out->from.pa, field);
  if (!error)
    error = operand_address(device, core, engine, record, NEURON_AT_DMA_TARGET, &out->to.pa, field);
  if (error) return error;
  decode_side(record, NEURON_AT_DMA_SOURCE, record[NEURON_AT_DMA_SOURCE_DTYPE], &out->from);
  decode_side(record, NEURON_AT_DMA_TARGET, record[NEURON_AT_DMA_TARGET_DTYPE], &out->to);
  out->count[0] = counts & 0xFFFF;
  out->count[1] = counts >> 16;
  out->slot = nds_exec_slot(&device->exec.core[core].engine[engine]);
  out->semaphore = record[NEURON_AT_DMA_SEMAPHORE];
  out->increment = record[NEURON_AT_DMA_INCREMENT];
  if (!out->count[0] || !out->count[1]) return refuse(NEURON_AT_DMA_SOURCE_COUNTS, field);
  /* The two sides pair run by run (spec 10 section 7.2). */
  if (neuron_record_u32(record, NEURON_AT_DMA_TARGET_COUNTS) != counts)
    return refuse(NEURON_AT_DMA_TARGET_COUNTS, field);
  return sizes_agree(out) ? 0 : refuse(NEURON_AT_DMA_TARGET_BYTES, field);
}

static uint64_t run_address(const struct nds_transfer_side* side, uint32_t i0, uint32_t i1) {
  return side->pa + (uint64_t)((int64_t)side->step[0] * i0 + (int64_t)side->step[1] * i1);
}

static int move_run(struct nds_device* device, const struct nds_transfer* transfer, uint64_t from,
                    uint64_t to) {
  struct nds_cast_side source = cast_side(&transfer->from, from);
  struct nds_cast_side sink = cast_side(&transfer->to, to);

  if (source.dtype != sink.dtype) return nds_cast(device, &source, &sink);
  return nds_bus_copy(device, to, from, source.bytes);
}

/* Which operand named no memory. */
static uint32_t faulty_side(struct nds_device* device, const struct nds_transfer* transfer,
                            uint64_t from) {
  struct nds_target source = nds_bus_resolve(device, from);

  return source.kind == NDS_TARGET_NONE || source.bytes < transfer->from.bytes
             ? NEURON_AT_DMA_SOURCE
             : NEURON_AT_DMA_TARGET;
}

/* Between the runs of a long transfer: 0, -EINTR (the core or its process is gone) or -E2BIG. */
static int look_around(struct nds_device* device, uint32_t core) {
  if (nds_os_yield()) return -EINTR;
  nds_dma_give_way(device);
  if (!device->exec.core[core].running) return -EINTR;
  return device->exec.deadline && nds_os_now() >= device->exec.deadline ? -E2BIG : 0;
}

int nds_transfer_run(struct nds_device* device, uint32_t core, uint32_t engine,
                     const struct nds_transfer* transfer, uint32_t* field) {
  uint64_t begin = nds_exec_begin_observing(device);
  uint64_t runs = (uint64_t)transfer->count[0] * transfer->count[1];
  uint64_t run;

  device->exec.quiet = 0;
  for (run = 0; run < runs; run++) {
    uint32_t i0 = (uint32_t)(run % transfer->count[0]);
    uint32_t i1 = (uint32_t)(run / transfer->count[0]);
    uint64_t from = run_address(&transfer->from, i0, i1);
    int error = move_run(device, transfer, from, run_address(&transfer->to, i0, i1));

    if (error == -EFAULT) *field = faulty_side(device, transfer, from);
    if (!error && run % RUNS_BETWEEN_LOOKS == RUNS_BETWEEN_LOOKS - 1)
      error = look_around(device, core);
    if (error) return error;
  }
  if (transfer->increment)
    nds_events_write(device, core,
                     neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_INCREMENT, transfer->semaphore),
                     transfer->increment);
  device->exec.counters.direct_transfers++;
  nds_exec_observe_direct(device, core, engine, runs * transfer->from.bytes, begin);
  return 0;
}

void nds_transfer_complete_oldest(struct nds_device* device, uint32_t core, uint32_t engine) {
  struct nds_exec_engine* at = &device->exec.core[core].engine[engine];
  struct nds_transfer transfer = at->transfers[at->first_transfer % NDS_EXEC_TRANSFERS];
  uint32_t field = 0;
  int error = nds_transfer_run(device, core, engine, &transfer, &field);

  if (error == -EINTR || !device->exec.core[core].running) return;
  at->first_transfer++;
  at->transfer_count--;
  if (!error) return;
  nds_exec_post_error(device, core, engine, transfer.slot, nds_exec_class_of(error), field);
  nds_exec_end_in_error(device, core);
}

/* Registers take words: of the types of two bytes, the floats have no rule. 0 = no such word. */
static uint32_t word_bytes(uint8_t dtype) {
  bool is_half = dtype == NEURON_DTYPE_BF16 || dtype == NEURON_DTYPE_FP16;

  return is_half ? 0 : neuron_dtype_bytes(dtype);
}

/* A register holds 32 bits: signed types keep their sign. */
static uint32_t extend(uint32_t value, uint8_t dtype) {
  if (dtype == NEURON_DTYPE_I8) return (uint32_t)(int32_t)(int8_t)value;
  return dtype == NEURON_DTYPE_I16 ? (uint32_t)(int32_t)(int16_t)value : value;
}

static int access_word(struct nds_device* device, uint32_t core, uint32_t engine,
                       const uint8_t* record, uint64_t pa, uint32_t index) {
  uint32_t* registers = device->exec.core[core].engine[engine].registers;
  uint8_t dtype = record[NEURON_AT_TENSOR_DTYPE];
  uint32_t bytes = word_bytes(dtype);
  const uint8_t* operands = record + NEURON_AT_TENSOR_REGISTERS;
  uint32_t value = 0;
  int error;

  if (record[NEURON_AT_OPCODE] == NEURON_OP_TENSOR_LOAD) {
    error = nds_bus_read(device, pa, &value, bytes);
    if (!error) registers[operands[index]] = extend(value, dtype);
    return error;
  }
  if (record[NEURON_AT_TENSOR_SOURCE] == NEURON_SOURCE_IMMEDIATE)
    memcpy(&value, operands + index * bytes, bytes);
  else
    value = registers[operands[index]];
  return nds_bus_write(device, pa, &value, bytes);
}

/* The byte of the record that has no rule, 0 = none. */
static uint32_t wrong_tensor_byte(const uint8_t* record) {
  uint32_t words = record[NEURON_AT_TENSOR_COUNTS] * record[NEURON_AT_TENSOR_COUNTS + 1];
  uint32_t bytes = word_bytes(record[NEURON_AT_TENSOR_DTYPE]);
  uint8_t source = record[NEURON_AT_TENSOR_SOURCE];
  bool stores = record[NEURON_AT_OPCODE] == NEURON_OP_TENSOR_STORE;

  if (!bytes) return NEURON_AT_TENSOR_DTYPE;
  if (source > NEURON_SOURCE_IMMEDIATE || (source && !stores)) return NEURON_AT_TENSOR_SOURCE;
  if (!words || words > TENSOR_WORDS || (source && words * bytes > TENSOR_WORDS))
    return NEURON_AT_TENSOR_COUNTS;
  return 0;
}

int nds_exec_tensor_access(struct nds_device* device, uint32_t core, uint32_t engine,
                           const uint8_t* record, uint32_t* field) {
  struct nds_transfer_side side = {.pa = 0};
  uint32_t wrong = wrong_tensor_byte(record);
  uint32_t count = record[NEURON_AT_TENSOR_COUNTS];
  uint32_t words, index;
  int error;

  if (wrong) return refuse(wrong, field);
  error = operand_address(device, core, engine, record, NEURON_AT_TENSOR_ADDRESS, &side.pa, field);
  if (error) return error;
  words = count * record[NEURON_AT_TENSOR_COUNTS + 1];
  side.bytes = word_bytes(record[NEURON_AT_TENSOR_DTYPE]);
  side.step[0] = (int32_t)neuron_record_u32(record, NEURON_AT_TENSOR_STEPS);
  side.step[1] = (int32_t)neuron_record_u32(record, NEURON_AT_TENSOR_STEPS + 4);
  for (index = 0; index < words; index++) {
    /* Steps count elements [ours]; those of transfers count bytes. */
    int64_t elements =
        (int64_t)side.step[0] * (index % count) + (int64_t)side.step[1] * (index / count);
    uint64_t pa = side.pa + (uint64_t)(elements * (int64_t)side.bytes);

    if (pa >> TENSOR_WINDOW_SHIFT != side.pa >> TENSOR_WINDOW_SHIFT)
      return refuse(NEURON_AT_TENSOR_STEPS, field);
    error = access_word(device, core, engine, record, pa, index);
    if (error == -EFAULT) *field = NEURON_AT_TENSOR_ADDRESS;
    if (error) return error;
  }
  return 0;
}
