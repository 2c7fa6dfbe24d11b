# SPDX-License-Identifier: MIT
"""The suite must be able to fail, and its lists must not hide anything."""
import json
import os
import subprocess
import tempfile
import unittest

EXE = os.environ["NEFFLD_EXE"]
ROW = "memory.size-limits"


def run(*words):
    done = subprocess.run([EXE, "conformance", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


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
        self.assertEqual(code, 5)
        self.assertIn("'sim:v9' is no device", err)


if __name__ == "__main__":
    unittest.main()
