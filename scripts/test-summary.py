#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up meson test logs, shows what the tests said they skipped, and prints one closing line."""
import json
import sys

PASSED = {"OK", "EXPECTEDFAIL"}


def main():
    passed = failed = skipped = 0
    skips = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                if test["result"] in PASSED:
                    passed += 1
                elif test["result"] == "SKIP":
                    skipped += 1
                else:
                    failed += 1
                output = (test.get("stdout") or "") + (test.get("stderr") or "")
                skips += [f"{test['name']}: {text.strip()}" for text in output.splitlines()
                          if text.lower().lstrip().startswith("skip")]
    for skip in dict.fromkeys(skips):
        print(skip)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


main()
