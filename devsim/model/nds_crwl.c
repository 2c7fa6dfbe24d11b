/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Per-core reader/writer locks (spec 06 section 4.3). The real driver polls for seconds before it
 * answers busy; the model never waits.
 */
#include "nds_internal.h"

static bool same_uuid(const struct nds_core_lock* lock, const struct neuron_crwl* argument) {
  return lock->had_writer && !memcmp(lock->uuid, argument->uuid, sizeof lock->uuid);
}

/* The entry of a process (0: a free one), or NDS_CRWL_READERS. */
static uint32_t find_reader(const struct nds_core_lock* lock, int32_t tgid) {
  uint32_t index = 0;

  while (index < NDS_CRWL_READERS && lock->reader[index].tgid != tgid) index++;
  return index;
}

static long add_reader(struct nds_core_lock* lock, int32_t tgid) {
  uint32_t index = find_reader(lock, tgid);

  if (index == NDS_CRWL_READERS) index = find_reader(lock, 0);
  if (index == NDS_CRWL_READERS) return -EBUSY;
  lock->reader[index].tgid = tgid;
  lock->reader[index].count++;
  lock->readers++;
  return 0;
}

static long reader_enter(struct nds_core_lock* lock, const struct neuron_crwl* argument,
                         int32_t tgid) {
  if (!same_uuid(lock, argument)) return -ENOENT;
  return lock->writing ? -EBUSY : add_reader(lock, tgid);
}

static long reader_exit(struct nds_core_lock* lock, const struct neuron_crwl* argument,
                        int32_t tgid) {
  uint32_t index = find_reader(lock, tgid);

  if (!same_uuid(lock, argument)) return -ENOENT;
  if (!lock->readers) return -EINVAL;
  if (index == NDS_CRWL_READERS) return -ENOENT;
  lock->readers--;
  if (!--lock->reader[index].count) lock->reader[index].tgid = 0;
  return 0;
}

static long writer_enter(struct nds_core_lock* lock, const struct neuron_crwl* argument,
                         int32_t tgid) {
  bool again = same_uuid(lock, argument) && lock->writer == tgid;

  if (lock->writing || lock->readers) return -EBUSY;
  lock->writing = true;
  lock->had_writer = true;
  lock->writer = tgid;
  memcpy(lock->uuid, argument->uuid, sizeof lock->uuid);
  /* The same writer as before is told so, and has the lock (11 B.2 item 15). */
  return again ? -EALREADY : 0;
}

static long writer_downgrade(struct nds_core_lock* lock, const struct neuron_crwl* argument,
                             int32_t tgid) {
  long result;

  if (!same_uuid(lock, argument) || lock->writer != tgid || !lock->writing) return -ENOENT;
  result = add_reader(lock, tgid);
  if (!result) lock->writing = false;
  return result;
}

long nds_crwl(struct nds_call* call) {
  struct neuron_crwl argument;
  struct nds_core_lock* lock;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.nc_id >= NEURON_MAX_CORES_PER_DEVICE) return -EINVAL;
  lock = &call->device->cores[argument.nc_id].lock;
  nds_mutex_lock(&call->device->lock);
  switch (call->command) {
    case NEURON_IOCTL_CRWL_READER_ENTER:
      result = reader_enter(lock, &argument, call->tgid);
      break;
    case NEURON_IOCTL_CRWL_READER_EXIT:
      result = reader_exit(lock, &argument, call->tgid);
      break;
    case NEURON_IOCTL_CRWL_WRITER_ENTER:
      result = writer_enter(lock, &argument, call->tgid);
      break;
    default:
      result = writer_downgrade(lock, &argument, call->tgid);
      break;
  }
  nds_mutex_unlock(&call->device->lock);
  return result;
}
