/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Catches every access of a driver to a register BAR, in order and none twice, whatever driver it
 * is.
 *
 * Mapping functions that are asked for a register BAR return an address with one bit changed, by
 * which no x86-64 processor can reach memory ("non-canonical"): any access through it faults, and
 * the kernel asks the notifier below before it calls that a crash. The notifier reads the
 * instruction, lets the card do what the access means, and goes on behind it. Doorbells therefore
 * work with one processor, with interrupts off, and in drivers that wait without yielding; polling
 * the memory of the BAR instead loses increments (spec 11 A.5).
 *
 * What this needs: kretprobes on the ioremap family, a kprobe on iounmap, the notifier of
 * register_die_notifier. What it cannot catch: mappings that user space makes of the BAR.
 *
 * Each mapping holds a reference on this module, so that none outlives the notifier.
 */
#include <asm/trapnr.h>
#include <linux/io.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "vpci.h"
#include "vpci_decode.h"

#define CHANGED_BIT (1ul << 62)
#define MOST_MAPPINGS 128u
#define CALLS_AT_ONCE 32

/* A part of a register BAR that a driver has mapped. */
struct mapping {
  unsigned long start; /* the address that can be reached */
  u64 bytes;           /* 0: free */
  struct vpci_card* card;
  u64 offset; /* of the start in the BAR */
};

static struct mapping mappings[MOST_MAPPINGS];
static DEFINE_RAW_SPINLOCK(mappings_lock);
static atomic_long_t accesses;

unsigned long vpci_trap_count(void) {
  return (unsigned long)atomic_long_read(&accesses);
}

/* Needs the lock. The mapping that holds `bytes` at a changed address, or NULL. */
static struct mapping* find(unsigned long changed, u64 bytes) {
  unsigned long address = changed ^ CHANGED_BIT;
  unsigned int index;

  for (index = 0; index < MOST_MAPPINGS; index++) {
    struct mapping* mapping = &mappings[index];

    if (mapping->bytes && address >= mapping->start &&
        address - mapping->start + bytes <= mapping->bytes)
      return mapping;
  }
  return NULL;
}

static bool enter(const struct mapping* made) {
  unsigned long flags;
  unsigned int index;

  raw_spin_lock_irqsave(&mappings_lock, flags);
  for (index = 0; index < MOST_MAPPINGS; index++)
    if (!mappings[index].bytes) break;
  if (index < MOST_MAPPINGS) mappings[index] = *made;
  raw_spin_unlock_irqrestore(&mappings_lock, flags);
  return index < MOST_MAPPINGS;
}

/* Where a register is; false if the address is not one that was given out here. */
static bool locate(unsigned long changed, unsigned int bytes, struct vpci_card** card,
                   u64* offset) {
  const struct mapping* mapping;
  unsigned long flags;

  raw_spin_lock_irqsave(&mappings_lock, flags);
  mapping = find(changed, bytes);
  if (mapping) {
    *card = mapping->card;
    *offset = mapping->offset + ((changed ^ CHANGED_BIT) - mapping->start);
  }
  raw_spin_unlock_irqrestore(&mappings_lock, flags);
  return mapping != NULL;
}

static bool read_register(unsigned long address, unsigned int bytes, u64* value) {
  struct vpci_card* card;
  u64 offset;

  if (!locate(address, bytes, &card, &offset)) return false;
  atomic_long_inc(&accesses);
  *value = vpci_card_read(card, offset, bytes);
  return true;
}

static bool write_register(unsigned long address, unsigned int bytes, u64 value) {
  struct vpci_card* card;
  u64 offset;

  if (!locate(address, bytes, &card, &offset)) return false;
  atomic_long_inc(&accesses);
  vpci_card_write(card, offset, bytes, value);
  return true;
}

/* In the order of their numbers in instructions. */
static unsigned long* cpu_register(struct pt_regs* regs, u8 number) {
  static const size_t at[16] = {
      offsetof(struct pt_regs, ax),  offsetof(struct pt_regs, cx),  offsetof(struct pt_regs, dx),
      offsetof(struct pt_regs, bx),  offsetof(struct pt_regs, sp),  offsetof(struct pt_regs, bp),
      offsetof(struct pt_regs, si),  offsetof(struct pt_regs, di),  offsetof(struct pt_regs, r8),
      offsetof(struct pt_regs, r9),  offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
      offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13), offsetof(struct pt_regs, r14),
      offsetof(struct pt_regs, r15)};

  return (void*)regs + at[number & 15];
}

