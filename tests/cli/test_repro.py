# SPDX-License-Identifier: MIT
"""Reduced files show the same error as the file they come from: over every broken input of the
message tables, and over real files with one injected error."""

import json
import os
import re
import unittest

import test_messages
from support import (FILE, RESOURCE, SENTENCE, USAGE, CliTest, Neff, gzip_of, in_parallel,
                     least_memory, read_bytes, real_files, run, run_within, sample, scratch,
                     write_bytes)

NO = 1  # exit code of an answer that is no


def kind_of(result, file):
    """The sentence, which is the last line, without the file's name, positions and numbers: another
    notion of "the same error" than the command's own, so that neither proves itself."""
    text = result.err.splitlines()[-1].replace(file, "FILE")
    return re.sub(r"\b(0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f]*)\b", "#", text)


def broken_sample(number, change):
    neff = Neff(sample("vecadd-v3"))
    change(neff)
    return neff.save(f"repro-{number}.neff")


def unknown_opcode(neff):
    """The first slot of DVE is none."""
    test_messages.slot("sg00/DVE.bin", 0, 0, 0xFD)(neff)


class ReproTest(CliTest):
    def reduced(self, file, *arguments):
        """(report, path of the reduced file)."""
        small = os.path.join(scratch(), os.path.basename(file) + "-small.neff")
        result = run("repro", file, "-o", small, "--report", "json", *arguments)
        self.assertEqual(0, result.code, result.err)
        self.assertEqual("", result.err)
        return json.loads(result.out), small


