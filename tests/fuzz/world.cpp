// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "neuron_abi/udma.h"

namespace neffld::test {
namespace {

constexpr std::uint32_t engine = 2, queue = 3, descriptors = 64;
constexpr std::uint64_t chunk_bytes = 0x10000;

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// A test cannot go on without it.
void must(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "the simulated device refused: {}\n", what);
  std::abort();
}

/// The sensible value of a field by its name; fields that are not here are 0.
std::uint64_t value_of(const shim::CommandInfo& info, std::string_view field, const World& world) {
  const std::string_view command = info.name;
  if (field == "size" && command.starts_with("NOTIFICATIONS")) return 4096;
  if (field == "state") return command == "DMA_ENG_SET_STATE" ? 2 : 1;
  if (field == "count") return 1;
  if (command == "MEM_FREE") return world.spare;
  if (field == "tx_desc_count" || field == "rx_desc_count") {
    return command == "DMA_QUEUE_COPY_START" ? 1 : descriptors;
  }
  const std::map<std::string_view, std::uint64_t> values = {{"mem_handle", world.first},
                                                            {"src_mem_handle", world.first},
                                                            {"dst_mem_handle", world.second},
                                                            {"tx_handle", world.ring},
                                                            {"rx_handle", world.ring},
                                                            {"size", 64},
                                                            {"data_size", 64},
                                                            {"nc_count", 1},
                                                            {"sz", info.bytes},
                                                            {"capacity", 1},
                                                            {"num_descs", 1},
                                                            {"num_entries_in", 64},
                                                            {"max_map_entries", 1},
                                                            {"eng_id", engine},
                                                            {"qid", queue},
                                                            {"pa", world.pa},
                                                            {"dst", world.engine_window},
                                                            {"nc_map", 1},
                                                            {"copy_to_mem_handle", 1},
                                                            {"is_copy_to_device", 1},
                                                            {"h2t_qid", 0xFFFFFFFF},
                                                            {"mem_type", NEURON_MEM_TENSORS_DEVICE},
                                                            {"end_nc_index", 1}};
  const auto found = values.find(field);
  return found == values.end() ? 0 : found->second;
}

}  // namespace

std::string Profile::name() const {
  return fmt::format("v{} 2.{}{}", architecture, driver_minor, clean ? " clean" : "");
}

std::uint32_t first_minor(const shim::CommandInfo& info) {
  switch (info.value) {
    case NEURON_IOCTL_MEM_ALLOC_V2MT64_PA:
    case NEURON_IOCTL_MEM_COPY64_V30:
      return 30;
    case NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V27:
      return 27;
    case NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V30:
      return 30;
    default:
      return 24;
  }
}

bool is_served(std::uint32_t value, const Profile& profile) {
  const std::uint32_t size = NEURON_IOCTL_SIZE_OF(value);
  switch (NEURON_IOCTL_NR(value)) {
    case NEURON_IOCTL_NR(NEURON_IOCTL_DRIVER_INFO_GET):
      return NEURON_IOCTL_DIR_OF(value) == NEURON_IOCTL_DIR_WRITE ||
             (NEURON_IOCTL_DIR_OF(value) == NEURON_IOCTL_DIR_READ &&
              size >= sizeof(neuron_driver_info));
    case NEURON_IOCTL_NR(NEURON_IOCTL_MEM_MC_GET_INFO):
      return size == sizeof(neuron_mem_mc_get_info) || size == sizeof(neuron_mem_mc_get_info_v2);
    case NEURON_IOCTL_NR(NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP):
      return size == sizeof(neuron_host_device_id_to_rid_map);
    case NEURON_IOCTL_NR(NEURON_IOCTL_MEM_BUF_ZEROCOPY64):
      if (profile.driver_minor == 24) return true;
      break;
    default:
      break;
  }
  for (const shim::CommandInfo& info : shim::all_commands()) {
    if (info.value == value) return first_minor(info) <= profile.driver_minor;
  }
  return false;
}

