# SPDX-License-Identifier: MIT
"""What the library exports, under which versions and which name."""

import os
import subprocess
import unittest

import support


def tool(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout.decode()


class Exports(unittest.TestCase):
    def test_functions_and_versions_are_exactly_the_listed_ones(self):
        symbols = [line.split() for line in
                   tool("nm", "-D", "--defined-only", "--with-symbol-versions",
                        support.LIBNRT).splitlines()]
        exported = sorted(words[2] for words in symbols if words[1] != "A")
        with open(os.path.join(os.path.dirname(__file__), "exports.txt"), encoding="ascii") as file:
            listed = sorted(file.read().split())
        self.assertEqual(exported, listed)
        self.assertEqual({words[1] for words in symbols if words[1] != "A"}, {"T"})

    def test_the_name_and_the_version_tree_are_the_expected_ones(self):
        dynamic = tool("readelf", "-dVW", support.LIBNRT)
        self.assertIn("Library soname: [libnrt.so.1]", dynamic)
        self.assertIn("Name: NRT_2.0.0", dynamic)
        self.assertRegex(dynamic, r"Name: NRT_3\.0\.0\n[^\n]*Parent 1: NRT_2\.0\.0")

    def test_the_development_name_is_there(self):
        link = os.path.join(os.path.dirname(support.LIBNRT), "libnrt.so")
        self.assertEqual(os.readlink(link), "libnrt.so.1")


class Selecting(unittest.TestCase):
    def test_run_with_selects_the_library_for_an_eager_client(self):
        symbols = os.path.join(support.PROGRAMS, "nrt-symbols")
        done = support.run([support.NEFFLD, "run-with", "--", symbols, "libnrt.so.1"])
        self.assertEqual((done.code, done.err), (0, ""))
        alone = support.run([symbols, "libnrt.so.1"])
        self.assertEqual(alone.code, 2)

    def test_run_with_passes_arguments_the_device_and_the_exit_code(self):
        script = 'test "$1" = -x && test "$NEFFLD_DEVICE" = sim:v2 && exit 7'
        done = support.run([support.NEFFLD, "run-with", "--device", "sim:v2", "--", "sh", "-c",
                            script, "sh", "-x"])
        self.assertEqual(done.code, 7)

    def test_run_with_prints_lines_for_a_shell(self):
        done = support.run([support.NEFFLD, "run-with", "--print"], {"LD_LIBRARY_PATH": "/before"})
        self.assertEqual(done.code, 0)
        folder = os.path.dirname(os.path.realpath(support.LIBNRT))
        self.assertEqual(done.out, f"export LD_LIBRARY_PATH='{folder}:/before'\n")

    def test_run_with_refuses_nothing_to_run_and_what_cannot_run(self):
        self.assertEqual(support.run([support.NEFFLD, "run-with"]).code, 2)
        done = support.run([support.NEFFLD, "run-with", "--", "/no/such/program"])
        self.assertEqual(done.code, 3)
        self.assertIn("/no/such/program", done.err)


if __name__ == "__main__":
    unittest.main()
