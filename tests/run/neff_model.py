# SPDX-License-Identifier: MIT
"""What a generated NEFF gives: the data movement of tests/nrt/movement.py, and the compute records of
the samples between it. Enough for samples that move data and add; anything else is an error."""

import itertools
import struct

import movement

FIRST_CONTROL_OPCODE = 0xA0
PARTITIONS = 128
PSUM = 0x2000000


def pattern(record, at, dims):
    """Address of a compute operand and its elements behind that, dimension 1 fastest."""
    address = struct.unpack_from("<I", record, at)[0]
    if address >= PSUM:
        raise NotImplementedError("PSUM")
    steps = struct.unpack_from(f"<{dims}h", record, at + 4)
    counts = struct.unpack_from(f"<{dims}H", record, at + 4 + 2 * dims)
    indices = itertools.product(*(range(count) for count in reversed(counts)))
    return address, [sum(i * step for i, step in zip(reversed(index), steps)) for index in indices]


class Engine(movement.Engine):
    def act(self, record):
        opcode = record[0]
        if opcode == 0x41 and record[0x0E] == 4:
            self.elementwise(record, lambda a, b: a + b,
                             [(0x10, 3, record[0x0C] & 15), (0x20, 3, record[0x0C] >> 4)],
                             (0x30, 3, record[0x0D]))
        elif opcode in (0x46, 0x47):
            self.elementwise(record, lambda a: a, [(0x0C, 4, record[0x20])],
                             (0x2C, 4, record[0x21]))
        elif opcode < FIRST_CONTROL_OPCODE:
            raise NotImplementedError(f"opcode {opcode:02x}")
        else:
            super().act(record)

    def elementwise(self, record, compute, sources, target):
        """`sources` and `target` are (pattern offset, dims, dtype)."""
        memory = self.subgraph.state_buffer

        def places(operand):
            address, elements = pattern(record, *operand[:2])
            dtype = movement.DTYPE_CODES[operand[2]]
            size = movement.DTYPES[dtype][1]
            return [address + element * size for element in elements], size, dtype

        froms = [places(source) for source in sources]
        to_places, _, to_dtype = places(target)
        for base in range(0, PARTITIONS * movement.PARTITION, movement.PARTITION):
            lines = [movement.decode(b"".join(memory.read(base + at, size) for at in ats), dtype)
                     for ats, size, dtype in froms]
            for to, values in zip(to_places, zip(*lines)):
                memory.write(base + to, movement.encode_one(compute(*values), to_dtype))


class Model(movement.Model):
    engine_type = Engine


def execute(path, inputs, outputs):
    """The outputs' bytes: `inputs` by name, `outputs` name -> size."""
    return Model(path).run({**inputs, **{name: b"\xff" * size for name, size in outputs.items()}})
