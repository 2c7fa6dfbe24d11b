// SPDX-License-Identifier: MIT
#include "callers.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "neffld/sim_control.hpp"
#include "neuron_abi/udma.h"

namespace neffld::test {

Callers::Callers(const Playground& playground, Choices& choices, std::int32_t first_id)
    : playground_(playground),
      choices_(choices),
      buffers_(0x100000000ull),
      first_id_(first_id),
      world_(playground.world()) {
  handles_ = {world_.first, world_.second, world_.ring, 0};
  addresses_ = {world_.pa, world_.engine_window};
}

void Callers::leave() {
  for (auto& process : files_) process.clear();
}

void Callers::turn() {
  const std::size_t process = choices_.below(processes);
  Files& files = files_[process];
  switch (choices_.below(64)) {
    case 0:
      files.clear();  // the process exits
      return;
    case 1:
      if (!files.empty()) files.erase(files.begin() + static_cast<long>(any(files.size())));
      return;
    case 2:
    case 3:
    case 4:
      return open(process);
    case 5:
      return share(process);
    case 6:
      return map(process);
    case 7:
      return furnish(process);
    default:
      break;
  }
  if (files.empty()) return open(process);
  call(*files[any(files.size())]);
}

void Callers::open(std::size_t process) {
  if (files_[process].size() >= descriptors_each) return;
  std::unique_ptr<DeviceFile> file;
  const auto access = static_cast<Access>(choices_.one_in(8) ? choices_.below(4) : 2);
  note(sim_open_as(playground_.device(), id(process), access, file));
  if (file != nullptr) files_[process].push_back(std::move(file));
}

void Callers::share(std::size_t from) {
  const std::size_t to = choices_.below(processes);
  if (files_[from].empty() || files_[to].size() >= descriptors_each) return;
  std::unique_ptr<DeviceFile> file;
  note(sim_share(*files_[from][any(files_[from].size())], id(to), file));
  if (file != nullptr) files_[to].push_back(std::move(file));
}

void Callers::map(std::size_t process) {
  if (files_[process].empty()) return;
  DeviceFile& file = *files_[process].front();
  const std::uint64_t length = (1 + choices_.below(16)) << (choices_.one_in(2) ? 12 : 16);
  const auto mapped = file.mmap(address() & ~0xFFFull, length, true);
  note(mapped.has_value());
  if (!mapped) return;
  auto* bytes = static_cast<volatile std::uint8_t*>(*mapped);
  bytes[choices_.below(length)] = static_cast<std::uint8_t>(choices_.next());
  bytes[length - 1] = bytes[0];
  file.munmap(*mapped, length);
}

void Callers::furnish(std::size_t process) {
  if (files_[process].empty()) return;
  DeviceFile& file = *files_[process].front();
  std::uint64_t handle = 0, pa = 0;
  neuron_mem_alloc_v2mt64 request{};
  request.size = 0x1000ull << choices_.below(5);
  request.host_memory = choices_.one_in(4) ? 1 : 0;
  request.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
  note(file.ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &request));
  neuron_mem_get_pa get{handle, reinterpret_cast<std::uintptr_t>(&pa)};
  if (handle == 0 || file.ioctl(NEURON_IOCTL_MEM_GET_PA, &get) != 0) return;
  learn(handles_, handle);
  learn(addresses_, pa);
  std::vector<neuron_udma_tx_desc> ring(64);
  for (neuron_udma_tx_desc& descriptor : ring) {
    descriptor.len_ctrl = static_cast<std::uint32_t>(4 << choices_.below(8));
    descriptor.buf_ptr = address();
  }
  if (choices_.one_in(8)) ring[choices_.below(4)].buf_ptr = queue_register();
  neuron_mem_buf_copy64 copy{handle, reinterpret_cast<std::uintptr_t>(ring.data()),
                             ring.size() * sizeof ring[0], 0, 1};
  note(file.ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &copy));
  neuron_dma_queue_init init{2, 3, 64, 64, handle, handles_[any(handles_.size())], 0, 0};
  note(file.ioctl(NEURON_IOCTL_DMA_QUEUE_INIT, &init));
}

