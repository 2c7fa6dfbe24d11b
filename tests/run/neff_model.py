# SPDX-License-Identifier: MIT
"""What a generated NEFF moves, worked out from its JSON and streams with the standard library.

A second, much simpler machine than the device's: no addresses, no descriptors, no rings. Blocks are
executed from the engines' JSON when they are triggered, between variables and a state buffer that
are bytearrays. Enough for samples that move data and add; anything else is an error.
"""

import json
import struct
import sys

PARTITION = 0x40000
ENGINES = ("pe", "act", "pool", "dve", "sp")
MOST_RECORDS = 1_000_000

SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2,
         "int32": 4, "uint32": 4}
CODES = {10: "float32", 7: "float16", 6: "bfloat16", 2: "int8", 3: "uint8", 8: "int32"}
FORMS = {"float32": "f", "float16": "e", "int8": "b", "uint8": "B", "int32": "i"}


def to_numbers(data, dtype):
    if dtype == "bfloat16":
        words = struct.unpack(f"<{len(data) // 2}H", data)
        return struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I",
                                                             *(word << 16 for word in words)))
    return struct.unpack(f"<{len(data) // SIZES[dtype]}{FORMS[dtype]}", data)


def round_float(bits, dropped):
    """A float32 pattern without its last bits, rounded to nearest even; NaN stays NaN."""
    if bits & 0x7FFFFFFF > 0x7F800000:
        return bits >> dropped | 1 << (22 - dropped)
    half = (1 << (dropped - 1)) - 1 + (bits >> dropped & 1)
    return (bits + half) >> dropped


def half_bits(value):
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 if value > 0 else 0xFC00


def from_numbers(values, dtype):
    if dtype == "bfloat16":
        bits = struct.unpack(f"<{len(values)}I", struct.pack(f"<{len(values)}f", *values))
        return struct.pack(f"<{len(bits)}H", *(round_float(word, 16) for word in bits))
    if dtype == "float16":
        return struct.pack(f"<{len(values)}H", *map(half_bits, values))
    return struct.pack(f"<{len(values)}{FORMS[dtype]}", *values)


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def places(offset, sizes, steps):
    """Offsets of the runs of a side: dimension 1 fastest."""
    if len(sizes) == 0:
        yield offset
        return
    for index in range(sizes[-1]):
        yield from places(offset + index * steps[-1], sizes[:-1], steps[:-1])


