# SPDX-License-Identifier: MIT
"""What a NEFF does to its outputs when compute records do nothing: an interpreter in plain loops.

Independent of the loader: it reads the file's own JSON and records (specification chapters 05, 08 and
10) and moves bytes between variables by their names, without addresses, rings or relocation.
Transfers complete when they are triggered. On-chip memory starts as zeros."""

import gzip
import io
import itertools
import json
import os
import struct
import tarfile

PARTITION = 0x40000
PAGE = 1 << 16
ENGINES = ("pe", "act", "pool", "dve", "sp")
DTYPES = {"int8": ("b", 1), "uint8": ("B", 1), "int16": ("h", 2), "uint16": ("H", 2),
          "int32": ("i", 4), "uint32": ("I", 4), "float16": ("e", 2), "float32": ("f", 4),
          "bfloat16": ("bf", 2)}
DTYPE_CODES = {2: "int8", 3: "uint8", 4: "int16", 5: "uint16", 6: "bfloat16", 7: "float16",
               8: "int32", 9: "uint32", 10: "float32"}


class Memory:
    """Bytes at any offset; what nobody wrote is zero."""

    def __init__(self, content=b""):
        self.pages = {}
        if content:
            self.write(0, content)

    def write(self, offset, content):
        done = 0
        while done < len(content):
            number, inside = divmod(offset + done, PAGE)
            piece = content[done:done + PAGE - inside]
            page = self.pages.setdefault(number, bytearray(PAGE))
            page[inside:inside + len(piece)] = piece
            done += len(piece)

    def read(self, offset, size):
        parts = []
        while size:
            number, inside = divmod(offset, PAGE)
            count = min(size, PAGE - inside)
            page = self.pages.get(number)
            parts.append(bytes(page[inside:inside + count]) if page else bytes(count))
            offset, size = offset + count, size - count
        return b"".join(parts)


def decode(raw, dtype):
    code, size = DTYPES[dtype]
    if code == "bf":
        return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
    return list(struct.unpack(f"<{len(raw) // size}{code}", raw))


def encode_one(value, dtype):
    code, _ = DTYPES[dtype]
    if code == "bf":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        return struct.pack("<H", bits >> 16 | 0x40 if value != value else rounded)  # NaN stays NaN
    try:
        return struct.pack("<" + code, value)
    except OverflowError:
        return struct.pack("<" + code, float("inf") if value > 0 else float("-inf"))


def convert(raw, from_dtype, to_dtype):
    if from_dtype == to_dtype:
        return raw
    return b"".join(encode_one(value, to_dtype) for value in decode(raw, from_dtype))


def offsets(start, sizes, steps):
    """Starts of the innermost runs, dimension 1 fastest."""
    outer = [range(size) for size in reversed(sizes[1:])]
    reversed_steps = list(reversed(steps[1:]))
    for index in itertools.product(*outer):
        yield start + sum(i * step for i, step in zip(index, reversed_steps))


