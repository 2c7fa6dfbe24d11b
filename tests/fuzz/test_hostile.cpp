// SPDX-License-Identifier: MIT
// Every command of the table against hostile callers: sizes it does not have, user memory that is
// not there, extreme numbers, handles that are not theirs or not any more. The answer is a defined
// error and nothing has changed.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "guarded_buffer.hpp"
#include "neuron_abi/udma.h"
#include "world.hpp"

using namespace neffld;
using namespace neffld::test;
using shim::CommandField;
using shim::CommandInfo;
using shim::FieldKind;

namespace {

constexpr std::int32_t caller_id = 2000;
constexpr int kernel_enotsupp = 524;

const std::array<Profile, 5> profiles = {
    Profile{3, 24, false}, {2, 24, false}, {3, 27, true}, {2, 30, false}, {3, 30, true}};

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

bool is(const CommandInfo& info, std::initializer_list<std::uint32_t> commands) {
  return std::find(commands.begin(), commands.end(), info.value) != commands.end();
}

/// A page of `bytes` the caller may read but not write.
class ReadOnly {
 public:
  explicit ReadOnly(Bytes bytes) : size_(bytes.size() + 1) {
    map_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(map_ != MAP_FAILED);
    std::copy(bytes.begin(), bytes.end(), static_cast<std::uint8_t*>(map_));
    mprotect(map_, size_, PROT_READ);
  }
  ~ReadOnly() { munmap(map_, size_); }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  void* data() const { return map_; }

 private:
  std::size_t size_;
  void* map_;
};

/// Commands that never look at their argument.
bool ignores_argument(const CommandInfo& info) {
  return is(info, {NEURON_IOCTL_DEVICE_RESET, NEURON_IOCTL_DEVICE_INIT, NEURON_IOCTL_DEVICE_RELEASE,
                   NEURON_IOCTL_DRIVER_INFO_SET, NEURON_IOCTL_DMA_ENG_INIT,
                   NEURON_IOCTL_DMA_QUEUE_RELEASE, NEURON_IOCTL_DMA_QUIESCE_QUEUES,
                   NEURON_IOCTL_NOTIFICATIONS_DESTROY_V1, NEURON_IOCTL_NOTIFICATIONS_QUEUE_INFO});
}

/// Commands whose call changes what Playground::state() sees.
bool writes_reply(const CommandInfo& info) {
  if (ignores_argument(info) || is(info, {NEURON_IOCTL_RELEASE_NEURON_DS})) return false;
  return std::any_of(info.fields.begin(), info.fields.end(),
                     [](const CommandField& field) { return field.reply; });
}

/// What a command answers to the argument of sensible(), where that is not 0.
int sensible_result(const CommandInfo& info, const Profile& profile) {
  const std::map<std::uint32_t, int> others = {
      {NEURON_IOCTL_DRIVER_INFO_SET, -kernel_enotsupp},
      {NEURON_IOCTL_DMA_QUIESCE_QUEUES, -ENOTTY},
      {NEURON_IOCTL_NOTIFICATIONS_QUEUE_INFO, -EPERM},
      {NEURON_IOCTL_CRWL_READER_ENTER, -ENOENT},      // no writer before
      {NEURON_IOCTL_CRWL_READER_EXIT, -ENOENT},       // no reader
      {NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, -ENOENT},  // no writer
      {NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, -EINVAL},    // no copy in flight
      {NEURON_IOCTL_DMABUF_FD, -EINVAL},              // not an address of a mapping
  };
  if (info.value == NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP && profile.architecture == 2) {
    return -kernel_enotsupp;
  }
  const auto found = others.find(info.value);
  return found == others.end() ? 0 : found->second;
}

/// The answer to user memory that is not there: `residue` bytes were not copied.
bool is_fault(const CommandInfo& info, int result, std::uint64_t residue, const Profile& profile) {
  if (is(info, {NEURON_IOCTL_MEM_ALLOC, NEURON_IOCTL_DMA_QUEUE_INIT,
                NEURON_IOCTL_DMA_QUEUE_INIT_BATCH})) {
    return result == -EACCES;
  }
  if (profile.clean) return result == -EFAULT;
  return result > 0 && static_cast<std::uint64_t>(result) <= residue;
}

/// Every errno the table of spec 06 knows.
bool is_defined(int result, const Profile& profile) {
  static const std::set<int> errnos = {EPERM,  ENOENT, EAGAIN,  ENOMEM,   EACCES,
                                       EFAULT, EBUSY,  EINVAL,  ENOTTY,   EFBIG,
                                       ENOSYS, E2BIG,  EBADMSG, EALREADY, kernel_enotsupp};
  return result > 0 ? !profile.clean : result == 0 || errnos.contains(-result);
}

/// Bytes of the argument the driver reads or writes.
std::uint64_t argument_bytes(const CommandInfo& info, const Profile& profile) {
  const bool prefix =
      profile.driver_minor == 24 &&
      NEURON_IOCTL_NR(info.value) == NEURON_IOCTL_NR(NEURON_IOCTL_MEM_BUF_ZEROCOPY64);
  return prefix ? sizeof(neuron_mem_buf_copy64) : info.bytes;
}

/// Calls `check(playground, info)` for each command of each profile, on a device of its own, and
/// looks afterwards whether everything the calls took has come back.
template <class Check>
void for_each_command(Check check) {
  for (const Profile& profile : profiles) {
    Playground playground(profile);
    const Playground::State start = playground.state();
    for (const CommandInfo& info : shim::all_commands()) {
      if (first_minor(info) > profile.driver_minor) continue;
      CAPTURE(profile.name(), info.name);
      playground.buffers().fill();
      check(playground, info);
      // Marks go with a write-only file.
      playground.open(caller_id, Access::write_only);
      playground.restore();
      CHECK(playground.state() == start);
    }
  }
}

/// One call by a process of its own, which then exits.
int call_once(const Playground& playground, const CommandInfo& info, void* argument) {
  return playground.open(caller_id)->ioctl(info.value, argument);
}

/// A call that must fault and change nothing, not even until its process exits.
template <class Call>
void check_fault(const Playground& playground, const CommandInfo& info, std::uint64_t residue,
                 Call call) {
  const auto process = playground.open(caller_id);
  const Playground::State before = playground.state();
  const int result = call(*process);
  CAPTURE(result, residue);
  CHECK(is_fault(info, result, residue, playground.profile()));
  CHECK(playground.state() == before);
}

}  // namespace

