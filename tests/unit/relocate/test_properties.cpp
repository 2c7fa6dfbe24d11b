// SPDX-License-Identifier: MIT
// What holds for every program, checked over all catalogue samples (design rules 1 and 2).
#include <openssl/sha.h>

#include <algorithm>

#include "isa/opcodes.hpp"
#include "isa/record.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

constexpr std::uint64_t tag_bits = 7ull << 61;  // template and ring-relative tags

struct Loaded {
  explicit Loaded(const std::string& name) : model(sample_model(name)), plan(planned(kbins())) {}
  std::span<const Kbin> kbins() const { return model.parsed.kbins; }
  Addresses bound_addresses(std::uint64_t shift = 0) const {
    Addresses addresses = made_up_addresses(plan, shift);
    std::uint64_t next = 0x2'0000'0000 + shift;
    for (const Kbin& kbin : kbins()) {
      for (const Variable& variable : kbin.variables) {
        if (variable.kind != VarKind::input && variable.kind != VarKind::output) continue;
        if (addresses.io.emplace(variable.name, next).second)
          next += (variable.size + 4095) & ~4095ull;
      }
    }
    return addresses;
  }
  SampleModel model;
  Plan plan;
};

/// Load and bind at one base.
struct Both {
  Both(const Loaded& loaded, std::uint64_t shift)
      : plan(loaded.plan), addresses(loaded.bound_addresses(shift)) {
    Addresses unbound = addresses;
    unbound.io.clear();
    load = relocated(loaded.kbins(), loaded.plan, unbound);
    bind = relocated_bound(loaded.kbins(), plan, addresses, shift);
  }
  Plan plan;
  Addresses addresses;
  Relocated load, bind;
};

std::string digest(const SampleModel& model) {  // of everything the kbins can point into
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> sum{};
  std::vector<std::uint8_t> all;
  for (const Kbin& kbin : model.parsed.kbins) {
    for (const Variable& v : kbin.variables)
      all.insert(all.end(), v.payload.begin(), v.payload.end());
    for (const EngineProgram& e : kbin.engines)
      all.insert(all.end(), e.slots.begin(), e.slots.end());
    const auto* raw = reinterpret_cast<const std::uint8_t*>(kbin.descriptors.data());
    all.insert(all.end(), raw, raw + kbin.descriptors.size() * sizeof(DmaDescriptor));
  }
  SHA256(all.data(), all.size(), sum.data());
  return to_hex(sum);
}

bool same_row(const LedgerRow& a, const LedgerRow& b) {
  return a.offset == b.offset && a.old_value == b.old_value && a.new_value == b.new_value &&
         a.kbin == b.kbin && a.request == b.request && a.width == b.width && a.form == b.form &&
         a.symbol.kind == b.symbol.kind && a.symbol.index == b.symbol.index &&
         a.symbol.addend == b.symbol.addend && a.source.kind == b.source.kind &&
         a.source.index == b.source.index;
}

bool same_rows(const Relocated& a, const Relocated& b) {
  return std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), same_row);
}

TEST_CASE("relocation is pure: the same twice, base B after base A as if B were first") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded loaded(name);
    const std::string before = digest(loaded.model);
    const Both a1(loaded, 0), a2(loaded, 0), b(loaded, 0x1234'0000);
    CHECK(digest(loaded.model) == before);
    CHECK(a1.load.sections == a2.load.sections);
    CHECK(a1.bind.sections == a2.bind.sections);
    CHECK(same_rows(a1.load, a2.load));
    CHECK(same_rows(a1.bind, a2.bind));
    const Loaded fresh(name);
    const Both fresh_b(fresh, 0x1234'0000);
    CHECK(b.load.sections == fresh_b.load.sections);
    CHECK(b.bind.sections == fresh_b.bind.sections);
    CHECK(same_rows(b.load, fresh_b.load));
    CHECK(b.load.sections != a1.load.sections);
  }
}

