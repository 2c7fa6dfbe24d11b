# SPDX-License-Identifier: MIT
"""Device faults in the loads of real files: at every call of 05, 11 and 12, at some of the others.
scripts/lane faults does every call of all."""

import os
import subprocess
import sys
import unittest

FAULT_SWEEP = os.environ.get("NEFFLD_FAULT_SWEEP", "fault_sweep")
REAL_FILES = os.environ.get("NEFFLD_NEFFS")
WHOLE = ("05", "11", "12")
SOME_CALLS = 2  # about; of the others


class RealFilesTest(unittest.TestCase):
    def sweep(self, files, *options):
        done = subprocess.run([FAULT_SWEEP, *options, *files], capture_output=True, text=True,
                              check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual(len(files), done.stdout.count(" 0 failures"), done.stdout)

    def test_every_call_of_small_files_and_some_of_the_others(self):
        if not REAL_FILES:
            print("SKIPPED: real files (NEFFLD_NEFFS is not set)", file=sys.stderr)
            return
        files = sorted(os.path.join(REAL_FILES, name) for name in os.listdir(REAL_FILES)
                       if name.endswith(".neff"))
        whole = [file for file in files if os.path.basename(file)[:2] in WHOLE]
        self.assertEqual(len(WHOLE), len(whole))
        self.sweep(whole)
        self.sweep([file for file in files if file not in whole], "--at-most", str(SOME_CALLS))


if __name__ == "__main__":
    unittest.main()