TEST_CASE("every command has a call that it takes, and no command is a silent yes") {
  for_each_command([](Playground& playground, const CommandInfo& info) {
    Argument argument = sensible(info, playground.world(), playground.buffers());
    CHECK(call_once(playground, info, argument.data()) ==
          sensible_result(info, playground.profile()));
  });
}

TEST_CASE("values that are no command of the generation are refused unseen") {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 0; size < 120; ++size) sizes.push_back(size);
  sizes.insert(sizes.end(), {256, 260, 264, 268, 272, 276, 512, 4096, 12288, 12296, 12304, 16383});
  for (const Profile& profile : profiles) {
    CAPTURE(profile.name());
    const Playground playground(profile);
    const auto process = playground.open(caller_id);
    const Playground::State before = playground.state();
    std::vector<std::uint8_t> argument(16384, 0xAA);
    std::vector<std::uint32_t> wrong;
    for (std::uint32_t number = 0; number < 256; ++number) {
      for (const std::uint32_t size : sizes) {
        for (std::uint32_t direction = 0; direction < 4; ++direction) {
          for (const std::uint32_t type : {0x4Eu, 0x4Fu, 0u}) {
            const std::uint32_t value = direction << 30 | size << 16 | type << 8 | number;
            if (is_served(value, profile)) continue;
            if (process->ioctl(value, argument.data()) != -EINVAL) wrong.push_back(value);
          }
        }
      }
    }
    CHECK(wrong.empty());
    CHECK(std::count(argument.begin(), argument.end(), 0xAA) == 16384);
    CHECK(playground.state() == before);
  }
}

TEST_CASE("an argument that is not there is a fault without effect") {
  shim::GuardedBuffer guarded;
  const std::uint64_t unmapped = *guarded.unmapped();
  for_each_command([&](Playground& playground, const CommandInfo& info) {
    if (ignores_argument(info)) return;
    const std::uint64_t residue = argument_bytes(info, playground.profile());
    for (const std::uint64_t bad :
         {std::uint64_t{0}, std::uint64_t{8}, unmapped, std::uint64_t{0xFFFF888000001000},
          std::uint64_t{0x8000000000000000}, ~std::uint64_t{7}, ~std::uint64_t{0}}) {
      CAPTURE(bad);
      check_fault(playground, info, residue, [&](DeviceFile& file) {
        return file.ioctl(info.value, reinterpret_cast<void*>(static_cast<std::uintptr_t>(bad)));
      });
    }
  });
}

TEST_CASE("an argument that cannot be written is a fault without effect") {
  for_each_command([](Playground& playground, const CommandInfo& info) {
    const Argument argument = sensible(info, playground.world(), playground.buffers());
    const ReadOnly read_only(argument);
    if (!writes_reply(info)) {
      CHECK(call_once(playground, info, read_only.data()) ==
            sensible_result(info, playground.profile()));
      return;
    }
    if (sensible_result(info, playground.profile()) != 0) return;
    check_fault(playground, info, info.bytes,
                [&](DeviceFile& file) { return file.ioctl(info.value, read_only.data()); });
  });
}

