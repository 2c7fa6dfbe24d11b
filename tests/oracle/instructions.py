# SPDX-License-Identifier: MIT
"""Instruction images: preamble, translated main stream, postamble (spec 05 A, decisions 6, 30)."""

import struct
from dataclasses import dataclass, field

from arch import ENGINES, RX_SW_CONTROL, TAIL_INCREMENT, TX_SW_CONTROL
from container import NeffError

SLOT = 64
WORD_LENGTH = 0x10
WRITE, COMPARE_BRANCH, EVENT_SEMAPHORE, NOTIFY, DRAIN, MOVE = 0xA5, 0xA9, 0xA0, 0xA6, 0xA2, 0xA7
TRIGGER, REARM, BARRIER, READ_VAR_ADDR = 0xC1, 0xC2, 0xC3, 0xC9
LABEL, TENSOR_STORE, TENSOR_LOAD, DIRECT_2D = 0xCC, 0xCD, 0xCE, 0xD4
DGE_OPCODES = {0: 0xB8, 1: 0xBB, 2: 0xBD, 3: 0xF1}
PSEUDO_FIRST, PSEUDO_LAST = 0xC1, 0xDF
SPECIAL = {TRIGGER, REARM, BARRIER, READ_VAR_ADDR, LABEL, TENSOR_STORE, TENSOR_LOAD, DIRECT_2D,
           COMPARE_BRANCH}
WAIT_GREATER, DECREMENT_ON_COMPLETE, INCREMENT_ON_COMPLETE = 4, 0x14, 0x13
START_SEMAPHORE, DONE_SEMAPHORE = 240, 245
BRANCH_HINT, MODE_LABEL, MODE_RELATIVE = 2, 2, 3
QUEUE_RESET = 0x100
MARKER_VARIABLE, MARKER_TABLE, MARKER_MASK = 0x10, 0x20, 0xFC


def record(opcode, events=bytes(8)):
    slot = bytearray(SLOT)
    slot[0], slot[1], slot[4:12] = opcode, WORD_LENGTH, events
    return slot


def write_record(address, value, events=bytes(8)):
    slot = record(WRITE, events)
    slot[0x0C] = 4
    struct.pack_into("<QI", slot, 0x10, address, value)
    return slot


def branch_record(distance):
    """Always-taken branch; distance in bytes from this record's own start."""
    slot = record(COMPARE_BRANCH)
    slot[3], slot[0x0E] = BRANCH_HINT, MODE_RELATIVE
    struct.pack_into("<Q", slot, 0x30, distance & 0xFFFFFFFF)
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


def queue_name(slot):
    return bytes(slot[0x0C:0x2C]).split(b"\0")[0].decode()


def triggers(stream):
    """[(queue name, block id)] of every C1, in stream order."""
    found = []
    for index, opcode in enumerate(stream[::SLOT]):
        if opcode != TRIGGER:
            continue
        slot = stream[index * SLOT:(index + 1) * SLOT]
        raw, block_id = struct.unpack_from("<II", slot, 0x2C)
        if raw:
            raise NeffError(f"slot {index}: raw-count triggers are not modelled here")
        found.append((queue_name(slot), block_id))
    return found


@dataclass
class DgeOperand:
    slot_in: int
    slot_out: int            # in the whole image
    offset: int              # of the operand inside the slot
    marker: int
    index: int
    displacement: int
    source: bytes            # the 8 bytes before translation


@dataclass
class Image:
    data: bytearray
    slots_in: int
    dge_operands: list = field(default_factory=list)
    forms: dict = field(default_factory=dict)


def resolve(slot, offset, bases):
    """The 8 operand bytes at `offset` after relocation (spec 05 A3)."""
    marker = slot[offset + 7] & MARKER_MASK
    if marker == MARKER_TABLE:
        return bytes(slot[offset:offset + 8])
    if marker != MARKER_VARIABLE:
        raise NeffError(f"operand marker {slot[offset + 7]:#x} is not modelled here")
    displacement = struct.unpack_from("<I", slot, offset)[0]
    var_id = struct.unpack_from("<I", slot, offset + 4)[0] & 0xFFFFFF
    return struct.pack("<Q", bases[var_id] + displacement)


