# SPDX-License-Identifier: MIT
"""The 64-byte instruction record and the real records a loader emits (spec 05 A1, A5, U)."""

import struct

from arch import ENGINES

SLOT = 64
WORD_LENGTH = 0x10
WRITE, COMPARE_BRANCH, EVENT_SEMAPHORE, NOTIFY, DRAIN, MOVE = 0xA5, 0xA9, 0xA0, 0xA6, 0xA2, 0xA7
PREFETCH_HINT = 0xB5
WAIT_GREATER, DECREMENT_ON_COMPLETE, INCREMENT_ON_COMPLETE = 4, 0x14, 0x13
START_SEMAPHORE, DONE_SEMAPHORE = 240, 245
BRANCH_HINT, FUNCTION_HINT = 2, 1
MODE_REGISTER, MODE_LABEL, MODE_RELATIVE = 1, 2, 3
DTYPE_U32 = 9


def record(opcode, events=bytes(8)):
    slot = bytearray(SLOT)
    slot[0], slot[1], slot[4:12] = opcode, WORD_LENGTH, events
    return slot


def write_record(address, value, events=bytes(8)):
    slot = record(WRITE, events)
    slot[0x0C] = 4
    struct.pack_into("<QI", slot, 0x10, address, value)
    return slot


def branch_record(distance, events=bytes(8), hint=0):
    """Always-taken branch; distance in bytes from this record's own start."""
    slot = record(COMPARE_BRANCH, events)
    slot[3], slot[0x0E] = BRANCH_HINT | hint, MODE_RELATIVE
    struct.pack_into("<Q", slot, 0x30, distance & 0xFFFFFFFF)
    return slot


def return_record(low, high, events=bytes(8)):
    """Branch to the address in a register pair."""
    slot = record(COMPARE_BRANCH, events)
    slot[0x0E], slot[0x22], slot[0x23] = MODE_REGISTER, low, high
    return slot


def move_record(low, high, value, events=bytes(8)):
    """A 64-bit immediate into a register pair."""
    slot = record(MOVE, events)
    slot[0x0C], slot[0x0D], slot[0x0E] = 2, DTYPE_U32, 1
    slot[0x18], slot[0x19] = low, high
    struct.pack_into("<Q", slot, 0x20, value)
    return slot


def preamble(engine):
    number = START_SEMAPHORE + ENGINES.index(engine)
    events = bytes((WAIT_GREATER, number, DECREMENT_ON_COMPLETE, number)) + bytes(4)
    return record(EVENT_SEMAPHORE, events)


def postamble(offset):
    """Slots at `offset` of the image: completion notification, then back to offset 0."""
    events = bytes((0, 0, INCREMENT_ON_COMPLETE, DONE_SEMAPHORE)) + bytes(4)
    return record(NOTIFY, events) + branch_record(-(offset + SLOT))


def split_events(source, count):
    """Events of each record of an expansion: wait on the first, update on the last."""
    wait = source[4:6] if source[4] else b"\0\0"
    update = source[6:8] if source[6] else b"\0\0"
    value = source[8:12]
    events = [bytes(8)] * count
    if count == 1:
        return [wait + update + (value if source[4] or source[6] else bytes(4))]
    events[0] = wait + b"\0\0" + (value if source[4] else bytes(4))
    events[-1] = b"\0\0" + update + (value if source[6] else bytes(4))
    return events


def text_field(slot, at, size):
    return bytes(slot[at:at + size]).split(b"\0")[0].decode("utf-8", "replace")
