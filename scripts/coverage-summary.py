#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the counters of a build folder with gcovr, writes report.html there, and prints what was
reached by folder and the files with most lines that were not."""
import argparse
import collections
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_FILES = 20


def read(build):
    """Per source: lines, lines reached, branches, branches taken. The same line may have been compiled
    into several programs."""
    report = os.path.join(build, "report.json")
    subprocess.run(["gcovr", "--root", ROOT, "--object-directory", build, "--filter", "libloader/",
                    "--filter", "drv-shim/", "--filter", "devsim/", "--filter", "include/",
                    "--exclude-throw-branches",
                    "--gcov-ignore-parse-errors", "-j", "2", "--json-summary", report,
                    "--html", os.path.join(build, "report.html"), build], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as file:
        return json.load(file)["files"]


def percent(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def line(name, counts):
    lines, reached, branches, taken = counts
    print(f"{name:<28} {lines:6} lines {percent(reached, lines)}   {branches:6} branches "
          f"{percent(taken, branches)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="folder of a build with counters, from the root")
    files = read(os.path.join(ROOT, parser.parse_args().build))
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files:
        counts = (file["line_total"], file["line_covered"], file["branch_total"],
                  file["branch_covered"])
        for name in (os.path.dirname(file["filename"]), "all"):
            folders[name] = [a + b for a, b in zip(folders[name], counts)]
    for name in sorted(folders, key=lambda name: (name == "all", name)):
        line(name, folders[name])
    print("\nfiles with most lines that nothing reached")
    missed = sorted(files, key=lambda file: file["line_covered"] - file["line_total"])
    for file in missed[:MOST_FILES]:
        print(f"{file['filename']:<48} {file['line_total'] - file['line_covered']:5} of "
              f"{file['line_total']}")


main()
