// SPDX-License-Identifier: MIT
// Command values: wrong sizes and directions, unknown numbers, faulting arguments (spec 06
// sections 2 and 3). A value that matches nothing is refused before its argument is read.
#include <cerrno>
#include <cstring>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

/// Sends a value with a large zeroed argument.
int send(const Trial& t, std::uint32_t command) {
  Bytes argument(16384);
  return t.client().raw(command, argument.data());
}

void refused(const Trial& t, std::uint32_t command, int expected = -EINVAL) {
  t.result(fmt::format("command {:#010x}", command), send(t, command), expected);
}

void alloc_siblings(Trial& t) {
  for (const std::uint32_t value : {0x80284E66u, 0xC0384E66u, 0x00004E66u, 0x80404E66u}) {
    refused(t, value);
  }
}

void wrong_type_byte(Trial& t) {
  refused(t, 0x80380066);
  refused(t, 0x40084164);
}

void shared_106(Trial& t) {
  refused(t, 0x80024E6A);
  refused(t, 0x80104E6A);
  std::uint8_t status = 9;
  t.result("DEVICE_RESET_STATUS", t.client().call(NEURON_IOCTL_DEVICE_RESET_STATUS, status), 0);
  neuron_device_bdf_ext bdf{};
  t.result("DEVICE_BDF_EXT", t.client().call(NEURON_IOCTL_DEVICE_BDF_EXT, bdf), 0);
}

void driver_info_sizes(Trial& t) {
  refused(t, 0x80204E6E, 0);
  refused(t, 0xC0184E6E);
  refused(t, 0x80104E6E);
}

void chunk_info_sizes(Trial& t) {
  refused(t, 0x80184E6F, 0);
  refused(t, 0xC0284E6F);
}

void copy_siblings(Trial& t) {
  for (const std::uint32_t value : {0x80304E17u, 0x801C4E17u, 0xC0304E18u, 0x80284E1Cu, 0xC0304E69u,
                                    0x80304E26u, 0xC0404E6Cu}) {
    refused(t, value);
  }
}

void marks_exact(Trial& t) {
  refused(t, 0x80084E55);
  refused(t, 0xC0504E56);
  refused(t, 0x40584E55);
}

void pod_command_sizes(Trial& t) {
  refused(t, 0xC1104E7A);
  refused(t, 0xC0184E7B);
  refused(t, 0xC1084E79);
}

void exact_values(Trial& t) {
  for (const std::uint32_t value : {0x80084E64u, 0x80104E64u, 0xC0084E03u, 0x80504E03u, 0x80104E19u,
                                    0xC00C4E2Bu, 0x80304E21u, 0x40104E5Bu}) {
    refused(t, value);
  }
}

void unknown_numbers(Trial& t) {
  for (const std::uint32_t nr :
       {0u, 8u, 10u, 20u, 47u, 59u, 70u, 73u, 80u, 99u, 140u, 200u, 255u}) {
    refused(t, 0x80084E00u | nr);
    refused(t, 0xC0084E00u | nr);
  }
}

void later_numbers(Trial& t) {
  for (std::uint32_t nr = 125; nr <= 140; ++nr) {
    if (nr == 133) continue;
    refused(t, 0xC0144E00u | nr);
  }
}

void later_zero_copy(Trial& t) {
  refused(t, NEURON_IOCTL_H2T_DMA_ALLOC_QUEUES);
}

void zero_copy_48(Trial& t) {
  const std::uint64_t handle = t.chunk({4096});
  const Bytes bytes = pattern(4096, 15);
  neuron_mem_buf_zerocopy64_v27 argument{handle, pointer(bytes.data()), 4096, 0, 1, 0, -1, 0};
  t.result("MEM_BUF_ZEROCOPY64 of 48 bytes",
           t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V27, argument), 0);
  t.same_bytes("MEM_BUF_ZEROCOPY64 of 48 bytes", t.read(handle, 4096), bytes);
}

void zero_copy_64(Trial& t) {
  const std::uint64_t handle = t.chunk({4096});
  const Bytes bytes = pattern(4096, 16);
  neuron_mem_buf_zerocopy64_v30 argument{handle, pointer(bytes.data()), 4096, 0, 1, 0, -1, 0, 0, 0};
  t.result("MEM_BUF_ZEROCOPY64 of 64 bytes",
           t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V30, argument), 0);
  t.same_bytes("MEM_BUF_ZEROCOPY64 of 64 bytes", t.read(handle, 4096), bytes);
}

void zero_copy_any_size(Trial& t) {
  // Driver 2.24 selects it by number alone and reads 40 bytes.
  const std::uint64_t handle = t.chunk({4096});
  const Bytes bytes = pattern(4096, 17);
  neuron_mem_buf_zerocopy64_v27 argument{handle, pointer(bytes.data()), 4096, 0, 1, 0, -1, 0};
  t.result("number 124 of size 48", t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V27, argument),
           0);
  t.same_bytes("number 124 of size 48", t.read(handle, 4096), bytes);
}