TEST_CASE("every patched field lies in its section and holds what the ledger says") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded loaded(name);
    const Both both(loaded, 0);
    for (const Relocated* result : {&both.load, &both.bind}) {
      std::uint64_t wrong = 0;
      for (const LedgerRow& row : result->rows) {
        const auto& section = result->sections.at(row.request);
        if (row.offset > section.size() || row.width > section.size() - row.offset) {
          ++wrong;
          continue;
        }
        std::uint64_t value = 0;
        for (std::uint8_t i = 0; i < row.width; ++i) {
          value |= std::uint64_t{section[row.offset + i]} << (8 * i);
        }
        wrong += value != row.new_value;
        wrong += both.plan.requests[row.request].kbin != row.kbin;
        wrong += section.size() != both.plan.requests[row.request].size;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("no patch lies outside its record") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded loaded(name);
    const Both both(loaded, 0);
    std::map<std::uint32_t, std::pair<std::uint32_t, Engine>> images;  // request -> kbin, engine
    for (std::uint32_t i = 0; i < both.plan.kbins.size(); ++i) {
      for (const Engine engine : all_engines) {
        const auto& stream = both.plan.kbins[i].streams[static_cast<std::size_t>(engine)];
        images[stream.request] = {i, engine};
      }
    }
    for (const Relocated* result : {&both.load, &both.bind}) {
      std::uint64_t wrong = 0;
      for (const LedgerRow& row : result->rows) {
        wrong += row.offset / 64 != (row.offset + row.width - 1) / 64;  // no field spans two
        if (both.plan.requests[row.request].category == MemCategory::dma_rings) {
          wrong += row.offset % 16 != 8 || row.width != 8;  // the pointer of a descriptor
        }
        const auto image = images.find(row.request);
        if (image == images.end() || row.source.kind != SourceRecord::Kind::slot) continue;
        const auto& [kbin, engine] = image->second;
        const auto place = device_ips(*result->counts.ip_map(kbin, engine), row.source.index + 1);
        wrong +=
            !place || row.offset < place->offset || row.offset >= place->offset + 64 * place->count;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("no byte is patched twice") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Both both(Loaded(name), 0);
    for (const Relocated* result : {&both.load, &both.bind}) {
      std::vector<std::pair<std::uint32_t, std::uint64_t>> bytes;
      for (const LedgerRow& row : result->rows) {
        for (std::uint8_t i = 0; i < row.width; ++i)
          bytes.emplace_back(row.request, row.offset + i);
      }
      std::sort(bytes.begin(), bytes.end());
      CHECK(std::adjacent_find(bytes.begin(), bytes.end()) == bytes.end());
    }
  }
}

TEST_CASE("everything but patched fields is what the file says") {
  // Relocation to two bases may differ only where the ledger has rows.
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded loaded(name);
    const Both a(loaded, 0), b(loaded, 0x1234'0000);
    for (const auto& [first, second] : {std::pair{&a.load, &b.load}, {&a.bind, &b.bind}}) {
      auto left = first->sections, right = second->sections;
      const auto erase = [](auto& sections, const LedgerRow& row) {
        const auto section = sections.find(row.request);
        if (section == sections.end()) return;
        std::fill_n(section->second.begin() + static_cast<std::ptrdiff_t>(row.offset), row.width,
                    std::uint8_t{0});
      };
      if (first == &a.bind) {  // load has the rows of the cells that name placed variables
        for (auto* sections : {&left, &right}) {
          std::erase_if(*sections, [&](const auto& entry) {
            const SectionKind kind = a.plan.requests[entry.first].kind;
            return kind == SectionKind::pointer_cells || kind == SectionKind::table;
          });
        }
      }
      for (const LedgerRow& row : first->rows) erase(left, row);
      for (const LedgerRow& row : second->rows) erase(right, row);
      CHECK(left == right);
    }
  }
}

TEST_CASE("every address written lies in a live section, an SBUF window or a device register") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded loaded(name);
    const Both both(loaded, 0);
    const ArchTable& arch = arch_table(both.plan.arch);
    const auto inside_section = [&](std::uint64_t address) {
      for (std::size_t i = 0; i < both.plan.requests.size(); ++i) {
        const std::uint64_t base = both.addresses.sections[i];
        if (address >= base && address - base < both.plan.requests[i].size) return true;
      }
      return false;
    };
    const auto inside_sbuf = [&](std::uint64_t address) {
      for (const KbinPlan& kbin : both.plan.kbins) {
        const std::uint64_t base = arch.tpb_base[kbin.core];
        if (address >= base && address - base < arch.sbuf_aperture) return true;
      }
      return false;
    };
    const auto is_io = [&](const LedgerRow& row) {
      if (row.symbol.kind != Symbol::Kind::variable) return false;
      const VarKind kind = loaded.kbins()[row.kbin].variables[row.symbol.index].kind;
      return kind == VarKind::input || kind == VarKind::output;
    };
    const auto is_bound_address = [&](const LedgerRow& row) {
      const Variable& variable = loaded.kbins()[row.kbin].variables[row.symbol.index];
      return row.symbol.addend < variable.size &&
             row.new_value == both.addresses.io.at(variable.name) + row.symbol.addend;
    };
    // Registers of the 16 DMA engines of a core, and the one that starts collectives.
    const auto is_engine_register = [&](const LedgerRow& row) {
      const std::uint64_t base = arch.dma_engine_base[both.plan.kbins[row.kbin].core];
      return row.new_value == arch.collective_trigger ||
             (row.new_value >= base && row.new_value - base < 16 * arch.dma_engine_stride);
    };
    // Events, semaphores and engine windows lie above SBUF, the upper block below 64 MiB.
    const auto inside_core = [&](std::uint64_t address) {
      return std::any_of(both.plan.kbins.begin(), both.plan.kbins.end(), [&](const KbinPlan& kbin) {
        const std::uint64_t base = arch.tpb_base[kbin.core] + arch.engine_window;
        return address >= base && address - base < 64ull << 20;
      });
    };
    std::map<std::uint64_t, bool> known;
    std::uint64_t wrong = 0;
    for (const Relocated* result : {&both.load, &both.bind}) {
      for (const LedgerRow& row : result->rows) {
        switch (row.form) {
          case RelocForm::var_address:
          case RelocForm::ring_pointer:
          case RelocForm::ring_section:
          case RelocForm::pointer_cell:
          case RelocForm::table_entry:
          case RelocForm::library_address:
          case RelocForm::return_address: {
            if (is_io(row)) {
              wrong += !is_bound_address(row);
              break;
            }
            const std::uint64_t page = row.new_value;
            auto found = known.find(page);
            if (found == known.end()) {
              found = known.emplace(page, inside_section(page) || inside_sbuf(page)).first;
            }
            wrong += !found->second;
            break;
          }
          case RelocForm::ring_io:
            wrong += !is_bound_address(row);
            break;
          case RelocForm::queue_register:
            wrong += !is_engine_register(row);
            break;
          case RelocForm::ring_register:
            wrong += !inside_core(row.new_value);
            break;
          case RelocForm::branch_offset: {
            const std::uint64_t target =
                row.offset / 64 * 64 +
                static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(row.new_value)});
            wrong += target % 64 != 0 || target >= both.plan.requests[row.request].size;
            break;
          }
          case RelocForm::opcode:
          case RelocForm::descriptor_count:
          case RelocForm::collective_index:
          case RelocForm::record_byte:
            break;
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("no descriptor on the device carries a tag") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Both both(Loaded(name), 0);
    for (const Relocated* result : {&both.load, &both.bind}) {
      for (const auto& [request, bytes] : result->sections) {
        const MemCategory category = both.plan.requests[request].category;
        if (category != MemCategory::dma_rings) continue;
        std::uint64_t tagged = 0;
        for (std::size_t at = 0; at < bytes.size(); at += 16) {
          tagged += (load_le<std::uint64_t>(bytes, at + 8) & tag_bits) != 0;
        }
        CHECK(tagged == 0);
      }
    }
  }
}

TEST_CASE("the ledger's counts are the sums of its rows") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Both both(Loaded(name), 0);
    for (const Relocated* result : {&both.load, &both.bind}) {
      std::map<std::pair<std::uint32_t, RelocForm>, std::uint64_t> sums;
      for (const LedgerRow& row : result->rows) ++sums[{row.kbin, row.form}];
      for (std::uint32_t kbin = 0; kbin < both.plan.kbins.size(); ++kbin) {
        for (std::size_t form = 0; form < reloc_form_count; ++form) {
          const auto f = static_cast<RelocForm>(form);
          CHECK(result->counts.count_of(kbin, f) == sums[{kbin, f}]);
        }
      }
    }
  }
}