static unsigned long address_of(struct pt_regs* regs, const struct vpci_instruction* code) {
  unsigned long address = (unsigned long)code->displacement;

  if (code->base != VPCI_NO_REGISTER) address += *cpu_register(regs, code->base);
  if (code->index != VPCI_NO_REGISTER) address += *cpu_register(regs, code->index) << code->shift;
  return address;
}

/* Writing half of a register clears the other half; what is narrower leaves the rest. */
static void set_register(struct pt_regs* regs, const struct vpci_instruction* code, u64 value) {
  unsigned long* place = cpu_register(regs, code->reg);

  if (code->sign) value = (u64)((s64)(value << (64 - 8 * code->bytes)) >> (64 - 8 * code->bytes));
  if (code->high_byte)
    *place = (*place & ~0xFF00ul) | (value & 0xFF) << 8;
  else if (code->result_bytes == 8)
    *place = value;
  else if (code->result_bytes == 4)
    *place = (u32)value;
  else if (code->result_bytes == 2)
    *place = (*place & ~0xFFFFul) | (value & 0xFFFF);
  else
    *place = (*place & ~0xFFul) | (value & 0xFF);
}

static u64 get_register(struct pt_regs* regs, const struct vpci_instruction* code) {
  u64 value = *cpu_register(regs, code->reg);

  return code->high_byte ? value >> 8 : value;
}

/* One element of a string; memory that is not registers is the kernel's own. */
static bool load_element(unsigned long at, unsigned int bytes, u64* value) {
  if (read_register(at, bytes, value)) return true;
  *value = 0;
  return !copy_from_kernel_nofault(value, (void*)at, bytes);
}

static bool store_element(unsigned long at, unsigned int bytes, u64 value) {
  if (write_register(at, bytes, value)) return true;
  if (at >> 56 != 0xFF) return false; /* not the kernel's, whatever the depth of page tables */
  memcpy((void*)at, &value, bytes);
  return true;
}

static bool run_string(struct pt_regs* regs, const struct vpci_instruction* code) {
  long step = regs->flags & X86_EFLAGS_DF ? -(long)code->bytes : code->bytes;
  unsigned long count = code->repeated ? regs->cx : 1;

  while (count) {
    u64 value = regs->ax;

    if (code->operation == VPCI_MOVE_STRING) {
      if (!load_element(regs->si, code->bytes, &value)) return false;
      if (!store_element(regs->di, code->bytes, value)) return false;
      regs->si += step;
    } else if (!write_register(regs->di, code->bytes, value)) {
      return false;
    }
    regs->di += step;
    count--;
    if (code->repeated) regs->cx = count;
  }
  return true;
}

static bool run(struct pt_regs* regs, const struct vpci_instruction* code) {
  u64 value;

  switch (code->operation) {
    case VPCI_LOAD:
      if (!read_register(address_of(regs, code), code->bytes, &value)) return false;
      set_register(regs, code, value);
      return true;
    case VPCI_STORE:
      return write_register(address_of(regs, code), code->bytes, get_register(regs, code));
    case VPCI_STORE_IMMEDIATE:
      return write_register(address_of(regs, code), code->bytes, code->immediate);
    default:
      return run_string(regs, code);
  }
}

/* The bytes of an instruction, fewer at the end of the code. */
static size_t fetch(unsigned long at, u8* code) {
  size_t count = VPCI_LONGEST_INSTRUCTION;

  if (!copy_from_kernel_nofault(code, (void*)at, count)) return count;
  for (count = 0; count < VPCI_LONGEST_INSTRUCTION; count++)
    if (copy_from_kernel_nofault(&code[count], (void*)(at + count), 1)) break;
  return count;
}

static bool any_mapping(void) {
  unsigned int index;

  for (index = 0; index < MOST_MAPPINGS; index++)
    if (READ_ONCE(mappings[index].bytes)) return true;
  return false;
}

/* The kernel is about to crash for it, so its author should know why. */
static void tell_unknown(const struct pt_regs* regs, const u8* bytes, size_t count) {
  if (!any_mapping()) return;
  pr_err(
      "neuron_vpci: if %pS was to reach a register, this module does not know the instruction: "
      "%*ph\n",
      (void*)regs->ip, (int)count, bytes);
}