Buffers::Buffers(std::uint64_t bar_address) : bar_address_(bar_address) {
  void* map = mmap(nullptr, count * 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(map != MAP_FAILED, "memory");
  memory_ = static_cast<std::uint8_t*>(map);
  for (std::size_t i = 0; i < count; ++i) mprotect(at(i), bytes, PROT_READ | PROT_WRITE);
  fill();
}

Buffers::~Buffers() {
  munmap(memory_, count * 2 * bytes);
}

void Buffers::fill() {
  for (std::size_t index = 0; index < count; ++index) {
    for (std::size_t i = 0; i < bytes; i += 8) std::memcpy(at(index) + i, &bar_address_, 8);
  }
}

Argument sensible(const shim::CommandInfo& info, const World& world, Buffers& buffers) {
  Argument argument(info.bytes);
  shim::for_each_field(
      info, argument, [&](const shim::CommandField& field, std::uint32_t offset, int record) {
        if (record >= 0 || field.bytes > 8) return;
        shim::set_field(argument, offset, field.bytes, value_of(info, field.name, world));
      });
  for (std::uint32_t record = 0; record < info.records(argument); ++record) {
    for (const shim::CommandField& field : info.repeat.fields) {
      if (info.repeat.behind || field.bytes > 8) continue;
      shim::set_field(argument, info.repeat.offset + record * info.repeat.stride + field.offset,
                      field.bytes, value_of(info, field.name, world));
    }
  }
  for (std::size_t i = 0; i < info.pointers.size(); ++i) {
    shim::set_field(argument, info.pointers[i].offset, 8, address_of(buffers.at(i)));
  }
  // Pointers that the table does not know the length of.
  for (const shim::CommandField& field : info.fields) {
    if (field.kind != shim::FieldKind::pointer) continue;
    if (shim::field_value(argument, field.offset, 8) == 0) {
      shim::set_field(argument, field.offset, 8, address_of(buffers.at(3)));
    }
  }
  argument.resize(info.argument_bytes(argument));
  return argument;
}

Playground::Playground(const Profile& profile) : profile_(profile) {
  SimOptions options;
  options.architecture = profile.architecture;
  options.hbm_bytes = hbm_bytes;
  options.driver_minor = profile.driver_minor;
  options.clean_errors = profile.clean;
  auto device = SimDevice::create(options);
  must(device.has_value(), "to be made");
  device_ = std::move(*device);
  at_first_ = device_->counters();
  host_bytes_at_first_ = sim_live_host_bytes(*device_);
  owner_ = open(owner_id);
  observer_ = open(owner_id + 1);
  world_.first = allocate(*owner_, chunk_bytes);
  world_.second = allocate(*owner_, chunk_bytes);
  world_.ring = allocate(*owner_, chunk_bytes);
  neuron_mem_get_pa get{world_.first, address_of(&world_.pa)};
  must(owner_->ioctl(NEURON_IOCTL_MEM_GET_PA, &get) == 0, "MEM_GET_PA");
  world_.engine_window = profile.architecture == 2 ? neuron_v2_tpb_base(0) : neuron_v3_tpb_base(0);
  neuron_device_info info{};
  must(owner_->ioctl(NEURON_IOCTL_DEVICE_INFO, &info) == 0, "DEVICE_INFO");
  buffers_ = std::make_unique<Buffers>(info.bar_address[0]);
  restore();
}

std::unique_ptr<DeviceFile> Playground::open(std::int32_t process, Access access) const {
  std::unique_ptr<DeviceFile> file;
  must(sim_open_as(*device_, process, access, file) == 0, "open");
  return file;
}

std::uint64_t Playground::allocate(DeviceFile& file, std::uint64_t size, bool host) const {
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 request{};
  request.size = size;
  request.host_memory = host ? 1 : 0;
  request.mem_type = host ? NEURON_MEM_TENSORS_HOST : NEURON_MEM_TENSORS_DEVICE;
  request.mem_handle_ptr = address_of(&handle);
  must(file.ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &request) == 0, "MEM_ALLOC_V2MT64");
  return handle;
}

