# SPDX-License-Identifier: MIT
"""Containers, and the numbers of real files (with NEFFLD_NEFFS, else reported as skipped)."""

import glob
import os
import unittest

import check_numbers
import fixture
from container import NeffError, parse_neff, read_neff, word_swapped
from kelf import parse_model
from summary import model_summary


class Containers(unittest.TestCase):
    def test_word_swap_reverses_each_group_of_four(self):
        self.assertEqual(word_swapped(bytes(range(16))).hex(), "03020100070605040b0a09080f0e0d0c")

    def test_both_hash_forms_are_told_apart(self):
        blob = bytearray(fixture.neff_bytes("cayman", 1))
        blob[0xAC:0xBC] = word_swapped(bytes(blob[0xAC:0xBC]))
        self.assertEqual(parse_neff(bytes(blob)).hash_form, "word-swapped")
        blob[0xAC] ^= 1
        self.assertEqual(parse_neff(bytes(blob)).hash_form, "mismatch")

    def test_fixture_parses(self):
        neff = parse_neff(fixture.neff_bytes("sunda", 1))
        self.assertEqual((neff.hash_form, neff.header.name), ("plain", "fixture"))
        self.assertEqual(neff.gzip_bytes + neff.padding_bytes, neff.header.data_size)

    def test_truncated_file_is_refused(self):
        with self.assertRaises(NeffError):
            parse_neff(fixture.neff_bytes("sunda", 1)[:-10240])


class Numbers(unittest.TestCase):
    README = "\n".join((
        "## 3. Numbers to test against", "",
        "| file | vars (all sg) | queue sets | blocks | descs | elements | DMA bytes |"
        " D4 ops / elements / bytes | slots | constants B | scratch B | tar B |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        "| 77 | sb 1 in 1 out 1 file 1 virt 1 tab 1 | in 1 data 1 dynamic 4 (2 per sg) | 3 | 5 | 95"
        " | 1000 | 2 / 256 / 16384 (source) | 1/2/3/0/6; 2/2/2/2/2 | 9000 | 4096 | 20480 |"))

    def test_row_is_parsed(self):
        numbers = check_numbers.parse_row(check_numbers.read_row(self.README, "dir/77-x.neff"))
        self.assertEqual(numbers["variables"]["virtual"], 1)
        self.assertEqual(numbers["queue sets"], {"in": 1, "data": 1, "dynamic": 4})
        self.assertEqual(numbers["D4 bytes"], 16384)
        self.assertEqual(numbers["slots"], [[1, 2, 3, 0, 6], [2, 2, 2, 2, 2]])
        self.assertIsNone(check_numbers.read_row(self.README, "dir/78-x.neff"))

    def test_generated_file_has_its_known_numbers(self):
        neff = parse_neff(fixture.neff_bytes("cayman", 2))
        numbers = check_numbers.report_numbers(model_summary(neff, parse_model(neff)))
        self.assertEqual((numbers["blocks"], numbers["descriptors"]), (6, 10))
        self.assertEqual(numbers["elements"], 2 * (37 + 3 + 20 + 35))
        self.assertEqual(numbers["DMA bytes"],
                         2 * (512 * 37 + 210000 + 256 * 20 + 8 * 8 * 2 + 70))
        self.assertEqual(numbers["D4 bytes"], 2 * 2 * 128 * 64)

    @unittest.skipUnless("NEFFLD_NEFFS" in os.environ, "NEFFLD_NEFFS is not set")
    def test_real_files_have_the_numbers_of_their_readme(self):
        folder = os.environ["NEFFLD_NEFFS"]
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as stream:
            readme = stream.read()
        paths = sorted(glob.glob(os.path.join(folder, "*.neff")))
        self.assertTrue(paths, f"no NEFF files in {folder}")
        for path in paths:
            with self.subTest(file=os.path.basename(path)):
                neff = read_neff(path)
                numbers = check_numbers.report_numbers(model_summary(neff, parse_model(neff)))
                expected = check_numbers.parse_row(check_numbers.read_row(readme, path))
                self.assertEqual(check_numbers.differences(expected, numbers), [])
