# SPDX-License-Identifier: MIT
"""The loader on /dev/neuron0 makes the memory it makes in process."""
import glob
import os
import unittest

from support import NEFFLD, ShimTest


class Images(ShimTest):
    def check(self, neff, architecture):
        inside, outside = self.path("inside"), self.path("outside")
        self.run_program(NEFFLD, "dump", neff, "-o", inside, "--device", "sim:" + architecture)
        self.shim(NEFFLD, "dump", neff, "-o", outside, "--device", "/dev/neuron0",
                  options=("--device", "sim:" + architecture))
        with open(inside, "rb") as first, open(outside, "rb") as second:
            while True:
                piece = first.read(1 << 24)
                self.assertTrue(piece == second.read(1 << 24), "the images differ")
                if not piece:
                    break
        os.remove(inside)
        os.remove(outside)

    def test_samples(self):
        for name in ("vecadd-v2", "control-flow-v2", "vecadd-v3", "many-queues-v3", "dge-lnc2-v3"):
            with self.subTest(sample=name):
                self.check(self.sample(name), name[-2:])

    @unittest.skipIf("NEFFLD_NEFFS" not in os.environ, "NEFFLD_NEFFS names no folder of real files")
    def test_real_files(self):
        files = sorted(glob.glob(os.path.join(os.environ["NEFFLD_NEFFS"], "*.neff")))
        self.assertGreater(len(files), 0)
        for neff in files:
            with self.subTest(neff=os.path.basename(neff)):
                self.check(neff, "v2" if "-v2-" in neff else "v3")


if __name__ == "__main__":
    unittest.main()
