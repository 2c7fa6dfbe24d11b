// SPDX-License-Identifier: MIT
// The device as a PCI card: what a driver sees that programs its registers (spec 11 part A).
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

#include "nds_card.h"
#include "nds_user.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/udma.h"

namespace {

constexpr std::uint32_t kReset = 0x1EC, kTrigger = 0x800, kRoutingId = 0x24;
constexpr std::uint64_t kTxRing = 0x20000, kRxRing = 0x30000, kBuffer = 0x40000;

/// A device whose registers are written as a driver would.
class Card {
 public:
  explicit Card(std::uint32_t architecture, std::uint32_t index = 0, std::uint32_t revision = 0) {
    nds_config config{};
    config.architecture = architecture;
    config.device_index = index;
    config.revision = revision;
    v2_ = architecture == NEURON_ARCH_V2;
    REQUIRE(nds_machine_create(&machine_) == 0);
    REQUIRE(nds_device_create(machine_, &config, &device_) == 0);
    nds_card_start(device_);
  }
  ~Card() {
    nds_device_destroy(device_);
    nds_machine_destroy(machine_);
  }
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  nds_device* device() const { return device_; }
  std::uint32_t read(std::uint64_t offset) const { return nds_card_read(device_, offset); }
  void write(std::uint64_t offset, std::uint32_t value) const {
    nds_card_write(device_, offset, value);
  }
  std::uint64_t misc(std::uint32_t offset) const {
    return (v2_ ? NEURON_V2_BAR0_MISC_RAM : NEURON_V3_BAR0_MISC_RAM) + offset;
  }
  std::uint64_t engine(std::uint32_t index) const {
    return v2_ ? neuron_v2_bar0_dma_engine(index) : neuron_v3_bar0_dma_engine(index);
  }
  /// Registers of core 0's events and semaphores.
  std::uint64_t events(std::uint64_t offset) const {
    return (v2_ ? NEURON_V2_BAR0_TPB : NEURON_V3_BAR0_TPB) + NEURON_BAR0_TPB_EVENTS + offset;
  }
  std::uint64_t bus(std::uint64_t address) const {
    return (v2_ ? NEURON_V2_HOST_BASE : NEURON_V3_HOST_BASE) | address;
  }
  template <typename T>
  T* host(std::uint64_t address) const {
    return static_cast<T*>(nds_user_space_address(nds_card_host_memory(device_), address));
  }

  void reset(std::uint32_t type, std::uint32_t map = 0) const {
    write(misc(0x1D8), map);
    write(misc(kReset), type);
    write(misc(kTrigger), 1);
  }

  void program_queue(std::uint32_t engine_index, std::uint32_t length) const {
    for (const bool rx : {false, true}) {
      const auto base = bus(rx ? kRxRing : kTxRing);
      const auto reg = [&](std::uint32_t offset) {
        return engine(engine_index) +
               (rx ? neuron_udma_rx_register(0, offset) : neuron_udma_tx_register(0, offset));
      };
      write(reg(rx ? NEURON_UDMA_S2M_Q_SW_CTRL : NEURON_UDMA_M2S_Q_SW_CTRL),
            NEURON_UDMA_Q_SW_CTRL_RESET);
      write(reg(NEURON_UDMA_Q_BASE_LO), static_cast<std::uint32_t>(base));
      write(reg(NEURON_UDMA_Q_BASE_HI), static_cast<std::uint32_t>(base >> 32));
      write(reg(NEURON_UDMA_Q_LENGTH), length);
    }
  }
  void put(std::uint32_t slot, std::uint64_t to, std::uint64_t from, std::uint32_t bytes) const {
    host<neuron_udma_tx_desc>(kTxRing)[slot] = {bytes, NEURON_UDMA_META_COPY, from};
    host<neuron_udma_rx_desc>(kRxRing)[slot] = {bytes, 0, to};
  }
  void ring(std::uint32_t engine_index, std::uint32_t count) const {
    write(engine(engine_index) + neuron_udma_rx_register(0, NEURON_UDMA_Q_TAIL_INC), count);
    write(engine(engine_index) + neuron_udma_tx_register(0, NEURON_UDMA_Q_TAIL_INC), count);
  }
  std::uint32_t head(std::uint32_t engine_index) const {
    return read(engine(engine_index) + neuron_udma_tx_register(0, NEURON_UDMA_Q_HEAD));
  }

