#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what `neffld bench --report json` measured with a committed baseline of ratios.

compare.py BASELINE.json RUN.json... [--update]

Prints the ratios, then says in a line each what got worse, what got better and what misses its target. Exit 1 when something
got worse by more than its tolerance, 2 when a file cannot be read. A missed target that the baseline
missed, too, is said and changes nothing. --update writes the ratios of this run into the baseline; files
that were not measured keep theirs.

BASELINE.json: "tolerance", a relative one for each ratio; "targets" and which side of them is better, as
the command has them; "files", ratios by the file's name without folder and ending.
"""

import json
import os
import sys

DEFAULT_TOLERANCE = 0.25


def name_of(file):
    return os.path.basename(file).removesuffix(".neff")


def measured(run):
    """Ratios of a run: name of the file -> name of the ratio -> its object."""
    return {name_of(file["file"]): {ratio["name"]: ratio for ratio in file["ratios"]}
            for file in run["files"]}


def change_of(ratio, before):
    """Relative change, positive when it got worse."""
    if before == 0:
        return 0.0 if ratio["value"] == 0 else float("inf")
    change = (ratio["value"] - before) / before
    return -change if ratio["better"] == "more" else change


def target_text(ratio):
    return f"at {'least' if ratio['better'] == 'more' else 'most'} {ratio['target']:g}"


def compare(run, baseline):
    """Lines to print, and whether anything got worse."""
    lines, worse = [], False
    for file, ratios in measured(run).items():
        known = baseline["files"].get(file)
        if known is None:
            lines.append(f"{file}: not in the baseline")
            known = {}
        for name, ratio in ratios.items():
            found = f"{file}: {name} {ratio['value']:.3f}"
            if name in known:
                tolerance = baseline["tolerance"].get(name, DEFAULT_TOLERANCE)
                change = change_of(ratio, known[name])
                was = f"was {known[name]:.3f}, tolerance {tolerance:.1%}"
                if change > tolerance:
                    worse = True
                    lines.append(f"{found} got worse: {was}")
                elif change < -tolerance:
                    lines.append(f"{found} got better: {was}")
            if not ratio["reached"]:
                lines.append(f"{found} misses its target, {target_text(ratio)}")
        lines.extend(f"{file}: {name} was not measured, it was {value:.3f}"
                     for name, value in known.items() if name not in ratios)
    return lines, worse


def updated(run, baseline):
    """The baseline with the ratios of a run."""
    result = {"schema": 1, "tolerance": dict(baseline["tolerance"]),
              "targets": dict(baseline["targets"]), "files": dict(baseline["files"])}
    for file, ratios in measured(run).items():
        result["files"][file] = {name: round(ratio["value"], 4) for name, ratio in ratios.items()}
        for name, ratio in ratios.items():
            result["targets"][name] = {"target": ratio["target"], "better": ratio["better"]}
            result["tolerance"].setdefault(name, DEFAULT_TOLERANCE)
    result["files"] = dict(sorted(result["files"].items()))
    return result


def table(run):
    """Lines with every ratio of a run, a column a file."""
    files = measured(run)
    names = list(dict.fromkeys(name for ratios in files.values() for name in ratios))
    lines = [f"{'':<14}" + "".join(f"{file[:22]:>24}" for file in files) + "  target"]
    for name in names:
        cells = [f"{ratios[name]['value']:>24.3f}" if name in ratios else f"{'-':>24}"
                 for ratios in files.values()]
        target = next(target_text(ratios[name]) for ratios in files.values() if name in ratios)
        lines.append(f"{name:<14}" + "".join(cells) + f"  {target}")
    return lines


def read(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def main(arguments):
    update = "--update" in arguments
    paths = [argument for argument in arguments if argument != "--update"]
    if len(paths) < 2:
        print("usage: compare.py BASELINE.json RUN.json... [--update]", file=sys.stderr)
        return 2
    try:
        baseline, *runs = map(read, paths)
    except (OSError, ValueError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    run = {"files": [file for one in runs for file in one["files"]]}
    print("\n".join(table(run)) + "\n")
    lines, worse = compare(run, baseline)
    print("\n".join(lines) if lines else "nothing got worse or better, and every target is reached")
    if not update:
        return 1 if worse else 0
    with open(paths[0], "w", encoding="utf-8") as stream:
        json.dump(updated(run, baseline), stream, indent=1)
        stream.write("\n")
    print(f"wrote {paths[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
