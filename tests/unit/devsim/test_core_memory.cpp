// SPDX-License-Identifier: MIT
// The memory of a core as the host of the device sees it.
#include <catch2/catch.hpp>

#include "client.hpp"
#include "nds_user.h"

using namespace devsim_test;

TEST_CASE("a core's memory shows what is on the device") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    const Client client(device);
    const std::uint64_t events = architecture == 2 ? NEURON_V2_TPB_EVENTS : NEURON_V3_TPB_EVENTS;
    const std::uint64_t psum = architecture == 2 ? NEURON_V2_TPB_UPPER : NEURON_V3_TPB_UPPER;
    std::uint8_t* sbuf = nds_user_core_memory(device.get(), 1, 0);
    REQUIRE(sbuf != nullptr);
    CHECK(sbuf[0] == 0);
    CHECK(nds_user_core_memory(device.get(), 1, psum) == sbuf + psum);
    neuron_semaphore set{1, 7, 0x01020304};
    REQUIRE(client.call(NEURON_IOCTL_SEMAPHORE_WRITE, set) == 0);
    CHECK(sbuf[events + NEURON_EVENT_UNIT_SEM_READ + 4 * 7] == 4);
    CHECK(nds_user_core_memory(device.get(), 0, 0) != sbuf);
  }
}

TEST_CASE("there is no memory outside the cores") {
  const Device v2(2);
  CHECK(nds_user_core_memory(v2.get(), 2, 0) == nullptr);
  CHECK(nds_user_core_memory(v2.get(), 1, NEURON_V2_TPB_SIZE) == nullptr);
  CHECK(nds_user_core_memory(v2.get(), 1, NEURON_V2_TPB_SIZE - 1) != nullptr);
  const Device v3(3);
  CHECK(nds_user_core_memory(v3.get(), 8, 0) == nullptr);
  CHECK(nds_user_core_memory(v3.get(), 7, NEURON_V3_TPB_SIZE) == nullptr);
}
