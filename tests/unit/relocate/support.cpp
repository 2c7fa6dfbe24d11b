// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sample_catalogue.hpp"

namespace neffld::test {

std::vector<std::uint8_t> hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '|' || text[i] == '\n') {
      ++i;
      continue;
    }
    if (text[i] == '*') {  // repeats the byte before it
      std::size_t used = 0;
      const unsigned long count = std::stoul(std::string(text.substr(i + 1)), &used);
      bytes.insert(bytes.end(), count - 1, bytes.back());
      i += 1 + used;
      continue;
    }
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
    i += 2;
  }
  return bytes;
}

std::string to_hex(Bytes bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, " "));
}

sample::Slot slot_of(std::string_view text) {
  const auto bytes = hex(text);
  sample::Slot slot{};
  REQUIRE(bytes.size() <= slot.size());
  std::copy(bytes.begin(), bytes.end(), slot.begin());
  return slot;
}

AccessPattern side(std::uint32_t var_id, std::uint64_t offset, std::vector<std::uint64_t> sizes,
                   std::vector<std::int64_t> steps, std::uint8_t dtype) {
  AccessPattern pattern;
  pattern.var_id = var_id;
  pattern.dims = static_cast<std::uint8_t>(sizes.size());
  pattern.dtype = dtype;
  pattern.offset = offset;
  std::copy(sizes.begin(), sizes.end(), pattern.sizes.begin());
  pattern.steps[0] = 1;
  std::copy(steps.begin(), steps.end(), pattern.steps.begin() + 1);
  return pattern;
}

DmaDescriptor copy(AccessPattern from, AccessPattern to) {
  DmaDescriptor descriptor;
  descriptor.from = from;
  descriptor.to = to;
  return descriptor;
}

Program::Program(Arch arch, std::string name) {
  kbin_.name = name;
  kbin_.dir = std::move(name);
  kbin_.arch = arch;
  for (const Engine engine : all_engines) {
    kbin_.engines[static_cast<std::size_t>(engine)].bin_member =
        fmt::format("{}/{}.bin", kbin_.dir, engine_name(engine));
  }
}

std::uint32_t Program::add(VarKind kind, std::string name, std::uint64_t size,
                           std::uint64_t alignment) {
  Variable variable;
  variable.name = std::move(name);
  variable.kind = kind;
  variable.var_id = static_cast<std::uint32_t>(kbin_.variables.size());
  variable.size = size;
  variable.alignment = alignment;
  kbin_.variables.push_back(std::move(variable));
  return kbin_.variables.back().var_id;
}

std::uint32_t Program::file(std::string name, std::uint64_t size, std::uint64_t alignment) {
  const std::uint32_t id = add(VarKind::file, std::move(name), size, alignment);
  auto payload = std::make_unique<std::vector<std::uint8_t>>(size);
  std::iota(payload->begin(), payload->end(), std::uint8_t{1});
  kbin_.variables[id].payload = *payload;
  payloads_.push_back(std::move(payload));
  return id;
}

std::uint32_t Program::scratch(std::string name, std::uint64_t size, std::uint64_t offset,
                               BackingBuf buffer) {
  const std::uint32_t id = add(VarKind::virtual_buf, std::move(name), size);
  kbin_.variables[id].backing_offset = offset;
  kbin_.variables[id].backing_buf = buffer;
  std::uint64_t& arena =
      uses_shared_arena(buffer) ? kbin_.shared_scratchpad_size : kbin_.local_scratchpad_size;
  arena = std::max(arena, offset + size);
  return id;
}

std::uint32_t Program::queue(std::string name, Engine owner, std::uint32_t rings,
                             std::vector<std::uint32_t> semaphores) {
  QueueSet set;
  set.instances = {name};
  set.name = std::move(name);
  set.type = "data";
  set.owner = owner;
  set.num_queues = rings;
  set.semaphores = std::move(semaphores);
  kbin_.queue_sets.push_back(std::move(set));
  return static_cast<std::uint32_t>(kbin_.queue_sets.size() - 1);
}

std::uint32_t Program::dynamic_queue(std::string name, Engine owner,
                                     std::vector<std::uint32_t> semaphores) {
  const std::uint32_t index = queue(std::move(name), owner, 16, std::move(semaphores));
  kbin_.queue_sets[index].type = "dynamic";
  kbin_.queue_sets[index].dynamic = true;
  return index;
}

DmaBlock& Program::block(std::uint32_t queue_set, std::uint32_t id,
                         std::vector<DmaDescriptor> descriptors, bool triggered) {
  const QueueSet& queue = kbin_.queue_sets[queue_set];
  DmaBlock block;
  block.id = id;
  block.queue_set = queue_set;
  block.first_descriptor = static_cast<std::uint32_t>(kbin_.descriptors.size());
  block.descriptor_count = static_cast<std::uint32_t>(descriptors.size());
  block.engine = queue.owner;
  kbin_.descriptors.insert(kbin_.descriptors.end(), descriptors.begin(), descriptors.end());
  kbin_.blocks.push_back(std::move(block));
  if (triggered) slot(queue.owner, sample::dma_trigger(queue.name, id));
  return kbin_.blocks.back();
}

