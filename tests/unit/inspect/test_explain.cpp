// SPDX-License-Identifier: MIT
#include "neffld/explain.hpp"

#include "neuron_abi/address_map.h"
#include "neuron_abi/udma.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

TEST_CASE("windows of the device have names") {
  for (const char* sample : {"vecadd-v2", "vecadd-v3"}) {
    const Staged staged(sample);
    const Locator locator(staged.layout);
    const ArchTable& arch = arch_table(staged.layout.arch);
    const std::uint64_t core = arch.tpb_base[staged.layout.subgraphs[0].core];
    const std::uint64_t events = core + arch.event_unit;
    CHECK(locator.text(core + 3 * arch.sbuf_partition_stride + 0x40) ==
          "sg00 SBUF partition 3 + 0x40");
    CHECK(locator.text(core + arch.engine_window + 0x200'0000 + 8) == "sg00 PSUM + 0x8");
    CHECK(locator.text(events + 4 * 7) == "sg00 event 7");
    CHECK(locator.text(events + NEURON_EVENT_UNIT_SEM_INCREMENT + 4 * 8) ==
          "sg00 semaphore 8 increment");
    CHECK(locator.text(events + NEURON_EVENT_UNIT_SEM_DECREMENT) == "sg00 semaphore 0 decrement");
    CHECK(locator.text(core + arch.engine_window + arch.dve_opcode.offset)
              .starts_with("sg00 engine window"));
    const std::uint64_t engine = arch.dma_engine_base[0] + 5 * arch.dma_engine_stride;
    CHECK(locator.text(engine + neuron_udma_rx_register(0, NEURON_UDMA_Q_TAIL_INC))
              .ends_with("[5] rx tail_increment"));
    CHECK(locator.text(engine + neuron_udma_tx_register(13, NEURON_UDMA_Q_BASE_LO))
              .find("internal queue") != std::string::npos);
    CHECK(locator.text(arch.hbm_base[1] + 64).starts_with("HBM 1"));
    CHECK(locator.text(~0ull) == "nothing known");
  }
}

TEST_CASE("every relocated field is explained by its own ledger row") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Staged staged(name);
    const Locator locator(staged.layout);
    std::vector<LedgerRow> rows;
    Ledger ledger([&](const LedgerRow& row) { rows.push_back(row); });
    const SectionSink nothing = [](const SectionContent&) { return Result<void>(); };
    REQUIRE(relocate(staged.model->parsed.kbins, staged.model->plan, staged.model->addresses,
                     ledger, nothing));
    REQUIRE(relocate_bound(staged.model->parsed.kbins, staged.model->plan, staged.model->addresses,
                           ledger, nothing));
    std::vector<Explanation> explanations;
    std::vector<LedgerRow> chosen;
    const std::size_t step = rows.size() / 40 + 1;
    for (std::size_t i = 0; i < rows.size(); i += step) {
      const std::uint64_t address =
          staged.model->addresses.sections[rows[i].request] + rows[i].offset;
      auto e = explain_address(locator, *staged.memory, address);
      REQUIRE(e);
      REQUIRE(e->record);
      CHECK(e->record->kind != "bytes");
      chosen.push_back(rows[i]);
      explanations.push_back(std::move(*e));
    }
    REQUIRE(explain_patches(*staged.model, explanations));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      bool found = false;
      for (const LedgerRow& row : explanations[i].patches) {
        found = found || (row.offset == chosen[i].offset && row.request == chosen[i].request);
        // What the row says is what the device holds.
        const std::uint64_t at = staged.model->addresses.sections[row.request] + row.offset;
        std::vector<std::uint8_t> bytes(8);
        REQUIRE(staged.memory->read(at, MutableBytes(bytes).first(row.width)));
        CHECK(load_le<std::uint64_t>(Bytes(bytes), 0) == row.new_value);
      }
      CHECK(found);
    }
  }
}

TEST_CASE("references name the fields that hold an address") {
  const Staged staged("vecadd-v3");
  const Locator locator(staged.layout);
  const ArchTable& arch = arch_table(staged.layout.arch);
  const std::uint64_t tail =
      arch.dma_engine_base[0] + neuron_udma_rx_register(0, NEURON_UDMA_Q_TAIL_INC);
  auto e = explain_address(locator, *staged.memory, tail);
  REQUIRE(e);
  std::vector<Explanation> list = {*e};
  REQUIRE(explain_patches(*staged.model, list));
  CHECK(list[0].reference_count > 0);
  CHECK(list[0].references[0].form == RelocForm::queue_register);
}

TEST_CASE("variables that share bytes are all named") {
  const Staged staged("virtual-overlap-v2");
  const Locator locator(staged.layout);
  bool shared = false;
  for (const Layout::Variable& variable : staged.layout.subgraphs[0].variables) {
    if (variable.kind != VarKind::virtual_buf || !variable.pa) continue;
    shared = shared || locator.variables_at(*variable.pa).size() > 1;
    CHECK(locator.locate(*variable.pa).kind == Place::Kind::variable);
  }
  CHECK(shared);
}
