#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time of one item as generated files grow fourfold twice: linear means it stays the same.

growth.py NEFFLD MAKE_SAMPLE [--part FRACTION] [--rounds N] [KIND...]

KIND is weights (MiB), slots, elements, variables or subgraphs (parse and build only); all without any.
--part takes a fraction of the largest sizes. The time is that of a load from the inflated bytes on,
and of inflating, without the first touch of the simulated device's pages; a file is generated, measured and removed before the next. Exit 1 when an item costs more
than twice as much as in a file a quarter as large: square time would cost four times as much.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

MOST = 2.0  # what a ratio of two rows may be
WITH_DEVICE = ("inflate", "tar", "manifest", "build", "load, parsed before")
# The load above holds the first of these. The machine's memory, not ours, decides what new pages cost,
# and on a virtual one that is up to twenty times as much as for pages its host has given it before.
FIRST_COPY, WARM_COPY = "copy to device, first", "again"
WITHOUT = ("inflate", "tar", "manifest", "build")

# The largest count, how the generator is told, and the rest of its arguments.
KINDS = {
    "weights": (1024, lambda n: ["--weights", str(n << 20), "--bf16"], ["--arch", "v3"]),
    "slots": (10_000_000, lambda n: ["--slots", str(n)], ["--arch", "v2"]),
    "elements": (10_000_000, lambda n: ["--elements", str(n)], ["--arch", "v3"]),
    "variables": (100_000, lambda n: ["--variables", str(n)], ["--arch", "v3", "--slots", "1000"]),
    "subgraphs": (256, lambda n: ["--subgraphs", str(n)], ["--arch", "v3"]),
}
SMALL = ["--weights", "4096"]  # for what is not measured


def seconds_of(report, names):
    times = {stage["name"]: stage["seconds"] for stage in report["stages"]}
    total = sum(times[name] for name in names if name in times)
    if "load, parsed before" in names:
        total += times[WARM_COPY] - times[FIRST_COPY]
    return total


def sample_words(kind, count):
    """What the generator is told for `count` items of a kind."""
    _, told, rest = KINDS[kind]
    return ([] if kind == "weights" else SMALL) + rest + told(count)


def measure(neffld, make_sample, kind, count, rounds):
    """The stages of one generated file."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "grown.neff")
        subprocess.run([make_sample, "scale", file, *sample_words(kind, count)], check=True,
                       stdout=subprocess.DEVNULL)
        until = ["--until", "build"] if kind == "subgraphs" else []
        done = subprocess.run([neffld, "bench", "--report", "json", "--stages", "--rounds", str(rounds), *until,
                               file], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["files"][0]


def verdict(each):
    """Ratio of each row to the one before, and whether all of them are linear."""
    ratios = [1.0] + [now / before for before, now in zip(each, each[1:])]
    return ratios, all(ratio <= MOST for ratio in ratios)


def slowest_stage(first, last):
    """The stage whose time of one item grew most, among those that matter."""
    total = sum(stage["seconds"] for stage in last["stages"])
    before = {stage["name"]: stage["seconds"] for stage in first["stages"]}
    grown = {stage["name"]: stage["seconds"] / before[stage["name"]] / 16
             for stage in last["stages"]
             if stage["seconds"] > 0.05 * total and before.get(stage["name"])
             and stage["name"] not in (FIRST_COPY, "load, parsed before")}
    return max(grown.items(), key=lambda entry: entry[1], default=("", 0.0))


def grow(neffld, make_sample, kind, part, rounds):
    largest = max(16, int(KINDS[kind][0] * part))
    counts = [largest // 16, largest // 4, largest]
    reports = [measure(neffld, make_sample, kind, count, rounds) for count in counts]
    names = WITHOUT if kind == "subgraphs" else WITH_DEVICE
    times = [seconds_of(report, names) for report in reports]
    each = [seconds / count * 1e9 for seconds, count in zip(times, counts)]
    ratios, linear = verdict(each)
    for count, seconds, cost, ratio in zip(counts, times, each, ratios):
        print(f"{kind:<10} {count:>10} {seconds * 1e3:>11.1f} ms {cost:>14.1f} ns each {ratio:>7.2f}")
    stage, factor = slowest_stage(reports[0], reports[-1])
    print(f"{kind:<10} {'linear' if linear else 'NOT LINEAR'}; most grown stage: {stage}, one item "
          f"{factor:.2f} times of the smallest file's", flush=True)
    return linear


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("neffld")
    parser.add_argument("make_sample")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_intermixed_args()
    unknown = set(options.kinds) - set(KINDS)
    if unknown or not 0 < options.part <= 1:
        parser.error(f"unknown kinds {sorted(unknown)}" if unknown else "--part is from 0 to 1")
    results = [grow(options.neffld, options.make_sample, kind, options.part, options.rounds)
               for kind in options.kinds or KINDS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
