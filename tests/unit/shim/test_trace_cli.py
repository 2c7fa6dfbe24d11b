# SPDX-License-Identifier: MIT
"""Recording, showing, comparing and replaying traces, and device names, as a user does it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli"))
from support import (DEVICE, FILE, FORMAT, USAGE, CliTest,  # noqa: E402
                     read_bytes, run, sample, scratch, write_bytes)

DIFFERENT = 1


def record(name, *words):
    path = os.path.join(scratch(), name)
    done = run("load", sample("vecadd-v3"), "--record", path, *words)
    assert done.code == 0, done.err
    return path


class TraceTest(CliTest):
    def test_a_recorded_load_replays_without_a_difference(self):
        plain = run("trace", "replay", record("plain", "--verify"))
        self.assert_ok(plain, "0 differences", "buffers not compared")
        kept = run("trace", "replay", record("kept", "--verify", "--record-data"))
        self.assert_ok(kept, "0 differences")
        self.assertNotIn("not compared", kept.out)

    def test_show_prints_one_line_a_call(self):
        result = run("trace", "show", record("shown"))
        self.assert_ok(result, "device: sim:v3", "#1 COMPATIBLE_VERSION -> 0 max=11 min=10",
                       "-> 0 mem_handle=1\n", "DMA_QUEUE_INIT_BATCH count=2 [0] eng_id=")
        self.assertEqual("MEM_FREE", result.out.splitlines()[-1].split()[1])

    def test_a_difference_is_told_with_its_call_and_exit_code_1(self):
        first, second = record("a"), record("b", "--verify")
        self.assert_ok(run("trace", "diff", first, first), "0 differences")
        result = run("trace", "diff", first, second)
        self.assertEqual(DIFFERENT, result.code)
        self.assertIn("the traces differ: first at call", result.err)
        # The second reads back where the first stops its queues to unload.
        self.assertIn("DMA_QUEUE_INIT_BATCH / MEM_BUF_COPY64", result.out)
        result = run("trace", "replay", first, "--device", "sim:v2")
        self.assertEqual(DIFFERENT, result.code)
        self.assertIn("first at call 1", result.err)
        self.assertIn("#1 COMPATIBLE_VERSION: max: 11 / 7", result.out)

    def test_sim_replays_on_the_recorded_architecture(self):
        path = os.path.join(scratch(), "v2")
        self.assert_ok(run("load", sample("vecadd-v2"), "--record", path))
        self.assert_ok(run("trace", "replay", path), "0 differences")

    def test_a_failed_load_leaves_a_whole_trace(self):
        path = os.path.join(scratch(), "failed")
        done = run("load", sample("vecadd-v3"), sample("vecadd-v2"), "--record", path)
        self.assertNotEqual(0, done.code)
        self.assert_ok(run("trace", "show", path), "MEM_FREE")

    def test_files_that_are_no_whole_trace(self):
        path = record("whole")
        cut = write_bytes(os.path.join(scratch(), "cut"), read_bytes(path)[:-9])
        for words in (("show", cut), ("replay", cut), ("diff", cut, path)):
            with self.subTest(words):
                self.assertEqual(FORMAT, run("trace", *words).code)
        self.assert_refused(run("trace", "show", sample("vecadd-v3")), FORMAT, "is no neffld trace")
        self.assert_refused(run("trace", "show", "/nonexistent"), FILE, "/nonexistent")
        self.assertEqual(USAGE, run("trace").code)
        self.assertEqual(USAGE, run("load", sample("vecadd-v3"), "--record-data").code)

    def test_a_trace_that_cannot_be_written(self):
        result = run("load", sample("vecadd-v3"), "--record", "/nonexistent/trace")
        self.assert_refused(result, FILE, "cannot create the trace")
        if os.path.exists("/dev/full"):
            done = run("load", sample("vecadd-v3"), "--record", "/dev/full")
            self.assertEqual(FILE, done.code)
            self.assertIn("No space left on device", done.err)


class DeviceNameTest(CliTest):
    def test_paths_that_are_no_node(self):
        file = sample("vecadd-v3")
        for path, code, text in (("/dev/null", DEVICE, "is not a Neuron node"),
                                 (file, DEVICE, "it is a regular file"),
                                 (scratch(), DEVICE, "it is a folder"),
                                 (scratch() + "/none", FILE, "does not exist"),
                                 ("neuron0", USAGE, "expected sim, sim:v2, sim:v3, auto")):
            with self.subTest(path):
                self.assert_refused(run("load", file, "--device", path), code, text)

    def test_auto_without_nodes_simulates_and_says_so(self):
        result = run("load", sample("vecadd-v3"), "--device", "auto", "--device-prefix", "nonode")
        self.assertEqual(0, result.code)
        self.assertIn("device sim:v3", result.out)
        self.assertIn("no node /dev/nonodeN, using sim", result.err)

    def test_a_dry_run_prints_calls_on_stderr_and_the_report_on_stdout(self):
        result = run("load", sample("vecadd-v3"), "--dry-run", "--report", "json")
        self.assertEqual(0, result.code)
        self.assertTrue(result.out.startswith("{"))
        self.assertIn("is invented by an empty simulated v3 device", result.err)
        self.assertIn("not made: DMA_QUEUE_INIT_BATCH", result.err)


if __name__ == "__main__":
    unittest.main()