TEST_CASE("planned ring lengths are what is authored; host vrings agree with the bound rings") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded loaded(name);
    const Both both(loaded, 0);
    Addresses unbound = made_up_addresses(loaded.plan);
    std::uint64_t vrings = 0;
    REQUIRE(author_template_vrings(
        loaded.kbins(), loaded.plan, unbound, [&](const HostVring& vring) -> Result<void> {
          ++vrings;
          CHECK(vring.bytes.size() == 16ull * vring.ring->used);
          const auto& rings = loaded.plan.kbins[vring.kbin].rings;
          const auto number = static_cast<std::size_t>(vring.ring - rings.data());
          const RingPlan& bound = both.plan.kbins[vring.kbin].rings[number];
          if (vring.ring->used == 0) return {};
          const auto& device =
              both.bind.sections.at(vring.tx ? *bound.tx_request : *bound.rx_request);
          std::uint64_t differences = 0;
          for (std::size_t at = 0; at < vring.bytes.size(); at += 16) {
            const auto pointer = load_le<std::uint64_t>(vring.bytes, at + 8);
            const auto resolved = load_le<std::uint64_t>(device, at + 8);
            const bool is_template = (pointer & tag_bits) == 1ull << 61;
            if (!is_template) {
              differences += pointer != resolved;
            } else {
              const auto id = static_cast<std::uint32_t>(pointer >> 36 & 0x7FFFF);
              const Variable& variable = loaded.kbins()[vring.kbin].variables.at(id);
              differences +=
                  resolved != both.addresses.io.at(variable.name) + (pointer & ((1ull << 36) - 1));
            }
            differences += !std::equal(vring.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                       vring.bytes.begin() + static_cast<std::ptrdiff_t>(at + 8),
                                       device.begin() + static_cast<std::ptrdiff_t>(at));
          }
          CHECK(differences == 0);
          return {};
        }));
    std::uint64_t expected = 0;
    for (const KbinPlan& kbin : loaded.plan.kbins) {
      for (const QueueSetPlan& set : kbin.queue_sets) {
        if (set.is_template) expected += 2ull * set.ring_count;
      }
    }
    CHECK(vrings == expected);
  }
}

