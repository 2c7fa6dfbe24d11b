# SPDX-License-Identifier: MIT
"""Instruction images: preamble, MAIN, postamble, functions (spec 05 A6, A7, U, decisions 6, 30)."""

import struct
from dataclasses import dataclass, field

import opcodes as op
from arch import RX_SW_CONTROL, TAIL_INCREMENT, TX_SW_CONTROL
from operands import D4_SIDES, dge_operand, resolve_dge
from records import (BRANCH_HINT, COMPARE_BRANCH, DRAIN, FUNCTION_HINT, MODE_LABEL, MODE_RELATIVE,
                     PREFETCH_HINT, SLOT, branch_record, move_record, postamble, preamble, record,
                     return_record, split_events, text_field, write_record)
from sections import NAME_BYTES, CALLEE_BYTES, slots_with

QUEUE_RESET = 0x100
DGE_OPCODES = {0: 0xB8, 1: 0xBB, 2: 0xBD, 3: 0xF1}
EXIT_EXECUTION = 1
SPECIAL = tuple(sorted(op.LOWERED | {COMPARE_BRANCH}))


def queue_name(slot):
    return text_field(slot, 0x0C, 32)


@dataclass
class Image:
    data: bytearray
    slots_in: int
    dge_operands: list = field(default_factory=list)
    main_end: int = 0        # byte offset of the postamble


class Translator:
    """One engine's stream; `streams` comes from scan.py and knows every section and size."""

    def __init__(self, arch, core, stream, variables, counts):
        self.arch, self.core, self.stream = arch, core, stream
        self.variables, self.counts = variables, counts

    def image(self, base):
        """The image as it must be at device address `base`."""
        stream = self.stream
        self.base, self.out = base, bytearray(preamble(stream.engine))
        self.result = Image(self.out, stream.slots)
        main, functions = stream.sections[0], stream.sections[1:]
        self._section(main)
        self.result.main_end = len(self.out)
        self.out += postamble(len(self.out))
        for function in functions:
            self._section(function)
            self._mark(function, len(self.out))
        return self.result

    def _section(self, section):
        assert len(self.out) == section.start
        self.section, done = section, section.first
        data = self.stream.data
        for slot in self.stream.special(section):
            self.out += data[done * SLOT:slot * SLOT]
            self._special(slot, data[slot * SLOT:(slot + 1) * SLOT])
            done = slot + 1
        self.out += data[done * SLOT:section.last * SLOT]

    def _mark(self, function, end):
        """Bit 0 of the debug hint marks every slot of a function body (05 A6 step 6)."""
        hints = self.out[function.start + 3:end:SLOT]
        self.out[function.start + 3:end:SLOT] = bytes(hint | FUNCTION_HINT for hint in hints)

    def _special(self, number, slot):
        opcode = slot[0]
        if opcode == op.TRIGGER:
            queue_set = self.stream.queue_set(slot)
            self._registers(slot, queue_set, TAIL_INCREMENT, TAIL_INCREMENT, self._count(slot))
        elif opcode == op.REARM:
            queue_set = self.stream.queue_set(slot)
            self._registers(slot, queue_set, RX_SW_CONTROL, TX_SW_CONTROL,
                            [QUEUE_RESET] * queue_set.num_queues)
        elif opcode in (op.BARRIER, op.SYNC_BARRIER, op.CORE_BARRIER):
            self.out += record(DRAIN, slot[4:12])
        elif opcode == op.READ_VAR_ADDR:
            address = self.variables.address(*struct.unpack_from("<II", slot, 0x10))
            self.out += move_record(slot[0x20], slot[0x21], address, slot[4:12])
        elif opcode in (op.COLLECTIVE, op.SEND_RECV):
            self.out += write_record(self.arch.collective_trigger,
                                     self.stream.collective_index(number), slot[4:12])
        elif opcode in (op.TENSOR_STORE, op.TENSOR_LOAD):
            self._tensor(slot)
        elif opcode == op.FUNCTION_RETURN:
            events = split_events(slot, 2)
            self.out += record(DRAIN, events[0])
            self.out += return_record(*self.section.registers, events[1])
        elif opcode == op.FUNCTION_CALL:
            self._call(slot)
        elif opcode == op.DIRECT_2D:
            self._direct_2d(number, slot)
        elif opcode == op.INST:
            self.out += branch_record(self.stream.main_end - len(self.out), slot[4:12], slot[3])
        elif opcode in (COMPARE_BRANCH, op.BRANCH_HINT):
            self._branch(number, slot)

    def _count(self, slot):
        raw, value = struct.unpack_from("<II", slot, 0x2C)
        if raw:
            return [value] * self.stream.queue_set(slot).num_queues
        return next(self.counts[queue_name(slot)])

    def _registers(self, slot, queue_set, receive_register, transmit_register, values):
        events = split_events(slot, 2 * queue_set.num_queues)
        for k, value in enumerate(values):
            for number, (receive, register) in enumerate(((True, receive_register),
                                                          (False, transmit_register))):
                address = self.arch.queue_register(self.core, k, queue_set.queue_id, receive,
                                                   register)
                self.out += write_record(address, value, events[2 * k + number])

    def _tensor(self, slot):
        address = self.variables.address(*struct.unpack_from("<II", slot, 0x10))
        opcode = 0xAB if slot[0] == op.TENSOR_STORE else 0xAA
        self.out += bytes((opcode,)) + slot[1:0x10] + struct.pack("<Q", address) + slot[0x18:]

    def _call(self, slot):
        callee = self.stream.function(text_field(slot, 0x0C, NAME_BYTES)[:CALLEE_BYTES])
        events = split_events(slot, 2)
        at = len(self.out) + SLOT
        self.out += move_record(*callee.registers, self.base + at + SLOT, events[0])
        self.out += branch_record(callee.start - at, events[1])

    def _direct_2d(self, number, slot):
        patched = bytearray(slot)
        patched[0] = DGE_OPCODES[slot[0x0F]]
        for side in D4_SIDES:
            self.result.dge_operands.append(dge_operand(slot, side, number,
                                                        len(self.out) // SLOT))
            patched[side[0]:side[0] + 8] = resolve_dge(slot, side, self.variables)
        self.out += patched

    def _branch(self, number, slot):
        patched = bytearray(slot)
        if slot[0] == op.BRANCH_HINT:
            patched[0] = PREFETCH_HINT
        if slot[0x0E] in (MODE_LABEL, MODE_RELATIVE):
            target = self.stream.branch_target(self.section, number, slot)
            patched[3] |= BRANCH_HINT
            patched[0x0E] = MODE_RELATIVE
            distance = self.section.offset(target) - len(self.out)
            struct.pack_into("<Q", patched, 0x30, distance & 0xFFFFFFFF)
        self.out += patched


def dge_summary(streams):
    """Operations, elements and source bytes of all D4 records (spec 08 s4.2)."""
    operations = elements = total = 0
    for stream in streams.values():
        for number in slots_with(stream[::SLOT], op.DIRECT_2D):
            first, second, run = struct.unpack_from("<HHH", stream, number * SLOT + 0x20)
            operations += 1
            elements += first * second
            total += first * second * (run or 65536)
    return {"operations": operations, "elements": elements, "bytes": total}