TEST_CASE("an argument may end where memory ends, and not a byte later") {
  shim::GuardedBuffer guarded;
  for_each_command([&](Playground& playground, const CommandInfo& info) {
    if (ignores_argument(info)) return;
    const Argument argument = sensible(info, playground.world(), playground.buffers());
    MutableBytes exact = *guarded.zeros(argument.size());
    std::copy(argument.begin(), argument.end(), exact.begin());
    CHECK(call_once(playground, info, exact.data()) == sensible_result(info, playground.profile()));
    playground.buffers().fill();
    const std::uint64_t whole = argument_bytes(info, playground.profile());
    for (const std::uint64_t missing : {std::uint64_t{1}, (whole + 1) / 2}) {
      MutableBytes cut = *guarded.zeros(whole - missing);
      std::copy_n(argument.begin(), cut.size(), cut.begin());
      check_fault(playground, info, missing,
                  [&](DeviceFile& file) { return file.ioctl(info.value, cut.data()); });
    }
  });
}

TEST_CASE("user memory behind a pointer that is not there is a fault without effect") {
  shim::GuardedBuffer guarded;
  const std::uint64_t unmapped = *guarded.unmapped();
  const std::vector<std::uint8_t> zeros(Buffers::bytes);
  const ReadOnly read_only(zeros);
  for_each_command([&](Playground& playground, const CommandInfo& info) {
    const Profile& profile = playground.profile();
    if (sensible_result(info, profile) != 0) return;
    for (const shim::PointerRule& rule : info.pointers) {
      Argument argument = sensible(info, playground.world(), playground.buffers());
      const std::uint64_t room = rule.room.of(argument);
      const bool sent = rule.direction.is_sent(argument);
      std::vector<std::uint64_t> bad = {8, unmapped, unmapped - 1, 0xFFFF888000001000,
                                        ~std::uint64_t{7}};
      // A null pointer for the offset means that nobody wants it (spec 11 B.1).
      const bool may_be_null = info.value == NEURON_IOCTL_MEM_GET_INFO && rule.offset == 8;
      if (!may_be_null) bad.push_back(0);
      if (!sent) bad.push_back(address_of(read_only.data()));
      for (const std::uint64_t pointer : bad) {
        CAPTURE(pointer, rule.offset);
        shim::set_field(argument, rule.offset, 8, pointer);
        const auto process = playground.open(caller_id);
        const Playground::State before = playground.state();
        const int result = process->ioctl(info.value, argument.data());
        CAPTURE(result);
        const bool pins_pages =
            NEURON_IOCTL_NR(info.value) == NEURON_IOCTL_NR(NEURON_IOCTL_MEM_BUF_ZEROCOPY64);
        if (pins_pages) {
          CHECK(result == -ENOMEM);
        } else if (profile.clean) {
          CHECK(result == -EFAULT);
        } else {
          CHECK(result > 0);
          CHECK(static_cast<std::uint64_t>(result) <= room);
        }
        CHECK(playground.state() == before);
      }
    }
  });
}

TEST_CASE("extreme numbers get a defined answer and leave nothing behind") {
  const std::array<std::uint64_t, 12> extremes = {
      0x7FFFFFFF,         0x80000000,         0xFFFFF000,    0xFFFFFFFF, 0x100000000, 0x100000040,
      0x7FFFFFFFFFFFFFFF, 0x8000000000000000, ~0ull - 0xFFF, ~0ull - 63, ~0ull - 7,   ~0ull};
  for_each_command([&](Playground& playground, const CommandInfo& info) {
    const Argument good = sensible(info, playground.world(), playground.buffers());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
    shim::for_each_field(info, good,
                         [&](const CommandField& field, std::uint32_t offset, int record) {
                           const bool inside = offset + field.bytes <= good.size();
                           if (field.kind == FieldKind::pointer || field.reply || !inside) return;
                           if (record <= 0 && field.bytes >= 2 && field.bytes <= 8) {
                             places.emplace_back(offset, field.bytes);
                           }
                         });
    for (const auto& [offset, bytes] : places) {
      for (const std::uint64_t extreme : extremes) {
        Argument argument = good;
        // What a count promises must not be read behind the end of the argument.
        argument.resize(
            std::max<std::size_t>(argument.size(), sizeof(neuron_dma_queue_init_batch)));
        shim::set_field(argument, offset, bytes, extreme);
        for (const shim::PointerRule& rule : info.pointers) {
          // A field that moves the source pointer as well must not move it into this program.
          if (rule.skip.width == 0 || rule.skip.offset != offset) continue;
          shim::set_field(argument, rule.offset, 8,
                          address_of(playground.buffers().at(0)) - rule.skip.of(argument));
        }
        const int result = call_once(playground, info, argument.data());
        CAPTURE(offset, extreme, result);
        CHECK(is_defined(result, playground.profile()));
      }
    }
  });
}

