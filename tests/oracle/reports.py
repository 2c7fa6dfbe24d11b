# SPDX-License-Identifier: MIT
"""Compares the loader's JSON report with the plan. Nothing of a report feeds the checker."""

import json

from arch import ENGINES
from container import NeffError
from plan import ring_owner
from rings import linear_ring_descriptors
from summary import container_summary, subgraph_summary, variable_size

INTERNAL_QUEUES = {"act": "qActTable", "dve": "qDveTable"}
MODEL_KEYS = ("name", "uuid", "container", "graph", "subgraphs")
SUBGRAPH_KEYS = ("name", "core", "hbm", "variables", "queue_sets", "instructions", "rings")
ALLOCATION_KEYS = ("owner", "core", "hbm", "requested", "size", "align", "category")


def read(path):
    with open(path, encoding="utf-8") as stream:
        report = json.load(stream)
    models = report.get("models")
    if not models or "device" not in report:
        raise NeffError("the report names no model or no device")
    missing = [key for model in models for key in MODEL_KEYS if key not in model]
    missing += [f"{subgraph.get('name')}.{key}" for model in models
                for subgraph in model.get("subgraphs", [])
                for key in SUBGRAPH_KEYS if key not in subgraph]
    if missing:
        raise NeffError(f"the report lacks {', '.join(missing)}")
    return report


def number(text):
    return None if text is None else int(text, 16)


def hexadecimal(value):
    return "none" if value is None else hex(value)


def compare(groups, neffs, node, report):
    groups.equal("report", "models", len(neffs), len(report["models"]))
    _allocations(groups, node, report)
    for neff, plan, entry in zip(neffs, node.plans, report["models"]):
        _container(groups, neff, entry)
        _graph(groups, plan, entry)
        _subgraphs(groups, plan, entry)


def _allocations(groups, node, report):
    found = report.get("allocations")
    if found is None:
        found = [entry for model in report["models"] for entry in model.get("allocations", [])]
    for ours, theirs in zip(node.allocations, found):
        for key in ALLOCATION_KEYS:
            groups.equal("report allocations", f"#{ours.seq} {ours.owner} {key}",
                         getattr(ours, key), theirs[key])
        groups.check("report addresses", ours.pa == number(theirs["pa"]),
                     f"#{ours.seq} core {ours.core} {ours.owner}: expected {ours.pa:#x}, "
                     f"found {theirs['pa']}")
    groups.equal("report allocations", "count", len(node.allocations), len(found))
    sequence = [theirs["seq"] for theirs in found]
    groups.check("report allocations", sequence == sorted(set(sequence)),
                 "seq is not strictly ascending")


def _container(groups, neff, entry):
    found = entry["container"]
    for key, value in container_summary(neff).items():
        groups.equal("container", key, value, found.get(key))
    if found.get("hash") != "not checked":
        groups.equal("container", "hash", neff.hash_form, found.get("hash"))
    groups.equal("container", "name", neff.header.name, entry["name"])
    groups.equal("container", "uuid", neff.header.uuid, entry["uuid"].replace("-", "").lower())


def _graph(groups, plan, entry):
    """Inputs and outputs join the variables by name (decision 16)."""
    for key, kind in (("inputs", "input"), ("outputs", "output")):
        found = {tensor["name"]: tensor["size"] for tensor in entry["graph"][key]}
        for subgraph in plan.model.subgraphs:
            sizes = {variable.name: variable.size for variable in subgraph.variables
                     if variable.kind == kind}
            groups.equal("graph", f"{subgraph.name} {key}", sizes, found)


def _subgraphs(groups, plan, entry):
    found = entry["subgraphs"]
    groups.equal("subgraphs", "count", len(plan.model.subgraphs), len(found))
    for index, (subgraph, theirs) in enumerate(zip(plan.model.subgraphs, found)):
        ours, core = subgraph_summary(subgraph, plan.layouts[index]), plan.cores[index]
        groups.equal("subgraphs", f"subgraph {index}",
                     (subgraph.name, core, plan.arch.hbm_of_core(core)),
                     (theirs["name"], theirs["core"], theirs["hbm"]))
        for key in ("dma", "dge", "constants_bytes", "scratchpad_bytes"):
            groups.equal("subgraph totals", f"{subgraph.name} {key}", ours[key], theirs.get(key))
        _queue_sets(groups, ours, theirs)
        _variables(groups, plan, index, theirs)
        _instructions(groups, plan, index, theirs)
        _rings(groups, plan, index, theirs)


