# SPDX-License-Identifier: MIT
"""neff.json, the KELF descriptor, def.json and the engine files as records (spec 02, 08)."""

import json
import struct
from dataclasses import dataclass, field

from arch import ENGINES
from container import NeffError

NPY_MAGIC = b"\x93NUMPY"


@dataclass
class Variable:
    name: str
    kind: str
    var_id: int
    size: int = 0
    alignment: int = 0
    payload: bytes = b""
    backing_offset: int = 0
    backing_buf: str = ""
    members: tuple = ()
    referenced: int = 0


@dataclass
class Descriptor:
    op: str                  # copy, cast or transpose
    source: str
    target: str
    from_off: int
    to_off: int
    from_sizes: list
    to_sizes: list
    from_steps: list
    to_steps: list
    from_dtype: str
    to_dtype: str
    element_size: int = 0    # transpose only


@dataclass
class Block:
    block_id: int
    queue: str
    semaphore: int
    event: int
    remote_semaphores: tuple
    descriptors: list


@dataclass
class QueueSet:
    name: str
    kind: str
    owner: str
    num_queues: int
    semaphores: tuple
    queue_id: int = None     # rank among the sets that own rings; None for dynamic ones
    blocks: dict = field(default_factory=dict)

    @property
    def dynamic(self):
        return self.kind == "dynamic"


@dataclass
class Subgraph:
    name: str
    variables: list          # by var_id
    queue_sets: list         # kbin order
    streams: dict            # engine -> bytes
    act_sets: list           # [(bucket bytes, control bytes, [profile dict])]
    dve_tables: dict         # JSON key -> bytes, empty when the engine file names none

    def by_name(self, name):
        return self.names[name]

    def __post_init__(self):
        self.names = {variable.name: variable for variable in self.variables}


@dataclass
class Model:
    name: str
    target: str
    subgraphs: list


class Reader:
    """Looks members up relative to one subgraph folder."""

    def __init__(self, members, folder):
        self.members, self.folder = members, folder

    def blob(self, name):
        path = f"{self.folder}/{name}" if self.folder else name
        if path not in self.members:
            raise NeffError(f"member {path} is missing")
        return self.members[path]

    def json(self, name):
        return json.loads(self.blob(name))


def npy_payload(name, blob):
    """Bytes after the npy version 1 header (spec 02 s5.3); the text header is not read."""
    if not name.endswith(".npy"):
        return blob
    if blob[:7] != NPY_MAGIC + b"\x01":
        raise NeffError(f"{name} is not an npy version 1 file")
    return blob[10 + struct.unpack_from("<H", blob, 8)[0]:]


def parse_variable(name, entry, reader):
    variable = Variable(name, entry["type"], entry["var_id"], entry.get("size", 0),
                        entry.get("alignment", 0))
    if variable.kind == "state-buffer":
        variable.size = 0x2000000
    elif variable.kind == "file":
        variable.payload = npy_payload(entry["file_name"], reader.blob(entry["file_name"]))
        variable.size = len(variable.payload)
    elif variable.kind == "virtual":
        variable.backing_offset = entry["backing_variable_off"]
        variable.backing_buf = entry.get("backing_buf", "")
    elif variable.kind in ("dge-table", "list"):
        variable.members = tuple(entry["list"])
        variable.size = 8 * len(variable.members)
    elif variable.kind == "pointer":
        variable.referenced = entry["referenced_var_id"]
    elif variable.kind not in ("tmp-buf", "input", "output", "remote"):
        raise NeffError(f"variable {name} has unknown type {variable.kind}")
    return variable


def parse_variables(entries, reader):
    variables = [parse_variable(name, entry, reader) for name, entry in entries.items()]
    variables.sort(key=lambda variable: variable.var_id)
    if [variable.var_id for variable in variables] != list(range(len(variables))):
        raise NeffError("var_ids are not dense")
    return variables


