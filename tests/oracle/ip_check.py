# SPDX-License-Identifier: MIT
"""Compares `neffld ip` with the IP map recomputed here (spec 05 A8)."""

import json
import subprocess

from ipmap import device_to_neff, source_slot
from records import SLOT

MAX_ADDRESSES = 3000
TIMEOUT_SECONDS = 60


def available(program):
    done = subprocess.run([program, "--help"], capture_output=True, check=False,
                          timeout=TIMEOUT_SECONDS)
    return any(line.split()[:1] == ["ip"] for line in done.stdout.decode().splitlines())


def expected_lines(plan):
    """[{...}] for every emitted record that comes from a source slot, by address."""
    lines = []
    for index, layout in enumerate(plan.layouts):
        for engine, stream in layout.streams.items():
            base = plan.address(index, f"instructions {engine}")
            places = [(offset, source_slot(stream, offset))
                      for offset in range(0, stream.image_slots * SLOT, SLOT)]
            firsts, counts = {}, {}
            for offset, slot in places:
                firsts.setdefault(slot, offset)
                counts[slot] = counts.get(slot, 0) + 1
            lines += [{"address": hex(base + offset), "subgraph": layout.subgraph.name,
                       "engine": engine, "slot": slot - 1,
                       "neff_ip": device_to_neff(stream, offset),
                       "record": (offset - firsts[slot]) // SLOT, "records": counts[slot]}
                      for offset, slot in places if slot is not None]
    return lines


def compare(program, file, plan):
    """None, or the first line that differs."""
    expected = expected_lines(plan)[:MAX_ADDRESSES]
    if not expected:
        return None
    done = subprocess.run([program, "ip", file, "--format", "json",
                           *(line["address"] for line in expected)],
                          capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        return f"ip: exit code {done.returncode}: {done.stderr.decode()[-300:]}"
    found = [json.loads(line) for line in done.stdout.decode().splitlines()]
    for ours, theirs in zip(expected, found):
        if ours != theirs:
            return f"ip: expected {ours}, found {theirs}"
    return None if len(expected) == len(found) else \
        f"ip: expected {len(expected)} lines, found {len(found)}"