 private:
  nds_machine* machine_ = nullptr;
  nds_device* device_ = nullptr;
  bool v2_ = false;
};

void put_mailbox(const Card& card, std::uint64_t request, std::uint64_t response) {
  card.write(card.misc(0x1F4), static_cast<std::uint32_t>(card.bus(request)));
  card.write(card.misc(0x1F0), static_cast<std::uint32_t>(card.bus(request) >> 32));
  card.write(card.misc(0x1FC), static_cast<std::uint32_t>(card.bus(response)));
  card.write(card.misc(0x1F8), static_cast<std::uint32_t>(card.bus(response) >> 32));
}

}  // namespace

TEST_CASE("a card says who it is") {
  CHECK(Card(NEURON_ARCH_V2, 7).read(NEURON_V2_BAR0_MISC_RAM + kRoutingId) == 5);
  CHECK(Card(NEURON_ARCH_V3, 1).read(NEURON_V3_BAR0_MISC_RAM + kRoutingId) == 8);
}

TEST_CASE("a reset is acknowledged on the trigger and clears what it resets") {
  const auto architecture = GENERATE(NEURON_ARCH_V2, NEURON_ARCH_V3);
  const Card card(architecture);
  const auto semaphore = card.events(NEURON_EVENT_UNIT_SEM_READ);

  card.program_queue(0, 64);
  card.write(card.events(NEURON_EVENT_UNIT_SEM_SET), 7);
  card.write(card.events(NEURON_EVENT_UNIT_SEM_INCREMENT), 2);
  CHECK(card.read(semaphore) == 9);
  card.reset(2, architecture == NEURON_ARCH_V2 ? 0x3802u : 0x20202u);
  CHECK(card.read(semaphore) == 9);  // another core's
  card.reset(1);
  CHECK(card.read(card.misc(kReset)) == 0);
  CHECK(card.read(card.misc(0x808)) == 0);
  CHECK(card.read(semaphore) == 0);
  CHECK(card.read(card.engine(0) + neuron_udma_tx_register(0, NEURON_UDMA_Q_LENGTH)) == 0);
}

TEST_CASE("a reset that is silenced stays asked for") {
  const Card card(NEURON_ARCH_V3);
  nds_device_silence(card.device(), NDS_SILENT_RESET);
  card.reset(1);
  CHECK(card.read(card.misc(kReset)) == 1);
  nds_device_silence(card.device(), 0);
  card.reset(1);
  CHECK(card.read(card.misc(kReset)) == 0);
}

TEST_CASE("an emulated card is reset by its own register") {
  const Card v2(NEURON_ARCH_V2, 0, NDS_REVISION_QEMU);
  const Card v3(NEURON_ARCH_V3, 0, NDS_REVISION_QEMU);
  v2.write(0x30647010, 1);
  CHECK(v2.read(0x30647010) == 0);
  v3.write(v3.events(NEURON_EVENT_UNIT_SEM_SET), 7);
  v3.write(0x6300010, 2);
  CHECK(v3.read(v3.events(NEURON_EVENT_UNIT_SEM_READ)) == 7);
  v3.write(0x6300010, 1);
  CHECK(v3.read(0x6300010) == 0);
  CHECK(v3.read(v3.events(NEURON_EVENT_UNIT_SEM_READ)) == 0);
}