def parse_queue_sets(entries):
    """Sets in kbin order: ascending name (spec 02 s11 step 3); ranks by decision 3."""
    sets, rank = [], 0
    for name in sorted(entries):
        entry = entries[name]
        if entry.get("queue_instances"):
            raise NeffError(f"queue set {name}: queue instances are not modelled here")
        single = [entry["semaphore"]] if "semaphore" in entry else []
        semaphores = entry.get("semaphore_set", single)
        queue_set = QueueSet(name, entry["type"], entry.get("owner", "pool"),
                             entry.get("num_queues", 1), tuple(semaphores))
        if not queue_set.dynamic:
            queue_set.queue_id, rank = rank, rank + 1
        sets.append(queue_set)
    return sets


def parse_descriptor(entry):
    op = entry.get("op", "copy")
    if any(key.startswith("transpose_") for key in entry):  # decision 7
        op = "transpose"
    elif op not in ("copy", "cast"):
        raise NeffError(f"dma operation {op} is not modelled here")
    for side in ("from", "to"):
        if entry[f"{side}_steps"][0] != 1:
            raise NeffError(f"{side}_steps[0] is {entry[f'{side}_steps'][0]}, only 1 is allowed")
    return Descriptor(op, entry["from"], entry["to"], entry.get("from_off", 0),
                      entry.get("to_off", 0), entry["from_sizes"], entry["to_sizes"],
                      entry["from_steps"], entry["to_steps"], entry.get("from_dtype", "uint8"),
                      entry.get("to_dtype", "uint8"), entry.get("transpose_element_size", 0))


def parse_block(entry, queue_set):
    if entry.get("function_start"):
        raise NeffError("dma blocks of functions are not modelled here")
    semaphore = entry.get("semaphore")
    if semaphore is None and queue_set.semaphores:
        semaphore = queue_set.semaphores[entry["id"] % len(queue_set.semaphores)]
    return Block(entry["id"], queue_set.name, semaphore, entry.get("event"),
                 tuple(entry.get("remote_semaphores", ())),
                 [parse_descriptor(desc) for desc in entry["desc"]])


def parse_blocks(entries, queue_sets):
    by_name = {queue_set.name: queue_set for queue_set in queue_sets}
    for entry in entries:
        queue_set = by_name[entry.get("instance_name") or entry["queue"]]
        block = parse_block(entry, queue_set)
        if block.block_id in queue_set.blocks:
            raise NeffError(f"queue {queue_set.name}: block {block.block_id} is listed twice")
        queue_set.blocks[block.block_id] = block


def parse_act_sets(engine, reader):
    wanted = engine.get("activation_function_sets", [])
    if not wanted:
        return []
    info = {entry["name"]: entry for entry in reader.json(engine["act_info"])["act_func_sets"]}
    return [(reader.blob(info[name]["bkt_bin"]), reader.blob(info[name]["ctrl_bin"]),
             reader.json(info[name]["profile_json"])["profile_meta_data"]) for name in wanted]


def parse_subgraph(name, definition_path, members):
    folder, _, base = definition_path.rpartition("/")
    reader = Reader(members, folder)
    definition = reader.json(base)
    queue_sets = parse_queue_sets(definition.get("dma_queue", {}))
    parse_blocks(definition.get("dma", []), queue_sets)
    streams, act_sets, dve_tables = {}, [], {}
    for engine in ENGINES:
        entry = reader.json(definition[engine]) if engine in definition else {}
        streams[engine] = reader.blob(entry["instr"]) if "instr" in entry else b""
        parse_blocks(entry.get("dma", []), queue_sets)
        if engine == "act":
            act_sets = parse_act_sets(entry, reader)
        for tables in entry.get("dve_tables", [])[:1]:
            dve_tables = {key: reader.blob(file_name) for key, file_name in tables.items()}
    return Subgraph(name, parse_variables(definition["var"], reader), queue_sets, streams,
                    act_sets, dve_tables)


def kelf_member(members):
    document = json.loads(members.get("neff.json") or members["kelp.json"])
    for node in document["nodes"]:
        if node.get("attrs", {}).get("func_name") == "__kelf":
            return node["attrs"]["kelf"]
    raise NeffError("no KELF node in neff.json")


def parse_model(neff):
    kelf = json.loads(neff.members[kelf_member(neff.members)])
    graphs = sorted(kelf["graphs"], key=lambda graph: graph["name"])
    return Model(neff.header.name, kelf.get("target", ""),
                 [parse_subgraph(graph["name"], graph["definition"], neff.members)
                  for graph in graphs])
