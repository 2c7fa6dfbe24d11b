# SPDX-License-Identifier: MIT
"""Seeded random programs: legal ones, and legal ones with one thing changed at random."""

import random

from corpus import mutations
from corpus.case import KIB, MIB, Case, program
from corpus.program import PARTITION
from corpus.random_streams import StreamMaker
from corpus.slots import copy
from corpus.tables import add_act, add_dve

ENGINES = ("pe", "act", "pool", "dve", "sp")
CASTS = (("int8", 1), ("uint8", 1), ("float16", 2), ("bfloat16", 2), ("float32", 4), ("int32", 4))
SHARED = 0.2                 # share of cases with one more program on the core
SECOND = 1 << 20
CHANGED = 0.25               # share of programs that one random change may make illegal


class Maker:
    def __init__(self, seed, arch=None):
        self.random = random.Random(seed)
        self.arch = arch or self.random.choice(("v2", "v3"))
        self.made = program(self.arch, self.random.choice((1, 1, 2)) if self.arch == "v3" else 1,
                            tensor=self.random.randrange(4 * KIB, MIB))
        self.made.seed = seed

    def chance(self, share):
        return self.random.random() < share

    def between(self, low, high):
        return self.random.randint(low, high)

    def make(self):
        for part in self.made.subgraphs:
            self.part, self.placed = part, []
            self.variables()
            self.queues()
            StreamMaker(self).make()
            if self.chance(0.2):
                add_act(part, [(self.between(1, 5000), self.between(1, 300), self.between(1, 3))
                               for _ in range(self.between(1, 3))])
            if self.chance(0.2):
                add_dve(part)
        if len(self.made.subgraphs) == 2 and self.chance(0.5):
            self.remotes()
        if self.chance(CHANGED):
            mutations.change(self.random, self.made)
        return self.made

    def arguments(self):
        """Options of the loader."""
        if self.chance(0.3):
            return ["--contiguous-scratchpad"]
        return ["--scratchpad-page-size", "1024"] if self.chance(0.3) else []

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
                if self.chance(0.97):    # else arenas behind it start between 4 KiB boundaries
                    size = -(-size // 4096) * 4096
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
        """`fired[engine]`: triggers of MAIN; `in_functions[engine]`: {function: triggers}."""
        self.fired = {engine: [] for engine in ENGINES}
        self.in_functions = {engine: {} for engine in ENGINES}
        self.names = {engine: [] for engine in ENGINES}
        for number in range(self.between(0, 5)):
            owner, queues = self.random.choice(ENGINES), self.random.choice((1, 2, 3, 7, 16))
            kind = self.random.choice(("data", "data", "in", "out"))
            name = f"q{self.between(0, 9)}{number}"
            keys, self.io = {}, True
            if kind == "data" and self.chance(0.2):
                keys["queue_instances"] = [f"{name}_{n}" for n in range(self.between(2, 4))]
                self.io = False
            self.part.queue(name, kind, owner, queues, first_semaphore=8 + 16 * number, **keys)
            for instance in keys.get("queue_instances", [name]):
                self.names[owner].append(instance)
                self.blocks(owner, instance, {"instance_name": instance} if keys else {})

    def blocks(self, owner, name, where):
        for number in range(self.between(0, 4)):
            block = self.block(name, number, where)
            self.fired[owner] += [(name, block)] * self.random.choice((0, 1, 1, 1, 2))
        self.random.shuffle(self.fired[owner])
        if where or self.chance(0.6):
            return
        for number in range(self.between(1, 3)):
            block = self.block(name, number, {"function_start": "work"} if number == 0 else {})
            self.in_functions[owner].setdefault("work", []).append((name, block))

    def block(self, name, number, keys):
        keys = dict(keys)
        if self.chance(0.3):
            keys["semaphore"] = self.between(3, 239)
        if len(self.made.subgraphs) == 2 and self.chance(0.2):
            keys["remote_semaphores"] = [self.between(3, 239)]
        descriptors = [self.descriptor() for _ in range(self.between(1, 3))]
        return self.part.block(name, descriptors, number, **keys)

    def side(self, sizes):
        """(name, offset, steps) of a variable that takes the pattern; None when it is too large."""
        size = sizes[0]
        for count in sizes[1:]:
            size *= count
        io = [(name, self.part.variables[name]["size"]) for name in ("x", "y") if self.io]
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
            outer = [self.between(1, 12) for _ in range(self.between(0, 3))]
            extra, runs = {}, (run, run)
            if self.chance(0.2):
                (low, narrow), (high, wide) = self.random.choices(CASTS, k=2)
                extra, runs = {"op": "cast", "from_dtype": low, "to_dtype": high}, \
                    (run * narrow, run * wide)
            source, target = (self.side([length, *outer]) for length in runs)
            if source and target:
                return copy(source[0], target[0], [runs[0], *outer], source[2], target[2],
                            to_sizes=[runs[1], *outer], from_off=source[1], to_off=target[1],
                            **extra)


def make(seed):
    """One program, or now and then several on one core."""
    maker = Maker(seed)
    programs = [maker.make()]
    while maker.chance(SHARED):
        programs.append(Maker(seed + SECOND * len(programs), maker.arch).make())
    return Case(f"seed{seed}", programs, maker.arguments(), bind=len(programs) == 1)