class Subgraph:
    """One core: its streams, variables and state."""

    def __init__(self, name, members, io):
        self.name = name
        self.io = io
        self.sb = bytearray(128 * PARTITION)
        self.semaphores = {}
        self.pc = dict.fromkeys(ENGINES, 0)
        self.streams, self.blocks = {}, {}
        definition = json.loads(members[f"{name}/def.json"])
        self.variables, self.by_id, self.table = {}, {}, []
        arena = bytearray(16 << 20)
        for variable, facts in definition["var"].items():
            self.by_id[facts["var_id"]] = variable
            if facts["type"] == "file":
                data = members[f"{name}/{facts['file_name']}"]
                header = 10 + struct.unpack_from("<H", data, 8)[0] if data[:1] == b"\x93" else 0
                self.variables[variable] = (bytearray(data[header:]), 0)
            elif facts["type"] == "virtual":
                self.variables[variable] = (arena, facts["backing_variable_off"])
            elif facts["type"] == "state-buffer":
                self.variables[variable] = (self.sb, 0)
            elif facts["type"] in ("input", "output"):
                self.variables[variable] = (io[variable], 0)
            elif facts["type"] == "dge-table":
                self.table = facts["list"]
        for engine in ENGINES:
            control = json.loads(members[f"{name}/{definition[engine]}"])
            self.streams[engine] = members[f"{name}/{control['instr']}"]
            for block in control["dma"]:
                queue = definition["dma_queue"][block["queue"]]
                self.blocks[block["queue"], block["id"]] = (block, queue["num_queues"])

    def raise_semaphore(self, index, by):
        self.semaphores[index] = self.semaphores.get(index, 0) + by

    def side(self, descriptor, which):
        memory, base = self.variables[descriptor[which]]
        offset = base + descriptor[f"{which}_off"]
        sizes, steps = descriptor[f"{which}_sizes"], descriptor[f"{which}_steps"]
        return memory, sizes, list(places(offset, sizes[1:], steps[1:]))

    def move(self, descriptor):
        source, sizes, froms = self.side(descriptor, "from")
        target, to_sizes, tos = self.side(descriptor, "to")
        if any(key.startswith("transpose_") for key in descriptor):
            self.transpose(descriptor)
        elif descriptor.get("op", "copy") == "copy":
            for start, end in zip(froms, tos, strict=True):
                target[end:end + sizes[0]] = source[start:start + sizes[0]]
        elif descriptor["op"] == "cast":
            for start, end in zip(froms, tos, strict=True):
                values = to_numbers(source[start:start + sizes[0]], descriptor["from_dtype"])
                target[end:end + to_sizes[0]] = from_numbers(values, descriptor["to_dtype"])
        else:
            raise NotImplementedError(descriptor["op"])

    def transpose(self, descriptor):
        """Element (y, x) of a tile goes to row x, position y of the same tile (spec 08 s3.4)."""
        size = descriptor["transpose_element_size"]
        source, sizes, _ = self.side(descriptor, "from")
        target, to_sizes, _ = self.side(descriptor, "to")
        from_steps, to_steps = descriptor["from_steps"], descriptor["to_steps"]
        base_from = self.variables[descriptor["from"]][1] + descriptor["from_off"]
        base_to = self.variables[descriptor["to"]][1] + descriptor["to_off"]
        for tile, to_tile in zip(places(base_from, sizes[2:], from_steps[2:]),
                                 places(base_to, to_sizes[2:], to_steps[2:]), strict=True):
            for y in range(sizes[1]):
                for x in range(sizes[0] // size):
                    start = tile + y * from_steps[1] + x * size
                    end = to_tile + x * to_steps[1] + y * size
                    target[end:end + size] = source[start:start + size]

    def trigger(self, record):
        name = record[0x0C:0x2C].split(b"\0")[0].decode()
        block, queues = self.blocks[name, struct.unpack_from("<I", record, 0x30)[0]]
        for descriptor in block["desc"]:
            self.move(descriptor)
        self.raise_semaphore(block["semaphore"], queues)

    def operand(self, record, at, steps_at):
        offset, index, _, marker = struct.unpack_from("<IHBB", record, at)
        name = self.by_id[index if marker == 0x10 else self.table[index]]
        memory, base = self.variables[name]
        steps = struct.unpack_from("<2i", record, steps_at)
        counts = struct.unpack_from("<2H", record, steps_at + 8)
        run = struct.unpack_from("<H", record, steps_at + 12)[0]
        return memory, run, [base + offset + i0 * steps[0] + i1 * steps[1]
                             for i1 in range(counts[1]) for i0 in range(counts[0])]

    def direct(self, record):
        source, run, froms = self.operand(record, 0x10, 0x18)
        target, to_run, tos = self.operand(record, 0x28, 0x30)
        types = CODES[record[0x3E]], CODES[record[0x3F]]
        for start, end in zip(froms, tos, strict=True):
            data = source[start:start + run]
            if types[0] != types[1]:
                data = from_numbers(to_numbers(data, types[0]), types[1])
            target[end:end + to_run] = data
        self.raise_semaphore(record[0x0D], record[0x0E])

    def pattern(self, record, at, dims):
        address = struct.unpack_from("<I", record, at)[0]
        steps = struct.unpack_from(f"<{dims}h", record, at + 4)
        counts = struct.unpack_from(f"<{dims}H", record, at + 4 + 2 * dims)
        if address >= 0x2000000:
            raise NotImplementedError("PSUM")
        return address, list(places(0, counts, steps))

    def elementwise(self, record, compute, sources, target):
        """`sources` and `target` are (pattern offset, dims, dtype)."""
        wide = [(self.pattern(record, at, dims), CODES[dtype]) for at, dims, dtype in sources]
        (to, to_places), to_type = self.pattern(record, *target[:2]), CODES[target[2]]
        for partition in range(128):
            base = partition * PARTITION
            lines = []
            for (address, offsets), dtype in wide:
                size = SIZES[dtype]
                raw = b"".join(self.sb[base + address + o * size:base + address + (o + 1) * size]
                               for o in offsets)
                lines.append(to_numbers(raw, dtype))
            out = from_numbers([compute(*values) for values in zip(*lines, strict=True)], to_type)
            size = SIZES[to_type]
            for index, offset in enumerate(to_places):
                end = base + to + offset * size
                self.sb[end:end + size] = out[index * size:(index + 1) * size]

    def execute(self, record):
        opcode = record[0]
        if opcode in (0xA0, 0xA4, 0xB1, 0xCC):
            pass
        elif opcode == 0xC1:
            self.trigger(record)
        elif opcode == 0xD4:
            self.direct(record)
        elif opcode == 0x41 and record[0x0E] == 4:
            self.elementwise(record, lambda a, b: float32(a + b),
                             [(0x10, 3, record[0x0C] & 15), (0x20, 3, record[0x0C] >> 4)],
                             (0x30, 3, record[0x0D]))
        elif opcode in (0x46, 0x47):
            self.elementwise(record, lambda a: a, [(0x0C, 4, record[0x20])],
                             (0x2C, 4, record[0x21]))
        else:
            raise NotImplementedError(f"{self.name}: opcode {opcode:02x}")

    def holds(self, record, at, value_at):
        if record[at] == 0:
            return True
        if record[at] != 5:
            raise NotImplementedError(f"wait mode {record[at]}")
        return self.semaphores.get(record[at + 1], 0) >= struct.unpack_from("<I", record,
                                                                            value_at)[0]

    def step(self, engine):
        """Executes one record; False if the engine waits or is at its end."""
        record = self.streams[engine][self.pc[engine]:self.pc[engine] + 64]
        if not record or not self.holds(record, 4, 8):
            return False
        if record[0] == 0xA0 and not self.holds(record, 0x20, 0x24):
            return False
        self.execute(record)
        if record[6] == 0x13:
            self.raise_semaphore(record[7], 1)
        elif record[6] != 0:
            raise NotImplementedError(f"update mode {record[6]}")
        self.pc[engine] += 64
        return True

    def run(self):
        records = 0
        while any([self.step(engine) for engine in ENGINES]):
            records += 1
            if records > MOST_RECORDS:
                raise RuntimeError("endless")
        return all(self.pc[engine] == len(self.streams[engine]) for engine in ENGINES)


def execute(members, inputs, outputs):
    """The outputs' bytes: `inputs` by name, `outputs` name -> size; both subgraphs, in turn."""
    io = {name: bytearray(data) for name, data in inputs.items()}
    io.update((name, bytearray(b"\xff" * size)) for name, size in outputs.items())
    names = [graph["name"] for graph in json.loads(members["kelf-0.json"])["graphs"]]
    for name in sorted(names):
        if not Subgraph(name, members, io).run():
            raise RuntimeError(f"{name} does not come to its end")
    return {name: bytes(io[name]) for name in outputs}


if sys.version_info < (3, 10):
    raise SystemExit("the model needs Python 3.10")
