# SPDX-License-Identifier: MIT
"""Seeded random instruction streams over the variables and queue sets of one subgraph."""

from corpus.program import PARTITION
from corpus.slots import (branch_label, branch_relative, call, direct, function, label,
                          read_address, rearm, returns, slot, tensor, trigger)

ENGINES = ("pe", "act", "pool", "dve", "sp")
PLAIN = (0xA0, 0xA4, 0xB1, 0x46)
BARRIERS = (0xC3, 0xD5, 0xD8)
ONE_RUN = (0xC1, 0xD4)       # records that may not be in a loop (decision 36)


class StreamMaker:
    def __init__(self, maker):
        self.maker, self.part, self.random = maker, maker.part, maker.random
        self.chance, self.between = maker.chance, maker.between
        self.ids = [self.part.variables[name]["var_id"] for name, _ in maker.placed]
        self.sizes = [size for _, size in maker.placed]

    def make(self):
        for engine in ENGINES:
            self.engine, self.dynamic = engine, self.chance(0.3)
            if self.dynamic:
                self.part.queue(f"dyn{engine}", "dynamic", engine, first_semaphore=150)
            body = self.body(self.maker.fired[engine], 30, True)
            self.part.emit(engine, *body, *self.functions(body))

    def body(self, fired, most, once):
        body = [trigger(name, block, **self.events()) for name, block in fired]
        for _ in range(self.between(0, most)):
            body.insert(self.between(0, len(body)), self.record(once))
        self.branches(body)
        return body

    def functions(self, main):
        """Bodies behind MAIN; their calls go to the end of `main`."""
        found, registers = [], self.between(10, 40)
        for name, fired in self.maker.in_functions[self.engine].items():
            main.append(call(name, **self.events()))
            found += [function(name, registers, registers + 1), *self.body(fired, 5, True),
                      returns(**self.events())]
        for number in range(self.between(0, 2)):
            main += [call(f"free{number}", self.random.choice((0, 0xFFFFFFFF)))
                     for _ in range(self.between(0, 3))]
            found += [function(f"free{number}", 2 + number, 5), *self.body((), 8, False),
                      returns()]
        if self.chance(0.3):
            main.append(slot(0xDF, b0C=1, **self.events()))
        return found

    def events(self):
        keys = {}
        if self.chance(0.4):
            keys["wait"] = (self.between(1, 5), self.between(3, 239))
        if self.chance(0.4):
            keys["update"] = (self.random.choice((0x13, 0x15)), self.between(3, 239))
        return {**keys, "value": self.between(1, 50000)} if keys else {}

    def record(self, once):
        choice, names = self.between(0, 9), self.maker.names[self.engine]
        number = self.between(0, len(self.ids) - 1)
        if choice == 0:
            return read_address(self.ids[number], self.between(0, self.sizes[number] - 1),
                                **self.events())
        if choice == 1:
            return self.tensor(number)
        if choice == 2 and names:
            return rearm(self.random.choice(names), **self.events())
        if choice < 5 and self.dynamic and once:
            return self.dge(number)
        if choice == 5:
            return slot(self.random.choice(BARRIERS), **self.events())
        return slot(self.random.choice(PLAIN), w30=self.between(0, 1 << 32 - 1), **self.events())

    def tensor(self, number):
        size = self.sizes[number]
        dtype, width = self.random.choice([(3, 1), (7, 2), (9, 4)][:1 + (size > 1) + (size > 3)])
        return tensor(self.random.choice((0xCD, 0xCE)), self.ids[number],
                      self.between(0, size - width), dtype, **self.events())

    def dge(self, number):
        room = self.sizes[number]
        run = self.between(1, min(room, 2000))
        source = (0x10, self.ids[number], self.between(0, room - run))
        if self.maker.table and self.chance(0.4):
            index = self.between(0, len(self.maker.table) - 1)
            room = self.room(self.maker.table[index])
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
        for number in range(self.between(0, 3)):
            first, last = sorted((self.between(0, len(body)), self.between(0, len(body))))
            loop = self.chance(0.5) and not any(data[0] in ONE_RUN for data in body[first:last])
            target, source = label(100 + number), branch_label(100 + number, self.between(0, 12))
            body.insert(last, source if loop else target)
            body.insert(first, target if loop else source)
        if self.chance(0.5):
            body += [branch_relative(1, self.between(0, 12)), slot(0xA4)]
