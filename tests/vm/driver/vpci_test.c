/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * A driver that binds the simulated cards of devsim/vpci and checks them with what every driver
 * uses: readl and writel, memcpy_toio, coherent memory, the memory BAR. It knows nothing of how the
 * cards are made.
 *
 * Binding fails if a check fails. A check can be asked for again by writing its name to
 * /dev/vpci_test0, which also lets the node be held open while the card goes.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "neuron_abi/address_map.h"
#include "neuron_abi/udma.h"

#define ROUTING_ID 0x24u
#define METRICS 0x100u /* 128 bytes that only remember */
#define RESET_TYPE 0x1ECu
#define REQUEST_HI 0x1F0u
#define RESPONSE_HI 0x1F8u
#define TRIGGER 0x800u
#define RESET_STATUS 0x808u

/* The queue that the checks use: one of a core's engines. */
#define ENGINE 2u
#define RING_DESCS 32u
#define BUFFER_BYTES 0x10000u
#define WAIT_MS 200

/* Host memory that the device reaches. */
struct shared {
  struct neuron_udma_tx_desc tx[RING_DESCS];
  struct neuron_udma_rx_desc rx[RING_DESCS];
  u32 marker[2]; /* copied from the first to the second */
  u32 words[8];
  u8 request[64];
  u8 response[64];
  u8 from[BUFFER_BYTES];
  u8 to[BUFFER_BYTES];
};

struct card {
  struct kref users;
  struct mutex lock;
  struct pci_dev* pci; /* NULL after the removal */
  bool v2;
  int register_bar;
  u8 __iomem* registers;
  u8 __iomem* memory; /* NULL: there is no memory BAR */
  struct shared* shared;
  dma_addr_t bus;
  u32 next; /* descriptor, RING_DESCS at most */
  char name[16];
  struct miscdevice node;
};

static u8 __iomem* misc_ram(struct card* card) {
  return card->registers + (card->v2 ? NEURON_V2_BAR0_MISC_RAM : NEURON_V3_BAR0_MISC_RAM);
}

static u8 __iomem* engine(struct card* card) {
  return card->registers +
         (card->v2 ? neuron_v2_bar0_dma_engine(ENGINE) : neuron_v3_bar0_dma_engine(ENGINE));
}

static u8 __iomem* events(struct card* card) {
  return card->registers + (card->v2 ? NEURON_V2_BAR0_TPB : NEURON_V3_BAR0_TPB) +
         NEURON_BAR0_TPB_EVENTS;
}

/* The same event unit as descriptors reach it. */
static u64 events_address(const struct card* card) {
  if (card->v2) return neuron_v2_tpb_base(0) + NEURON_V2_TPB_EVENTS;
  return neuron_v3_tpb_base(0) + NEURON_V3_TPB_EVENTS;
}

/* Device address of a piece of the shared memory. */
static u64 host(const struct card* card, const void* piece) {
  return (card->v2 ? NEURON_V2_HOST_BASE : NEURON_V3_HOST_BASE) |
         (card->bus + ((const u8*)piece - (const u8*)card->shared));
}

static int wait_for_word(u32* word, u32 value) {
  int left;

  for (left = WAIT_MS; READ_ONCE(*word) != value; left--) {
    if (!left) return -ETIMEDOUT;
    mdelay(1);
  }
  dma_rmb();
  return 0;
}

static int check_identity(struct card* card) {
  u32 routing_id = readl(misc_ram(card) + ROUTING_ID);

  return routing_id < 64 && !(readl(misc_ram(card)) >> 16) ? 0 : -ENODEV;
}

static int check_reset(struct card* card) {
  int left;

  writel(1, misc_ram(card) + RESET_TYPE);
  writel(1, misc_ram(card) + TRIGGER);
  for (left = 5; readl(misc_ram(card) + RESET_TYPE); left--) {
    if (!left) return -ETIMEDOUT;
    msleep(20);
  }
  return readl(misc_ram(card) + RESET_STATUS) & 8 ? -EIO : 0;
}

