# SPDX-License-Identifier: MIT
"""Seeded random programs: legal ones, and legal ones with one thing changed at random."""

import random

from corpus.case import KIB, MIB, Case, program
from corpus.program import PARTITION
from corpus.slots import (branch_label, branch_relative, copy, direct, label, read_address, rearm,
                          slot, tensor, trigger)

ENGINES = ("pe", "act", "pool", "dve", "sp")
PLAIN = (0xA0, 0xA4, 0xB1, 0x46)
BARRIERS = (0xC3, 0xD5, 0xD8)
EXCLUDED = {"address", "barriers", "branches"}   # record kinds the loader refuses so far
CHANGED = 0.25               # share of programs that one random change may make illegal


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arch = self.random.choice(("v2", "v3"))
        self.made = program(self.arch, self.random.choice((1, 1, 2)) if self.arch == "v3" else 1,
                            tensor=self.random.randrange(4 * KIB, MIB))
        self.made.seed = seed
        self.arguments = []

    def chance(self, share):
        return self.random.random() < share

    def between(self, low, high):
        return self.random.randint(low, high)

    def make(self):
        for part in self.made.subgraphs:
            self.part, self.placed = part, []
            self.variables()
            self.queues()
            self.streams()
        if len(self.made.subgraphs) == 2 and self.chance(0.5):
            self.remotes()
        if self.chance(0.3):
            self.arguments = ["--scratchpad-page-size", "1024"]
        if self.chance(CHANGED):
            self.change()
        return Case(f"seed{self.made.seed}", [self.made], self.arguments)

    # -- variables

    def variables(self):
        for number in range(self.between(1, 8)):
            name, size = f"n{number}", self.size()
            kind = self.random.choice(("file", "tmp-buf", "virtual", "virtual"))
            if kind == "file":
                size = min(size, 40000)
                self.part.constant(name, size, self.alignment(), raw=self.chance(0.3))
            elif kind == "tmp-buf":
                self.part.variable(name, kind, size=size, alignment=self.alignment())
            else:
                keys = {"backing_buf": self.random.choice(("local", "shared", "sharded", "main"))} \
                    if self.chance(0.4) else {}
                self.part.virtual(name, size, 4096 * self.between(0, 131072), **keys)
            self.placed.append((name, size))
        ids = [entry["var_id"] for entry in self.part.variables.values()]
        for number in range(self.between(0, 3)):
            self.part.variable(f"p{number}", "pointer", size=8,
                               referenced_var_id=self.random.choice(ids))
        if self.chance(0.5):
            self.table = self.random.choices(ids, k=self.between(1, 9))
            self.part.variable("table", "dge-table", list=self.table)
        else:
            self.table = []
        if self.chance(0.3):
            self.part.variable("list", "list", list=self.random.choices(ids, k=3))

    def size(self):
        return self.random.choice((self.between(1, 200), self.between(200, 70000),
                                   self.between(70000, 2 * MIB)))

    def alignment(self):
        return self.random.choice((0, 0, 1, 64, 4096, 8192, 32768, 1 << 20))

    def remotes(self):
        one, two = self.made.subgraphs
        for part, other, index in ((one, two, 1), (two, one, 0)):
            names = [name for name, entry in other.variables.items()
                     if entry["type"] in ("file", "tmp-buf", "virtual", "state-buffer")]
            for name in self.random.sample(names, min(2, len(names))):
                if "remote" not in name:
                    part.variable(f"{name}_remote_sg{index}", "remote")

    # -- queues and descriptors

    def queues(self):
        self.fired = {engine: [] for engine in ENGINES}
        self.names = {engine: [] for engine in ENGINES}
        first = 8
        for number in range(self.between(0, 5)):
            owner, queues = self.random.choice(ENGINES), self.random.choice((1, 2, 3, 7, 16))
            kind = self.random.choice(("data", "data", "in", "out"))
            name = self.part.queue(f"q{self.between(0, 9)}{number}", kind, owner, queues,
                                   first_semaphore=first)
            first += 16
            self.names[owner].append(name)
            for _ in range(self.between(0, 4)):
                keys = {"semaphore": self.between(3, 239)} if self.chance(0.3) else {}
                if len(self.made.subgraphs) == 2 and self.chance(0.2):
                    keys["remote_semaphores"] = [self.between(3, 239)]
                block = self.part.block(name, [self.descriptor() for _ in
                                               range(self.between(1, 3))], **keys)
                self.fired[owner] += [(name, block)] * self.random.choice((0, 1, 1, 1, 2))
            self.random.shuffle(self.fired[owner])

    def side(self, sizes):
        """(name, offset, steps) of a variable that takes the pattern; None when it is too large."""
        size = sizes[0]
        for count in sizes[1:]:
            size *= count
        io = [(name, self.part.variables[name]["size"]) for name in ("x", "y")]
        fitting = [entry for entry in self.placed + io if entry[1] >= size]
        if not fitting or self.chance(0.2):
            return self.state_buffer(sizes)
        name, room = self.random.choice(fitting)
        steps, low, high, stride = [1], 0, sizes[0], sizes[0]
        for count in sizes[1:]:
            step = stride
            if self.chance(0.3) and count > 1:
                step = self.between(0, stride)
            if self.chance(0.2):
                step = -step
            steps.append(step)
            reach = (count - 1) * step
            low, high = low + min(0, reach), high + max(0, reach)
            stride = max(stride, stride * count)
        spare = room - (high - low)
        return (name, -low + self.between(0, spare), steps) if spare >= 0 else None

    def state_buffer(self, sizes):
        if sizes[0] > 60000 or len(sizes) > 2 or sizes[-1] > 100 and len(sizes) == 2:
            return None
        return ("SB", self.between(0, 20) * PARTITION + self.between(0, 100000),
                [1] + [PARTITION] * (len(sizes) - 1))

    def descriptor(self):
        while True:
            run = self.random.choice((1, 2, 64, 65535, 65536, 65537, self.between(1, 300)))
            sizes = [run] + [self.between(1, 12) for _ in range(self.between(0, 3))]
            source, target = self.side(sizes), self.side(sizes)
            if source and target:
                return copy(source[0], target[0], sizes, source[2], target[2],
                            from_off=source[1], to_off=target[1])

    # -- streams

    def events(self):
        keys = {}
        if self.chance(0.4):
            keys["wait"] = (self.between(1, 5), self.between(3, 239))
        if self.chance(0.4):
            keys["update"] = (self.random.choice((0x13, 0x15)), self.between(3, 239))
        return {**keys, "value": self.between(1, 50000)} if keys else {}

    def streams(self):
        ids = [self.part.variables[name]["var_id"] for name, _ in self.placed]
        for engine in ENGINES:
            dynamic = self.chance(0.3)
            if dynamic:
                self.part.queue(f"dyn{engine}", "dynamic", engine, first_semaphore=150)
            body = [trigger(name, block, **self.events()) for name, block in self.fired[engine]]
            for _ in range(self.between(0, 30)):
                body.insert(self.between(0, len(body)), self.record(engine, ids, dynamic))
            self.branches(body)
            self.part.emit(engine, *body)

    def record(self, engine, ids, dynamic):
        choice = self.between(0, 9)
        number = self.between(0, len(ids) - 1)
        size = self.placed[number][1]
        offset = self.between(0, size - 1)
        if choice == 0 and "address" not in EXCLUDED:
            return read_address(ids[number], offset, **self.events())
        if choice == 1:
            dtype, width = self.random.choice(((3, 1), (7, 2), (9, 4)))
            if size >= width:
                return tensor(self.random.choice((0xCD, 0xCE)), ids[number],
                              min(offset, size - width), dtype, **self.events())
        if choice == 2 and self.names[engine]:
            return rearm(self.random.choice(self.names[engine]), **self.events())
        if choice < 5 and dynamic:
            return self.dge(ids, number)
        if choice == 5 and "barriers" not in EXCLUDED:
            return slot(self.random.choice(BARRIERS), **self.events())
        return slot(self.random.choice(PLAIN), w30=self.between(0, 1 << 32 - 1), **self.events())

    def dge(self, ids, number):
        room = self.placed[number][1]
        run = self.between(1, min(room, 2000))
        source = (0x10, ids[number], self.between(0, room - run))
        if self.table and self.chance(0.4):
            index = self.between(0, len(self.table) - 1)
            room = self.room(self.table[index])
            run = min(run, room)
            source = (0x20, index, self.between(0, room - run))
        target = (0x10, 0, self.between(0, 20) * PARTITION + self.between(0, 1000))
        return direct(source, target, 150 + self.between(0, 15), (1, 1), run, **self.events())

    def room(self, var_id):
        """Bytes of a variable from its start that a run may cover."""
        entry = list(self.part.variables.values())[var_id]
        if entry["type"] == "state-buffer":
            return 100000
        return entry.get("size", 8)

    def branches(self, body):
        """Forward branches, and backward ones over what may run twice."""
        if "branches" in EXCLUDED:
            return
        for number in range(self.between(0, 3)):
            first, last = sorted((self.between(0, len(body)), self.between(0, len(body))))
            loop = self.chance(0.5) and not any(data[0] in (0xC1, 0xD4)
                                                for data in body[first:last])
            target, source = label(100 + number), branch_label(100 + number, self.between(0, 12))
            body.insert(last, source if loop else target)
            body.insert(first, target if loop else source)
        if self.chance(0.5):
            body += [branch_relative(1, self.between(0, 12)), slot(0xA4)]

    # -- one change

    def change(self):
        part = self.random.choice(self.made.subgraphs)
        choice = self.between(0, 3)
        if choice == 0:
            entry = self.random.choice(list(part.variables.values()))
            key = self.random.choice(("size", "alignment", "referenced_var_id"))
            if key in entry and entry["type"] != "file":
                entry[key] = self.random.choice((0, 1, 3, 4096, 8192, entry[key] + 1))
        elif choice == 1:
            descs = [desc for blocks in part.blocks.values() for block in blocks
                     for desc in block["desc"]]
            if descs:
                desc = self.random.choice(descs)
                key = self.random.choice(("from_off", "to_off"))
                desc[key] = self.random.choice((0, desc[key] + 1, desc[key] * 2, MIB))
        else:
            engine = self.random.choice(ENGINES)
            stream = part.streams[engine]
            number = self.between(0, len(stream) - 1)
            data = bytearray(stream[number])
            data[self.random.choice((0, 1, 4, 5, 6, 7, 0x0D, 0x0F, 0x10, 0x14, 0x17, 0x30))] = \
                self.random.choice((0, 1, 2, 3, 0x10, 0x20, 240, 255, self.between(0, 255)))
            stream[number] = bytes(data)


def make(seed):
    return Maker(seed).make()
