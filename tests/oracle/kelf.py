# SPDX-License-Identifier: MIT
"""neff.json, the KELF descriptor, def.json and the engine files as records (spec 02, 08)."""

import json
import struct
from dataclasses import dataclass, field

from arch import ENGINES, STATE_BUFFER_BYTES
from container import NeffError, Refused
from ucode import parse_libraries

NPY_MAGIC = b"\x93NUMPY"
INDIRECT = "indirect_memcpy"
MAX_PROFILES = 25
KINDS = ("state-buffer", "file", "tmp-buf", "input", "output", "pointer", "virtual", "list",
         "dge-table", "remote")


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
    remote: tuple = ()       # (subgraph index, var_id) once resolved


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
    queue: str               # name of the ring instance
    semaphore: int
    event: int
    remote_semaphores: tuple
    descriptors: list
    function: str = ""


@dataclass
class Instance:
    """One content of a queue set's rings; `blocks` by (function name, block id)."""

    name: str
    index: int
    blocks: dict = field(default_factory=dict)


@dataclass
class QueueSet:
    name: str
    kind: str
    owner: str
    num_queues: int
    semaphores: tuple
    queue_id: int = None     # rank among the sets that own rings; None for dynamic ones
    instances: list = field(default_factory=list)
    indirect: bool = False

    @property
    def dynamic(self):
        return self.kind == "dynamic"

    @property
    def blocks(self):
        return [block for instance in self.instances for block in instance.blocks.values()]


@dataclass
class Subgraph:
    name: str
    variables: list          # by var_id
    queue_sets: list         # kbin order
    streams: dict            # engine -> bytes
    act_sets: list           # [(bucket bytes, control bytes, [profile dict])]
    dve_tables: dict         # JSON key -> bytes, empty when the engine file names none
    carve_outs: list = None  # None: the key is absent
    libraries: list = field(default_factory=list)    # GPSIMD libraries, ascending names

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
        raise Refused(f"{name} is not an npy version 1 file")
    return blob[10 + struct.unpack_from("<H", blob, 8)[0]:]


def parse_variable(name, entry, reader):
    variable = Variable(name, entry["type"], entry["var_id"], entry.get("size", 0),
                        entry.get("alignment", 0))
    if variable.kind not in KINDS:
        raise Refused(f"variable {name} has unknown type {variable.kind}")
    if variable.kind == "state-buffer":
        variable.size = STATE_BUFFER_BYTES
    elif variable.kind == "file":
        variable.payload = npy_payload(entry["file_name"], reader.blob(entry["file_name"]))
        variable.size = len(variable.payload)
        if entry.get("size", variable.size) != variable.size:
            raise Refused(f"variable {name}: size differs from its payload's (02 s16.5)")
    elif variable.kind == "virtual":
        variable.backing_offset = entry["backing_variable_off"]
        variable.backing_buf = entry.get("backing_buf", "")
        if entry.get("fabric_path", "main") != "main":
            raise Refused(f"variable {name}: fabric_path {entry['fabric_path']} (03 R4)")
    elif variable.kind in ("dge-table", "list"):
        variable.members = tuple(entry["list"])
        variable.size = 8 * len(variable.members)
    elif variable.kind == "pointer":
        variable.referenced = entry["referenced_var_id"]
    return variable


def parse_variables(entries, reader):
    variables = [parse_variable(name, entry, reader) for name, entry in entries.items()]
    variables.sort(key=lambda variable: variable.var_id)
    if [variable.var_id for variable in variables] != list(range(len(variables))):
        raise Refused("var_ids are not dense")
    return variables


def parse_queue_sets(entries):
    """Sets in kbin order: ascending name (spec 02 s11 step 3); ranks by decision 3."""
    sets, rank = [], 0
    for name in sorted(entries):
        entry = entries[name]
        if "semaphore" in entry and "semaphore_set" in entry:
            raise Refused(f"queue set {name} has both semaphore and semaphore_set (02 s16.11)")
        single = [entry["semaphore"]] if "semaphore" in entry else []
        semaphores = entry.get("semaphore_set", single)
        names = entry.get("queue_instances") or [name]
        queue_set = QueueSet(name, entry["type"], entry.get("owner", "pool"),
                             entry.get("num_queues", 1), tuple(semaphores),
                             instances=[Instance(text, i) for i, text in enumerate(names)],
                             indirect=bool(entry.get(INDIRECT)))
        if not queue_set.dynamic:
            queue_set.queue_id, rank = rank, rank + 1
        sets.append(queue_set)
    return sets