/* Asks the firmware for two registers. The checksum is left out: the card does not look at it. */
static int check_firmware(struct card* card) {
  struct shared* shared = card->shared;
  static u8 sequence;
  u64 metrics = misc_ram(card) - card->registers + METRICS;
  u64 addresses[2] = {metrics, metrics + 4};
  u32 values[2];
  u16 bytes = 8 + sizeof addresses;
  int left;

  if (!++sequence) sequence = 1;
  writel(0x11223344, misc_ram(card) + METRICS);
  writel(0x55667788, misc_ram(card) + METRICS + 4);
  memset(shared->response, 0, sizeof shared->response);
  shared->request[0] = sequence;
  shared->request[1] = 1;
  memcpy(shared->request + 2, &bytes, sizeof bytes);
  memcpy(shared->request + 8, addresses, sizeof addresses);
  writel((u32)host(card, shared->request), misc_ram(card) + REQUEST_HI + 4);
  writel(host(card, shared->request) >> 32, misc_ram(card) + REQUEST_HI);
  writel((u32)host(card, shared->response), misc_ram(card) + RESPONSE_HI + 4);
  writel(host(card, shared->response) >> 32, misc_ram(card) + RESPONSE_HI);
  writel(1, misc_ram(card) + TRIGGER);
  for (left = WAIT_MS; READ_ONCE(shared->response[0]) != sequence; left--) {
    if (!left) return -ETIMEDOUT;
    mdelay(1);
  }
  memcpy(values, shared->response + 4, sizeof values);
  if (shared->response[1] || shared->response[2] != 4 + sizeof values) return -EIO;
  return values[0] == 0x11223344 && values[1] == 0x55667788 ? 0 : -EIO;
}

/* All widths and the string functions on registers that remember. */
/* KASAN checks the kernel's memset_io(), and takes the addresses of registers for wild ones. */
static void fill(u8 __iomem* at, u8 value, size_t count) {
  if (!IS_ENABLED(CONFIG_KASAN)) {
    memset_io(at, value, count);
    return;
  }
  while (count--) writeb(value, at++);
}

static int check_widths(struct card* card) {
  u8 __iomem* at = misc_ram(card) + METRICS;
  u8 bytes[16] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19};
  u8 back[16];

  writel(0x81828384, at);
  writeb(0xF5, at + 1);
  writew(0xE7E6, at + 6);
  if (readl(at) != 0x8182F584 || readb(at + 3) != 0x81 || readw(at + 6) != 0xE7E6) return -EIO;
  writeq(0x0102030405060708ull, at + 8);
  if (readq(at + 8) != 0x0102030405060708ull || readl(at + 12) != 0x01020304) return -EIO;
  if ((s8)readb(at + 3) != (s8)0x81) return -EIO;
  memcpy_toio(at + 32, bytes, sizeof bytes);
  memcpy_fromio(back, at + 32, sizeof back);
  if (memcmp(bytes, back, sizeof back)) return -EIO;
  fill(at + 32, 0x5A, sizeof back);
  if (readl(at + 44) != 0x5A5A5A5A || readl(at + 48) == 0x5A5A5A5A) return -EIO;
  iowrite32be(0x01020304, at);
  return ioread32(at) == 0x04030201 ? 0 : -EIO;
}

/* The BAR ends with a register. */
static int check_last_word(struct card* card) {
  u8 __iomem* last = card->registers + pci_resource_len(card->pci, card->register_bar) - 4;

  writel(0x31323334, last);
  return readl(last) == 0x31323334 && readb(last + 3) == 0x31 ? 0 : -EIO;
}

