// SPDX-License-Identifier: MIT
#include "neffld/auto_bind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "neffld/session.hpp"
#include "neuron_abi/address_map.h"

namespace neffld {
namespace {

constexpr std::uint64_t io_alignment = 1u << 16;

struct Taken {
  std::uint64_t first = 0, end = 0;
};

/// First fit in one HBM; addresses only ascend, so one walk serves all tensors.
class Gaps {
 public:
  Gaps(const Session& session, const ArchTable& arch, std::uint32_t hbm)
      : next_(arch.hbm_base[hbm] + NEURON_HBM_CARVEOUT_SIZE),
        end_(arch.hbm_base[hbm] + arch.hbm_size) {
    for (const auto& model : session.models()) {
      for (const AllocationInfo& info : model->allocations) {
        taken_.push_back({info.pa, info.pa + info.size});
      }
      for (const auto& [name, address] : model->addresses.io) {
        for (const auto* tensors :
             {&model->parsed.manifest.inputs, &model->parsed.manifest.outputs}) {
          const auto tensor = tensors->find(name);
          if (tensor != tensors->end()) taken_.push_back({address, address + tensor->second.size});
        }
      }
    }
    std::sort(taken_.begin(), taken_.end(),
              [](const Taken& a, const Taken& b) { return a.first < b.first; });
  }

  std::optional<std::uint64_t> take(std::uint64_t size) {
    for (;;) {
      next_ = (next_ + io_alignment - 1) / io_alignment * io_alignment;
      if (next_ >= end_ || size > end_ - next_) return std::nullopt;
      while (passed_ < taken_.size() && taken_[passed_].end <= next_) ++passed_;
      const std::uint64_t end = next_ + std::max<std::uint64_t>(size, 1);
      const auto clash =
          std::find_if(taken_.begin() + static_cast<std::ptrdiff_t>(passed_), taken_.end(),
                       [&](const Taken& taken) { return taken.first >= end || taken.end > next_; });
      if (clash == taken_.end() || clash->first >= end) break;
      next_ = clash->end;
    }
    const std::uint64_t address = next_;
    next_ += size;
    return address;
  }

 private:
  std::vector<Taken> taken_;  ///< ascending
  std::size_t passed_ = 0;    ///< of them lie before next_ for good
  std::uint64_t next_, end_;
};

}  // namespace

Result<std::map<std::string, std::uint64_t, std::less<>>> free_io_addresses(
    const Session& session, const LoadedModel& model) {
  return guarded([&]() -> Result<std::map<std::string, std::uint64_t, std::less<>>> {
    const ArchTable& arch = arch_table(model.plan.arch);
    const std::uint32_t home = model.plan.kbins.empty() ? 0 : model.plan.kbins[0].hbm;
    std::map<std::string, std::uint64_t, std::less<>> io;
    for (std::uint32_t i = 0; i < arch.hbm_count; ++i) {
      Gaps gaps(session, arch, (home + i) % arch.hbm_count);
      bool fits = true;
      for (const auto* tensors : {&model.parsed.manifest.inputs, &model.parsed.manifest.outputs}) {
        for (const auto& [name, tensor] : *tensors) {
          if (!fits || io.contains(name)) continue;
          const auto address = gaps.take(tensor.size);
          fits = address.has_value();
          if (fits) io.emplace(name, *address);
        }
      }
      if (fits) return io;
      io.clear();
    }
    return fail(Status::resource, ErrorClass::resource,
                {.member = header_name(model.parsed.header)},
                "the inputs and outputs together fit into no HBM beside what is loaded");
  });
}

}  // namespace neffld
