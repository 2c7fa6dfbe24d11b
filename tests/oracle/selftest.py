#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the oracle itself: the worked examples of the spec, and runs over generated NEFFs.

With NEFFLD_NEFFS naming a folder of real NEFFs and their README.md, the parsers are also compared
with the numbers of that README; without it that test is reported as skipped.
"""

import os
import sys
import unittest

if __name__ == "__main__":
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "selftests")
    suite = unittest.defaultTestLoader.discover(folder, pattern="test_*.py")
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