static int check_semaphores(struct card* card) {
  u8 __iomem* unit = events(card);
  u32 index = 7 * NEURON_EVENT_UNIT_ENTRY_SIZE;

  writel(40, unit + NEURON_EVENT_UNIT_SEM_SET + index);
  writel(5, unit + NEURON_EVENT_UNIT_SEM_INCREMENT + index);
  writel(3, unit + NEURON_EVENT_UNIT_SEM_DECREMENT + index);
  if (readl(unit + NEURON_EVENT_UNIT_SEM_READ + index) != 42) return -EIO;
  writel(1, unit + NEURON_EVENT_UNIT_EVENTS + index);
  return readl(unit + NEURON_EVENT_UNIT_EVENTS + index) == 1 ? 0 : -EIO;
}

static void program_half(struct card* card, bool rx) {
  u8 __iomem* at =
      engine(card) + (rx ? neuron_udma_rx_register(0, 0) : neuron_udma_tx_register(0, 0));
  u64 ring = rx ? host(card, card->shared->rx) : host(card, card->shared->tx);

  writel(NEURON_UDMA_Q_SW_CTRL_RESET,
         at + (rx ? NEURON_UDMA_S2M_Q_SW_CTRL : NEURON_UDMA_M2S_Q_SW_CTRL));
  writel((u32)ring, at + NEURON_UDMA_Q_BASE_LO);
  writel(ring >> 32, at + NEURON_UDMA_Q_BASE_HI);
  writel(RING_DESCS, at + NEURON_UDMA_Q_LENGTH);
  writel(NEURON_UDMA_Q_CFG_PREFETCH_EN | NEURON_UDMA_Q_CFG_SCHEDULING_EN, at + NEURON_UDMA_Q_CFG);
}

static void program_queue(struct card* card) {
  program_half(card, false);
  program_half(card, true);
  card->next = 0;
}

static void add(struct card* card, u64 to, u64 from, u32 bytes) {
  u32 length = bytes & NEURON_UDMA_LEN_MASK;

  card->shared->tx[card->next] = (struct neuron_udma_tx_desc){
      length | NEURON_UDMA_FIRST | NEURON_UDMA_LAST, NEURON_UDMA_META_COPY, from};
  card->shared->rx[card->next] = (struct neuron_udma_rx_desc){length, 0, to};
  card->next = (card->next + 1) % RING_DESCS;
}

static void ring(struct card* card, u32 count) {
  wmb();
  writel(count, engine(card) + neuron_udma_rx_register(0, NEURON_UDMA_Q_TAIL_INC));
  writel(count, engine(card) + neuron_udma_tx_register(0, NEURON_UDMA_Q_TAIL_INC));
}

static void add_marker(struct card* card, u32 value) {
  card->shared->marker[0] = value;
  card->shared->marker[1] = 0;
  add(card, host(card, &card->shared->marker[1]), host(card, &card->shared->marker[0]), 4);
}

/* Host to HBM and back; the memory BAR shows the bytes. */
static int check_dma(struct card* card) {
  struct shared* shared = card->shared;
  u64 hbm = 0x1000000;
  u32 index;
  int error;

  for (index = 0; index < BUFFER_BYTES; index++)
    shared->from[index] = (u8)(index * 7 + index / 256);
  memset(shared->to, 0, BUFFER_BYTES);
  program_queue(card);
  add(card, hbm, host(card, shared->from), BUFFER_BYTES);
  add(card, host(card, shared->to), hbm, BUFFER_BYTES);
  add_marker(card, 0xABCD);
  ring(card, 3);
  error = wait_for_word(&shared->marker[1], 0xABCD);
  if (error) return error;
  if (memcmp(shared->from, shared->to, BUFFER_BYTES)) return -EIO;
  if (card->memory && readl(card->memory + hbm + 4) != *(u32*)(shared->from + 4)) return -EIO;
  return 0;
}

