# SPDX-License-Identifier: MIT
"""Generated NEFFs that move data give, bit for bit, what a model of their JSON gives."""

import os
import struct
import unittest

import neff_model
from run_support import NEFFLD, NRT_RUN, RunTest, call, folder, in_arguments, payload, sample
from sample_data import byte_sizes, make_inputs, tensors

SAMPLES = ("vecadd-v2", "vecadd-v3", "many-queues-v3", "virtual-overlap-v2", "one-partition-v2",
           "cast-v3", "transpose-v3", "long-runs-v3", "copy-shapes-v3", "dge-v3", "dge-lnc2-v3",
           "single-core-v3", "empty-v3")


def one_nan(halves):
    words = struct.unpack(f"<{len(halves) // 2}H", halves)
    return struct.pack(f"<{len(words)}H", *(0x7E00 if word & 0x7FFF > 0x7C00 else word
                                             for word in words))


class SamplesTest(RunTest):
    def check_outputs(self, expected, where, what):
        for tensor, data in expected.items():
            header, found = payload(os.path.join(where, f"{tensor}.npy"))
            if "'<f2'" in header:  # conversions keep a NaN, but nobody says which
                found, data = one_nan(found), one_nan(data)
            if found == data:
                continue
            at = next(i for i, pair in enumerate(zip(found, data)) if pair[0] != pair[1])
            self.fail(f"{what}: {tensor} differs first at byte {at}: found {found[at]:02x}, "
                      f"expected {data[at]:02x}")

    def check_sample(self, name):
        path = sample(name)
        inputs, outputs = tensors(path)
        sizes = byte_sizes(outputs)
        expected, pairs = [], []
        for seed in (1, 2, 3):
            where = folder("inputs", f"{name}-{seed}")
            data = make_inputs(where, inputs, seed)
            expected.append(neff_model.execute(path, data, sizes))
            out = folder("out", f"{name}-{seed}")
            done = call(NEFFLD, "run", path, *in_arguments(inputs, where), "--out", out, "--repeat",
                        "2", "--force")
            self.assert_ran(done)
            self.check_outputs(expected[-1], out, f"{name} with the command, inputs {seed}")
            pairs.append((where, folder("nrt", f"{name}-{seed}")))
        env = {"NEFFLD_DEVICE": "sim:v2"} if name.endswith("-v2") else {}
        self.assert_ran(call(NRT_RUN, path, *(f"{where}={out}" for where, out in pairs), env=env))
        for want, (_, out) in zip(expected, pairs):
            self.check_outputs(want, out, f"{name} with the library")


def add_test(name):
    setattr(SamplesTest, f"test_{name.replace('-', '_')}", lambda self: self.check_sample(name))


for each in SAMPLES:
    add_test(each)

if __name__ == "__main__":
    unittest.main()
