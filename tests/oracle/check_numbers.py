#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a report with the table `Numbers to test against` of the corpus README.

usage: check_numbers.py REPORT.json README.md FILE

The numbers live in the README only; this program reads them at run time. Exit status: 0 equal,
1 different, 2 wrong usage or no such row.
"""

import json
import os
import re
import sys

HEADING = re.compile(r"^## +3\.")
KINDS = {"sb": "state-buffer", "in": "input", "out": "output", "file": "file", "virt": "virtual",
         "tab": "dge-table"}
PAIR = re.compile(r"([a-z]+) (\d+)")


def read_row(readme, file_name):
    """{column: text} of the file's row in section 3."""
    wanted = os.path.basename(file_name).split("-")[0]
    columns, inside = None, False
    for line in readme.splitlines():
        if line.startswith("## "):
            inside = bool(HEADING.match(line))
        if not inside or not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None:
            columns = cells
        elif cells[0] == wanted:
            return dict(zip(columns, cells))
    return None


def count_by(entries, key):
    counts = {}
    for entry in entries:
        counts[entry[key]] = counts.get(entry[key], 0) + 1
    return counts


def parse_row(row):
    """The row's numbers under the names of `report_numbers`."""
    numbers = {}
    for column, prefix, names in (("vars (all sg)", "variables", KINDS),
                                  ("queue sets", "queue sets", {})):
        pairs = PAIR.findall(row[column].split("(")[0])
        numbers[prefix] = {names.get(kind, kind): int(count) for kind, count in pairs}
    for column, name in (("blocks", "blocks"), ("descs", "descriptors"), ("elements", "elements"),
                         ("DMA bytes", "DMA bytes"), ("constants B", "constants bytes"),
                         ("scratch B", "scratchpad bytes"), ("tar B", "tar bytes")):
        numbers[name] = int(row[column])
    dge = [int(text) for text in re.findall(r"\d+", row["D4 ops / elements / bytes"])]
    numbers["D4 operations"], numbers["D4 elements"], numbers["D4 bytes"] = (dge + [0, 0])[:3]
    numbers["slots"] = [[int(text) for text in group.split("/")]
                        for group in row["slots"].split(";")]
    return numbers


def report_numbers(entry):
    """The same numbers, summed over the subgraphs of one model of the report."""
    subgraphs = entry["subgraphs"]

    def total(*path):
        result = 0
        for subgraph in subgraphs:
            value = subgraph
            for key in path:
                value = value[key]
            result += value
        return result

    return {
        "variables": count_by([v for s in subgraphs for v in s["variables"]], "kind"),
        "queue sets": count_by([q for s in subgraphs for q in s["queue_sets"]], "type"),
        "blocks": total("dma", "blocks"), "descriptors": total("dma", "descriptors"),
        "elements": total("dma", "elements"), "DMA bytes": total("dma", "bytes"),
        "constants bytes": total("constants_bytes"),
        "scratchpad bytes": total("scratchpad_bytes"),
        "tar bytes": entry["container"]["tar_bytes"],
        "D4 operations": total("dge", "operations"), "D4 elements": total("dge", "elements"),
        "D4 bytes": total("dge", "bytes"),
        "slots": [[engine["slots_in"] for engine in s["instructions"]] for s in subgraphs],
    }


def totals_differences(report, numbers):
    """The report's own `totals` must be the same sums."""
    totals = report.get("totals") or report["models"][0].get("totals")
    if totals is None:
        return ["the report has no totals"]
    texts = []
    for path, name in ((("dma", "blocks"), "blocks"), (("dma", "descriptors"), "descriptors"),
                       (("dma", "elements"), "elements"), (("dma", "bytes"), "DMA bytes"),
                       (("dge", "operations"), "D4 operations"),
                       (("dge", "elements"), "D4 elements"), (("dge", "bytes"), "D4 bytes"),
                       (("constants_bytes",), "constants bytes"),
                       (("scratchpad_bytes",), "scratchpad bytes")):
        value = totals
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value != numbers[name]:
            texts.append(f"totals.{'.'.join(path)}: expected {numbers[name]}, found {value}")
    return texts


def differences(expected, found):
    return [f"{name}: expected {value}, found {found[name]}" for name, value in expected.items()
            if value != found[name]]


def main(arguments):
    if len(arguments) != 3:
        print(__doc__.splitlines()[2], file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as stream:
            report = json.load(stream)
        with open(arguments[1], encoding="utf-8") as stream:
            row = read_row(stream.read(), arguments[2])
    except (OSError, json.JSONDecodeError) as problem:
        print(f"check_numbers: {problem}", file=sys.stderr)
        return 2
    if row is None:
        print(f"check_numbers: {arguments[1]} has no row for {arguments[2]}", file=sys.stderr)
        return 2
    numbers = report_numbers(report["models"][0])
    expected = parse_row(row)
    texts = differences(expected, numbers) + totals_differences(report, numbers)
    verdict = f"{len(texts)} DIFFERENT" if texts else "all equal"
    print(f"numbers: {len(expected)} checked, {verdict}")
    for text in texts:
        print(f"    {text}")
    return 1 if texts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