TEST_CASE("planning twice gives the same requests") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Loaded first(name), second(name);
    CHECK(owners(first.plan) == owners(second.plan));
    for (std::size_t i = 0; i < first.plan.requests.size(); ++i) {
      CHECK(first.plan.requests[i].size == second.plan.requests[i].size);
      CHECK(first.plan.requests[i].align == second.plan.requests[i].align);
    }
  }
}

TEST_CASE("an unbound name is refused at bind, and so is an address no pointer may have") {
  const Loaded loaded("vecadd-v3");
  Plan plan = loaded.plan;
  REQUIRE(plan_bound_rings(loaded.kbins(), plan));
  const auto run = [&](auto change) {
    Addresses addresses = loaded.bound_addresses();
    addresses.sections = made_up_addresses(plan).sections;
    change(addresses.io.begin());
    std::erase_if(addresses.io, [](const auto& entry) { return entry.second == 0; });
    Ledger ledger;
    return relocate_bound(loaded.kbins(), plan, addresses, ledger,
                          [](const SectionContent&) -> Result<void> { return {}; });
  };
  const std::string name = loaded.bound_addresses().io.begin()->first;
  CHECK(run([](auto) {}));
  check_refused(run([](auto io) { io->second = 0; }),
                {"sg00", name, std::nullopt, "Failed to find tensor " + name + " in tensor set"});
  for (const std::uint64_t address : {1ull << 61, 1ull << 63, 0ull - 64}) {
    check_refused(run([&](auto io) { io->second = address; }),
                  {"sg00", name, std::nullopt, "bits 61 to 63"});
  }
}

}  // namespace
}  // namespace neffld::test