std::uint64_t Callers::queue_register() {
  const bool v2 = playground_.profile().architecture == 2;
  const std::uint64_t base = v2 ? neuron_v2_dma_engine(2) : neuron_v3_dma_engine(2);
  const auto reg = static_cast<std::uint32_t>(choices_.below(0x40) * 4);
  return base +
         (choices_.one_in(2) ? neuron_udma_tx_register(3, reg) : neuron_udma_rx_register(3, reg));
}

void Callers::call(DeviceFile& file) {
  const auto table = shim::all_commands();
  const shim::CommandInfo& info = table[choices_.below(table.size())];
  if (info.value == NEURON_IOCTL_HBM_SCRUB_START && !choices_.one_in(50)) return;
  Argument argument = sensible(info, world_, buffers_);
  argument.resize(std::max<std::size_t>(argument.size(), sizeof(neuron_dma_queue_init_batch)));
  mutate(info, argument);
  std::uint32_t command = info.value;
  if (choices_.one_in(64)) command ^= 1u << choices_.below(32);
  // Another command would take a number of this one for a pointer into this program.
  if (command != info.value && is_served(command, playground_.profile())) return;
  void* place = argument.data();
  if (choices_.one_in(64)) {
    place = reinterpret_cast<void*>(static_cast<std::uintptr_t>(bad_pointer()));
  }
  if (choices_.one_in(256)) buffers_.fill();
  const int result = file.ioctl(command, place);
  note(result);
  if (result != 0 || place != argument.data()) return;
  accepted_++;
  std::uint64_t value = 0;
  std::memcpy(&value, buffers_.at(0), sizeof value);
  const std::string_view name = info.name;
  if (name.starts_with("MEM_ALLOC")) learn(handles_, value);
  if (name == "MEM_GET_PA") learn(addresses_, value);
}

void Callers::mutate(const shim::CommandInfo& info, Argument& argument) {
  for (const shim::CommandField& field : info.fields) {
    if (field.bytes > 8 || field.reply) continue;
    const std::string_view name = field.name;
    const bool is_handle = name.ends_with("handle") && field.bytes == 8;
    if (is_handle && choices_.one_in(2)) {
      shim::set_field(argument, field.offset, 8, handles_[any(handles_.size())]);
    } else if (name == "offset" && std::string_view(info.name).starts_with("PROGRAM_ENGINE")) {
      // It moves the source pointer too, which must stay in the buffer or the hole behind it.
      shim::set_field(argument, field.offset, field.bytes, choices_.below(2 * Buffers::bytes));
    } else if (choices_.one_in(6)) {
      // A random pointer must not hit memory of this program: the device would write there.
      const bool pointer = field.kind == shim::FieldKind::pointer;
      shim::set_field(argument, field.offset, field.bytes, pointer ? bad_pointer() : word());
    }
  }
}

std::uint64_t Callers::bad_pointer() {
  switch (choices_.below(4)) {
    case 0:
      return 0;
    case 1:
      return 8 * choices_.below(512);
    case 2:
      return 0xFFFF800000000000ull | choices_.below(1ull << 40);
    default:
      return ~choices_.below(4096);
  }
}

std::uint64_t Callers::word() {
  switch (choices_.below(10)) {
    case 0:
    case 1:
    case 2:
      return choices_.below(8);
    case 3:
      return choices_.below(64);
    case 4:
      return choices_.below(0x10000) << 12;
    case 5:
      return 0 - choices_.below(0x10000);
    case 6:
      return address();
    case 7:
      return 1ull << choices_.below(44);
    default:
      return 0xFFFF000000000000ull | choices_.next();
  }
}

void Callers::learn(std::vector<std::uint64_t>& known, std::uint64_t value) {
  if (known.size() < known_handles) return known.push_back(value);
  known[any(known.size())] = value;
}

}  // namespace neffld::test
