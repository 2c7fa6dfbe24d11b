// SPDX-License-Identifier: MIT
#include "core_resources.hpp"

#include <algorithm>

namespace neffld {
namespace {

void keep_first_error(Result<void>& first, Result<void> next) {
  if (first && !next) first = std::move(next);
}

}  // namespace

std::vector<CoreState> CoreResources::states(std::uint32_t cores) const {
  std::vector<CoreState> states(cores);
  for (const auto& [number, core] : cores_) {
    if (number >= cores) continue;
    states[number] = {!core.exec.empty(),
                      static_cast<std::uint32_t>(core.pages.size()),
                      core.pages.empty() ? 0 : core.pages.front().size,
                      !core.pages.empty() && core.contiguous,
                      {}};
    for (const SharedLibrary& library : core.libraries) {
      states[number].libraries.push_back(library.id);
    }
  }
  return states;
}

std::vector<std::uint64_t> CoreResources::page_addresses(std::uint32_t core) const {
  std::vector<std::uint64_t> addresses;
  if (const auto found = cores_.find(core); found != cores_.end()) {
    for (const DeviceMemory& page : found->second.pages) addresses.push_back(page.pa);
  }
  return addresses;
}

void CoreResources::retain(const Plan& plan, std::span<const DeviceMemory> by_request) {
  std::map<std::uint32_t, Core> next = cores_;
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const Request& request = plan.requests[i];
    if (!request.shared) continue;
    Core& core = next[request.core];
    if (request.kind == SectionKind::scratchpad_page) {
      core.contiguous = plan.scratchpad.contiguous;
      core.pages.push_back(by_request[i]);
      core.page_users.push_back(0);
    } else if (request.kind != SectionKind::ucode_libraries &&
               request.kind != SectionKind::ucode_table) {
      core.exec.push_back(by_request[i]);
    }
  }
  for (std::size_t i = 0; i < plan.kbins.size(); ++i) {
    Core& core = next[plan.kbins[i].core];
    ++core.models;
    for (std::uint32_t page = 0; page < plan.scratchpad.cores[i].pages; ++page)
      ++core.page_users[page];
    const auto& libraries = plan.kbins[i].libraries;
    if (libraries && libraries->shared) retain_library(core, *libraries, by_request);
  }
  cores_.swap(next);
}

void CoreResources::retain_library(Core& core, const LibrarySetPlan& plan,
                                   std::span<const DeviceMemory> by_request) {
  if (plan.first) {
    core.libraries.push_back(
        {*plan.shared, {by_request[*plan.first], by_request[*plan.first + 1]}, 0});
  }
  for (SharedLibrary& library : core.libraries) {
    if (library.id == *plan.shared) ++library.users;
  }
}

Result<void> CoreResources::release_library(Core& core, const LibraryId& id) {
  const auto found = std::find_if(core.libraries.begin(), core.libraries.end(),
                                  [&](const SharedLibrary& library) { return library.id == id; });
  if (found == core.libraries.end() || --found->users > 0) return {};
  const std::array<DeviceMemory, 2> memory = found->memory;
  core.libraries.erase(found);
  Result<void> first;
  keep_first_error(first, guarded([&] { return calls_->give_back(memory[1].handle); }));
  keep_first_error(first, guarded([&] { return calls_->give_back(memory[0].handle); }));
  return first;
}

Result<void> CoreResources::release(const Plan& plan) {
  Result<void> first;
  for (std::size_t i = 0; i < plan.kbins.size(); ++i) {
    Core& core = cores_[plan.kbins[i].core];
    const auto& libraries = plan.kbins[i].libraries;
    if (libraries && libraries->shared) {
      keep_first_error(first, release_library(core, *libraries->shared));
    }
    for (std::uint32_t page = 0; page < plan.scratchpad.cores[i].pages; ++page)
      --core.page_users[page];
    while (!core.page_users.empty() && core.page_users.back() == 0) {
      const std::uint64_t handle = core.pages.back().handle;
      core.pages.pop_back();
      core.page_users.pop_back();
      keep_first_error(first, guarded([&] { return calls_->give_back(handle); }));
    }
    if (--core.models > 0) continue;
    while (!core.exec.empty()) {
      const std::uint64_t handle = core.exec.back().handle;
      core.exec.pop_back();
      keep_first_error(first, guarded([&] { return calls_->give_back(handle); }));
    }
    core.queue_owner = 0;
  }
  return first;
}

std::span<const DeviceMemory> CoreResources::exec_memory(std::uint32_t core) const {
  const auto found = cores_.find(core);
  return found == cores_.end() ? std::span<const DeviceMemory>() : found->second.exec;
}

std::uint32_t CoreResources::queue_owner(std::uint32_t core) const {
  const auto found = cores_.find(core);
  return found == cores_.end() ? 0 : found->second.queue_owner;
}

void CoreResources::set_queue_owner(std::uint32_t core, std::uint32_t h_model) {
  cores_[core].queue_owner = h_model;
}

}  // namespace neffld
