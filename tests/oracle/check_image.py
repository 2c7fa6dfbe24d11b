#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recomputes the device contents of one NEFF and compares them with a dumped image and report.

usage: check_image.py FILE.neff IMAGE.elf REPORT.json [--rings DIR] [--bind NAME=ADDRESS ...]

Exit status: 0 equal, 1 different, 2 wrong usage or unreadable input. Bytes that the loader leaves
undefined (temporary buffers, scratchpad pages, exec rings, page tails) are not compared.
"""

import argparse
import json
import os
import struct
import sys

from arch import BY_NAME, ENGINES, TARGETS
from container import NeffError, read_neff
from expect import Expectation
from groups import Groups, compare_bytes
from image import DeviceImage, ImageError
from instructions import MARKER_TABLE, MARKER_VARIABLE
from kelf import parse_model
from plan import Plan
from pool import PoolError
from rings import linear_ring_descriptors
from summary import container_summary, subgraph_summary, variable_size

INTERNAL_QUEUES = {"act": "qActTable", "dve": "qDveTable"}


def number(text):
    return None if text is None else int(text, 16)


def hexadecimal(value):
    return "none" if value is None else hex(value)


class Checker:
    def __init__(self, neff, model, plan, image, report):
        self.neff, self.model, self.plan = neff, model, plan
        self.image, self.report = image, report
        self.entry = report["models"][0]
        self.groups = Groups()
        self.loads = {}          # (core, owner) -> PT_LOAD
        self.reported = {}       # (core, owner) -> reported address

    def run(self, rings_folder):
        self._container()
        self._graph()
        self._plan()
        self._image_layout()
        self._subgraphs()
        expectation = self._expectation()
        self._contents(expectation)
        self._issue_lines(expectation)
        if rings_folder is not None:
            self._vrings(expectation, rings_folder)
        return self.groups.print()

    def _container(self):
        found = self.entry["container"]
        for key, value in container_summary(self.neff).items():
            self.groups.equal("container", key, value, found.get(key))
        if found.get("hash") != "not checked":
            self.groups.equal("container", "hash", self.neff.hash_form, found.get("hash"))
        self.groups.equal("container", "name", self.neff.header.name, self.entry["name"])
        self.groups.equal("container", "uuid", self.neff.header.uuid,
                          self.entry["uuid"].replace("-", "").lower())

    def _graph(self):
        """Inputs and outputs join the variables by name (decision 16)."""
        for key, kind in (("inputs", "input"), ("outputs", "output")):
            found = {entry["name"]: entry["size"] for entry in self.entry["graph"][key]}
            for subgraph in self.model.subgraphs:
                sizes = {variable.name: variable.size for variable in subgraph.variables
                         if variable.kind == kind}
                self.groups.equal("graph", f"{subgraph.name} {key}", sizes, found)

    def _plan(self):
        found = self.report_allocations()
        for ours, theirs in zip(self.plan.allocations, found):
            for key in ("owner", "core", "hbm", "requested", "size", "align", "category"):
                self.groups.equal("allocation sequence", f"#{ours.seq} {ours.owner} {key}",
                                  getattr(ours, key), theirs[key])
            self.groups.check("allocation addresses", ours.pa == number(theirs["pa"]),
                              f"#{ours.seq} core {ours.core} {ours.owner}: expected {ours.pa:#x}, "
                              f"found {theirs['pa']}")
        self.groups.equal("allocation sequence", "allocations", len(self.plan.allocations),
                          len(found))
        sequence = [theirs["seq"] for theirs in found]
        self.groups.check("allocation sequence", sequence == sorted(set(sequence)),
                          "seq is not strictly ascending")

    def report_allocations(self):
        holder = self.report if "allocations" in self.report else self.entry
        return holder["allocations"]

    def _image_layout(self):
        found = self.report_allocations()
        self.groups.equal("image segments", "PT_LOAD count", len(found), len(self.image.loads))
        for theirs, load in zip(found, self.image.loads):
            key = (theirs["core"], theirs["owner"])
            self.groups.check("image segments", key not in self.loads, f"{key} is listed twice")
            self.loads[key], self.reported[key] = load, number(theirs["pa"])
            self.groups.equal("image segments", f"{key}", (number(theirs["pa"]), 0, theirs["size"],
                                                           theirs["size"]),
                              (load.paddr, load.vaddr, load.filesz, load.memsz))
        notes = [json.loads(text) for owner, kind, text in
                 ((owner, kind, text.rstrip(b"\0")) for owner, kind, text in self.image.notes())
                 if owner == "neffld" and kind == 1]
        self.groups.equal("image notes", "names", [self.neff.header.name],
                          [note.get("name") for note in notes])
        self.groups.equal("image notes", "uuids", [self.neff.header.uuid],
                          [note.get("uuid", "").replace("-", "").lower() for note in notes])

    def _subgraphs(self):
        found = self.entry["subgraphs"]
        self.groups.equal("subgraphs", "count", len(self.model.subgraphs), len(found))
        for core, (subgraph, theirs) in enumerate(zip(self.model.subgraphs, found)):
            layout = self.plan.layouts[core]
            ours = subgraph_summary(subgraph, layout)
            self.groups.equal("subgraphs", f"core {core}",
                              (subgraph.name, core, self.plan.arch.hbm_of_core(core)),
                              (theirs["name"], theirs["core"], theirs["hbm"]))
            for key in ("dma", "dge", "constants_bytes", "scratchpad_bytes"):
                self.groups.equal("subgraph totals", f"{subgraph.name} {key}", ours[key],
                                  theirs.get(key))
            self._queue_sets(ours, theirs)
            self._variables(core, subgraph, theirs)
            self._instruction_entries(core, subgraph, theirs)
            self._ring_entries(core, subgraph, theirs)

    def _queue_sets(self, ours, theirs):
        found = {queue_set["name"]: queue_set for queue_set in theirs["queue_sets"]}
        self.groups.equal("queue sets", "names", [entry["name"] for entry in ours["queue_sets"]],
                          [entry["name"] for entry in theirs["queue_sets"]])
        for entry in ours["queue_sets"]:
            other = dict(found.get(entry["name"], {}))
            other["owner"] = str(other.get("owner")).lower()  # its case is not fixed
            for key, value in entry.items():
                self.groups.equal("queue sets", f"{entry['name']} {key}", value, other.get(key))

    def _variables(self, core, subgraph, theirs):
        found = {entry["var_id"]: entry for entry in theirs["variables"]}
        self.groups.equal("variables", f"{subgraph.name} count", len(subgraph.variables),
                          len(found))
        for variable in subgraph.variables:
            entry = found.get(variable.var_id, {})
            what = f"{subgraph.name} {variable.name}"
            self.groups.equal("variables", what, (variable.name, variable.kind),
                              (entry.get("name"), entry.get("kind")))
            if variable_size(variable) is not None:
                self.groups.equal("variables", f"{what} size", variable_size(variable),
                                  entry.get("size"))
            place = self.plan.places[core].get(variable.var_id)
            found_place = number(entry.get("pa"))
            self.groups.check("variables", place == found_place,
                              f"{what} pa: expected {hexadecimal(place)}, "
                              f"found {hexadecimal(found_place)}")

    def _instruction_entries(self, core, subgraph, theirs):
        self.groups.equal("instruction entries", "engines", list(ENGINES),
                          [entry["engine"].lower() for entry in theirs["instructions"]])
        for entry in theirs["instructions"]:
            engine = entry["engine"].lower()
            self.groups.equal("instruction entries", f"{subgraph.name} {engine}",
                              (len(subgraph.streams[engine]) // 64,
                               self.plan.layouts[core].image_slots[engine],
                               self.plan_address(core, f"instructions {engine}")),
                              (entry["slots_in"], entry["slots_out"], number(entry["pa"])))

    def _ring_entries(self, core, subgraph, theirs):
        found = {(ring["queue"], ring["instance"], ring["k"], ring["side"]): ring
                 for ring in theirs["rings"]}
        for (queue, k, side), (used, owner, placed) in self._expected_rings(core, subgraph).items():
            ring = found.pop((queue, 0, k, side), None)
            what = f"{subgraph.name} {queue}.{k} {side}"
            if ring is None:
                self.groups.check("ring entries", False, f"{what} is not in the report")
                continue
            self.groups.equal("ring entries", f"{what} used/allocated",
                              (used, linear_ring_descriptors(used)),
                              (ring["used"], ring["allocated"]))
            self.groups.equal("ring entries", f"{what} pa",
                              self.plan_address(core, owner) if placed else None,
                              number(ring["pa"]))
        for key, ring in found.items():
            self.groups.check("ring entries", ring["used"] == 0, f"{subgraph.name} {key} is extra")

    def _expected_rings(self, core, subgraph):
        """{(queue, k, side): (used, owner, has an address)}."""
        layout, rings = self.plan.layouts[core], {}
        for queue_set in subgraph.queue_sets:
            placed = queue_set.name not in layout.templates or self.plan.io is not None
            for k, used in enumerate(layout.used[queue_set.name]):
                for side in ("tx", "rx") if used else ():
                    owner = f"ring {queue_set.name}.0.{k} {side}"
                    rings[queue_set.name, k, side] = (used, owner, placed)
        for name, queue in INTERNAL_QUEUES.items():
            buffers = [entry for entry in self.plan.allocations
                       if entry.core == core and entry.owner.startswith(name + " ")
                       and not entry.owner.endswith(" ring")]
            used = sum(-(-entry.requested // 65536) for entry in buffers) + 1
            for side in ("tx", "rx") if buffers else ():
                rings[queue, 0, side] = (used, f"{name} {side} ring", True)
        return rings

    def plan_address(self, core, owner):
        return next((entry.pa for entry in self.plan.allocations
                     if (entry.core, entry.owner) == (core, owner)), None)

    def _expectation(self):
        """Contents for our plan; for the reported addresses when the plans differ."""
        if "allocation addresses" not in self.groups.failed:
            return Expectation(self.plan, self.plan_address, self.plan.places)
        print("note: the plans differ, contents are computed with the report's addresses")
        places = [{entry["var_id"]: number(entry["pa"]) for entry in theirs["variables"]
                   if entry.get("pa") is not None} for theirs in self.entry["subgraphs"]]
        return Expectation(self.plan, lambda core, owner: self.reported[core, owner], places)

    def _contents(self, expectation):
        for content in expectation.contents:
            load = self.loads.get((content.core, content.owner))
            where = f"core {content.core} {content.owner}"
            if load is None:
                self.groups.check(content.group, False, f"{where} is not in the image")
                continue
            compare_bytes(self.groups, content.group, where, content.data,
                          self.image.read(load, 0, len(content.data)), content.unit)

    def _issue_lines(self, expectation):
        """The checks the project's issue names, each from the raw file and the raw image."""
        payload, variable_group = "file variables equal to the npy payload", \
            "D4 operands 0x10 equal to variable + offset"
        table_group, ring_group = "D4 operands 0x20 kept, index inside the table", \
            "static ring descriptors"
        self.groups.declare(payload, variable_group, table_group, ring_group)
        for core, subgraph in enumerate(self.model.subgraphs):
            for variable in subgraph.variables:
                if variable.kind == "file":
                    load = self.loads.get((core, f"variable {variable.name}"))
                    found = self.image.read(load, 0, variable.size) if load else b""
                    self.groups.check(payload, found == variable.payload,
                                      f"core {core} {variable.name} differs")
            self._dge_operands(core, subgraph, expectation, variable_group, table_group)
        for content in expectation.contents:
            if content.group == "static rings":
                load = self.loads.get((content.core, content.owner))
                found = self.image.read(load, 0, len(content.data)) if load else b""
                compare_bytes(self.groups, ring_group, f"core {content.core} {content.owner}",
                              content.data, found, 16)

    def _dge_operands(self, core, subgraph, expectation, variable_group, table_group):
        tables = [variable for variable in subgraph.variables if variable.kind == "dge-table"]
        entries = sum(len(table.members) for table in tables)
        for engine in ENGINES:
            load = self.loads.get((core, f"instructions {engine}"))
            for operand in expectation.images[core][engine].dge_operands:
                at = operand.slot_out * 64 + operand.offset
                found = self.image.read(load, at, 8) if load else b""
                where = f"core {core} {engine} slot {operand.slot_in} operand {operand.offset:#x}"
                if operand.marker == MARKER_VARIABLE:
                    base = expectation.places[core][operand.index]
                    want = struct.pack("<Q", base + operand.displacement)
                    self.groups.check(variable_group, found == want,
                                      f"{where}: expected {want.hex()}, found {found.hex()}")
                elif operand.marker == MARKER_TABLE:
                    self.groups.check(table_group,
                                      found == operand.source and operand.index < entries,
                                      f"{where}: index {operand.index} of {entries}, expected "
                                      f"{operand.source.hex()}, found {found.hex()}")

    def _vrings(self, expectation, folder):
        names = set(os.listdir(folder))
        for name, data in expectation.vrings.items():
            if name not in names:
                self.groups.check("host vrings", not data, f"{name} is not in {folder}")
                continue
            names.discard(name)
            with open(os.path.join(folder, name), "rb") as stream:
                found = stream.read()
            compare_bytes(self.groups, "host vrings", name, data, found, 16)
            self.groups.check("host vrings", len(data) == len(found),
                              f"{name}: expected {len(data)} bytes, found {len(found)}")
        for name in sorted(names):
            self.groups.check("host vrings", os.path.getsize(os.path.join(folder, name)) == 0,
                              f"{name} is extra")