/* Doorbells in quick succession with interrupts off, many times around the ring. */
static int check_doorbells(struct card* card) {
  u8 __iomem* tx = engine(card) + neuron_udma_tx_register(0, 0);
  struct shared* shared = card->shared;
  unsigned long flags;
  u32 round, index;
  int error = 0;

  program_queue(card);
  local_irq_save(flags);
  for (round = 1; !error && round <= 100; round++) {
    shared->words[0] = round;
    for (index = 0; index < 6; index++) {
      add(card, host(card, &shared->words[index + 1]), host(card, &shared->words[index]), 4);
      ring(card, 1);
    }
    if (READ_ONCE(shared->words[6]) != round) error = -EIO;
    if (readl(tx + NEURON_UDMA_Q_HEAD) != card->next) error = -EIO;
  }
  local_irq_restore(flags);
  if (error) return error;
  program_queue(card);
  return readl(tx + NEURON_UDMA_Q_HEAD) || readl(tx + NEURON_UDMA_Q_TAIL) ? -EIO : 0;
}

/* A descriptor that increments a semaphore; one that names nothing, which stops its engine. */
static int check_descriptors(struct card* card) {
  struct shared* shared = card->shared;
  u8 __iomem* state = engine(card) + NEURON_UDMA_ENGINE_STATE;
  int error;

  writel(0, events(card) + NEURON_EVENT_UNIT_SEM_SET);
  program_queue(card);
  shared->words[0] = 3;
  add(card, events_address(card) + NEURON_EVENT_UNIT_SEM_INCREMENT, host(card, shared->words), 4);
  add_marker(card, 1);
  ring(card, 2);
  error = wait_for_word(&shared->marker[1], 1);
  if (error) return error;
  if (readl(events(card) + NEURON_EVENT_UNIT_SEM_READ) != 3) return -EIO;
  add(card, 0x7000000000000000ull, host(card, shared->words), 4);
  ring(card, 1);
  if (readl(state) != NEURON_UDMA_STATE_ABORT * 0x1111) return -EIO;
  writel(NEURON_UDMA_CHANGE_NORMAL, engine(card) + NEURON_UDMA_ENGINE_CHANGE);
  program_queue(card);
  return readl(state) == NEURON_UDMA_STATE_NORMAL * 0x1111 ? 0 : -EIO;
}

/* The registers of a core's first notification queue. */
static int check_notifications(struct card* card) {
  u8 __iomem* block = card->registers + (card->v2 ? 0x30535000 : 0x6001000);
  u32 offset;

  for (offset = 0x100; offset <= 0x108; offset += 4) writel(offset * 5, block + offset);
  for (offset = 0x100; offset <= 0x108; offset += 4)
    if (readl(block + offset) != offset * 5) return -EIO;
  return 0;
}

static const struct {
  const char* name;
  int (*run)(struct card* card);
} checks[] = {
    {"identity", check_identity},
    {"reset", check_reset},
    {"firmware", check_firmware},
    {"widths", check_widths},
    {"last word", check_last_word},
    {"semaphores", check_semaphores},
    {"dma", check_dma},
    {"doorbells", check_doorbells},
    {"descriptors", check_descriptors},
    {"notifications", check_notifications},
};

static int run_check(struct card* card, size_t index) {
  int error = checks[index].run(card);

  if (error)
    pci_info(card->pci, "FAILED %s (%d)\n", checks[index].name, error);
  else
    pci_info(card->pci, "ok %s\n", checks[index].name);
  return error;
}

static int run_all(struct card* card) {
  size_t index;
  int error = 0;

  for (index = 0; !error && index < ARRAY_SIZE(checks); index++) error = run_check(card, index);
  return error;
}

static void release_card(struct kref* users) {
  kfree(container_of(users, struct card, users));
}

static int open_node(struct inode* inode, struct file* file) {
  struct card* card = container_of(file->private_data, struct card, node);

  file->private_data = card;
  kref_get(&card->users);
  return 0;
}

static int release_node(struct inode* inode, struct file* file) {
  struct card* card = file->private_data;

  kref_put(&card->users, release_card);
  return 0;
}

