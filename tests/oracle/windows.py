# SPDX-License-Identifier: MIT
"""What a scalar tensor load or store (MEM_2D) touches, and its 16 MiB window (spec 05 A5)."""

import struct

import opcodes as op
from container import Refused
from queue_rules import extent
from records import SLOT
from rings import DTYPE_BYTES
from sections import slots_with

REAL_STORE, REAL_LOAD = 0xAB, 0xAA
WINDOW_BYTES = 16 << 20
MARKER_MASK = 0xFC


def pattern(slot):
    """(sizes, steps) in bytes; steps count elements, an unknown dtype counts one byte each."""
    dtype = slot[0x0C]
    width = DTYPE_BYTES[dtype] if 0 < dtype < len(DTYPE_BYTES) else 1
    steps = [width * step for step in struct.unpack_from("<2i", slot, 0x18)]
    return [width, slot[0x0E], slot[0x0F]], [1, *steps]


def _check(slot, address, engine, number):
    """Refuses a record whose span from `address` on is not inside one window."""
    sizes, steps = pattern(slot)
    if 0 in sizes:
        return
    low, high = extent(address, sizes, steps)
    if low // WINDOW_BYTES != (high - 1) // WINDOW_BYTES:
        raise Refused(f"the span {low:#x}..{high:#x} is not inside one 16 MiB window", engine,
                      number)


def check_real(stream, opcodes, engine):
    """Real records with an immediate address: known before anything is placed."""
    for number in slots_with(opcodes, REAL_LOAD, REAL_STORE):
        slot = stream[number * SLOT:(number + 1) * SLOT]
        if slot[0x17] & MARKER_MASK == 0:
            _check(slot, struct.unpack_from("<Q", slot, 0x10)[0], engine, number)


def check_placed(stream, places, engine):
    """The pseudo records of one stream, once every variable has its address."""
    for number in slots_with(stream.opcodes, op.TENSOR_LOAD, op.TENSOR_STORE):
        slot = stream.data[number * SLOT:(number + 1) * SLOT]
        var_id, displacement = struct.unpack_from("<II", slot, 0x10)
        _check(slot, places[var_id] + displacement, engine, number)