void faults_are_eacces(Trial& t) {
  t.result("MEM_ALLOC from a bad pointer", t.client().at(NEURON_IOCTL_MEM_ALLOC, bad_pointer),
           -EACCES);
}

void faults_are_residues(Trial& t) {
  struct Case {
    const char* name;
    std::uint32_t command;
    int residue;
  };
  for (const Case& one : {Case{"MEM_ALLOC_V2MT64", NEURON_IOCTL_MEM_ALLOC_V2MT64, 56},
                          Case{"MEM_BUF_COPY64", NEURON_IOCTL_MEM_BUF_COPY64, 40},
                          Case{"MEM_FREE", NEURON_IOCTL_MEM_FREE, 8},
                          Case{"DEVICE_BASIC_INFO", NEURON_IOCTL_DEVICE_BASIC_INFO, 8},
                          Case{"DRIVER_INFO_GET", NEURON_IOCTL_DRIVER_INFO_GET, 24},
                          Case{"MEM_GET_EXTENDED_INFO", NEURON_IOCTL_MEM_GET_EXTENDED_INFO, 48}}) {
    t.residue(fmt::format("{} from a bad pointer", one.name),
              t.client().at(one.command, bad_pointer), one.residue);
  }
}

void struct_at_page_end(Trial& t) {
  const std::uint64_t handle = t.chunk({4096});
  const BeforeUnmapped fits(sizeof(neuron_mem_get_pa));
  std::uint64_t address = 0;
  const neuron_mem_get_pa get{handle, pointer(&address)};
  std::memcpy(fits.data(), &get, sizeof get);
  t.result("MEM_GET_PA whose struct ends at an unmapped page",
           t.client().raw(NEURON_IOCTL_MEM_GET_PA, fits.data()), 0);
  const BeforeUnmapped short_of(sizeof(neuron_mem_get_pa) - 8);
  std::memcpy(short_of.data(), &get, sizeof get - 8);
  t.residue("MEM_GET_PA whose struct crosses into an unmapped page",
            t.client().raw(NEURON_IOCTL_MEM_GET_PA, short_of.data()), 8);
}

void nothing_leaks_into_padding(Trial& t) {
  // A reply may only carry what the driver means to tell (pain of short and padded structs).
  std::uint8_t reply[64];
  std::memset(reply, 0xAA, sizeof reply);
  t.result("DRIVER_INFO_GET", t.client().raw(NEURON_IOCTL_DRIVER_INFO_GET, reply), 0);
  t.same_bytes("DRIVER_INFO_GET, bytes behind the struct",
               Bytes(reply + sizeof(neuron_driver_info), reply + sizeof reply),
               Bytes(sizeof reply - sizeof(neuron_driver_info), 0xAA));
}

}  // namespace

void add_surface(Rows& rows) {
  add(rows, "surface.allocation-sizes", alloc_siblings, "06 3, 11 B.1").generations = {24, 27};
  add(rows, "surface.type-byte", wrong_type_byte, "06 2");
  add(rows, "surface.number-106-by-size", shared_106, "06 3");
  add(rows, "surface.driver-info-size-at-least-24", driver_info_sizes, "11 B.1");
  add(rows, "surface.chunk-info-size-only", chunk_info_sizes, "11 B.1").safety = Safety::intrusive;
  add(rows, "surface.copy-sizes", copy_siblings, "06 3").generations = {24, 27};
  add(rows, "surface.mark-values-are-exact", marks_exact, "06 2");
  add(rows, "surface.pod-sizes", pod_command_sizes, "06 3");
  add(rows, "surface.values-are-exact", exact_values, "06 2");
  add(rows, "surface.unknown-numbers", unknown_numbers, "06 2");
  add(rows, "surface.numbers-after-2.24", later_numbers, "11 B.3").generations = {24, 24};
  add(rows, "surface.copy-queue-numbers-not-served", later_zero_copy, "06 12.1").safety =
      Safety::simulated;
  add(rows, "surface.zero-copy-2.24-ignores-size", zero_copy_any_size, "06 2").generations = {24,
                                                                                              24};
  add(rows, "surface.zero-copy-48-bytes", zero_copy_48, "06 12.2").generations = {27, 30};
  add(rows, "surface.zero-copy-64-bytes", zero_copy_64, "06 12.2").generations = {30, 30};
  add(rows, "surface.faults-are-eacces", faults_are_eacces, "06 2, 11 B.2.3");
  add(rows, "surface.faults-are-residues", faults_are_residues, "06 2, 11 B.2.3");
  add(rows, "surface.struct-at-the-end-of-a-page", struct_at_page_end, "06 2");
  add(rows, "surface.nothing-behind-the-struct", nothing_leaks_into_padding, "06 3");
}

}  // namespace neffld::cts