def access_pattern(entry, side):
    """(offset, sizes, steps) of one side; the legacy key `size` is one run (02 s16.14)."""
    sizes, steps = entry.get(f"{side}_sizes"), entry.get(f"{side}_steps")
    if sizes is None and steps is None and "size" in entry:
        sizes, steps = [entry["size"]], [1]
    if not sizes or not steps or len(sizes) != len(steps):
        raise Refused(f"{side}_sizes and {side}_steps are missing or of unequal length")
    if len(sizes) > 4:
        raise Refused(f"{side}_sizes has {len(sizes)} dimensions, 4 are allowed")
    if 0 in sizes:
        raise Refused("Size cannot be 0")
    if steps[0] != 1:
        raise Refused(f"{side}_steps[0] is {steps[0]}, only 1 is allowed (decision 32)")
    return entry.get(f"{side}_off", 0), sizes, steps


def parse_descriptor(entry):
    op = entry.get("op", "copy")
    if any(key.startswith("transpose_") for key in entry):  # decision 7
        op = "transpose"
    elif op not in ("copy", "cast"):
        raise Refused(f"dma operation {op} has no known encoding (04 s13 rule 19)")
    source, target = access_pattern(entry, "from"), access_pattern(entry, "to")
    return Descriptor(op, entry["from"], entry["to"], source[0], target[0], source[1], target[1],
                      source[2], target[2], entry.get("from_dtype", "uint8"),
                      entry.get("to_dtype", "uint8"), entry.get("transpose_element_size", 0))


def parse_block(entry, queue_set, instance, function):
    semaphore = entry.get("semaphore")
    if semaphore is None and queue_set.semaphores:
        semaphore = queue_set.semaphores[entry["id"] % len(queue_set.semaphores)]
    return Block(entry["id"], instance.name, semaphore, entry.get("event"),
                 tuple(entry.get("remote_semaphores", ())),
                 [parse_descriptor(desc) for desc in entry["desc"]], function)


def parse_blocks(entries, queue_sets):
    """Adds the blocks of one file; `function_start` lasts per queue set (02 s16.13)."""
    instances = {instance.name: (queue_set, instance) for queue_set in queue_sets
                 for instance in queue_set.instances}
    functions = {}
    for entry in entries:
        name = entry.get("instance_name") or entry["queue"]
        if name not in instances:
            raise Refused(f"dma block {entry['id']} names unknown queue {name}")
        queue_set, instance = instances[name]
        functions[queue_set.name] = entry.get("function_start") or \
            functions.get(queue_set.name, "")
        block = parse_block(entry, queue_set, instance, functions[queue_set.name])
        key = (block.function, block.block_id)
        if key in instance.blocks:
            raise Refused(f"queue {name}: block {block.block_id} is listed twice")
        instance.blocks[key] = block


def parse_act_sets(engine, reader):
    wanted = engine.get("activation_function_sets", [])
    if not wanted:
        return []
    info = {entry["name"]: entry for entry in reader.json(engine["act_info"])["act_func_sets"]}
    sets = []
    for name in wanted:
        if name not in info:
            raise Refused(f"act_info has no activation set {name}")
        profiles = reader.json(info[name]["profile_json"])["profile_meta_data"]
        if len(profiles) > MAX_PROFILES:
            raise Refused(f"activation set {name} has {len(profiles)} profiles")
        sets.append((reader.blob(info[name]["bkt_bin"]), reader.blob(info[name]["ctrl_bin"]),
                     profiles))
    return sets


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
                    act_sets, dve_tables, definition.get("runtime_statebuffer_reservation"),
                    parse_libraries(definition, reader))


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
