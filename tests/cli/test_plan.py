# SPDX-License-Identifier: MIT
"""`neffld plan` says what a load will take, whether it fits, and touches no device."""

import json
import os
import unittest

from support import (USAGE, RESOURCE, UNSUPPORTED, CliTest, Neff, real_files, run, sample,
                     sample_names, scratch)

MIB, GIB = 1 << 20, 1 << 30
REFUSED = ("refused-v3",)
DRIVER_CATEGORY = {"model code": 8, "model constants": 10, "shared scratchpad": 11,
                   "scratchpad": 15, "runtime": 12, "dma rings io": 18, "dma rings spill": 18,
                   "dma rings runtime": 18}
CONTIGUOUS = ("--contiguous-scratchpad",)


def by_core_and_category(cores):
    sums = {}
    for core in cores:
        for usage, totals in core["usage"].items():
            key = core["core"], DRIVER_CATEGORY[usage]
            sums[key] = sums.get(key, 0) + totals["bytes"]
    return sums


class PlanTest(CliTest):
    def plan(self, *arguments):
        return json.loads(self.assert_ok(run("plan", *arguments, "--report", "json")).out)

    def check_equals_load(self, file, *options):
        planned = self.plan(file, *options)["models"][0]
        report = json.loads(self.assert_ok(run("load", file, "--report", "json", *options)).out)
        loaded = {}
        for allocation in report["models"][0]["allocations"]:
            category = 11 if allocation["category"] == 19 else allocation["category"]
            key = allocation["core"], category
            loaded[key] = loaded.get(key, 0) + allocation["size"]
        self.assertEqual(loaded, by_core_and_category(planned["load"]))
        self.assertTrue(planned["fits"])
        self.assertEqual(report["models"][0]["warnings"], planned["warnings"])

    def test_every_sample_takes_what_was_planned(self):
        for name in sample_names():
            if name in REFUSED:
                continue
            for options in ((), CONTIGUOUS):
                with self.subTest(sample=name, options=options):
                    self.check_equals_load(sample(name), *options)

    def test_every_real_file_takes_what_was_planned(self):
        for file in real_files():
            for options in ((), CONTIGUOUS):
                with self.subTest(file=os.path.basename(file), options=options):
                    self.check_equals_load(file, *options)

    def test_no_device_is_opened(self):
        run_without = run("plan", sample("vecadd-v3"), env={"NEFFLD_DEVICE": "/dev/nothing-here"})
        self.assert_ok(run_without, "no device", "fits")

    def test_what_does_not_fit_is_answered_with_the_bytes_that_are_missing(self):
        file = sample("dge-v3")
        missed = run("plan", file, "--hbm", "400MiB", "--report", "json")
        self.assertEqual(1, missed.code)
        self.assertRegex(missed.err, r"\Aneffld: .*misses by \d+ bytes \(NRT_RESOURCE\)\n\Z")
        model = json.loads(missed.out)["models"][0]
        miss = model["miss"]
        self.assertFalse(model["fits"])
        self.assertEqual("scratchpad page 0", miss["owner"])
        self.assertEqual("shared scratchpad", miss["usage"])
        self.assertEqual(512 * MIB, miss["bytes"])
        self.assertEqual(["a contiguous scratchpad (--contiguous-scratchpad)"],
                         miss["would_fit_with"])
        need = 400 * MIB + miss["short_by"]
        self.assertTrue(self.plan(file, "--hbm", need)["models"][0]["fits"])
        self.assertEqual(1, run("plan", file, "--hbm", need - 4096).code)
        self.assert_ok(run("plan", file, "--hbm", "400MiB", *CONTIGUOUS), "fits")

    def test_files_are_planned_on_top_of_each_other(self):
        one = self.plan(sample("dge-v3"))["models"][0]["load"]
        both = self.plan(sample("dge-v3"), sample("dge-v3"))["models"]
        self.assertEqual(one, both[0]["load"])
        second = by_core_and_category(both[1]["load"])
        self.assertNotIn((0, 11), second)  # the pages are there already

    def test_oversized_variables_are_listed_with_advice(self):
        scratchpad = self.plan(sample("oversized-v3"))["models"][0]["scratchpad"]
        self.assertEqual(["large", "straddles"],
                         sorted(entry["name"] for entry in scratchpad["oversized"]))
        advised = scratchpad["advised_page_bytes"] // MIB
        again = self.plan(sample("oversized-v3"), "--scratchpad-page-size", advised)
        self.assertEqual([], again["models"][0]["scratchpad"]["oversized"])
        self.assert_ok(run("plan", sample("oversized-v3")),
                       f"NEURON_SCRATCHPAD_PAGE_SIZE={advised} (MiB)")

    def test_environment_names_of_the_original_are_defaults(self):
        file = sample("dge-v3")
        for env, field, value in (
                ({"NEURON_SCRATCHPAD_PAGE_SIZE": "1024"}, "page_bytes", 1024 * MIB),
                ({"NEURON_RT_CONTIGUOUS_SCRATCHPAD": "1"}, "mode", "contiguous"),
                ({"NEURON_RT_CONTIGUOUS_SCRATCHPAD": "0"}, "mode", "paged")):
            result = self.assert_ok(run("plan", file, "--report", "json", env=env))
            self.assertEqual(value, json.loads(result.out)["models"][0]["scratchpad"][field])
        result = run("plan", file, "--report", "json", "--scratchpad-page-size", "512",
                     env={"NEURON_SCRATCHPAD_PAGE_SIZE": "1024"})
        self.assertEqual(512 * MIB,
                         json.loads(result.out)["models"][0]["scratchpad"]["page_bytes"])

    def test_wrong_options_are_refused(self):
        file = sample("vecadd-v3")
        for arguments in (("--hbm", "1"), ("--hbm", "1GiB", "--hbm", "2GiB"), ("--hbm", "100GiB"),
                          ("--scratchpad-page-size", "511"), ("--core", "99"),
                          ("--scratchpad-page-size", "4096")):
            with self.subTest(arguments=arguments):
                self.assert_refused(run("plan", file, *arguments), USAGE)

    def test_another_architecture_takes_the_memory_of_the_device(self):
        file = sample("vecadd-v2")
        self.assert_refused(run("plan", file, "--arch", "v3"), UNSUPPORTED, "NEFF arch: v2")
        document = self.plan(file, "--arch", "v3", "--allow-legacy")
        self.assertEqual("v3", document["architecture"])
        self.assertEqual(4, len(document["hbms"]))
        self.assertEqual(24 * GIB, document["hbms"][0]["size"])
        # What the load on such a device takes.
        report = json.loads(self.assert_ok(run("load", file, "--device", "sim:v3", "--allow-legacy",
                                               "--report", "json")).out)
        taken = sum(entry["size"] for entry in report["models"][0]["allocations"])
        planned = by_core_and_category(document["models"][0]["load"])
        self.assertEqual(taken, sum(planned.values()))
        # The other way round a core may have an HBM that the device lacks.
        self.assert_refused(run("plan", sample("vecadd-v3"), "--arch", "v2", "--allow-legacy",
                                "--core", "3"), RESOURCE, "HBM 3")

    def test_what_no_hbm_can_hold_has_no_missing_bytes(self):
        def with_temporary(size):
            return Neff(sample("vecadd-v3")).edit("sg00/def.json", lambda d: d["var"].update(
                huge={"type": "tmp-buf", "size": size,
                      "var_id": len(d["var"])})).save(f"huge-{size}.neff")

        for size, text in ((1 << 51, str((1 << 51) - 23 * GIB + 16 * MIB)),
                           (1 << 63, "would not with HBMs of any size")):
            with self.subTest(size=size):
                result = run("plan", with_temporary(size))
                self.assertEqual(1, result.code, result.err)
                self.assertIn(text, result.err)
                document = json.loads(run("plan", with_temporary(size), "--report", "json").out)
                self.assertEqual(size == 1 << 51, "short_by" in document["models"][0]["miss"])

    def test_packets_are_an_option(self):
        file = sample("conv-like-v2")
        for arguments, env in ((("--packet-bytes", "65536"), {}),
                               ((), {"NEURON_RT_DBG_DMA_PACKETIZATION_SIZE": "65536"})):
            with self.subTest(arguments=arguments):
                packed = os.path.join(scratch(), "packed.elf")
                self.assert_ok(run("dump", file, "-o", packed, *arguments, env=env))
                self.assert_ok(run("load", file, "--verify", *arguments, env=env))
                different = run("diff", file, packed)
                self.assertEqual(1, different.code, different.err)
                self.assertIn("CONCAT", different.out)
                self.assert_ok(run("diff", file, packed, *arguments, env=env))
        for value in ("1", "4095", "1048576", "-1", "", "x"):
            with self.subTest(value=value):
                self.assertEqual(USAGE, run("plan", file, "--packet-bytes", value).code)

    def test_rings_have_a_budget(self):
        error = self.assert_refused(run("plan", sample("conv-like-v2"), "--max-ring-bytes", "1000"),
                                    RESOURCE)
        self.assertIn("allowed are 1000 (--max-ring-bytes)", error)


if __name__ == "__main__":
    unittest.main()
