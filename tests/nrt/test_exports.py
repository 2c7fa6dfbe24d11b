# SPDX-License-Identifier: MIT
"""What the library exports, under which versions and which name."""

import os
import shutil
import subprocess
import tempfile
import unittest

import support

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


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


class Interface(unittest.TestCase):
    """scripts/abi-check on a copy of the headers and of what is written down about them."""

    def check(self, change=None):
        tree = tempfile.mkdtemp(dir=support.scratch())
        for part in ("scripts/abi-check", "tests/nrt/abi.txt", "include/nrt"):
            to = os.path.join(tree, part)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            (shutil.copytree if os.path.isdir(os.path.join(ROOT, part)) else shutil.copy)(
                os.path.join(ROOT, part), to)
        if change:
            header, old, new = change
            path = os.path.join(tree, "include/nrt", header)
            with open(path, encoding="ascii") as file:
                text = file.read()
            self.assertIn(old, text)
            with open(path, "w", encoding="ascii") as file:
                file.write(text.replace(old, new, 1))
        done = support.run([os.path.join(tree, "scripts/abi-check"), support.LIBNRT])
        if done.code == 77:
            self.skipTest(done.err)
        return done

    def test_it_is_the_one_written_down(self):
        done = self.check()
        self.assertEqual((done.code, done.out, done.err), (0, "", ""))

    def test_a_changed_layout_value_or_prototype_is_named(self):
        for change, lines in (
                (("nrt.h", "NRT_TENSOR_PLACEMENT_HOST = 1", "NRT_TENSOR_PLACEMENT_HOST = 4"),
                 ["gone:  const _NRT_TENSOR_PLACEMENT_HOST = 1",
                  "new:   const _NRT_TENSOR_PLACEMENT_HOST = 4"]),
                (("nrt.h", "NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc",
                  "NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int64_t vnc"),
                 ["gone:  func _nrt_load (*byte, uint64, int32, int32,"]),
                (("nrt.h", "uint64_t physical_address;", "uint32_t physical_address;"),
                 ["gone:  type _nrt_tensor_device_allocation_info struct { physical_address uint64;"]),
        ):
            with self.subTest(change=change):
                done = self.check(change)
                self.assertEqual(done.code, 1)
                for line in lines:
                    self.assertIn(line, done.out)


class Selecting(unittest.TestCase):
    def test_run_with_selects_the_library_for_an_eager_client(self):
        eager = os.path.join(support.PROGRAMS, "nrt-eager")
        done = support.run([support.NEFFLD, "run-with", "--", eager, "libnrt.so.1"])
        self.assertEqual((done.code, done.err), (0, ""))
        alone = support.run([eager, "libnrt.so.1"])
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

    def test_lines_for_a_shell_keep_every_character(self):
        before = "/it's $HOME; \\ here"
        done = support.run([support.NEFFLD, "run-with", "--print"], {"LD_LIBRARY_PATH": before})
        told = support.run(["sh", "-c", done.out + 'printf %s "$LD_LIBRARY_PATH"'])
        self.assertEqual(before, told.out.partition(":")[2])

    def test_run_with_refuses_nothing_to_run_and_what_cannot_run(self):
        self.assertEqual(support.run([support.NEFFLD, "run-with"]).code, 2)
        done = support.run([support.NEFFLD, "run-with", "--", "/no/such/program"])
        self.assertEqual(done.code, 3)
        self.assertIn("/no/such/program", done.err)


if __name__ == "__main__":
    unittest.main()