TEST_CASE("the firmware reads registers for the host") {
  const Card card(GENERATE(NEURON_ARCH_V2, NEURON_ARCH_V3));
  auto* request = card.host<std::uint8_t>(kBuffer);
  auto* response = card.host<std::uint8_t>(kBuffer + 0x10000);
  const std::array<std::uint64_t, 2> addresses{card.misc(kRoutingId), card.misc(0x100)};
  const std::uint16_t bytes = 8 + sizeof addresses;

  card.write(card.misc(0x100), 0x12345678);
  request[0] = 9;
  request[1] = 1;
  std::memcpy(request + 2, &bytes, sizeof bytes);
  std::memcpy(request + 8, addresses.data(), sizeof addresses);
  put_mailbox(card, kBuffer, kBuffer + 0x10000);
  card.write(card.misc(kTrigger), 1);
  CHECK(response[0] == 9);
  CHECK(response[1] == 0);
  CHECK(response[2] + response[3] * 256 == 12);
  std::uint32_t value = 0;
  std::memcpy(&value, response + 8, sizeof value);
  CHECK(value == 0x12345678);

  request[0] = 10;
  request[1] = 77;
  card.write(card.misc(kTrigger), 1);
  CHECK(response[0] == 10);
  CHECK(response[1] == 2);

  nds_device_silence(card.device(), NDS_SILENT_MAILBOX);
  request[0] = 11;
  card.write(card.misc(kTrigger), 1);
  CHECK(response[0] == 10);
}

TEST_CASE("doorbells add up and heads wrap") {
  const Card card(GENERATE(NEURON_ARCH_V2, NEURON_ARCH_V3));
  const std::uint32_t engine = 3;
  card.program_queue(engine, 4);
  for (std::uint32_t round = 0; round < 6; round++) {
    card.put(round % 4, card.bus(kBuffer + 8), card.bus(kBuffer), 4);
    *card.host<std::uint32_t>(kBuffer) = round + 100;
    card.ring(engine, 1);
    CHECK(*card.host<std::uint32_t>(kBuffer + 8) == round + 100);
    CHECK(card.head(engine) == (round + 1) % 4);
  }
}

TEST_CASE("work that silence left waiting never runs") {
  const Card card(NEURON_ARCH_V3);
  card.program_queue(0, 4);
  nds_device_silence(card.device(), NDS_SILENT_DMA);
  card.put(0, card.bus(kBuffer + 8), card.bus(kBuffer), 4);
  *card.host<std::uint32_t>(kBuffer) = 1;
  card.ring(0, 1);
  nds_card_drop_work(card.device());
  nds_device_silence(card.device(), 0);
  card.put(1, card.bus(kBuffer + 16), card.bus(kBuffer), 4);
  card.ring(0, 1);
  CHECK(*card.host<std::uint32_t>(kBuffer + 8) == 0);
  CHECK(*card.host<std::uint32_t>(kBuffer + 16) == 1);
}

TEST_CASE("an engine is aborted and brought back by its state register") {
  const Card card(NEURON_ARCH_V2);
  const auto state = card.engine(1) + NEURON_UDMA_ENGINE_STATE;
  const auto change = card.engine(1) + NEURON_UDMA_ENGINE_CHANGE;
  CHECK(card.read(state) == 0);
  card.write(change, NEURON_UDMA_CHANGE_ABORT);
  CHECK(card.read(state) == 0x2222);
  CHECK(card.read(card.engine(1) + NEURON_UDMA_S2M_BLOCK + NEURON_UDMA_ENGINE_STATE) == 0x2222);
  card.write(change, NEURON_UDMA_CHANGE_NORMAL);
  CHECK(card.read(state) == 0x1111);
}

TEST_CASE("a card's memories lie in its BARs without overlap") {
  const auto architecture = GENERATE(NEURON_ARCH_V2, NEURON_ARCH_V3);
  const Card card(architecture);
  const auto end = architecture == NEURON_ARCH_V2 ? NEURON_V2_BAR0_SIZE : NEURON_V3_BAR0_SIZE;
  nds_card_view view{};
  nds_card_view other{};
  std::uint32_t hbms = 0;

  for (std::uint32_t index = 0; nds_card_view_at(card.device(), index, &view); index++) {
    hbms += view.hbm;
    if (!view.hbm) CHECK(view.bar_offset + view.bytes <= end);
    for (std::uint32_t before = 0; before < index; before++) {
      REQUIRE(nds_card_view_at(card.device(), before, &other));
      CHECK((other.hbm != view.hbm || other.bar_offset + other.bytes <= view.bar_offset ||
             view.bar_offset + view.bytes <= other.bar_offset));
    }
  }
  CHECK(hbms == (architecture == NEURON_ARCH_V2 ? NEURON_V2_HBMS : NEURON_V3_HBMS));
}