class Translator:
    """One engine's stream; `bases` maps var_id to address, `counts` queue to trigger counts."""

    def __init__(self, arch, core, queue_sets, bases, counts):
        self.arch, self.core, self.bases, self.counts = arch, core, bases, counts
        self.queue_sets = {queue_set.name: queue_set for queue_set in queue_sets}

    def image(self, engine, stream):
        self.out = bytearray(preamble(engine))
        self.result = Image(self.out, len(stream) // SLOT)
        self.labels, self.branches, self.place = {}, [], {}
        opcodes = stream[::SLOT][:self.result.slots_in]
        has_branch = COMPARE_BRANCH in opcodes
        done = 0
        for index, opcode in enumerate(opcodes):
            if has_branch:
                self.out += stream[done * SLOT:index * SLOT]
                done = index
                self.place[index] = len(self.out)
            if opcode not in SPECIAL:
                if PSEUDO_FIRST <= opcode <= PSEUDO_LAST:
                    raise NeffError(f"slot {index}: opcode {opcode:#x} is not modelled here")
                continue
            self.out += stream[done * SLOT:index * SLOT]
            self._special(index, bytes(stream[index * SLOT:(index + 1) * SLOT]))
            done = index + 1
        self.out += stream[done * SLOT:self.result.slots_in * SLOT]
        self.place[self.result.slots_in] = len(self.out)
        self._fix_branches()
        self.out += postamble(len(self.out))
        return self.result

    def _special(self, index, slot):
        opcode = slot[0]
        if opcode == TRIGGER:
            self._trigger(slot)
        elif opcode == REARM:
            self._registers(slot, RX_SW_CONTROL, TX_SW_CONTROL, QUEUE_RESET)
        elif opcode == BARRIER:
            self.out += record(DRAIN, slot[4:12])
        elif opcode == READ_VAR_ADDR:
            self._read_var_addr(slot)
        elif opcode == LABEL:
            self.labels[struct.unpack_from("<I", slot, 0x0C)[0]] = len(self.out)
        elif opcode in (TENSOR_STORE, TENSOR_LOAD):
            self._tensor(slot)
        elif opcode == DIRECT_2D:
            self._direct_2d(index, slot)
        else:
            self._branch(index, slot)

    def _registers(self, slot, receive_register, transmit_register, value):
        queue_set = self.queue_sets[queue_name(slot)]
        counts = [value] * queue_set.num_queues if isinstance(value, int) else value
        events = split_events(slot, 2 * queue_set.num_queues)
        for k, count in enumerate(counts):
            for number, (receive, register) in enumerate(((True, receive_register),
                                                          (False, transmit_register))):
                address = self.arch.queue_register(self.core, k, queue_set.queue_id, receive,
                                                   register)
                self.out += write_record(address, count, events[2 * k + number])

    def _trigger(self, slot):
        name = queue_name(slot)
        self._registers(slot, TAIL_INCREMENT, TAIL_INCREMENT, next(self.counts[name]))

    def _read_var_addr(self, slot):
        var_id, displacement = struct.unpack_from("<II", slot, 0x10)
        address = self.bases[var_id] + displacement
        move = record(MOVE, slot[4:12])
        move[0x0C], move[0x0D], move[0x0E] = 2, 9, 1
        move[0x18], move[0x19] = slot[0x20], slot[0x21]
        struct.pack_into("<Q", move, 0x20, address)
        self.out += move

    def _tensor(self, slot):
        var_id, displacement = struct.unpack_from("<II", slot, 0x10)
        opcode = 0xAB if slot[0] == TENSOR_STORE else 0xAA
        self.out += bytes((opcode,)) + slot[1:0x10]
        self.out += struct.pack("<Q", self.bases[var_id] + displacement) + slot[0x18:]

    def _direct_2d(self, index, slot):
        patched = bytearray(slot)
        patched[0] = DGE_OPCODES[slot[0x0F]]
        for offset in (0x10, 0x28):
            displacement, reference = struct.unpack_from("<II", slot, offset)
            self.result.dge_operands.append(DgeOperand(
                index, len(self.out) // SLOT, offset, slot[offset + 7] & MARKER_MASK,
                reference & 0xFFFFFF, displacement, slot[offset:offset + 8]))
            patched[offset:offset + 8] = resolve(slot, offset, self.bases)
        self.out += patched

    def _branch(self, index, slot):
        mode = slot[0x0E]
        if mode in (MODE_LABEL, MODE_RELATIVE):
            target = struct.unpack_from("<i", slot, 0x30)[0]
            self.branches.append((len(self.out), index, mode, target))
        self.out += slot

    def _fix_branches(self):
        for at, index, mode, target in self.branches:
            if mode == MODE_LABEL:
                place = self.labels[target]
            else:
                place = self.place[index + target // SLOT]
            self.out[at + 3] |= BRANCH_HINT
            self.out[at + 0x0E] = MODE_RELATIVE
            struct.pack_into("<Q", self.out, at + 0x30, (place - at) & 0xFFFFFFFF)


def image_slots(stream, num_queues_of):
    """Slots of the whole image, before any address is known."""
    count = len(stream) // SLOT
    total = 3 + count
    for index, opcode in enumerate(stream[::SLOT][:count]):
        if opcode == LABEL:
            total -= 1
        elif opcode in (TRIGGER, REARM):
            total += 2 * num_queues_of[queue_name(stream[index * SLOT:(index + 1) * SLOT])] - 1
    return total


def dge_summary(streams):
    """Operations, elements and source bytes of all D4 records (spec 08 s4.2)."""
    operations = elements = total = 0
    for stream in streams.values():
        for index, opcode in enumerate(stream[::SLOT]):
            if opcode != DIRECT_2D:
                continue
            first, second, run = struct.unpack_from("<HHH", stream, index * SLOT + 0x20)
            operations += 1
            elements += first * second
            total += first * second * (run or 65536)
    return {"operations": operations, "elements": elements, "bytes": total}


def ip_map(emitted):
    """Patch rows (offset, count, type) of one section; `emitted` = slots per source slot (A8)."""
    rows, position = [], 0
    for count in emitted:
        if count > 1:
            rows.append((position, count - 1, "INSERT"))
        elif count == 0:
            rows.append((position, 1, "DELETE"))
        position += count * SLOT
    return rows


def neff_ip(rows, ip):
    """Walk of spec 05 A8 over the rows of one section; `ip` relative to its first slot."""
    number, at = 1, 0
    for site, count, kind in rows:
        if site > ip or (site == ip and kind != "DELETE"):
            break
        number += (site - at) // SLOT
        at = site
        if kind == "INSERT":
            at += SLOT * count
            if at >= ip:
                return number
        elif kind == "DELETE":
            number += count
        else:
            number += 1
            at += SLOT
    return number + (ip - at) // SLOT