def bind_argument(text):
    name, separator, address = text.rpartition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=ADDRESS")
    return name, int(address, 0)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="compare a device image with its NEFF")
    parser.add_argument("neff", metavar="FILE.neff")
    parser.add_argument("image", metavar="IMAGE.elf")
    parser.add_argument("report", metavar="REPORT.json")
    parser.add_argument("--rings", metavar="DIR")
    parser.add_argument("--bind", metavar="NAME=ADDRESS", type=bind_argument, action="append",
                        default=[])
    return parser.parse_args(arguments)


MODEL_KEYS = ("name", "uuid", "container", "graph", "subgraphs")
SUBGRAPH_KEYS = ("name", "core", "hbm", "variables", "queue_sets", "instructions", "rings")


def require_schema(report):
    """Raises NeffError when the report lacks a part that every comparison needs."""
    models = report.get("models")
    if not models or "device" not in report:
        raise NeffError("the report names no model or no device")
    missing = [key for key in MODEL_KEYS if key not in models[0]]
    missing += [f"{subgraph.get('name')}.{key}" for subgraph in models[0].get("subgraphs", [])
                for key in SUBGRAPH_KEYS if key not in subgraph]
    if "allocations" not in report and "allocations" not in models[0]:
        missing.append("allocations")
    if missing:
        raise NeffError(f"the report lacks {', '.join(missing)}")


def choose_arch(model, report):
    return TARGETS.get(model.target) or BY_NAME[report["device"]["architecture"]]


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        neff = read_neff(options.neff)
        model = parse_model(neff)
        with open(options.report, encoding="utf-8") as stream:
            report = json.load(stream)
        require_schema(report)
        plan = Plan(model, choose_arch(model, report), dict(options.bind) or None)
        checker = Checker(neff, model, plan, DeviceImage(options.image), report)
    except (NeffError, ImageError, PoolError, OSError, json.JSONDecodeError) as problem:
        print(f"check_image: {problem}", file=sys.stderr)
        return 2
    return checker.run(options.rings)


if __name__ == "__main__":
    sys.exit(main())
