# SPDX-License-Identifier: MIT
"""`neffld bench` measures every stage of a load and the ratios between them."""

import json
import resource
import subprocess
import unittest

from support import (FILE, FORMAT, NEFFLD, RESOURCE, SENTENCE, USAGE, CliTest, Neff, run, sample)

STAGES = ["read", "header hash", "inflate", "tar", "manifest", "build", "plan", "tables and cells",
          "translate instructions", "author rings", "pointers alone", "patches alone", "allocate",
          "copy to device, first", "again", "memcpy of the same", "queues", "load, parsed before"]
RATIOS = ["inflate", "json", "parse", "integrity", "weight_copies", "peak_memory", "relocation",
          "parallel", "staging", "reload", "device_calls"]


class BenchTest(CliTest):
    def bench(self, *words):
        result = self.assert_ok(run("bench", "--rounds", "1", "--report", "json", *words))
        return json.loads(result.out)["files"]

    def ratios(self, *words):
        return {ratio["name"]: ratio for ratio in self.bench(*words)[0]["ratios"]}

    def test_every_stage_and_ratio_is_there(self):
        file, = self.bench(sample("dge-lnc2-v3"))
        self.assertEqual(STAGES, [stage["name"] for stage in file["stages"]][:len(STAGES)])
        for stage in file["stages"]:
            self.assertGreater(stage["seconds"], 0, stage)
        self.assertLessEqual(set(RATIOS), {ratio["name"] for ratio in file["ratios"]})
        for ratio in file["ratios"]:
            better = ratio["value"] - ratio["target"]
            self.assertEqual(ratio["reached"], better >= 0 if ratio["better"] == "more" else better <= 0)

    def test_constants_are_copied_once_and_no_call_is_superfluous(self):
        ratios = self.ratios(sample("scale"))
        self.assertEqual(1, ratios["weight_copies"]["value"])
        self.assertEqual(1, ratios["device_calls"]["value"])

    def test_loads_together_are_timed_from_before_the_first_begins(self):
        for _ in range(5):
            self.assertLess(self.ratios(sample("vecadd-v3"))["parallel"]["value"], 4)

    def test_sizes_are_those_of_the_file(self):
        sizes = self.bench("--stages", sample("scale"))[0]["sizes"]
        report = json.loads(run("load", sample("scale"), "--report", "json").out)["models"][0]
        self.assertEqual(report["container"]["tar_bytes"], sizes["inflated_bytes"])
        self.assertEqual(sum(sum(graph["relocations"].values()) for graph in report["subgraphs"]),
                         sizes["patches"])

    def test_stages_alone_compare_nothing(self):
        file, = self.bench("--stages", sample("vecadd-v3"))
        self.assertEqual([], file["ratios"])
        self.assertEqual(STAGES, [stage["name"] for stage in file["stages"]])

    def test_any_number_of_subgraphs_is_built(self):
        file = sample("scale", "--subgraphs", "20", "--weights", "4096", "--slots", "100")
        built, = self.bench("--until", "build", file)
        self.assertEqual(20, built["sizes"]["subgraphs"])
        self.assertEqual(STAGES[:6], [stage["name"] for stage in built["stages"]])
        self.assertNotEqual(0, run("bench", file).code)

    def test_a_plain_payload_has_no_ratios_of_inflating(self):
        file, = self.bench(sample("vecadd-v3", "--compression", "none"))
        self.assertNotIn("inflate", {ratio["name"] for ratio in file["ratios"]})
        self.assertIn("not compressed", file["notes"][0])

    def test_a_file_too_small_to_compare_is_said_to_be(self):
        small = sample("vecadd-v3")
        text = self.assert_ok(run("bench", "--rounds", "1", small), "note: too small to tell").out
        self.assertNotIn("missed", text)
        counted = {"weight_copies", "device_calls"}
        for file, tells in ((small, False), (sample("scale"), True)):
            for name, ratio in self.ratios(file).items():
                self.assertEqual(tells or name in counted, not ratio["too_small"], name)
        self.assertNotIn("too small", run("bench", "--rounds", "1", sample("scale")).out)

    def test_without_room_for_the_device_it_ends_with_one_sentence(self):
        for gib in (1, 20, 99):
            def limit_memory(gib=gib):
                resource.setrlimit(resource.RLIMIT_AS, (gib << 30, gib << 30))

            done = subprocess.run([NEFFLD, "bench", sample("vecadd-v3")], capture_output=True,
                                  check=False, preexec_fn=limit_memory)
            with self.subTest(gib=gib):
                self.assertEqual((RESOURCE, b""), (done.returncode, done.stdout))
                self.assertRegex(done.stderr.decode(), SENTENCE)

    def test_threads_that_cannot_be_made_end_it_with_one_sentence(self):
        """A thread's stack is as large as the limit of stacks: all fit, some or none."""
        codes = set()
        for gib in (8, *range(14, 32, 2), 1 << 17):
            def ask_for_large_stacks(gib=gib):
                resource.setrlimit(resource.RLIMIT_STACK, (gib << 30, resource.RLIM_INFINITY))
                resource.setrlimit(resource.RLIMIT_AS, (148 << 30, 148 << 30))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

            try:
                done = subprocess.run([NEFFLD, "bench", "--rounds", "1", sample("vecadd-v2")],
                                      capture_output=True, check=False,
                                      preexec_fn=ask_for_large_stacks)
            except subprocess.SubprocessError:
                self.skipTest("the limit of stacks may not be raised")
            with self.subTest(gib=gib):
                self.assertIn(done.returncode, (0, RESOURCE), done.stderr)
                if done.returncode:
                    self.assertEqual(b"", done.stdout)
                    self.assertRegex(done.stderr.decode(), SENTENCE)
            codes.add(done.returncode)
        self.assertIn(RESOURCE, codes)

    def test_the_text_says_what_is_reached_and_missed(self):
        result = self.assert_ok(run("bench", "--rounds", "1", sample("vecadd-v3"), sample("scale")),
                                "translate instructions", "ns a slot", "weight_copies", "reached",
                                "best of 1 rounds")
        self.assertEqual(2, result.out.count("  stage, best of"))

    def test_refusals(self):
        file = sample("vecadd-v3")
        self.assert_refused(run("bench", "/absent.neff"), FILE, "/absent.neff")
        broken = Neff(file)
        broken.payload = b"\x1f\x8b" + b"\0" * 100
        self.assert_refused(run("bench", broken.save("bench-broken.neff")), FORMAT, "gzip")
        for words in ((), (file, "--rounds", "0"), (file, "--rounds", "x"), (file, "--until", "plan")):
            with self.subTest(words=words):
                self.assertEqual(USAGE, run("bench", *words).code)
        self.assert_ok(run("bench", "--help"), "--rounds", "--stages", "--report", "--until")


if __name__ == "__main__":
    unittest.main()