class TableTest(ReproTest):
    def check(self, case):
        name, file = case
        before = run("load", file)
        report, small = self.reduced(file)
        after = run("load", small)
        return name, file, small, before, after, report

    def check_all(self, cases):
        for name, file, small, before, after, report in in_parallel(self.check, cases):
            with self.subTest(name):
                self.assertEqual(before.code, after.code, after.err)
                self.assertEqual(kind_of(before, file), kind_of(after, small))
                self.assertLessEqual(os.path.getsize(small), os.path.getsize(file))
                self.assertEqual(os.path.getsize(small), report["after"]["bytes"])
                self.assertFalse(report["stopped_early"])
            yield report

    def test_each_broken_member_is_reduced_to_a_smaller_file_of_the_same_error(self):
        cases = [(name, broken_sample(number, change))
                 for number, (name, _, _, change) in enumerate(test_messages.CASES)]
        reports = list(self.check_all(cases))
        self.assertGreaterEqual(len(reports), 60)
        members = sorted(report["after"]["members"] for report in reports
                         if not report["container_damaged"])
        self.assertLessEqual(members[len(members) // 2], 12)  # of 29

    def test_each_damaged_container_is_reduced_to_a_smaller_file_of_the_same_error(self):
        cases = [(name, write_bytes(os.path.join(scratch(), f"repro-bytes-{number}.neff"),
                                    content()))
                 for number, (name, code, _, content) in enumerate(test_messages.FILES)
                 if code != FILE]
        for report in self.check_all(cases):
            self.assertTrue(report["container_damaged"])


class ResultTest(ReproTest):
    def test_a_bad_opcode_leaves_one_slot(self):
        report, small = self.reduced(broken_sample("opcode", unknown_opcode))
        self.assertEqual(1, report["after"]["slots"])
        self.assertEqual(64, len(Neff(small).members["sg00/DVE.bin"]))

    def test_the_same_file_gives_the_same_bytes(self):
        file = broken_sample("twice", unknown_opcode)
        first = read_bytes(self.reduced(file)[1])
        self.assertEqual(first, read_bytes(self.reduced(file)[1]))

    def test_the_text_report_says_sizes_error_and_what_is_left(self):
        file = broken_sample("text", unknown_opcode)
        small = os.path.join(scratch(), "text-small.neff")
        self.assert_ok(run("repro", file, "-o", small, "--error"), "error: sg00/DVE.bin: slot",
                       "0xFD", "members", "tried", "no weights", f"wrote {small}")

    def test_no_weights_are_left_unless_asked_for(self):
        neff = Neff(sample("conv-like-v2"))
        arrays = [name for name in neff.members if name.endswith(".npy")]
        self.assertTrue(arrays)
        neff.edit("sg00/def.json", lambda d: d["dma_queue"][sorted(d["dma_queue"])[-1]].update(
            owner="gpu"))
        file = neff.save("weights.neff")
        report, small = self.reduced(file)
        self.assertEqual([], report["weights_left"])
        for name, data in Neff(small).members.items():
            if name.endswith(".npy"):
                self.assertEqual(b"", data[128:].strip(b"\0"), name)
        _, small = self.reduced(file, "--keep-weights")
        zero = [name for name, data in Neff(small).members.items()
                if name.endswith(".npy") and not data[128:].strip(b"\0")]
        self.assertEqual([], zero)

    def test_without_time_or_tries_it_writes_what_was_reached_and_says_so(self):
        file = broken_sample("time", unknown_opcode)
        report, small = self.reduced(file, "--seconds", "0")
        self.assertTrue(report["stopped_early"])
        self.assertIn("0xFD", run("load", small).err)
        result = run("repro", file, "-o", small, "--tries", "3")
        self.assertIn("tried 3 files", result.out)
        self.assert_ok(result, "stopped early")

    def test_until_says_which_errors_are_looked_for(self):
        file = broken_sample("late", test_messages.block_of_trigger(4711))
        report, small = self.reduced(file)
        self.assertIn("4711", run("load", small).err)
        self.assertLess(report["after"]["slots"], report["before"]["slots"])
        result = run("repro", file, "-o", small, "--until", "graph")
        self.assert_refused(result, NO, "shows no error")


class StageTest(ReproTest):
    """Errors that show only after parsing: the amounts in their sentences may change."""

    def check(self, code, file, *arguments):
        report, small = self.reduced(file, *arguments)
        before, after = run("load", file, *arguments), run("load", small, *arguments)
        self.assertEqual((code, code), (before.code, after.code), after.err)
        self.assertEqual(kind_of(before, file), kind_of(after, small))
        self.assertLess(report["after"]["members"], 6)

    def test_planning(self):
        self.check(RESOURCE, sample("vecadd-v3"), "--max-ring-bytes", 1000)

    def test_device_memory(self):
        neff = Neff(sample("vecadd-v3"))
        test_messages.variable("big", type="virtual", var_id=4, size=1 << 36,
                               backing_variable_off=0)(neff)
        self.check(RESOURCE, neff.save("big.neff"))


class RefusalTest(ReproTest):
    def refused(self, code, *arguments):
        small = os.path.join(scratch(), "never.neff")
        result = run("repro", *arguments, "-o", small)
        self.assertFalse(os.path.exists(small))
        return self.assert_refused(result, code)

    def test_a_file_that_loads_shows_no_error(self):
        self.assertIn("shows no error", self.refused(NO, sample("vecadd-v3")))

    def test_another_error_than_the_wanted_one_is_a_no_that_tells_it(self):
        file = broken_sample("other", unknown_opcode)
        sentence = self.refused(NO, file, "--error", "no such text")
        self.assertIn("0xFD", sentence)
        self.assertIn("NRT_RESOURCE", self.refused(NO, file, "--error", "NRT_RESOURCE"))

    def test_a_wanted_text_or_status_is_found(self):
        file = broken_sample("wanted", unknown_opcode)
        for wanted in ("no opcode of v3", "NRT_INVALID"):
            report, small = self.reduced(file, "--error", wanted)
            self.assertIn(wanted, run("load", small).err)
            self.assertLessEqual(report["after"]["members"], 29)

    def test_files_and_devices_that_are_none_of_its_own_are_left_alone(self):
        file = broken_sample("own", unknown_opcode)
        blob = read_bytes(file)
        self.assert_refused(run("repro", file, "-o", file), USAGE, "expected another file")
        link = os.path.join(scratch(), "own-link.neff")
        os.symlink(file, link)
        self.assert_refused(run("repro", file, "-o", link), USAGE, "expected another file")
        self.assertEqual(blob, read_bytes(file))
        self.assert_refused(run("repro", file, "-o", "/absent/small.neff"), FILE, "/absent")
        self.assertEqual(USAGE, run("repro", file, "-o", "x.neff", "--device",
                                    "/dev/neuron0").code)
        self.assertEqual(FILE, run("repro", "/absent.neff", "-o",
                                   os.path.join(scratch(), "x.neff")).code)

    def test_a_refusal_leaves_the_old_file(self):
        old = write_bytes(os.path.join(scratch(), "old-repro.neff"), b"old")
        self.assertEqual(NO, run("repro", sample("vecadd-v3"), "-o", old).code)
        self.assertEqual(b"old", read_bytes(old))


class RealFileTest(ReproTest):
    def injected(self, file, change):
        neff = Neff(file)
        change(neff)
        return neff.save("injected-" + os.path.basename(file))

    def check(self, file, change, words):
        broken = self.injected(file, change)
        report, small = self.reduced(broken, "--seconds", "45")
        before, after = run("load", broken), run("load", small)
        self.assertIn(words, after.err)
        self.assertEqual(kind_of(before, broken), kind_of(after, small))
        self.assertLess(os.path.getsize(small), os.path.getsize(broken) // 20)
        self.assertLessEqual(report["after"]["slots"], max(2, report["before"]["slots"] // 100))
        self.assertEqual([], report["weights_left"])
        return report

    def test_one_bad_opcode_in_the_middle_of_a_stream(self):
        def change(neff):
            data = bytearray(neff.members["sg00/PE.bin"])
            data[len(data) // 64 // 2 * 64] = 0xFD
            neff.members["sg00/PE.bin"] = bytes(data)
        for file in real_files():
            if os.path.basename(file).startswith(("03-", "09-")):
                with self.subTest(file):
                    self.check(file, change, "0xFD")

    def test_one_queue_nobody_has(self):
        def change(neff):
            neff.edit("sg00/Pool.json", lambda d: d["dma"][len(d["dma"]) // 2].update(
                queue="qNone"))
        for file in real_files():
            if os.path.basename(file).startswith(("03-", "09-")):
                with self.subTest(file):
                    self.check(file, change, "qNone")


class MemoryTest(ReproTest):
    def check_under(self, limit, file, *words):
        """The exit code: reduced by its own error, or a sentence about memory and no file."""
        small = os.path.join(scratch(), "repro-memory-small.neff")
        done = run_within(limit, "repro", file, "-o", small, "--seconds", "1", "--report", "json",
                          *words)
        with self.subTest(limit=limit):
            if done.returncode == 0:
                self.assertNotIn("memory", json.loads(done.stdout)["error"])
                self.assertIn("opcode", json.loads(done.stdout)["error"])
                os.unlink(small)
            else:
                self.assertEqual((RESOURCE, b""), (done.returncode, done.stdout))
                self.assertRegex(done.stderr.decode(), SENTENCE)
                self.assertIn(b"memory", done.stderr)
                self.assertFalse(os.path.exists(small))
        return done.returncode

    def test_a_shortage_of_host_memory_is_told_and_nothing_reduced_by_it(self):
        neff = Neff(sample("conv-like-v2"))
        neff.members["sg00/more.bin"] = bytes(24 << 20)
        unknown_opcode(neff)
        file = neff.save("repro-memory.neff")
        device = 37 << 30  # what a device of v2 reserves, nearly
        codes = {self.check_under(limit, file, "--device", "sim:v2")
                 for limit in (32 << 20, 1 << 30,
                               *range(device - (48 << 20), device + (48 << 20), 6 << 20),
                               device + (256 << 20))}
        self.assertEqual({0, RESOURCE}, codes)

    def test_where_memory_for_the_archive_is_short_too(self):
        file = broken_sample("repro-archive-memory", unknown_opcode)
        least = least_memory()
        codes = {self.check_under(least + (step << 20), file, "--until", "plan")
                 for step in (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 256)}
        self.assertEqual({0, RESOURCE}, codes)


class SizeTest(ReproTest):
    def test_a_file_packed_better_than_we_can_does_not_grow(self):
        neff = Neff(sample("vecadd-v3"))
        unknown_opcode(neff)
        neff.payload = gzip_of(neff.archive(), 9)
        neff.header[0xDC:0xDC + 6] = b"secret"
        file = neff.save("repro-packed.neff")
        for tries in (0, 1, 2, 5, 20):
            with self.subTest(tries=tries):
                report, small = self.reduced(file, "--tries", str(tries))
                self.assertLessEqual(os.path.getsize(small), os.path.getsize(file))
                self.assertNotIn(b"secret", read_bytes(small)[:1024])
                self.assertEqual(os.path.getsize(small), report["after"]["bytes"])
                self.assertTrue(report["stopped_early"])


if __name__ == "__main__":
    unittest.main()