void Playground::restore() {
  reset();
  program_queue();
  neuron_mem_get_extended_info info{};
  info.mem_handle = world_.spare;
  if (owner_->ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) == 0) return;
  world_.spare = allocate(*owner_, NEURON_PAGE_SIZE);
}

void Playground::program_queue() const {
  neuron_dma_queue_init init{engine,      queue,       descriptors, descriptors,
                             world_.ring, world_.ring, 0,           0};
  must(owner_->ioctl(NEURON_IOCTL_DMA_QUEUE_INIT, &init) == 0, "DMA_QUEUE_INIT");
  // The ring serves both sides, so each descriptor copies 64 bytes onto themselves.
  std::vector<neuron_udma_tx_desc> ring(descriptors, {64, 0, world_.pa});
  neuron_mem_buf_copy64 copy{world_.ring, address_of(ring.data()),
                             ring.size() * sizeof(neuron_udma_tx_desc), 0, 1};
  must(owner_->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &copy) == 0, "MEM_BUF_COPY64");
}

void Playground::reset() const {
  neuron_nc_reset request{NEURON_NC_RESET_WHOLE_DEVICE, 0};
  must(observer_->ioctl(NEURON_IOCTL_NC_RESET, &request) == 0, "NC_RESET");
  neuron_nc_reset_ready ready{request.request_id, 0};
  must(observer_->ioctl(NEURON_IOCTL_NC_RESET_READY, &ready) == 0, "NC_RESET_READY");
}

bool Playground::abandon() {
  reset();
  owner_.reset();
  observer_.reset();
  const SimDevice::Counters now = device_->counters();
  const std::uint64_t host_bytes = sim_live_host_bytes(*device_);
  const std::uint64_t carveouts = profile_.architecture == 2 ? 2 : 4;
  if (now.live_handles <= at_first_.live_handles + carveouts &&
      now.live_device_bytes == at_first_.live_device_bytes && host_bytes == host_bytes_at_first_) {
    return true;
  }
  fmt::print("left behind: {} handles, {} device bytes, {} host bytes; at first {}, {}, {}\n",
             now.live_handles, now.live_device_bytes, host_bytes, at_first_.live_handles,
             at_first_.live_device_bytes, host_bytes_at_first_);
  return false;
}

bool Playground::State::operator==(const State& other) const {
  return counters.live_handles == other.counters.live_handles &&
         counters.live_device_bytes == other.counters.live_device_bytes && words == other.words;
}

Playground::State Playground::state() const {
  State state;
  state.counters = device_->counters();
  auto& words = state.words;
  words.push_back(static_cast<std::uint32_t>(sim_live_host_bytes(*device_)));
  neuron_cinit_set_state core{};  // state 0 changes nothing
  observer_->ioctl(NEURON_IOCTL_CINIT_SET_STATE, &core);
  words.push_back(core.new_state);
  for (std::uint32_t index = 0; index < 2; ++index) {
    neuron_semaphore semaphore{0, index, 0};
    observer_->ioctl(NEURON_IOCTL_SEMAPHORE_READ, &semaphore);
    neuron_event event{0, index, 0};
    observer_->ioctl(NEURON_IOCTL_EVENT_GET, &event);
    words.insert(words.end(), {semaphore.value, event.value});
  }
  neuron_dma_queue_state sides[2]{};
  neuron_dma_queue_get_state get{engine, queue, address_of(&sides[0]), address_of(&sides[1])};
  observer_->ioctl(NEURON_IOCTL_DMA_QUEUE_GET_STATE, &get);
  for (const neuron_dma_queue_state& side : sides) {
    words.insert(words.end(), {static_cast<std::uint32_t>(side.base_addr), side.length,
                               side.head_pointer, side.tail_pointer});
  }
  // All cores can be marked only if nobody has marked one.
  const std::uint32_t cores = profile_.architecture == 2 ? 2 : 8;
  neuron_crwl_nc_map marks{cores, 0, cores - 1, 0, 0};
  words.push_back(
      static_cast<std::uint32_t>(observer_->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK, &marks)));
  observer_->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, &marks);
  return state;
}

}  // namespace neffld::test
