# SPDX-License-Identifier: MIT
"""Executions on device nodes: one that says it is simulated, and one that is a real driver's for all
a program can see. Both are served by the preloaded library, which writes down every call."""

import os
import re
import sys
import tempfile
import unittest

import neff_model
from run_support import (NEFFLD, NRT_RUN, RunTest, call, folder, in_arguments, payload, sample,
                         scratch)
from sample_data import byte_sizes, make_inputs, tensors

NODE = "/dev/neuron0"
UNSUPPORTED = 5
# Runs a program in a session; argument 1 "real" takes the mark away that only simulated devices have.
# Reading an attribute makes the session's folder.
IN_SESSION = """
import glob, os, sys
with open("/sys/class/neuron_device/neuron0/simulated") as mark:
    assert mark.read() == "neuron_sim\\n"
if sys.argv[1] == "real":
    marks = glob.glob(os.environ["TMPDIR"] + "/*/sys/devices/virtual/neuron_device/neuron0/simulated")
    assert len(marks) == 1, marks
    os.remove(marks[0])
    assert not os.path.exists("/sys/class/neuron_device/neuron0/simulated")
os.execv(sys.argv[2], sys.argv[2:])
"""
# What starts a transfer or an engine, and what writes registers (spec 04 section 9).
STARTS = {"SEMAPHORE_INCREMENT", "SEMAPHORE_WRITE", "EVENT_SET", "DMA_QUEUE_COPY_START", "BAR_WRITE",
          "PROGRAM_ENGINE", "PROGRAM_ENGINE_NC", "PROGRAM_ENGINE_NC64"}


class NodesTest(RunTest):
    def setUp(self):
        self.here = folder("nodes", self.id().rsplit(".", maxsplit=1)[-1])
        self.out = os.path.join(self.here, "out")

    def on_node(self, kind, *words, env=None):
        """The finished program and the names of the calls it made."""
        trace = os.path.join(self.here, f"{kind}.trace")
        sessions = tempfile.mkdtemp(dir=scratch())  # short: a socket's name has 107 bytes
        done = call(NEFFLD, "shim", "--device", "sim:v3", "--trace", trace, "--", sys.executable, "-c",
                    IN_SESSION, kind, *words, env={"TMPDIR": sessions, **(env or {})})
        shown = call(NEFFLD, "trace", "show", trace)
        self.assert_ran(shown)
        return done, set(re.findall(r"^#\d+ (\w+)", shown.stdout, re.MULTILINE))

    def case(self, name):
        """Path, words for inputs, where they are, and the right outputs."""
        path, where = sample(name), folder(self.here, f"in-{name}")
        inputs, outputs = tensors(path)
        sizes = byte_sizes(outputs)
        data = make_inputs(where, inputs, 1)
        return path, in_arguments(inputs, where), where, neff_model.execute(path, data, sizes)

    def test_a_simulated_node_executes_with_the_command(self):
        path, words, _, expected = self.case("many-queues-v3")
        done, calls = self.on_node("simulated", NEFFLD, "run", path, *words, "--out", self.out,
                                   "--device", NODE)
        self.assert_ran(done)
        for tensor, data in expected.items():
            self.assertEqual(data, payload(os.path.join(self.out, f"{tensor}.npy"))[1], tensor)
        self.assertIn("SEMAPHORE_INCREMENT", calls)

    def test_a_simulated_node_executes_with_the_library(self):
        path, _, where, expected = self.case("many-queues-v3")
        out = folder(self.here, "library")
        done, calls = self.on_node("simulated", NRT_RUN, path, f"{where}={out}",
                                   env={"NEFFLD_DEVICE": NODE})
        self.assert_ran(done)
        for tensor, data in expected.items():
            self.assertEqual(data, payload(os.path.join(out, f"{tensor}.npy"))[1], tensor)
        self.assertIn("SEMAPHORE_INCREMENT", calls)

    # A load takes queues first, which a real device is not told to; what would start it comes after
    # that and is refused by itself (tests/unit/execution/test_requests.cpp).
    REFUSED = ("many-queues-v3", "vecadd-v3")
    WHY = "DMA_QUEUE_INIT_BATCH is refused on /dev/neuron0: "
    NEXT = "--experimental allows it"

    def test_the_command_refuses_a_real_node_before_any_doorbell(self):
        for name in self.REFUSED:
            with self.subTest(sample=name):
                path, words, _, _ = self.case(name)
                done, calls = self.on_node("real", NEFFLD, "run", path, *words, "--out", self.out,
                                           "--device", NODE)
                self.assert_refused(done, UNSUPPORTED, self.WHY, self.NEXT)
                self.assertEqual(set(), calls & STARTS)
                self.assertEqual([], os.listdir(self.out) if os.path.isdir(self.out) else [])

    def test_the_library_refuses_a_real_node_before_any_doorbell(self):
        for name in self.REFUSED:
            with self.subTest(sample=name):
                path, _, where, _ = self.case(name)
                out = folder(self.here, f"library-{name}")
                done, calls = self.on_node("real", NRT_RUN, path, f"{where}={out}",
                                           env={"NEFFLD_DEVICE": NODE, "NEURON_RT_LOG_LEVEL": "ERROR"})
                self.assertEqual(1, done.returncode, done.stderr)
                self.assertIn(self.WHY, done.stderr)
                self.assertIn(self.NEXT, done.stderr)
                self.assertRegex(done.stderr, r"nrt_load\(.*\): NRT_FAILURE, expected NRT_SUCCESS")
                self.assertEqual(set(), calls & STARTS)
                self.assertEqual([], os.listdir(out))


if __name__ == "__main__":
    unittest.main()
