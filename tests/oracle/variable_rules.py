# SPDX-License-Identifier: MIT
"""What def.json may say about variables, and the binding of remote ones (spec 02 s5, s12, s16)."""

import re

from container import Refused

POINTER_BYTES = 8
MAX_ALIGNMENT = (1 << 31) - 1
REMOTE_NAME = re.compile(r"^(.+)_remote_sg([0-9]+)$")
SIZED = ("input", "output", "tmp-buf", "virtual", "file")
TABLES = ("dge-table", "list")
STAGED = ("state-buffer", "file", "tmp-buf", "virtual")
BACKING = ("", "local", "shared", "sharded", "main")
RESERVATION = {"type": "evtaccel", "base_partition": 0, "partitions": 128, "offset": 0x37FF8,
               "size": 8}


def check_variable(variable, by_id):
    name, kind = variable.name, variable.kind
    if kind in SIZED and variable.size == 0:
        raise Refused(f"variable {name} has size 0")
    if variable.alignment & (variable.alignment - 1) or variable.alignment > MAX_ALIGNMENT:
        raise Refused(f"variable {name}: alignment {variable.alignment} is not a power of two "
                      f"up to {MAX_ALIGNMENT}")
    if kind == "virtual" and variable.backing_buf not in BACKING:
        raise Refused(f"variable {name}: unknown backing_buf {variable.backing_buf}")
    if kind == "pointer":
        check_pointer(variable, by_id)
    for member in variable.members:
        if member not in by_id:
            raise Refused(f"variable {name} lists unknown var_id {member}")
        if by_id[member].kind in TABLES:
            raise Refused(f"variable {name} lists the table {by_id[member].name}")


def check_pointer(variable, by_id):
    if variable.size != POINTER_BYTES:
        raise Refused(f"pointer {variable.name} has size {variable.size}, not {POINTER_BYTES}")
    target = by_id.get(variable.referenced)
    if target is None:
        raise Refused(f"pointer {variable.name} names unknown var_id {variable.referenced}")
    if target.kind in ("pointer", "list"):
        raise Refused(f"pointer {variable.name} points to the {target.kind} {target.name}")


def check_reservation(subgraph):
    """The event accelerator's 8 bytes per partition (spec 03 s5)."""
    if subgraph.carve_outs is None:
        raise Refused(f"{subgraph.name}: no runtime_statebuffer_reservation")
    for entry in subgraph.carve_outs:
        for key, value in RESERVATION.items():
            if entry.get(key) != value:
                raise Refused(f"{subgraph.name}: reservation {key} is {entry.get(key)}, "
                              f"not {value}")


def resolve_remotes(model):
    """Binds every remote variable to a sibling's staged one (02 s16.10, 03 s3.3)."""
    for number, subgraph in enumerate(model.subgraphs):
        for variable in subgraph.variables:
            if variable.kind == "remote":
                variable.remote = find_sibling(model, number, variable)
                index, var_id = variable.remote
                sibling = model.subgraphs[index].variables[var_id]
                variable.size, variable.alignment = sibling.size, sibling.alignment


def find_sibling(model, number, variable):
    match = REMOTE_NAME.match(variable.name)
    if match is None:
        raise Refused(f"remote variable {variable.name} is not named NAME_remote_sgN")
    index = int(match.group(2))
    if index == number or index >= len(model.subgraphs):
        raise Refused(f"remote variable {variable.name} names subgraph {index} of "
                      f"{len(model.subgraphs)}, seen from {number}")
    sibling = model.subgraphs[index].names.get(match.group(1))
    if sibling is None or sibling.kind not in STAGED:
        raise Refused(f"remote variable {variable.name}: {match.group(1)} of subgraph {index} is "
                      + ("missing" if sibling is None else f"a {sibling.kind} variable"))
    return index, sibling.var_id


def check_variables(model, arch):
    for subgraph in model.subgraphs:
        by_id = {variable.var_id: variable for variable in subgraph.variables}
        for variable in subgraph.variables:
            check_variable(variable, by_id)
        kinds = [variable.kind for variable in subgraph.variables]
        if "output" not in kinds:
            raise Refused(f"Subgraph {subgraph.name} has no Outputs")
        if kinds.count("dge-table") > 1:
            raise Refused(f"{subgraph.name} has {kinds.count('dge-table')} dge-tables "
                          "(decision 35)")
        if arch.reservation_required:
            check_reservation(subgraph)
    resolve_remotes(model)