static ssize_t write_node(struct file* file, const char __user* text, size_t bytes, loff_t* at) {
  struct card* card = file->private_data;
  char name[32] = {0};
  ssize_t result = -EINVAL;
  size_t index;

  if (bytes >= sizeof name) return -EINVAL;
  if (copy_from_user(name, text, bytes)) return -EFAULT;
  mutex_lock(&card->lock);
  if (!card->pci) result = -ENODEV;
  for (index = 0; card->pci && index < ARRAY_SIZE(checks); index++)
    if (sysfs_streq(name, checks[index].name)) result = run_check(card, index);
  mutex_unlock(&card->lock);
  return result ? result : (ssize_t)bytes;
}

static const struct file_operations node_operations = {
    .owner = THIS_MODULE,
    .open = open_node,
    .release = release_node,
    .write = write_node,
};

static void unmap(struct card* card) {
  if (card->shared)
    dma_free_coherent(&card->pci->dev, sizeof *card->shared, card->shared, card->bus);
  if (card->memory) iounmap(card->memory);
  if (card->registers) pci_iounmap(card->pci, card->registers);
  pci_release_regions(card->pci);
  pci_disable_device(card->pci);
}

static int map(struct card* card) {
  struct pci_dev* pci = card->pci;
  int error = pci_enable_device(pci);

  if (error) return error;
  pci_set_master(pci);
  error = pci_request_regions(pci, "vpci_test");
  if (error) {
    pci_disable_device(pci);
    return error;
  }
  error = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(64));
  card->registers = pci_iomap(pci, card->register_bar, 0);
  if (pci_resource_len(pci, 4)) {
    card->memory = ioremap_wc(pci_resource_start(pci, 4), pci_resource_len(pci, 4));
    if (!card->memory) error = -ENOMEM;
  }
  card->shared = dma_alloc_coherent(&pci->dev, sizeof *card->shared, &card->bus, GFP_KERNEL);
  if (!card->registers || !card->shared) error = -ENOMEM;
  if (error) unmap(card);
  return error;
}

static int bind(struct pci_dev* pci, const struct pci_device_id* id) {
  struct card* card = kzalloc(sizeof *card, GFP_KERNEL);
  int error;

  if (!card) return -ENOMEM;
  kref_init(&card->users);
  mutex_init(&card->lock);
  card->pci = pci;
  card->v2 = id->device != 0x7364;
  card->register_bar = pci->revision == 0xFF ? 2 : 0;
  error = map(card);
  if (error) goto not_mapped;
  error = run_all(card);
  if (error) goto failed;
  snprintf(card->name, sizeof card->name, "vpci_test%u", PCI_SLOT(pci->devfn));
  card->node.minor = MISC_DYNAMIC_MINOR;
  card->node.name = card->name;
  card->node.fops = &node_operations;
  error = misc_register(&card->node);
  if (error) goto failed;
  pci_set_drvdata(pci, card);
  return 0;

failed:
  unmap(card);
not_mapped:
  kref_put(&card->users, release_card);
  return error;
}

/* A card that was pulled out reads as all ones. */
static void look_at_registers(struct card* card) {
  u32 word = readl(misc_ram(card) + ROUTING_ID);

  writel(1, misc_ram(card) + TRIGGER);
  if (pci_channel_offline(card->pci) != (word == ~0u))
    pci_info(card->pci, "FAILED removal: routing id %x\n", word);
  else
    pci_info(card->pci, "ok removal\n");
}

static void unbind(struct pci_dev* pci) {
  struct card* card = pci_get_drvdata(pci);

  misc_deregister(&card->node);
  mutex_lock(&card->lock);
  look_at_registers(card);
  unmap(card);
  card->pci = NULL;
  mutex_unlock(&card->lock);
  kref_put(&card->users, release_card);
}

static const struct pci_device_id ids[] = {
    {PCI_DEVICE(0x1D0F, 0x7164)}, {PCI_DEVICE(0x1D0F, 0x7264)}, {PCI_DEVICE(0x1D0F, 0x7364)}, {}};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver test_driver = {
    .name = "vpci_test", .id_table = ids, .probe = bind, .remove = unbind};
module_pci_driver(test_driver);

MODULE_DESCRIPTION("Checks simulated Neuron PCI cards");
MODULE_LICENSE("Dual MIT/GPL");
