// SPDX-License-Identifier: MIT
// The compute side as a device sees it: cores, memory of the device, errors.
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

#include "device_compute.hpp"
#include "nds_user.h"
#include "neuron_abi/address_map.h"
#include "records.hpp"

using namespace neffld;
using namespace neffld::compute;
using namespace neffld::compute::test;

namespace {

class Device {
 public:
  explicit Device(std::uint32_t architecture) {
    nds_config config{};
    config.architecture = architecture;
    config.hbm_bytes = 64ull << 20;
    REQUIRE(nds_machine_create(&machine_) == 0);
    REQUIRE(nds_device_create(machine_, &config, &device_) == 0);
  }
  ~Device() {
    nds_device_destroy(device_);
    nds_machine_destroy(machine_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  nds_device* get() const { return device_; }

 private:
  nds_machine* machine_ = nullptr;
  nds_device* device_ = nullptr;
};

int run(const nds_compute& face, std::uint32_t core, const Draft& draft, std::uint32_t& field) {
  return face.run(face.context, core, 3, draft.data(), &field);
}

}  // namespace

TEST_CASE("records act on the memory of their core, for every core of a device") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    DeviceCompute compute(device.get(), static_cast<Arch>(architecture));
    const nds_compute face = compute.face();
    const std::uint32_t cores = architecture == 2 ? 2 : 8;
    const std::uint64_t upper = architecture == 2 ? NEURON_V2_TPB_UPPER : NEURON_V3_TPB_UPPER;
    std::uint32_t field = 0;
    for (std::uint32_t core = 0; core < cores; ++core) {
      REQUIRE(face.start(face.context, core) == 0);
      const auto fill = memset_record({sbuf(0x100), {{1, 4}}}, Dtype::i32, 128, 0x1000 + core);
      CHECK(run(face, core, fill, field) == 0);
      const Draft move = copy_like(0x46, {sbuf(0x100), {{1, 4}}}, {psum(0x40), {{1, 4}}},
                                   Dtype::i32, Dtype::i32, 128);
      CHECK(run(face, core, move, field) == 0);
    }
    for (std::uint32_t core = 0; core < cores; ++core) {
      std::uint32_t in_sbuf = 0, in_psum = 0;
      std::memcpy(&in_sbuf, nds_user_core_memory(device.get(), core, 127 * 0x40000 + 0x100), 4);
      std::memcpy(&in_psum, nds_user_core_memory(device.get(), core, upper + 127 * 0x8000 + 0x40),
                  4);
      CHECK((in_sbuf == 0x1000 + core && in_psum == 0x1000 + core));
    }
    CHECK(face.start(face.context, cores) == -EINVAL);
    CHECK(run(face, cores, Draft(0x46), field) == -EINVAL);
  }
}

TEST_CASE("a refused record gives its byte, and the core the sentence") {
  const Device device(3);
  DeviceCompute compute(device.get(), Arch::v3);
  const nds_compute face = compute.face();
  std::uint32_t field = 0;
  const Tensor line{sbuf(0), {{1, 4}}};
  CHECK(run(face, 1, copy_like(0x46, line, line, Dtype::i32, Dtype::u32, 1), field) == -EINVAL);
  CHECK(field == 0x21);
  CHECK(compute.refusal(1) == "out_dtype is u32, expected i32, the source's: COPY moves bits");
  CHECK(compute.refusal(0).empty());
  const Draft product = matmul(line, {psum(0), {{1, 4}}}, Dtype::fp16, 128, 128, 1);
  CHECK(run(face, 1, product, field) == -EINVAL);
  CHECK(field == 0);
  CHECK(compute.refusal(1) == refusal_text(product.bytes(), Arch::v3, 0));
  REQUIRE(face.start(face.context, 1) == 0);
  CHECK(compute.refusal(1).empty());
}

TEST_CASE("activation tables are read where the table ring puts them") {
  const Device device(2);
  DeviceCompute compute(device.get(), Arch::v2);
  const nds_compute face = compute.face();
  std::uint32_t field = 0;
  CHECK(run(face, 0, load_functions(0), field) == -EINVAL);  // nothing is loaded
  CHECK(field == 0x23);
  const std::uint32_t directory[] = {0, 32, 0, 32, 64, 76};
  std::memcpy(nds_user_core_memory(device.get(), 0, 0x258'0000), directory, sizeof directory);
  CHECK(run(face, 0, load_functions(0), field) == 0);
  std::uint8_t* profile = nds_user_core_memory(device.get(), 0, 0x254'0000 + 64);
  profile[0] = 99;  // its four buckets are number 0, its only control entry is 0 too
  profile[12] = 0x81;
  std::memset(profile + 13, 0xFF, 3);  // exponent offset -127
  profile[26] = profile[27] = 0;
  const float bucket[] = {2.5f, 0, 0, 0, 0};
  std::memcpy(nds_user_core_memory(device.get(), 0, 0x250'0000), bucket, sizeof bucket);
  const float x = 3;
  std::memcpy(nds_user_core_memory(device.get(), 0, 0), &x, 4);
  CHECK(run(face, 0, load_functions(0), field) == 0);
  const Tensor one{sbuf(0), {{1, 1}}};
  CHECK(run(face, 0, activate(one, one, Dtype::fp32, Dtype::fp32, 1, 99), field) == 0);
  float y = 0;
  std::memcpy(&y, nds_user_core_memory(device.get(), 0, 0), 4);
  CHECK(y == 2.5f);
}
