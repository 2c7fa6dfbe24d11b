# SPDX-License-Identifier: MIT
"""Source records of instruction streams (spec 05 A1, A4)."""

import struct

SLOT = 64


def slot(opcode, wait=None, update=None, value=0, **fields):
    """`wait` and `update` are (mode, index); `fields` are b0E=1, w10=..., i30=... (byte, u32, i32)
    named by their hexadecimal offset."""
    data = bytearray(SLOT)
    data[0], data[1] = opcode, 0x10
    if wait:
        data[4], data[5] = wait
    if update:
        data[6], data[7] = update
    struct.pack_into("<I", data, 8, value)
    forms = {"b": "<B", "h": "<H", "w": "<I", "i": "<i", "q": "<Q"}
    for name, content in fields.items():
        struct.pack_into(forms[name[0]], data, int(name[1:], 16), content)
    return data


def named(opcode, name, **keys):
    data = slot(opcode, **keys)
    encoded = name.encode()
    data[0x0C:0x0C + len(encoded)] = encoded
    return data


def ordering():
    return slot(0xB1)


def trigger(queue, block_id, **keys):
    return named(0xC1, queue, w30=block_id, **keys)


def rearm(queue, **keys):
    return named(0xC2, queue, **keys)


def label(number):
    return slot(0xCC, w0C=number)


def branch_label(number, compare=0, **keys):
    return slot(0xA9, b0C=compare, b0D=9, b0E=2, w30=number, **keys)


def branch_relative(slots, compare=0, **keys):
    return slot(0xA9, b0C=compare, b0D=9, b0E=3, i30=slots * SLOT, **keys)


def function(name, low=20, high=21):
    return named(0xD1, name, b31=low, b32=high)


def call(name, arguments=0, **keys):
    return named(0xD3, name, w30=arguments, **keys)


def returns(**keys):
    return slot(0xD2, **keys)


def tensor(opcode, var_id, offset, dtype=9, counts=(1, 1), **keys):
    return slot(opcode, b0C=dtype, b0E=counts[0], b0F=counts[1], w10=var_id, w14=offset, i18=1,
                i1C=1, b20=5, **keys)


def read_address(var_id, offset, low=6, high=7, **keys):
    return slot(0xC9, w10=var_id, w14=offset, b20=low, b21=high, **keys)


def direct(source, target, semaphore, counts=(128, 1), run=64, steps=((64, 1), (0x40000, 1)),
           **keys):
    """D4; `source` and `target` are (marker, index, offset)."""
    data = slot(0xD4, b0D=semaphore, b0E=16, b3E=10, b3F=10, **keys)
    for at, (marker, index, offset), step in ((0x10, source, steps[0]), (0x28, target, steps[1])):
        struct.pack_into("<II", data, at, offset, marker << 24 | index)
        struct.pack_into("<iiHHH", data, at + 8, *step, *counts, run & 0xFFFF)
    return data


def copy(source, target, sizes, from_steps, to_steps, **extra):
    """A static DMA descriptor of def.json."""
    return {"op": "copy", "from": source, "to": target, "from_sizes": sizes, "to_sizes": sizes,
            "from_steps": from_steps, "to_steps": to_steps, "from_off": 0, "to_off": 0, **extra}


def row(source, target, size, from_off=0, to_off=0):
    """One contiguous run."""
    return copy(source, target, [size], [1], [1], from_off=from_off, to_off=to_off)
