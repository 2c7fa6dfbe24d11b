# SPDX-License-Identifier: MIT
"""What the environment makes of devices and cores."""

import unittest

import support


class Cores(unittest.TestCase):
    def cores(self, **env):
        return support.program("cores", env={"NEURON_RT_LOG_LEVEL": "QUIET", **env}).out.split("\n")

    def check(self, before, after, **env):
        """Counts before init, and the line after it."""
        lines = self.cores(**env)
        self.assertEqual(lines[0], f"before 0 0 total {before[0]} visible {before[1]}", env)
        self.assertEqual(lines[1], "init 0", env)
        self.assertEqual(lines[2], "after " + after, env)

    def refused(self, status, **env):
        self.assertEqual(self.cores(**env)[1], f"init {status}", env)

    def test_one_simulated_v3_device_is_the_default(self):
        self.check((4, 4), "total 4 visible 4 size 2 devices 1 family 5 instance 8 arch NCv3")

    def test_the_simulated_architecture_decides_the_shape(self):
        self.check((2, 2), "total 2 visible 2 size 1 devices 1 family 2 instance 1 arch NCv2",
                   NEFFLD_DEVICE="sim:v2")

    def test_a_fake_instance_has_its_devices(self):
        self.check((64, 64), "total 64 visible 64 size 2 devices 16 family 5 instance 7 arch NCv3",
                   NEURON_RT_FAKE_INSTANCE_TYPE="TRN2.48xlarge")
        self.check((32, 32), "total 32 visible 32 size 1 devices 16 family 2 instance 6 arch NCv2",
                   NEURON_RT_FAKE_INSTANCE_TYPE="trn1.32xlarge")
        self.refused(2, NEURON_RT_FAKE_INSTANCE_TYPE="trn9.huge")
        self.refused(2, NEURON_RT_FAKE_INSTANCE_TYPE="trn1.32xlarge", NEFFLD_DEVICE="sim:v3")

    def test_the_logical_core_size(self):
        self.check((8, 8), "total 8 visible 8 size 1 devices 1 family 5 instance 8 arch NCv3",
                   NEURON_LOGICAL_NC_CONFIG="1")
        self.check((8, 8), "total 8 visible 8 size 1 devices 1 family 5 instance 8 arch NCv3",
                   NEURON_RT_VIRTUAL_CORE_SIZE="1")
        self.check((4, 4), "total 4 visible 4 size 2 devices 1 family 5 instance 8 arch NCv3",
                   NEURON_RT_VIRTUAL_CORE_SIZE="1", NEURON_LOGICAL_NC_CONFIG="2")
        for size in ("0", "3", "4", "x", "-1"):
            self.refused(2, NEURON_LOGICAL_NC_CONFIG=size)

    def test_core_sizes_that_no_hardware_has(self):
        self.check((2, 2), "total 2 visible 2 size 4 devices 1 family 5 instance 8 arch NCv3",
                   NEFFLD_SIM_LNC="4")
        self.check((1, 1), "total 1 visible 1 size 8 devices 1 family 5 instance 8 arch NCv3",
                   NEFFLD_SIM_LNC="8", NEURON_LOGICAL_NC_CONFIG="2")
        for size in ("0", "3", "16", "x"):
            self.refused(2, NEFFLD_SIM_LNC=size)

    def test_visible_cores(self):
        for text, count in (("0", 1), ("1-3", 3), ("2,1", 2), ("0-1,1-2", 3), (" 3 ", 1)):
            lines = self.cores(NEURON_RT_VISIBLE_CORES=text)
            self.assertEqual(lines[0], f"before 0 0 total 4 visible {count}", text)
            self.assertIn(f"total 4 visible {count} ", lines[2], text)
        for text in ("4", "3-4", "0,2", "x", "2-1", "0-", ",", "-1", "99999999999"):
            self.refused(2, NEURON_RT_VISIBLE_CORES=text)

    def test_the_number_of_cores(self):
        self.assertIn("visible 1 ", self.cores(NEURON_RT_NUM_CORES="1")[2])
        self.assertIn("visible 4 ", self.cores(NEURON_RT_NUM_CORES="0")[2])
        self.assertIn("visible 2 ", self.cores(NEURON_RT_NUM_CORES="3",
                                               NEURON_RT_VISIBLE_CORES="0-1")[2])
        # Before init the number is taken as it is; whole devices or one core after that.
        lines = self.cores(NEURON_RT_NUM_CORES="3")
        self.assertEqual(lines[:2], ["before 0 0 total 4 visible 3", "init 2"])
        self.refused(1, NEURON_RT_NUM_CORES="5")
        self.refused(2, NEURON_RT_NUM_CORES="many")

    def test_devices_that_are_not_there(self):
        for device in ("/no/such/node", "sim:v9", "gpu"):
            lines = self.cores(NEFFLD_DEVICE=device)
            self.assertEqual(lines[0], "before 2 2 total 0 visible 0", device)
            self.assertEqual(lines[1], "init 2", device)

    def test_an_empty_value_is_none(self):
        self.assertEqual(self.cores(NEURON_RT_VISIBLE_CORES="", NEURON_RT_NUM_CORES="")[1], "init 0")


if __name__ == "__main__":
    unittest.main()
