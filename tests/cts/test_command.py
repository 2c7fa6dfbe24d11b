# SPDX-License-Identifier: MIT
"""The suite must be able to fail, and its lists must not hide anything."""
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

EXE = os.environ["NEFFLD_EXE"]
ROW = "memory.size-limits"


def run(*words):
    done = subprocess.run([EXE, "conformance", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Documents(unittest.TestCase):
    def test_every_command_is_in_the_document_of_the_simulated_device(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        names = set()
        for header in (root / "include" / "neuron_abi").glob("ioctl*.h"):
            for name, value in re.findall(r"#define NEURON_IOCTL_(\w+) 0x(\w{8})u", header.read_text()):
                number = int(value, 16) & 0xFF
                if number < 125 or number == 133:  # the handlers of later ones are not known
                    names.add(name)
        document = (root / "docs" / "simulated-device.md").read_text()
        section = document.split("## Commands")[1].split("\n## ")[0]
        described = re.findall(r"`([A-Z0-9_]+)`", section)
        self.assertEqual(sorted(described), sorted(names))
        self.assertIn(f"All {len(names)} command values", section)


class Command(unittest.TestCase):
    def listed(self, option, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return run("--device", "sim:v3", "--group", "memory", option, file.name)

    def test_rows_have_unique_names_and_groups(self):
        code, out, _ = run("--list")
        self.assertEqual(code, 0)
        names = [line.split()[0] for line in out.splitlines()[:-1]]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all("." in name for name in names))
        self.assertGreaterEqual(len(names), 120)

    def test_an_unexpected_pass_is_an_error(self):
        code, out, _ = self.listed("--expected-failure", f"sim:v3 {ROW} no reason at all\n")
        self.assertEqual(code, 1)
        self.assertIn(f"UNEXPECTED PASS  {ROW}", out)

    def test_a_list_of_another_kind_changes_nothing(self):
        code, out, _ = self.listed("--expected-failure", f"module:v3 {ROW} no reason at all\n")
        self.assertEqual(code, 0)
        self.assertNotIn("UNEXPECTED", out)

    def test_an_unsupported_row_is_not_run(self):
        code, out, _ = self.listed("--unsupported", f"# why\nsim:v3 {ROW} not there\n")
        self.assertEqual(code, 0)
        self.assertIn(f"unsupported      {ROW}: not there", out)

    def test_lists_are_checked(self):
        for text, words in (
            ("sim:v3 memory.nothing reason\n", "found row 'memory.nothing'"),
            (f"sim:v9 {ROW} reason\n", "found device kind 'sim:v9'"),
            (f"sim:v3 {ROW}\n", "a reason"),
            (f"sim:v3 {ROW} a\nsim:v3 {ROW} b\n", "listed twice"),
        ):
            code, _, err = self.listed("--unsupported", text)
            self.assertEqual(code, 4, err)
            self.assertIn(words, err)

    def test_an_unknown_group_is_refused(self):
        code, _, err = run("--device", "sim:v3", "--group", "nothing")
        self.assertEqual(code, 2)
        self.assertIn("found 'nothing'", err)

    def test_json_counts_agree_with_rows(self):
        code, out, _ = run("--device", "sim:v2", "--report", "json", "--filter", "semaphore")
        self.assertEqual(code, 0)
        report = json.loads(out)
        self.assertEqual(report["device"]["kind"], "sim:v2")
        verdicts = [row["verdict"] for row in report["rows"]]
        for verdict, number in report["counts"].items():
            self.assertEqual(verdicts.count(verdict), number)
        self.assertTrue(all("semaphore" in row["name"] for row in report["rows"]))

    def test_unknown_devices_are_refused(self):
        code, _, err = run("--device", "sim:v9")
        self.assertEqual(code, 2)
        self.assertIn("'sim:v9' is no device", err)

    def test_too_little_address_space_is_a_resource_error(self):
        def limited(*words):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            return subprocess.run([EXE, *words], capture_output=True, text=True, preexec_fn=limit)

        if limited("--version").returncode != 0:
            self.skipTest("this build itself needs more address space")
        done = limited("conformance", "--device", "sim:v3")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("address space (ulimit -v unlimited)", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
