# SPDX-License-Identifier: MIT
"""`neffld run` as a user meets it: arguments, files, names, reports. Models are generated ones."""

import hashlib
import json
import os
import struct
import unittest

from run_support import (NEFFLD, RunTest, call, folder, payload, read_bytes, sample)
from support import Neff  # of the command's tests

USAGE, FILE, FORMAT, UNSUPPORTED, DEVICE = 2, 3, 4, 5, 7
COUNT = 12288  # elements of each tensor of vecadd


def npy(descr, shape, data, fortran=False, version=1):
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


class CommandTest(RunTest):
    def setUp(self):
        self.here = folder("command", self.id().rsplit(".", maxsplit=1)[-1])
        self.out = os.path.join(self.here, "out")

    def file(self, name, data):
        path = os.path.join(self.here, name)
        with open(path, "wb") as stream:
            stream.write(data)
        return path

    def vector(self, name, factor=1.0):
        return self.file(name, npy("<f4", (COUNT,), floats([factor * i for i in range(COUNT)])))

    def refused_when_executed(self):
        neff = Neff(sample("vecadd-v3"))
        stream = bytearray(neff.members["sg00/DVE.bin"])
        slot = next(at for at in range(0, len(stream), 64) if stream[at] == 0x41)
        stream[slot] = 0x4D  # RNG
        neff.members["sg00/DVE.bin"] = bytes(stream)
        return self.file("refused.neff", neff.bytes())

    def run_add(self, *more, left=None, right=None, model=None):
        return call(NEFFLD, "run", model or sample("vecadd-v3"), "--in",
                    f"left={left or self.vector('l.npy')}", "--in",
                    f"right={right or self.vector('r.npy', 2)}", *more)

    def test_sum_is_written_where_asked(self):
        done = self.assert_ran(self.run_add("--out", self.out))
        header, data = payload(os.path.join(self.out, "sum.npy"))
        self.assertEqual("{'descr': '<f4', 'fortran_order': False, 'shape': (12288,), }", header)
        self.assertEqual(floats([3.0 * i for i in range(COUNT)]), data)
        self.assertIn("output      sum float32[12288] to ", done.stdout)
        self.assertEqual(["sum.npy"], os.listdir(self.out))

    def test_versions_two_and_three_and_fortran_order_are_read(self):
        for version in (2, 3):
            left = self.file("l.npy", npy("<f4", (COUNT,), floats([1.0] * COUNT), True, version))
            self.assert_ran(self.run_add("--out", self.out, "--force", left=left))
            self.assertEqual(floats([2.0 * i + 1 for i in range(COUNT)]),
                             payload(os.path.join(self.out, "sum.npy"))[1])

    def test_wrong_inputs_are_refused_by_name(self):
        good, model = self.vector("l.npy"), sample("vecadd-v3")
        short = self.file("s.npy", npy("<f4", (4,), bytes(16)))
        double = self.file("d.npy", npy("<f8", (COUNT,), bytes(8 * COUNT)))
        square = self.file("q.npy", npy("<f4", (96, 128), bytes(4 * COUNT)))
        rows = (
            (["--in", f"left={good}"], USAGE, "input right float32[12288] is missing"),
            (["--in", f"left={good}", "--in", f"lost={good}"], USAGE,
             "'lost' is no input of the model, its inputs are left, right"),
            (["--in", f"sum={good}"], USAGE, "'sum' is no input"),
            (["--in", f"left={good}", "--in", f"left={good}"], USAGE, "'left' is given twice"),
            (["--in", "left"], USAGE, "expected NAME=FILE"),
            (["--in", "left="], USAGE, "--in: found 'left=' without a file, expected NAME=FILE"),
            (["--in", f"left={short}"], USAGE,
             "found float32[4], the model's input left is float32[12288]"),
            (["--in", f"left={double}"], USAGE, "found f8[12288]"),
            (["--in", f"left={square}"], USAGE, "found float32[96,128]"),
            (["--in", f"left={self.here}/none.npy"], FILE, "none.npy: cannot be opened"),
            (["--in", f"left={self.here}"], FILE, "is no regular file"),
            (["--in", f"left={model}"], FORMAT, "bad header"),
            (["--in", f"left={self.file('cut.npy', read_bytes(good)[:-1])}"], FORMAT,
             "found 49151 bytes of elements, expected 49152"),
        )
        for words, code, text in rows:
            with self.subTest(text):
                self.assert_refused(call(NEFFLD, "run", model, *words, "--out", self.out), code, text)
        self.assertFalse(os.path.exists(self.out), "a refused run left a folder")

    def test_wrong_options_are_refused(self):
        rows = (
            (["--repeat", "0"], USAGE, "--repeat"),
            (["--timeout", "-1"], USAGE, "--timeout"),
            (["--dry-run"], USAGE, "--dry-run"),
            (["--trace", sample("vecadd-v3")], USAGE, "too, expected another file to write"),
        )
        for words, code, text in rows:
            with self.subTest(text):
                self.assert_refused(self.run_add(*words), code, text)

    def test_values_no_option_can_hold_are_refused(self):
        rows = (
            (["--out", ""], "--out: expected a name"),
            (["--save-inputs", ""], "--save-inputs: expected a name"),
            (["--trace", ""], "--trace: expected a name"),
            (["--schedule", str(2 ** 64)], f"--schedule: found {2 ** 64}, expected at most "
             f"{2 ** 64 - 1}"),
            (["--random", "9" * 30], f"--random: found {'9' * 30}, expected at most"),
            (["--repeat", str(2 ** 32)], f"--repeat: found {2 ** 32}, expected at most "
             f"{2 ** 32 - 1}"),
        )
        for words, text in rows:
            with self.subTest(text):
                done = self.run_add(*words)
                self.assertEqual(USAGE, done.returncode, done.stderr)
                self.assertIn(text, done.stderr)
        self.assert_ran(self.run_add("--schedule", str(2 ** 64 - 1)))

    def test_a_place_that_takes_no_results_is_told_before_anything_runs(self):
        model = self.refused_when_executed()
        self.assert_refused(self.run_add(model=model), UNSUPPORTED, "RNG")
        inner = os.path.join(self.here, "none", "inner")
        rows = (
            (["--out", model], f"--out: {model}: cannot be opened as a folder: Not a directory"),
            (["--save-inputs", "/dev/null"],
             "--save-inputs: /dev/null: cannot be opened as a folder"),
            (["--out", inner], f"--out: {inner}: the folder cannot be created"),
            (["--out", "/proc"], "--out: /proc: a new file in it cannot be created: "),
            (["--trace", "/proc/trace.json"], "--trace: /proc/trace.json: cannot be created"),
            (["--trace", "/dev/full"], "--trace: /dev/full: is a device"),
            (["--trace", inner], f"--trace: {inner}: cannot be created"),
            (["--trace", self.here], f"--trace: {self.here}: is a folder"),
        )
        before = set(os.listdir(self.here))
        for words, text in rows:
            with self.subTest(text):
                self.assert_refused(self.run_add(*words, model=model), FILE, text)
        self.assertEqual(before | {"l.npy", "r.npy"}, set(os.listdir(self.here)))

    def test_a_folder_stays_only_with_results(self):
        new = os.path.join(self.here, "new")
        wrong = ["--out", new, "--trace", self.here]  # told when the folder is already made
        self.assert_refused(self.run_add("--out", new, model=self.refused_when_executed()),
                            UNSUPPORTED, "RNG")
        self.assertFalse(os.path.exists(new))
        self.assert_refused(self.run_add(*wrong), FILE, "is a folder")
        self.assertFalse(os.path.exists(new))
        os.mkdir(new)
        self.assert_refused(self.run_add(*wrong), FILE, "is a folder")
        self.assertTrue(os.path.isdir(new), "it was there before")

    def test_a_folder_that_cannot_be_listed_takes_results(self):
        os.mkdir(self.out, 0o333)
        plain = () if os.geteuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        try:
            self.assertNotEqual(0, call(*plain, "ls", self.out).returncode)
            self.assert_ran(call(*plain, NEFFLD, "run", sample("vecadd-v3"), "--random", "1",
                                 "--out", self.out))
        finally:
            os.chmod(self.out, 0o700)
        self.assertEqual(["sum.npy"], os.listdir(self.out))

    def test_files_are_replaced_only_when_told(self):
        self.assert_ran(self.run_add("--out", self.out))
        path = os.path.join(self.out, "sum.npy")
        before = read_bytes(path)
        right = self.vector("r2.npy", 5)
        self.assert_refused(self.run_add("--out", self.out, right=right), FILE, "exists", "--force")
        self.assertEqual(before, read_bytes(path))
        self.assert_ran(self.run_add("--out", self.out, "--force", right=right))
        self.assertNotEqual(before, read_bytes(path))

    def test_the_timeline_takes_no_tensors_place(self):
        left = self.vector("kept.npy")
        before = read_bytes(left)
        words = ["--in", f"left={left}", "--random", "1"]
        self.assert_refused(call(NEFFLD, "run", sample("vecadd-v3"), *words, "--trace", left), USAGE,
                            "too, expected another file to write")
        self.assertEqual(before, read_bytes(left))
        path = os.path.join(self.out, "sum.npy")
        # Before anything runs: the output is not there yet.
        for place in (path, os.path.join(self.out, "..", os.path.basename(self.out), "sum.npy")):
            self.assert_refused(self.run_add("--out", self.out, "--trace", place), USAGE, "--trace",
                                "sum.npy too, expected another file to write")
            self.assertFalse(os.path.exists(path))
        self.assert_refused(self.run_add("--save-inputs", self.out, "--trace",
                                         os.path.join(self.out, "left.npy")), USAGE, "left.npy")
        self.assert_refused(self.run_add("--out", self.out, "--record", path), USAGE, "--record",
                            "sum.npy too, expected another file to write")

    def test_a_write_that_fails_keeps_what_was_there(self):
        self.assert_ran(self.run_add("--out", self.out))
        path = os.path.join(self.out, "sum.npy")
        before = read_bytes(path)
        limited = ["sh", "-c", "ulimit -f 40; exec \"$@\"", "sh"]
        done = call(*limited, NEFFLD, "run", sample("vecadd-v3"), "--random", "1", "--out", self.out,
                    "--force")
        self.assert_refused(done, FILE, "sum.npy")
        self.assertEqual(before, read_bytes(path))
        self.assertEqual(["sum.npy"], os.listdir(self.out))

    def test_an_output_never_goes_through_a_link(self):
        os.makedirs(self.out)
        target = self.file("precious", b"precious")
        os.symlink(target, os.path.join(self.out, "sum.npy"))
        self.assert_refused(self.run_add("--out", self.out), FILE, "exists")
        self.assert_ran(self.run_add("--out", self.out, "--force"))
        self.assertEqual(b"precious", read_bytes(target))
        self.assertFalse(os.path.islink(os.path.join(self.out, "sum.npy")))

    def test_a_tensor_of_any_name_stays_in_the_folder(self):
        neff = Neff(sample("vecadd-v3"))
        for member, data in neff.members.items():
            if member.endswith(".json"):
                neff.members[member] = data.replace(b'"sum"', b'"../../s u=m"')
        model = self.file("named.neff", neff.bytes())
        self.assert_ran(self.run_add("--out", self.out, model=model))
        self.assertEqual(["%2E.%2F..%2Fs%20u%3Dm.npy"], os.listdir(self.out))
        self.assertEqual({"out", "named.neff", "l.npy", "r.npy"}, set(os.listdir(self.here)))

    def test_a_name_too_long_for_a_file_ends_in_its_hash(self):
        for name in ("/" * 84, "n" * 251 + "/", "n" * 252, "n" * 251):  # a file name has 255 bytes
            with self.subTest(name):
                neff = Neff(sample("vecadd-v3"))
                for member, data in neff.members.items():
                    if member.endswith(".json"):
                        neff.members[member] = data.replace(b'"sum"', f'"{name}"'.encode())
                model = self.file("long.neff", neff.bytes())
                self.assert_ran(self.run_add("--out", self.out, "--force", model=model))
                hashed = "%-" + hashlib.sha256(name.encode()).hexdigest()
                plain = name.replace("/", "%2F")
                wanted = plain if len(plain) <= 251 else plain[:251 - len(hashed)] + hashed
                path = os.path.join(self.out, wanted + ".npy")
                self.assertEqual(floats([3.0 * i for i in range(COUNT)]), payload(path)[1])
                os.unlink(path)
                self.assertEqual([], os.listdir(self.out))

    def test_random_inputs_are_those_that_were_saved(self):
        model, saved = sample("vecadd-v3"), os.path.join(self.here, "in")
        words = ["--random", "7", "--out", self.out, "--save-inputs", saved, "--force"]
        self.assert_ran(call(NEFFLD, "run", model, *words))
        first = read_bytes(os.path.join(self.out, "sum.npy"))
        left, right = (struct.unpack(f"<{COUNT}f", payload(os.path.join(saved, f"{name}.npy"))[1])
                       for name in ("left", "right"))
        self.assertEqual(floats([a + b for a, b in zip(left, right)]),
                         payload(os.path.join(self.out, "sum.npy"))[1])
        self.assertLess(abs(sum(left) / COUNT), 0.05)
        self.assertLess(abs(sum(value * value for value in left) / COUNT - 1), 0.05)
        self.assertNotEqual(left, right)
        self.assert_ran(call(NEFFLD, "run", model, *words))
        self.assertEqual(first, read_bytes(os.path.join(self.out, "sum.npy")))
        words[1] = "8"
        self.assert_ran(call(NEFFLD, "run", model, *words))
        self.assertNotEqual(first, read_bytes(os.path.join(self.out, "sum.npy")))

    def test_report_as_json(self):
        done = self.assert_ran(self.run_add("--out", self.out, "--repeat", "3", "--report", "json",
                                            "--profile"))
        report = json.loads(done.stdout)
        self.assertEqual(["left", "right"], [tensor["name"] for tensor in report["inputs"]])
        self.assertEqual([{"name": "sum", "dtype": "float32", "shape": [COUNT], "bytes": 4 * COUNT,
                           "to": os.path.join(self.out, "sum.npy")}], report["outputs"])
        self.assertEqual(3, len(report["executions"]))
        self.assertEqual("sim:v3", report["device"])
        added = [row for row in report["profile"]["instructions"]
                 if row["opcode"].startswith("41 ")]
        self.assertEqual([6], [row["records"] for row in added])  # two tiles, three executions
        by = {row["by"]: row["bytes"] for row in report["profile"]["transfers"]}
        self.assertGreaterEqual(by["qSPIO0"], 3 * 2 * 4 * COUNT)
        self.assertGreaterEqual(by["qPoolIO0"], 3 * 4 * COUNT)

    def test_timeline_has_engines_and_rings_as_tracks(self):
        trace = os.path.join(self.here, "trace.json")
        self.assert_ran(self.run_add("--trace", trace))
        with open(trace, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
                  if event["name"] == "thread_name"}
        self.assertIn("dve", tracks.values())
        self.assertIn("qSPIO0 ring 15", tracks.values())
        spans = [event for event in events if event["ph"] == "X"]
        self.assertTrue(all((event["pid"], event["tid"]) in tracks for event in spans))
        moved = sum(event["args"]["bytes"] for event in spans if event["name"] == "transfer"
                    and tracks[event["pid"], event["tid"]].startswith("qSPIO0"))
        self.assertGreaterEqual(moved, 2 * 4 * COUNT)

    def test_any_order_of_events_gives_the_same_sum(self):
        self.assert_ran(self.run_add("--out", self.out))
        expected = read_bytes(os.path.join(self.out, "sum.npy"))
        for seed in ("1", "2", "3"):
            self.assert_ran(self.run_add("--out", self.out, "--force", "--schedule", seed))
            self.assertEqual(expected, read_bytes(os.path.join(self.out, "sum.npy")))

    def test_an_input_is_never_replaced_by_the_copy_of_it(self):
        saved = os.path.join(self.here, "in")
        os.makedirs(saved)
        left = os.path.join(saved, "left.npy")
        os.replace(self.vector("l.npy"), left)
        self.assert_refused(self.run_add("--save-inputs", saved, left=left), FILE, "exists")
        before = read_bytes(left)
        self.assert_refused(self.run_add("--save-inputs", saved, "--force", left=left), USAGE,
                            "--save-inputs", "left.npy too, expected another file to write")
        self.assertEqual(before, read_bytes(left))

    def test_a_program_that_never_ends_its_wait_is_a_deadlock_report(self):
        neff = Neff(sample("vecadd-v3"))
        stream = bytearray(neff.members["sg00/DVE.bin"])
        for at in range(0, len(stream), 64):
            if stream[at + 4] == 5:  # the first wait asks for one more than ever comes
                stream[at + 8] += 1
                semaphore = stream[at + 5]
                break
        neff.members["sg00/DVE.bin"] = bytes(stream)
        model = self.file("stuck.neff", neff.bytes())
        self.assert_refused(self.run_add("--out", self.out, model=model), DEVICE, "NRT_TIMEOUT",
                            f"semaphore {semaphore} >= 17, is 16")
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main()