class Subgraph:
    def __init__(self, model, name, definition):
        self.model = model
        self.name = name
        folder = os.path.dirname(definition)
        self.definition = model.json(definition)
        self.variables = self.definition["var"]
        self.by_id = {row["var_id"]: key for key, row in self.variables.items()}
        self.tables = [row["list"] for row in self.variables.values() if row["type"] == "dge-table"]
        self.state_buffer, self.local, self.own = Memory(), Memory(), {}
        self.blocks, self.engines = {}, []
        for engine in ENGINES:
            file = model.json(f"{folder}/{self.definition[engine]}")
            for block in file["dma"]:
                key = (block["queue"], block["id"], block.get("function_start", ""))
                self.blocks[key] = block
            self.engines.append(model.engine_type(self, model.members[f"{folder}/{file['instr']}"]))
        for key, row in self.variables.items():
            if row["type"] == "file":
                content = model.members[f"{folder}/{row['file_name']}"]
                if row["file_name"].endswith(".npy"):
                    content = content[10 + struct.unpack_from("<H", content, 8)[0]:]
                self.own[key] = Memory(content)
        self.restart()

    def restart(self):
        self.semaphores, self.events = [0] * 256, [0] * 256
        for engine in self.engines:
            engine.restart()

    def place(self, name):
        """Memory and base of a variable."""
        row = self.variables[name]
        kind = row["type"]
        if kind == "state-buffer":
            return self.state_buffer, 0
        if kind in ("input", "output"):
            return self.model.tensors[name], 0
        if kind == "virtual":
            shared = row.get("backing_buf", "local") in ("shared", "main")
            return self.model.shared if shared else self.local, row["backing_variable_off"]
        if kind == "remote":
            owner, sibling = name.rsplit("_remote_sg", 1)
            return self.model.subgraphs[int(sibling)].place(owner)
        return self.own.setdefault(name, Memory()), 0

    def move_block(self, key):
        block = self.blocks[key]
        queue = self.definition["dma_queue"][block["queue"]]
        for row in block["desc"]:
            self.move_descriptor(row)
        count = queue["num_queues"]
        semaphores = queue["semaphore_set"]
        semaphore = block.get("semaphore", semaphores[block["id"] % len(semaphores)])
        if "event" in block:
            self.events[block["event"]] = 1
        self.semaphores[semaphore] += count
        for remote in block.get("remote_semaphores", []):
            self.model.sibling(self).semaphores[remote] += count

    def move_descriptor(self, row):
        source, source_base = self.place(row["from"])
        target, target_base = self.place(row["to"])
        from_at, to_at = source_base + row["from_off"], target_base + row["to_off"]
        if "transpose_shape" in row:
            self.transpose(row, source, from_at, target, to_at)
            return
        same = row["op"] == "copy"
        for from_run, to_run in zip(offsets(from_at, row["from_sizes"], row["from_steps"]),
                                    offsets(to_at, row["to_sizes"], row["to_steps"])):
            raw = source.read(from_run, row["from_sizes"][0])
            target.write(to_run, raw if same else convert(raw, row["from_dtype"], row["to_dtype"]))

    @staticmethod
    def transpose(row, source, from_at, target, to_at):
        size = row["transpose_element_size"]
        run, rows, tiles, more = row["from_sizes"]
        for d3, d2, y, x in itertools.product(range(more), range(tiles), range(rows),
                                              range(run // size)):
            steps = row["from_steps"]
            at = from_at + y * steps[1] + d2 * steps[2] + d3 * steps[3] + x * size
            steps = row["to_steps"]
            to = to_at + x * steps[1] + d2 * steps[2] + d3 * steps[3] + y * size
            target.write(to, source.read(at, size))

    def move_direct(self, record):
        sides = []
        for at in (0x10, 0x28):
            offset, index = struct.unpack_from("<IH", record, at)
            step = struct.unpack_from("<2i", record, at + 8)
            num = struct.unpack_from("<2H", record, at + 16)
            run = struct.unpack_from("<H", record, at + 20)[0]
            if record[at + 7] == 0x20:
                index = self.tables[0][index]
            memory, base = self.place(self.by_id[index])
            places = [base + offset + i0 * step[0] + i1 * step[1]
                      for i1 in range(num[1]) for i0 in range(num[0])]
            sides.append((memory, places, run))
        (source, from_places, run), (target, to_places, _) = sides
        dtypes = DTYPE_CODES[record[0x3E]], DTYPE_CODES[record[0x3F]]
        for from_place, to_place in zip(from_places, to_places):
            target.write(to_place, convert(source.read(from_place, run), *dtypes))
        self.semaphores[record[0x0D]] += record[0x0E]


class Engine:
    """One instruction stream, record by record."""

    def __init__(self, subgraph, stream):
        self.subgraph = subgraph
        self.records = [stream[i:i + 64] for i in range(0, len(stream), 64)]
        self.restart()
        self.end = next((i for i, record in enumerate(self.records) if record[0] == 0xD1),
                        len(self.records))

    def restart(self):
        self.slot, self.function, self.returns, self.done = 0, "", [], False

    @staticmethod
    def text(record):
        return record[0x0C:0x2C].split(b"\0")[0].decode()

    def ready(self, record):
        waits = [(record[4], record[5], struct.unpack_from("<I", record, 8)[0])]
        if record[0] == 0xA0:
            waits.append((record[0x20], record[0x21], struct.unpack_from("<I", record, 0x24)[0]))
        values = self.subgraph.semaphores
        assert all(mode in (0, 5) for mode, _, _ in waits), record.hex()
        return all(mode == 0 or values[index] >= value for mode, index, value in waits)

    def find(self, opcode, matches):
        """The slot of a function or of a label of the present body."""
        start = self.slot if opcode == 0xCC else 0
        for slot in range(start, len(self.records)):
            record = self.records[slot]
            if record[0] == opcode and matches(record):
                return slot
        raise AssertionError("a branch goes nowhere")

    def step(self):
        """True if something was done."""
        if self.done or (self.slot >= self.end and not self.returns):
            return False
        record = self.records[self.slot]
        if not self.ready(record):
            return False
        self.slot += 1
        self.act(record)
        if record[6]:
            assert record[6] == 0x13, record.hex()
            self.subgraph.semaphores[record[7]] += 1
        return True

    def act(self, record):
        opcode = record[0]
        if opcode == 0xC1:
            block = struct.unpack_from("<I", record, 0x30)[0]
            self.subgraph.move_block((self.text(record), block, self.function))
        elif opcode == 0xD4:
            self.subgraph.move_direct(record)
        elif opcode == 0xD3:
            self.returns.append((self.slot, self.function))
            self.function = self.text(record)
            self.slot = self.find(0xD1, lambda other: self.text(other) == self.function) + 1
        elif opcode == 0xD2:
            self.slot, self.function = self.returns.pop()
        elif opcode == 0xDF:
            self.done = True
        elif opcode == 0xA9 and record[0x0C] == 0:  # other comparisons read registers that are 0
            if record[0x0E] == 2:
                label = struct.unpack_from("<I", record, 0x30)[0]
                self.slot = self.find(
                    0xCC, lambda other: struct.unpack_from("<I", other, 0x0C)[0] == label)
            else:
                self.slot += struct.unpack_from("<i", record, 0x30)[0] // 64 - 1

    def finished(self):
        return self.done or (self.slot >= self.end and not self.returns)


class Model:
    engine_type = Engine  # models that compute have their own

    def __init__(self, path):
        with open(path, "rb") as file:
            payload = file.read()[1024:]
        if payload[:2] == b"\x1f\x8b":
            payload = gzip.decompress(payload)
        with tarfile.open(fileobj=io.BytesIO(payload)) as archive:
            self.members = {entry.name.removeprefix("./"): archive.extractfile(entry).read()
                            for entry in archive if entry.isfile()}
        self.tensors, self.shared = {}, Memory()
        kelf = self.json("kelf-0.json")
        self.subgraphs = []
        for graph in kelf["graphs"]:
            self.subgraphs.append(Subgraph(self, graph["name"], graph["definition"]))

    def json(self, name):
        return json.loads(self.members[name])

    def sibling(self, subgraph):
        return self.subgraphs[1 - self.subgraphs.index(subgraph)]

    def sizes(self):
        """Bytes of inputs and of outputs, by name."""
        found = {"input": {}, "output": {}}
        for subgraph in self.subgraphs:
            for name, row in subgraph.variables.items():
                if row["type"] in found:
                    found[row["type"]][name] = row["size"]
        return found["input"], found["output"]

    def run(self, tensors, executions=1):
        """Outputs by name after executions that start with these bytes in inputs and outputs."""
        self.tensors = {name: Memory(content) for name, content in tensors.items()}
        engines = [engine for subgraph in self.subgraphs for engine in subgraph.engines]
        for _ in range(executions):
            for subgraph in self.subgraphs:
                subgraph.restart()
            while any([engine.step() for engine in engines]):
                pass
            assert all(engine.finished() for engine in engines), "the program does not finish"
        _, outputs = self.sizes()
        return {name: self.tensors[name].read(0, size) for name, size in outputs.items()}