TEST_CASE("a handle that is none is refused by every command that takes one") {
  for_each_command([](Playground& playground, const CommandInfo& info) {
    const Profile& profile = playground.profile();
    const Argument good = sensible(info, playground.world(), playground.buffers());
    const std::uint64_t freed = [&] {
      const auto process = playground.open(caller_id + 1);
      return playground.allocate(*process, 4096);
    }();
    shim::for_each_field(info, good, [&](const CommandField& field, std::uint32_t offset, int) {
      const std::string_view name = field.name;
      if (!name.ends_with("handle") || field.reply || name.ends_with("wait_handle")) return;
      if (name.ends_with("to_mem_handle")) return;  // a flag
      if (offset + field.bytes > good.size()) return;
      const std::uint64_t valid = shim::field_value(good, offset, field.bytes);
      for (const std::uint64_t handle :
           {std::uint64_t{0}, freed, std::uint64_t{4000000}, valid | std::uint64_t{1} << 32,
            valid | std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        Argument argument = good;
        shim::set_field(argument, offset, field.bytes, handle);
        const int result = call_once(playground, info, argument.data());
        CAPTURE(field.name, handle, result);
        if (name.starts_with("tx_") || name.starts_with("rx_") || name.starts_with("rxc_")) {
          // Handle 0 is "no ring", and so is an unknown one unless the device is strict.
          CHECK(result == (profile.clean && handle != 0 ? -EINVAL : 0));
        } else if (info.value == NEURON_IOCTL_MEM_GET_EXTENDED_INFO) {
          CHECK(result == (profile.clean ? -EINVAL : EINVAL));
        } else {
          CHECK(result == -EINVAL);
        }
      }
    });
  });
}

TEST_CASE("a descriptor may write every register of its own queue and of its engine") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Playground playground({architecture, 24, false});
    const auto process = playground.open(caller_id);
    const std::uint64_t source = playground.allocate(*process, 4096);
    const std::uint64_t tx_ring = playground.allocate(*process, 4096);
    const std::uint64_t rx_ring = playground.allocate(*process, 4096);
    std::uint64_t pa = 0;
    neuron_mem_get_pa get{source, address_of(&pa)};
    REQUIRE(process->ioctl(NEURON_IOCTL_MEM_GET_PA, &get) == 0);
    const std::uint64_t engine =
        architecture == 2 ? neuron_v2_dma_engine(1) : neuron_v3_dma_engine(1);
    constexpr std::uint32_t queue = 2, length = 32;
    for (const std::uint32_t value : {0u, 1u, 33u, 0x100u, 0xFFFFFFu, 0xFFFFFFFFu}) {
      neuron_mem_buf_copy64 put{source, address_of(&value), sizeof value, 0, 1};
      REQUIRE(process->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &put) == 0);
      for (std::uint32_t reg = 0; reg < 0x100; reg += 4) {
        // Endless work ends by itself, but takes its time.
        if (reg == NEURON_UDMA_Q_TAIL_INC && value > 0x100) continue;
        for (const std::uint64_t target :
             {engine + neuron_udma_tx_register(queue, reg),
              engine + neuron_udma_rx_register(queue, reg), engine + 0x200 + reg}) {
          CAPTURE(architecture, value, reg, target);
          neuron_dma_queue_init init{1, queue, length, length, tx_ring, rx_ring, 0, 0};
          REQUIRE(process->ioctl(NEURON_IOCTL_DMA_QUEUE_INIT, &init) == 0);
          std::vector<neuron_udma_tx_desc> tx(length, {4, 0, pa}), rx = tx;
          rx[0].buf_ptr = target;
          neuron_mem_buf_copy64 fill{tx_ring, address_of(tx.data()), length * 16, 0, 1};
          REQUIRE(process->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &fill) == 0);
          fill = {rx_ring, address_of(rx.data()), length * 16, 0, 1};
          REQUIRE(process->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &fill) == 0);
          neuron_dma_queue_copy_start start{1, queue, 4, 4};
          process->ioctl(NEURON_IOCTL_DMA_QUEUE_COPY_START, &start);
          neuron_dma_queue_state states[2]{};
          neuron_dma_queue_get_state ask{1, queue, address_of(&states[0]), address_of(&states[1])};
          REQUIRE(process->ioctl(NEURON_IOCTL_DMA_QUEUE_GET_STATE, &ask) == 0);
          for (const neuron_dma_queue_state& side : states) {
            CHECK((side.length == 0 ? side.head_pointer == 0 : side.head_pointer < side.length));
          }
          neuron_dma_eng_set_state normal{1, 2};
          REQUIRE(process->ioctl(NEURON_IOCTL_DMA_ENG_SET_STATE, &normal) == 0);
        }
      }
    }
  }
}
