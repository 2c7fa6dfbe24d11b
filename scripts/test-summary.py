#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up meson test logs and the results of scripts/vm (lines of ok, FAILED or SKIPPED and a name),
shows what the tests said they skipped, and prints one closing line."""
import argparse
import json

PASSED = {"OK", "EXPECTEDFAIL", "ok"}
SKIPPED = {"SKIP", "SKIPPED"}


def meson_results(log):
    """(result, name, what it printed) of each test."""
    for line in log:
        test = json.loads(line)
        yield test["result"], test["name"], (test.get("stdout") or "") + (test.get("stderr") or "")


def vm_results(log):
    for line in log:
        result, name = line.split(maxsplit=1)
        yield result, "vm", f"skipped: {name}" if result in SKIPPED else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", nargs="*", help="testlog.json of meson, or results of the machine")
    passed = failed = skipped = 0
    skips = []
    for path in parser.parse_args().log:
        with open(path, encoding="utf-8") as log:
            for result, name, output in (meson_results if path.endswith(".json") else vm_results)(log):
                if result in PASSED:
                    passed += 1
                elif result in SKIPPED:
                    skipped += 1
                else:
                    failed += 1
                skips += [f"{name}: {text.strip()}" for text in output.splitlines()
                          if text.lower().lstrip().startswith("skip")]
    for skip in dict.fromkeys(skips):
        print(skip)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


main()