def _queue_sets(groups, ours, theirs):
    found = {queue_set["name"]: queue_set for queue_set in theirs["queue_sets"]}
    groups.equal("queue sets", "names", [entry["name"] for entry in ours["queue_sets"]],
                 [entry["name"] for entry in theirs["queue_sets"]])
    for entry in ours["queue_sets"]:
        other = dict(found.get(entry["name"], {}))
        other["owner"] = str(other.get("owner")).lower()  # its case is not fixed
        for key, value in entry.items():
            groups.equal("queue sets", f"{entry['name']} {key}", value, other.get(key))


def _variables(groups, plan, index, theirs):
    subgraph = plan.model.subgraphs[index]
    found = {entry["var_id"]: entry for entry in theirs["variables"]}
    groups.equal("variables", f"{subgraph.name} count", len(subgraph.variables), len(found))
    for variable in subgraph.variables:
        entry = found.get(variable.var_id, {})
        what = f"{subgraph.name} {variable.name}"
        groups.equal("variables", what, (variable.name, variable.kind),
                     (entry.get("name"), entry.get("kind")))
        if variable_size(variable) is not None:
            groups.equal("variables", f"{what} size", variable_size(variable), entry.get("size"))
        place, found_place = plan.places[index].get(variable.var_id), number(entry.get("pa"))
        groups.check("variables", place == found_place,
                     f"{what} pa: expected {hexadecimal(place)}, found {hexadecimal(found_place)}")


def _instructions(groups, plan, index, theirs):
    groups.equal("instruction entries", "engines", list(ENGINES),
                 [entry["engine"].lower() for entry in theirs["instructions"]])
    for entry in theirs["instructions"]:
        engine = entry["engine"].lower()
        stream = plan.layouts[index].streams[engine]
        groups.equal("instruction entries", f"subgraph {index} {engine}",
                     (stream.slots, stream.image_slots,
                      plan.address(index, f"instructions {engine}")),
                     (entry["slots_in"], entry["slots_out"], number(entry["pa"])))


def _rings(groups, plan, index, theirs):
    found = {(ring["queue"], ring["instance"], ring["k"], ring["side"]): ring
             for ring in theirs["rings"]}
    for key, (used, owner) in _expected_rings(plan, index).items():
        ring, what = found.pop(key, None), f"subgraph {index} {key}"
        if ring is None:
            groups.check("ring entries", False, f"{what} is not in the report")
            continue
        place = plan.by_owner.get((index, owner))
        groups.equal("ring entries", f"{what} used/allocated",
                     (used, linear_ring_descriptors(used)), (ring["used"], ring["allocated"]))
        groups.equal("ring entries", f"{what} pa", place.pa if place else None, number(ring["pa"]))
    for key, ring in found.items():
        groups.check("ring entries", ring["used"] == 0, f"subgraph {index} {key} is extra")


def _expected_rings(plan, index):
    """{(queue, instance, k, side): (used, owner)}."""
    layout, rings = plan.layouts[index], {}
    for queue_set in plan.model.subgraphs[index].queue_sets:
        for instance in queue_set.instances:
            for k, used in enumerate(layout.used[instance.name]):
                for side in ("tx", "rx") if used else ():
                    rings[queue_set.name, instance.index, k, side] = \
                        (used, ring_owner(queue_set, instance, k, side))
    for name, queue in INTERNAL_QUEUES.items():
        buffers = [entry for (where, owner), entry in plan.by_owner.items() if where == index
                   and owner.startswith(name + " ") and not owner.endswith(" ring")]
        used = sum(-(-entry.requested // 65536) for entry in buffers) + 1
        for side in ("tx", "rx") if buffers else ():
            rings[queue, 0, 0, side] = (used, f"{name} {side} ring")
    return rings
