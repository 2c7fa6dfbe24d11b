# SPDX-License-Identifier: MIT
"""Real compiler-made files give the numbers their programs mean (spec 10 sections 9 and 13)."""

import json
import os
import unittest

from run_support import (NEFFLD, NRT_RUN, OUTPUTS, PROGRAMS, RunTest, call, folder, in_arguments, inputs,
                     payload, read_bytes, real_file)

SEEDS = (1, 2, 3)


class RealFilesTest(RunTest):
    """One method a file is made below."""

    def run_file(self, number, seed, *more):
        where, out = inputs(number, seed), folder("out", f"{number}-{seed}")
        done = call(NEFFLD, "run", real_file(number), *in_arguments(PROGRAMS[number], where), "--out",
                    out, "--force", *more)
        self.assert_ran(done)
        return os.path.join(out, f"{OUTPUTS[number]}.npy"), done

    def with_the_command(self, number):
        for seed in SEEDS:
            output, _ = self.run_file(number, seed)
            self.assert_right(number, inputs(number, seed), output)
        first = read_bytes(self.run_file(number, 1)[0])
        repeated, _ = self.run_file(number, 1, "--repeat", "2")
        self.assertEqual(first, read_bytes(repeated), "the second execution on a load differs")

    def with_the_library(self, number):
        """Three inputs, then the first again, all on one load."""
        runs = [(seed, folder("nrt", f"{number}-{at}")) for at, seed in enumerate((*SEEDS, 1))]
        done = call(NRT_RUN, real_file(number),
                    *(f"{inputs(number, seed)}={out}" for seed, out in runs))
        self.assert_ran(done)
        name = f"{OUTPUTS[number]}.npy"
        for seed, out in runs:
            self.assert_right(number, inputs(number, seed), os.path.join(out, name))
        self.assertEqual(read_bytes(os.path.join(runs[0][1], name)),
                         read_bytes(os.path.join(runs[3][1], name)))
        command, _ = self.run_file(number, 1)
        self.assertEqual(payload(command)[1], payload(os.path.join(runs[0][1], name))[1],
                         "command and library differ")

    def test_reference_rejects_a_wrong_element(self):
        output, _ = self.run_file("12", 1)
        data = bytearray(read_bytes(output))
        data[-1] ^= 0x40
        wrong = os.path.join(folder("wrong"), "output0.npy")
        with open(wrong, "wb") as stream:
            stream.write(data)
        with self.assertRaises(AssertionError):
            self.assert_right("12", inputs("12", 1), wrong)

    def test_timeline_and_profile_of_both_cores(self):
        trace = os.path.join(folder("trace"), "12.json")
        _, done = self.run_file("12", 1, "--trace", trace, "--profile", "--report", "json")
        report = json.loads(done.stdout)
        rows = {(row["core"], row["engine"], row["opcode"]): row["records"]
                for row in report["profile"]["instructions"]}
        self.assertEqual({(0, 4), (1, 4)},
                         {(core, records) for (core, engine, opcode), records in rows.items()
                          if engine == "pe" and opcode.startswith("02 ")})
        moved = sum(row["bytes"] for row in report["profile"]["transfers"])
        self.assertGreaterEqual(moved, 327680)
        with open(trace, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        names = {event["args"]["name"] for event in events if event["ph"] == "M"
                 and event["name"] == "thread_name"}
        self.assertTrue({"pe", "act", "pool", "dve", "sp"} <= names, names)
        spans = [event for event in events if event["ph"] == "X"]
        self.assertEqual(8, sum(event["name"].startswith("02 ") for event in spans))
        self.assertTrue(all(event["dur"] >= 0 and event["ts"] >= 0 for event in spans))


def add_tests(number):
    setattr(RealFilesTest, f"test_{number}_with_the_command",
            lambda self: self.with_the_command(number))
    setattr(RealFilesTest, f"test_{number}_with_the_library",
            lambda self: self.with_the_library(number))


for each in PROGRAMS:
    add_tests(each)

if __name__ == "__main__":
    unittest.main()
