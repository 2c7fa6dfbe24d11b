#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recomputes the device contents of NEFFs and compares them with a dumped image, byte for byte.

usage: check_image.py FILE.neff... IMAGE.elf [REPORT.json] [--rings DIR] [--bind NAME=ADDRESS ...]
                      [--contiguous-scratchpad] [--scratchpad-page-size MIB] [--core N] [--arch A]
                      [--packet-bytes N]

Several files were loaded in that order onto one core. The plan comes from the NEFFs alone; of the
image only addresses, bytes and the model notes are used. A report, when given, is compared too.

Exit status: 0 equal, 1 different, 2 wrong usage or unreadable input, 3 the loader should have
refused a file (the reason is printed).
"""

import argparse
import json
import struct
import sys

import cover
import reports
from arch import BY_NAME, ENGINES, TARGETS
from container import NeffError, Refused, read_neff
from expect import Expectation
from groups import Groups
from image import DeviceImage, ImageError
from kelf import parse_model
from operands import MARKER_TABLE, MARKER_VARIABLE
from plan import Node, Options
from vrings import compare_vrings

PAYLOAD = "file variables equal to the npy payload"
VARIABLE_OPERANDS = "D4 operands 0x10 equal to variable + offset"
TABLE_OPERANDS = "D4 operands 0x20 kept, index inside the table"


class Checker:
    def __init__(self, neffs, node, image):
        self.neffs, self.node, self.image, self.groups = neffs, node, image, Groups()
        self.expectations = [Expectation(plan) for plan in node.plans]

    def run(self, report, rings_folder):
        allocations = self.node.allocations
        self.matched = cover.compare_segments(self.groups, allocations, self.image)
        contents = {seq: content for expectation in self.expectations
                    for seq, content in expectation.contents.items()}
        cover.compare_contents(self.groups, allocations, contents, self.image, self.matched)
        self._notes()
        for expectation in self.expectations:
            self._issue_lines(expectation)
        if rings_folder is not None:
            compare_vrings(self.groups, self.expectations, rings_folder)
        if report is not None:
            reports.compare(self.groups, self.neffs, self.node, report)
        return self.groups.print()

    def _notes(self):
        notes = [json.loads(text.rstrip(b"\0")) for owner, kind, text in self.image.notes()
                 if owner == "neffld" and kind == 1]
        self.groups.equal("model notes", "names", [neff.header.name for neff in self.neffs],
                          [note.get("name") for note in notes])
        self.groups.equal("model notes", "uuids", [neff.header.uuid for neff in self.neffs],
                          [note.get("uuid", "").replace("-", "").lower() for note in notes])

    def _read(self, plan, index, owner, offset, size):
        load = self.matched.get(plan.by_owner[index, owner].seq)
        return self.image.read(load, offset, size) if load else b""

    def _issue_lines(self, expectation):
        """Checks taken from the raw file and the raw image, without the translator."""
        plan = expectation.plan
        self.groups.declare(PAYLOAD, VARIABLE_OPERANDS, TABLE_OPERANDS)
        for index, subgraph in enumerate(plan.model.subgraphs):
            for variable in subgraph.variables:
                if variable.kind == "file":
                    found = self._read(plan, index, f"variable {variable.name}", 0, variable.size)
                    self.groups.check(PAYLOAD, found == variable.payload,
                                      f"subgraph {index} {variable.name} differs")
            self._dge_operands(expectation, index, subgraph)

    def _dge_operands(self, expectation, index, subgraph):
        plan = expectation.plan
        entries = sum(len(variable.members) for variable in subgraph.variables
                      if variable.kind == "dge-table")
        for engine in ENGINES:
            for operand in expectation.images[index][engine].dge_operands:
                at = operand.slot_out * 64 + operand.offset
                found = self._read(plan, index, f"instructions {engine}", at, 8)
                where = f"subgraph {index} {engine} slot {operand.slot_in} operand " \
                    f"{operand.offset:#x}"
                if operand.marker == MARKER_VARIABLE:
                    base = plan.places[index][operand.index]
                    want = struct.pack("<Q", base + operand.displacement)
                    self.groups.check(VARIABLE_OPERANDS, found == want,
                                      f"{where}: expected {want.hex()}, found {found.hex()}")
                elif operand.marker == MARKER_TABLE:
                    self.groups.check(TABLE_OPERANDS,
                                      found == operand.source and operand.index < entries,
                                      f"{where}: index {operand.index} of {entries}, expected "
                                      f"{operand.source.hex()}, found {found.hex()}")


def bind_argument(text):
    name, separator, address = text.rpartition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=ADDRESS")
    return name, int(address, 0)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="compare a device image with its NEFFs",
                                     usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rings", metavar="DIR")
    parser.add_argument("--bind", metavar="NAME=ADDRESS", type=bind_argument, action="append",
                        default=[])
    parser.add_argument("--contiguous-scratchpad", action="store_true")
    parser.add_argument("--scratchpad-page-size", metavar="MIB", type=int, default=512)
    parser.add_argument("--core", metavar="N", type=int, default=0)
    parser.add_argument("--packet-bytes", metavar="N", type=int, default=0)
    parser.add_argument("--arch", choices=sorted(BY_NAME))
    options = parser.parse_args(arguments)
    options.report = options.files.pop() if options.files[-1].endswith(".json") else None
    if len(options.files) < 2:
        parser.error("a NEFF and an image are needed")
    options.image = options.files.pop()
    return options


def choose_arch(target, named, report):
    """The file's own target; `*` takes --arch or the device the report names."""
    if target not in TARGETS and named is None and report is None:
        raise NeffError(f"target {target!r} needs --arch")
    return TARGETS.get(target) or BY_NAME[named or report["device"]["architecture"]]


def plan_models(models, arch, options):
    node = Node(arch, Options(options.scratchpad_page_size << 20, options.contiguous_scratchpad,
                              options.core, options.packet_bytes))
    for model in models:
        node.load(model, dict(options.bind) or None)
    return node


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        report = reports.read(options.report) if options.report else None
        neffs = [read_neff(path) for path in options.files]
        models = [parse_model(neff) for neff in neffs]
        arch = choose_arch(models[0].target, options.arch, report)
        checker = Checker(neffs, plan_models(models, arch, options), DeviceImage(options.image))
    except Refused as reason:
        print(f"must be refused, because {reason}")
        return 3
    except (NeffError, ImageError, OSError, json.JSONDecodeError) as problem:
        print(f"check_image: {problem}", file=sys.stderr)
        return 2
    return checker.run(report, options.rings)


if __name__ == "__main__":
    sys.exit(main())
