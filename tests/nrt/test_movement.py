# SPDX-License-Identifier: MIT
"""Data movement of every generated kind of file, against an interpreter in plain loops."""

import os
import random
import shutil
import struct
import tempfile
import unittest

import movement
import support

SKIPS = {"NEFFLD_COMPUTE": "skip", "NEURON_RT_LOG_LEVEL": "QUIET"}
# Those the loader refuses, and the benchmark's.
LEFT_OUT = {"refused-v3", "scale"}


def names():
    listed = support.run([support.MAKE_SAMPLE, "--list"]).out.splitlines()
    return [line.split()[0] for line in listed if line.split()[0] not in LEFT_OUT]


def content(size, seed):
    """Bytes that are sane whatever type they are read as."""
    generator = random.Random(seed)
    words = [generator.uniform(-100, 100) for _ in range((size + 3) // 4)]
    return struct.pack(f"<{len(words)}f", *words)[:size]


class Movement(unittest.TestCase):
    maxDiff = 300

    def executes_right(self, name, placement="device", executions=1):
        path = support.sample(name)
        model = movement.Model(path)
        inputs, outputs = model.sizes()
        tensors = {tensor: content(size, tensor) for tensor, size in {**inputs, **outputs}.items()}
        expected = model.run(tensors, executions)
        order = sorted(inputs) + sorted(outputs)
        folder = tempfile.mkdtemp(dir=support.scratch())
        for number, tensor in enumerate(order):
            with open(os.path.join(folder, f"{number}.in"), "wb") as file:
                file.write(tensors[tensor])
        env = {"NEFFLD_DEVICE": "sim:v2" if name.endswith("v2") else "sim:v3", **SKIPS}
        if name == "single-core-v3":
            env["NEURON_LOGICAL_NC_CONFIG"] = "1"
        done = support.program("movement", path, folder, placement, executions, env=env)
        self.assertEqual((done.code, done.err), (0, ""), name)
        for number, tensor in enumerate(order):
            if number < len(inputs):
                continue
            with open(os.path.join(folder, f"{number}.out"), "rb") as file:
                got = file.read()
            wrong = [i for i, (a, b) in enumerate(zip(got, expected[tensor])) if a != b]
            self.assertEqual(len(got), len(expected[tensor]))
            self.assertEqual(wrong[:4], [], f"{tensor} of {name} differs in {len(wrong)} bytes")
        shutil.rmtree(folder)

    def test_every_sample_moves_its_data_right(self):
        for name in names():
            with self.subTest(sample=name):
                self.executes_right(name)

    def test_again_and_again(self):
        for name in ("vecadd-v3", "rearm-v2", "dge-lnc2-v3", "control-flow-v3"):
            with self.subTest(sample=name):
                self.executes_right(name, executions=3)

    def test_tensors_in_host_memory_and_slices(self):
        for placement in ("host", "mixed", "slice"):
            for name in ("transpose-v3", "virtual-overlap-v2", "dge-v3", "copy-shapes-v3"):
                with self.subTest(sample=name, placement=placement):
                    self.executes_right(name, placement, 2)


if __name__ == "__main__":
    unittest.main()
