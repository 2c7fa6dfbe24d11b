# SPDX-License-Identifier: MIT
"""A program under construction: variables, queue sets, DMA blocks, streams, one NEFF at the end."""

import json
import struct

from arch import ENGINES
from corpus import container

ENGINE_FILES = {"pe": "PE", "act": "Activation", "pool": "Pool", "dve": "DVE", "sp": "SP"}
TARGETS = {"v2": "sunda", "v3": "cayman"}
RESERVATION = {"type": "evtaccel", "base_partition": 0, "partitions": 128, "offset": 229368,
               "size": 8}
PARTITION = 0x40000


def npy(payload):
    text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(payload)
    text = text.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + payload


def pattern(size, seed=7):
    block = bytes((i * seed + (i >> 8)) & 255 for i in range(4096))
    return (block * (size // 4096 + 1))[:size]


class Subgraph:
    """One core's part; starts with the state buffer as var_id 0."""

    def __init__(self, arch, name):
        self.arch, self.name = arch, name
        self.variables, self.queues, self.files = {}, {}, {}
        self.blocks = {engine: [] for engine in ENGINES}
        self.streams = {engine: [] for engine in ENGINES}
        self.engine_keys = {engine: {} for engine in ENGINES}
        self.keys = {}
        self.tails = {}          # engine -> bytes behind the last whole slot
        self.absent = set()      # engines without a key in def.json
        if arch == "v3":
            self.keys["runtime_statebuffer_reservation"] = [dict(RESERVATION)]
        self.variable("SB", "state-buffer")

    def variable(self, name, kind, **keys):
        """Adds a variable under the next var_id, which it returns."""
        var_id = len(self.variables)
        self.variables[name] = {"type": kind, "var_id": var_id, **keys}
        return var_id

    def input(self, name, size):
        return self.variable(name, "input", size=size, ops=[])

    def output(self, name, size):
        return self.variable(name, "output", size=size, ops=[])

    def constant(self, name, size, alignment=0, raw=False):
        file_name = name + (".bin" if raw else ".npy")
        data = pattern(size, 3 + 2 * len(self.variables))
        self.files[file_name] = data if raw else npy(data)
        return self.variable(name, "file", size=size, file_name=file_name, alignment=alignment)

    def virtual(self, name, size, offset, **keys):
        return self.variable(name, "virtual", size=size, backing_variable_off=offset, **keys)

    def queue(self, name, kind="data", owner="sp", queues=16, first_semaphore=8, **keys):
        self.queues[name] = {"type": kind, "owner": owner, "num_queues": queues,
                             "semaphore_set": list(range(first_semaphore,
                                                         first_semaphore + queues)), **keys}
        return name

    def block(self, queue, descriptors, block_id=None, **keys):
        """Adds a block to the owner's file; returns its id (0, 1, ... per queue)."""
        owner = self.owner(keys.get("instance_name", queue))
        if block_id is None:
            block_id = sum(entry.get("instance_name", entry.get("queue")) == queue
                           for entry in self.blocks[owner])
        where = {} if "instance_name" in keys else {"queue": queue}
        self.blocks[owner].append({"id": block_id, "desc": descriptors, **where, **keys})
        return block_id

    def owner(self, name):
        for queue, entry in self.queues.items():
            if name == queue or name in entry.get("queue_instances", ()):
                return entry["owner"]
        raise KeyError(name)

    def emit(self, engine, *slots):
        for slot in slots:
            self.streams[engine].append(bytes(slot))

    def members(self):
        found = {f"{self.name}/{name}": data for name, data in self.files.items()}
        definition = {"var": self.variables, "dma_queue": self.queues, "name": "definition",
                      "version": "0.6", **self.keys}
        for engine in ENGINES:
            if engine in self.absent:
                continue
            base = ENGINE_FILES[engine]
            definition[engine] = f"{base}.json"
            found[f"{self.name}/{base}.bin"] = b"".join(self.streams[engine]) + \
                self.tails.get(engine, b"")
            found[f"{self.name}/{base}.json"] = json.dumps(
                {"dma": self.blocks[engine], "instr": f"{base}.bin", "name": engine,
                 **self.engine_keys[engine]}).encode()
        found[f"{self.name}/def.json"] = json.dumps(definition).encode()
        return found


class Program:
    """One NEFF; `subgraphs` 1 or 2."""

    def __init__(self, arch="v3", subgraphs=1, name="corpus", seed=0):
        self.arch, self.name, self.seed = arch, name, seed
        self.subgraphs = [Subgraph(arch, f"sg{number:02}") for number in range(subgraphs)]
        self.listed = self.subgraphs     # in the order of the KELF descriptor

    @property
    def main(self):
        return self.subgraphs[0]

    def tensors(self, kind):
        return [(name, entry["size"]) for name, entry in self.main.variables.items()
                if entry["type"] == kind]

    def graph(self):
        """The host graph neff.json (spec 01 s7.1)."""
        inputs, outputs = self.tensors("input"), self.tensors("output")
        nodes = [{"op": "null", "name": name, "inputs": [], "output_names": [name],
                  "is_param": "0"} for name, _ in inputs]
        nodes.append({"op": "tvm_op", "name": "sg_coreV10",
                      "inputs": [[number, 0, 0] for number in range(len(inputs))],
                      "output_names": [name for name, _ in outputs],
                      "attrs": {"func_name": "__kelf", "kelf": "kelf-0.json",
                                "flatten_data": "0", "num_inputs": str(len(inputs)),
                                "num_outputs": str(len(outputs))}})
        tensors = inputs + outputs
        return {"nodes": nodes, "arg_nodes": list(range(len(inputs))),
                "heads": [[len(inputs), number, 0] for number in range(len(outputs))],
                "node_row_ptr": list(range(len(nodes) + 1)),
                "attrs": {"dltype": ["list_str", ["uint8"] * len(tensors)],
                          "shape": ["list_shape", [[size] for _, size in tensors]],
                          "storage_id": ["list_int", list(range(len(tensors)))]}}

    def members(self):
        graphs = [{"name": part.name, "definition": f"{part.name}/def.json"}
                  for part in self.listed]
        found = {"neff.json": json.dumps(self.graph()).encode(),
                 "kelf-0.json": json.dumps({"version": "0.5", "target": TARGETS[self.arch],
                                            "graphs": graphs}).encode()}
        for part in self.subgraphs:
            found.update(part.members())
        return found

    def bytes(self):
        uuid = struct.pack("<QQ", self.seed + 1, len(self.name))
        return container.neff(self.members(), self.name, uuid, 2 if self.arch == "v3" else 1)
