# SPDX-License-Identifier: MIT
"""A fake image is written from the expectation; every changed byte must be found."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import check_image
import fixture
from arch import TARGETS
from container import parse_neff
from expect import Expectation
from image import DeviceImage
from kelf import parse_model
from plan import Node

IO = {"x": 0x100000000, "y": 0x200000000}


def poke(path, address, offset):
    """Sets one byte of the segment at `address`."""
    load = next(load for load in DeviceImage(path).loads if load.paddr == address)
    with open(path, "r+b") as stream:
        stream.seek(load.offset + offset)
        stream.write(b"\x01")


class WholeImages(unittest.TestCase):
    """A fake image is written from the expectation; a changed byte must be found."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def prepare(self, target, subgraphs, bind):
        self.neff_path = os.path.join(self.folder, "f.neff")
        blob = fixture.neff_bytes(target, subgraphs)
        with open(self.neff_path, "wb") as stream:
            stream.write(blob)
        self.neff = parse_neff(blob)
        self.plan = Node(TARGETS[target]).load(parse_model(self.neff), IO if bind else None)
        self.expected = Expectation(self.plan)
        self.report = fixture.report(self.neff, self.plan)
        self.bind = [f"--bind={name}={address:#x}" for name, address in IO.items()] if bind else []
        self.rings = os.path.join(self.folder, "rings")
        os.makedirs(self.rings, exist_ok=True)
        for name, data in self.expected.vrings.items():
            with open(os.path.join(self.rings, name), "wb") as stream:
                stream.write(data)

    def check(self, change=None):
        """Returns (exit status, printed text); `change` edits the image file's allocations."""
        image, report = (os.path.join(self.folder, name) for name in ("i.elf", "r.json"))
        fixture.write_image(image, self.plan, self.expected.contents,
                            {"name": "fixture", "uuid": self.neff.header.uuid})
        if change is not None:
            change(image)
        with open(report, "w", encoding="utf-8") as stream:
            json.dump(self.report, stream)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = check_image.main([self.neff_path, image, report, "--rings", self.rings]
                                      + self.bind)
        return status, text.getvalue()

    def test_equal_images(self):
        for target, subgraphs in (("sunda", 1), ("cayman", 1), ("cayman", 2)):
            for bind in (False, True):
                with self.subTest(target=target, subgraphs=subgraphs, bind=bind):
                    self.prepare(target, subgraphs, bind)
                    status, text = self.check()
                    self.assertEqual(status, 0, text)

    def test_a_changed_byte_is_found_in_every_group(self):
        self.prepare("cayman", 2, True)
        groups = {content.group for content in self.expected.contents.values()}
        self.assertLessEqual({"weights", "constant blocks", "pointer cells", "dge tables",
                              "act tables", "dve tables", "act ring", "dve ring", "instructions",
                              "static rings", "bound rings"}, groups)
        for group in sorted(groups):
            with self.subTest(group=group):
                self.prepare("cayman", 2, True)
                content = next(c for c in self.expected.contents.values() if c.group == group)
                data = bytearray(content.data)
                data[-1] ^= 1
                content.data = bytes(data)
                status, text = self.check()
                self.assertEqual(status, 1)
                self.assertIn(f"{group}: ", text)
                self.assertIn(content.owner, text)

    def test_a_byte_behind_the_content_is_found_in_every_allocation(self):
        self.prepare("cayman", 1, True)
        for entry in self.plan.allocations:
            content = self.expected.contents.get(entry.seq)
            used = len(content.data) if content else 0
            for offset in {used, entry.size - 1}:
                if used <= offset < entry.size:
                    with self.subTest(owner=entry.owner, offset=offset):
                        status, text = self.check(lambda path: poke(path, entry.pa, offset))
                        self.assertEqual(status, 1)
                        self.assertRegex(text, r"unused bytes are zero: \d+ checked, 1 DIFFERENT")

    def test_a_segment_elsewhere_is_not_explained(self):
        self.prepare("sunda", 1, False)
        self.plan.allocations[5].pa += 0x100000000
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(text, r"is not in the image\n.*is not explained")

    def test_the_report_is_not_needed(self):
        self.prepare("sunda", 1, False)
        self.check()
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check_image.main([self.neff_path,
                                               os.path.join(self.folder, "i.elf")]), 0)

    def test_reported_addresses_are_compared(self):
        self.prepare("sunda", 1, False)
        self.report["models"][0]["allocations"][0]["pa"] = "0x1234000"
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(text, r"report addresses: \d+ checked, 1 DIFFERENT")

    def test_report_numbers_are_compared(self):
        self.prepare("sunda", 1, False)
        self.report["models"][0]["subgraphs"][0]["rings"][0]["used"] += 1
        self.report["models"][0]["subgraphs"][0]["dma"]["bytes"] += 1
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(text, r"ring entries: \d+ checked, 1 DIFFERENT")
        self.assertRegex(text, r"subgraph totals: \d+ checked, 1 DIFFERENT")

    def test_a_changed_host_vring_is_found(self):
        self.prepare("sunda", 1, False)
        name = next(iter(self.expected.vrings))
        with open(os.path.join(self.rings, name), "r+b") as stream:
            stream.write(b"\xff")
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn(f"{name}, descriptor 0", text)

    def test_unreadable_input_is_a_usage_error(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_image.main(["/nonexistent", "/nonexistent"]), 2)