void Program::slot(Engine engine, const sample::Slot& slot) {
  auto& stream = streams_[static_cast<std::size_t>(engine)];
  stream.insert(stream.end(), slot.begin(), slot.end());
}

const Kbin& Program::kbin() {
  for (std::size_t i = 0; i < engine_count; ++i) kbin_.engines[i].slots = streams_[i];
  return kbin_;
}

std::vector<Kbin> kbins_of(std::vector<Program>& programs) {
  std::vector<Kbin> kbins;
  for (Program& program : programs) kbins.push_back(program.kbin());
  return kbins;
}

Addresses made_up_addresses(const Plan& plan, std::uint64_t shift) {
  const ArchTable& arch = arch_table(plan.arch);
  std::array<std::uint64_t, 4> next{};
  Addresses addresses;
  for (const Request& request : plan.requests) {
    const std::uint64_t align = std::max<std::uint64_t>(request.align, 4096);
    std::uint64_t& at = next[request.hbm];
    at = (at + align - 1) / align * align;
    const std::uint64_t address = arch.hbm_base[request.hbm] + 0x1'0000'0000 + shift + at;
    at += request.size;
    addresses.sections.push_back(address);
    if (request.kind == SectionKind::scratchpad_page) {
      addresses.scratchpad_pages[request.core].push_back(address);
    }
  }
  return addresses;
}

namespace {

template <class Run>
Relocated collect(Run run) {
  Relocated result;
  Ledger ledger([&](const LedgerRow& row) { result.rows.push_back(row); });
  const SectionSink sink = [&](const SectionContent& content) -> Result<void> {
    result.sections[content.request].assign(content.bytes.begin(), content.bytes.end());
    return {};
  };
  if (const auto done = run(ledger, sink); !done) FAIL(to_sentence(done.error()));
  result.counts = ledger;
  return result;
}

}  // namespace

Relocated relocated(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses) {
  return collect([&](Ledger& ledger, const SectionSink& sink) {
    return relocate(kbins, plan, addresses, ledger, sink);
  });
}

Relocated relocated_bound(std::span<const Kbin> kbins, Plan& plan, Addresses& addresses,
                          std::uint64_t shift) {
  const auto added = plan_bound_rings(kbins, plan);
  REQUIRE(added);
  const Addresses all = made_up_addresses(plan, shift);
  while (addresses.sections.size() < plan.requests.size()) {
    addresses.sections.push_back(all.sections[addresses.sections.size()]);
  }
  return collect([&](Ledger& ledger, const SectionSink& sink) -> Result<void> {
    NEFFLD_TRY(relocate_bound(kbins, plan, addresses, ledger, sink));
    return relocate_pointers(kbins, plan, addresses, ledger, sink);
  });
}

Plan planned(std::span<const Kbin> kbins, const PlanOptions& options) {
  auto plan = plan_model(kbins, options);
  if (!plan) FAIL(to_sentence(plan.error()));
  return std::move(*plan);
}

std::uint32_t request_of(const Plan& plan, std::string_view owner, std::uint32_t core) {
  for (std::uint32_t i = 0; i < plan.requests.size(); ++i) {
    if (plan.requests[i].owner == owner && plan.requests[i].core == core) return i;
  }
  FAIL("no request is called " << owner << " on core " << core);
  return 0;
}

std::vector<std::string> owners(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Request& request : plan.requests) {
    lines.push_back(plan.kbins.size() == 1 ? request.owner
                                           : fmt::format("{} @{}", request.owner, request.core));
  }
  return lines;
}

SampleModel sample_model(std::string_view name) {
  auto file = sample::pack(sample::make_sample(name));
  if (!file) FAIL(to_sentence(file.error()));
  SampleModel model;
  model.file = std::move(*file);
  auto parsed = parse_model(model.file, Arch::any);
  if (!parsed) FAIL(std::string(name) + ": " + to_sentence(parsed.error()));
  model.parsed = std::move(*parsed);
  return model;
}

std::vector<std::string> loadable_samples() {
  std::vector<std::string> names;
  for (const auto& entry : sample::catalogue()) {
    if (entry.name != "scale" && entry.name != "refused-v3") names.emplace_back(entry.name);
  }
  return names;
}

void check_error(const Error& error, const Expected& expected) {
  INFO("found: " << to_sentence(error));
  CHECK(error.where.member == expected.member);
  CHECK(error.where.path == expected.path);
  CHECK(error.where.record == expected.record);
  CHECK(error.text.find(expected.text) != std::string::npos);
  CHECK(error.status == expected.status);
}

}  // namespace neffld::test
