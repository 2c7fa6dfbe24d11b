# SPDX-License-Identifier: MIT
"""Every sample's layout, ledger and device image equal the committed goldens, byte for byte.

After an intended change run scripts/regenerate-goldens and review the difference.
"""

import os
import subprocess
import tempfile
import unittest

import goldens


class Corpus(unittest.TestCase):
    def test_every_sample_equals_its_goldens(self):
        with tempfile.TemporaryDirectory(prefix="neffld-goldens-") as fresh:
            for name in goldens.sample_names():
                goldens.make(name, fresh)
            have, want = goldens.names_in(fresh), goldens.names_in(goldens.CORPUS)
            # Texts before images: a moved allocation says more than the byte it moved.
            for name in sorted(set(have) & set(want), key=lambda name: (".elf" in name, name)):
                with self.subTest(golden=name):
                    found = goldens.difference(os.path.join(goldens.CORPUS, name),
                                               os.path.join(fresh, name))
                    if found:
                        self.fail(f"tests/golden/corpus/{name} differs at {found}")
            self.assertEqual(sorted(set(have) ^ set(want)), [],
                             "goldens that are made now or are committed, but not both")


class Comparison(unittest.TestCase):
    """The comparison finds what it is there for, in a golden changed on purpose."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="neffld-goldens-")
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def packed(self, name, content, level):
        path = os.path.join(self.folder, f"{level}{name}")
        subprocess.run(["zstd", "-q", f"-{level}", "-o", path], input=content, check=True)
        return path

    def test_names_the_device_address_of_a_changed_byte(self):
        golden = os.path.join(goldens.CORPUS, "vecadd-v3.elf.zst")
        image = bytearray(goldens.unpacked(golden))
        image[-1] ^= 1
        changed = self.packed("image.elf.zst", image, 1)
        text = goldens.read(os.path.join(goldens.CORPUS, "vecadd-v3.txt")).decode()
        rows = text.split("# allocations")[1].split("# ledger")[0].splitlines()
        last = next(row.split() for row in reversed(rows) if row[:4].strip().isdigit())
        end = int(last[1], 16) + int(last[2])
        self.assertIn(f"device address 0x{end - 1:x}\n", goldens.difference(golden, changed))

    def test_tells_a_changed_note_and_a_missing_end(self):
        golden = os.path.join(goldens.CORPUS, "vecadd-v3.elf.zst")
        image = goldens.unpacked(golden)
        note = image.replace(b"exec tx ring", b"exec TX ring", 1)
        self.assertIn("exec TX ring",
                      goldens.difference(golden, self.packed("note.elf.zst", note, 1)))
        self.assertIn("now:    ends",
                      goldens.difference(golden, self.packed("cut.elf.zst", image[:-1], 2)))

    def test_takes_equal_contents_packed_in_other_bytes_as_equal(self):
        golden = os.path.join(goldens.CORPUS, "vecadd-v3.elf.zst")
        again = self.packed("image.elf.zst", goldens.unpacked(golden), 9)
        self.assertNotEqual(goldens.read(golden), goldens.read(again))
        self.assertIsNone(goldens.difference(golden, again))

    def test_names_the_first_line_that_differs(self):
        self.assertEqual(goldens.text_difference(b"a\nb\n", b"a\nc\n"),
                         "line 2\n  golden: b\n  now:    c")
        self.assertEqual(goldens.text_difference(b"a\n", b"a\nb\n"),
                         "line 2\n  golden: None\n  now:    b")


if __name__ == "__main__":
    unittest.main()