static int on_fault(struct notifier_block* block, unsigned long event, void* data) {
  const struct die_args* fault = data;
  struct pt_regs* regs = fault->regs;
  struct vpci_instruction code;
  u8 bytes[VPCI_LONGEST_INSTRUCTION];
  size_t count;

  /* An address in rsp or rbp makes it a stack fault. */
  if (event != DIE_GPF && !(event == DIE_TRAP && fault->trapnr == X86_TRAP_SS)) return NOTIFY_DONE;
  if (user_mode(regs)) return NOTIFY_DONE;
  count = fetch(regs->ip, bytes);
  if (!vpci_decode(bytes, count, &code)) {
    tell_unknown(regs, bytes, count);
    return NOTIFY_DONE;
  }
  if (!run(regs, &code)) return NOTIFY_DONE;
  regs->ip += code.length;
  return NOTIFY_STOP;
}

static struct notifier_block fault_block = {.notifier_call = on_fault, .priority = INT_MAX};

/* What a mapping function is asked for: physical address and bytes come first in all of them. */
static int on_map(struct kretprobe_instance* call, struct pt_regs* regs) {
  struct mapping* wanted = (struct mapping*)call->data;

  wanted->card = vpci_card_at(regs->di, regs->si);
  if (!wanted->card || !regs->si) return 1; /* none of ours */
  wanted->bytes = regs->si;
  wanted->offset = regs->di - wanted->card->registers.at;
  return 0;
}

static int on_mapped(struct kretprobe_instance* call, struct pt_regs* regs) {
  struct mapping* made = (struct mapping*)call->data;

  made->start = regs_return_value(regs);
  if (!made->start) return 0;
  if (!try_module_get(THIS_MODULE)) return 0;
  if (!enter(made)) {
    module_put(THIS_MODULE);
    pr_err("neuron_vpci: more than %u mappings of registers; this one does not reach the card\n",
           MOST_MAPPINGS);
    return 0;
  }
  regs_set_return_value(regs, made->start ^ CHANGED_BIT);
  return 0;
}

/* iounmap shall get the address that ioremap made. */
static int on_unmap(struct kprobe* probe, struct pt_regs* regs) {
  struct mapping* mapping;
  unsigned long flags;

  raw_spin_lock_irqsave(&mappings_lock, flags);
  mapping = find(regs->di, 1);
  if (mapping) mapping->bytes = 0;
  raw_spin_unlock_irqrestore(&mappings_lock, flags);
  if (!mapping) return 0;
  regs->di ^= CHANGED_BIT;
  module_put(THIS_MODULE);
  return 0;
}

#define ON_MAP(function)                                                       \
  {                                                                            \
    .kp.symbol_name = function, .entry_handler = on_map, .handler = on_mapped, \
    .data_size = sizeof(struct mapping), .maxactive = CALLS_AT_ONCE,           \
  }

/* Not every kernel has all of them as functions; the first one must be there. */
static struct kretprobe map_probes[] = {
    ON_MAP("ioremap"),    ON_MAP("ioremap_wc"),    ON_MAP("ioremap_uc"),
    ON_MAP("ioremap_wt"), ON_MAP("ioremap_cache"), ON_MAP("ioremap_prot"),
};
static bool placed[ARRAY_SIZE(map_probes)];

static struct kprobe unmap_probe = {.symbol_name = "iounmap", .pre_handler = on_unmap};

static void remove_map_probes(void) {
  size_t index;

  for (index = 0; index < ARRAY_SIZE(map_probes); index++) {
    if (!placed[index]) continue;
    unregister_kretprobe(&map_probes[index]);
    placed[index] = false;
    if (map_probes[index].nmissed)
      pr_warn("neuron_vpci: %d calls of %s were missed\n", map_probes[index].nmissed,
              map_probes[index].kp.symbol_name);
  }
}

static int place_map_probes(void) {
  size_t index;

  for (index = 0; index < ARRAY_SIZE(map_probes); index++) {
    int error = register_kretprobe(&map_probes[index]);

    if (error && (error != -ENOENT || !index)) {
      pr_err("neuron_vpci: no probe on %s (%d)\n", map_probes[index].kp.symbol_name, error);
      remove_map_probes();
      return error;
    }
    placed[index] = !error;
  }
  return 0;
}

int vpci_trap_install(void) {
  int error = register_die_notifier(&fault_block);

  if (error) return error;
  error = register_kprobe(&unmap_probe);
  if (error) {
    pr_err("neuron_vpci: no probe on iounmap (%d)\n", error);
    goto no_probe;
  }
  error = place_map_probes();
  if (!error) return 0;
  unregister_kprobe(&unmap_probe);
no_probe:
  unregister_die_notifier(&fault_block);
  return error;
}

void vpci_trap_remove(void) {
  remove_map_probes();
  unregister_kprobe(&unmap_probe);
  unregister_die_notifier(&fault_block);
}
