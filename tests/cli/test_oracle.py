# SPDX-License-Identifier: MIT
"""The independent checker agrees with what the loader leaves in device memory, byte for byte."""

import json
import os
import subprocess
import sys
import unittest

from support import (ORACLE, REAL_FILES, UNSUPPORTED, CliTest, real_files, run, sample,
                     sample_names)

# Kept out: a benchmark's size, and what this version documents as not translated.
NOT_CHECKED = ("scale", "refused-v3")
BIND_FROM = 0x1_0000_0000  # in HBM 0 of every architecture
BIND_ALIGN = 0x10000


def bind_arguments(report):
    """--bind for every name, one after the other in HBM 0."""
    graph = report["models"][0]["graph"]
    address, arguments, seen = BIND_FROM, [], set()
    for tensor in graph["inputs"] + graph["outputs"]:
        if tensor["name"] in seen:
            continue
        seen.add(tensor["name"])
        arguments += ["--bind", f"{tensor['name']}={address:#x}"]
        address += -(-tensor["size"] // BIND_ALIGN) * BIND_ALIGN
    return arguments


class OracleTest(CliTest):
    def check(self, file, bind):
        folder = self.fresh_folder()
        image, report, rings = (f"{folder}/{name}" for name in ("i.elf", "r.json", "rings"))
        arguments = []
        if bind:
            inspected = self.assert_ok(run("inspect", file, "--report", "json"))
            arguments = bind_arguments(json.loads(inspected.out))
        self.assert_ok(run("dump", file, "-o", image, "--report", report, "--rings", rings,
                           *arguments))
        os.makedirs(rings, exist_ok=True)
        done = subprocess.run([sys.executable, os.path.join(ORACLE, "check_image.py"), file, image,
                               report, "--rings", rings, *arguments],
                              capture_output=True, check=False)
        self.assertEqual(0, done.returncode, (done.stdout + done.stderr).decode()[-4000:])
        return report

    def test_every_sample(self):
        for name in sample_names():
            if name in NOT_CHECKED:
                continue
            for bind in (False, True):
                with self.subTest(sample=name, bind=bind):
                    self.check(sample(name), bind)

    def test_untranslated_records_are_refused_by_slot_and_opcode(self):
        error = self.assert_refused(run("load", sample("refused-v3")), UNSUPPORTED)
        self.assertRegex(error, r"sg00/\w+\.bin: slot record \d+: .*opcode|operator code \d+")

    def test_every_real_file(self):
        for file in real_files():
            for bind in (False, True):
                with self.subTest(file=os.path.basename(file), bind=bind):
                    report = self.check(file, bind)
                    if not bind:
                        self.check_numbers(report, file)

    def check_numbers(self, report, file):
        done = subprocess.run([sys.executable, os.path.join(ORACLE, "check_numbers.py"), report,
                               os.path.join(REAL_FILES, "README.md"), file],
                              capture_output=True, check=False)
        self.assertEqual(0, done.returncode, (done.stdout + done.stderr).decode()[-4000:])


if __name__ == "__main__":
    unittest.main()
