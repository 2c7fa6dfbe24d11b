#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The generated corpus: the loader and the oracle must agree on every file.

usage: run_corpus.py [--neffld PROGRAM] [--random N] [--seed S] [--seconds T] [--keep DIR] [NAME...]

For each case the oracle either plans every byte, and then the loader's image must equal it, or says
why the file must be refused, and then the loader must refuse it with exit code 4, 5 or 6 and a
sentence that names engine and slot when a record is the reason. NEFFLD_EXE names the program too.
"""

import argparse
import os
import sys
import tempfile
import time

from corpus import randoms
from corpus.case import CASES, build
from corpus.pending import PENDING
from corpus import (libraries, manifest, refusals, rings, streams, tables,  # noqa: F401  cases
                    variables)
from differential import Differential


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neffld", default=os.environ.get("NEFFLD_EXE", "neffld"))
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30, help="stop random files after these")
    parser.add_argument("--keep", metavar="DIR", help="leave the files of failed cases there")
    parser.add_argument("names", nargs="*", help="cases whose name contains one of these")
    return parser.parse_args()


def chosen(names):
    for entry in CASES:
        if not names or any(name in entry[0] for name in names):
            yield build(*entry)


def pending_reason(name):
    return PENDING.get(name.rpartition("-")[0])


def run(options, differential):
    ran = failed = 0
    for case in chosen(options.names):
        problem, reason = differential.check(case), pending_reason(case.name)
        ran += 1
        if problem and reason:
            print(f"pending {case.name}: {reason}")
        elif problem:
            failed += 1
            print(f"FAILED {case.name}: {problem}")
        elif reason:
            failed += 1
            print(f"FAILED {case.name}: it works, take it off the list ({reason})")
    print(f"{ran} cases, {failed} failed")
    return failed


def run_random(options, differential):
    ran = failed = 0
    end = time.monotonic() + options.seconds
    for seed in range(options.seed, options.seed + options.random):
        if time.monotonic() > end:
            break
        problem = differential.check(randoms.make(seed))
        ran += 1
        if problem:
            failed += 1
            print(f"FAILED seed {seed}: {problem}")
    print(f"{ran} random files, {failed} failed; {differential.refused} files of both kinds refused, "
          f"{differential.mapped} instruction maps compared")
    return failed


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="neffld-corpus-") as folder:
        differential = Differential(options.neffld, folder, options.keep)
        failed = run(options, differential)
        failed += run_random(options, differential) if options.random else 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
