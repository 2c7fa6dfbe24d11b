# SPDX-License-Identifier: MIT
"""What a stream says before any address is known: sections, sizes, triggers, and every reason to
refuse one of its records (spec 05 A6, U, decisions 36, 38, 39)."""

import struct

import opcodes as op
import windows
from container import Refused
from operands import D4_SIDES, Variables, check_dge
from queue_rules import RESERVED_SEMAPHORES, extent
from records import (COMPARE_BRANCH, EVENT_SEMAPHORE, MODE_LABEL, MODE_RELATIVE, SLOT, WORD_LENGTH,
                     text_field)
from sections import CALLEE_BYTES, NAME_BYTES, call_sites, slots_with, split
from translate import EXIT_EXECUTION, SPECIAL, queue_name

PREAMBLE_SLOTS, POSTAMBLE_SLOTS = 1, 2
NO_ARGUMENTS = (0, 0xFFFFFFFF)
SEMAPHORE_WAITS = set(range(1, 6))
SEMAPHORE_UPDATES = {*range(3, 11), *range(19, 27)}
DTYPE_U64 = 1
MAX_TENSOR_ELEMENTS = 32


class Stream:
    """One engine's source stream, scanned and checked."""

    def __init__(self, engine, data, subgraph, arch):
        self.engine, self.subgraph, self.arch = engine, subgraph, arch
        self.slots = len(data) // SLOT
        self.data = bytes(data[:self.slots * SLOT])
        self.opcodes = self.data[::SLOT]
        self.owners = {instance.name: (queue_set, instance)
                       for queue_set in subgraph.queue_sets for instance in queue_set.instances}
        self.collectives = {}    # slot -> 1-based index in the model's list
        self._check_headers()
        self.sections = split(self.data, self.opcodes, engine)
        self._specials = slots_with(self.opcodes, *SPECIAL)
        self.calls = call_sites(self.data, self.opcodes)
        self._steps = {}         # by section: triggers, and names of functions called
        for section in self.sections:
            self._scan(section)
        self.triggers = list(self._executed("", set()))  # (instance, function, block id), ring order
        self._place()
        for section in self.sections:
            self._check_branches(section)

    # -- questions the translator asks

    def special(self, section):
        return [slot for slot in self._specials if section.first <= slot < section.last]

    def queue_set(self, slot):
        return self.owners[queue_name(slot)][0]

    def function(self, name):
        return next(section for section in self.sections[1:] if section.name == name)

    def collective_index(self, slot):
        return self.collectives[slot]

    @property
    def collective_slots(self):
        return slots_with(self.opcodes, op.COLLECTIVE, op.SEND_RECV)

    @property
    def main_end(self):
        return self.sections[0].start + self.sections[0].slots() * SLOT

    # -- the scan

    def fail(self, slot, text):
        raise Refused(text, self.engine, slot)

    def _record(self, slot):
        return self.data[slot * SLOT:(slot + 1) * SLOT]

    def _check_headers(self):
        op.check_opcodes(self.opcodes, self.arch, self.engine)
        lengths = self.data[1::SLOT]
        if lengths.count(WORD_LENGTH) != len(lengths):
            slot = next(i for i, length in enumerate(lengths) if length != WORD_LENGTH)
            self.fail(slot, f"inst_word_len is {lengths[slot]:#x}, not {WORD_LENGTH:#x}")
        self._check_semaphores(4, range(self.slots), SLOT)
        for slot in slots_with(self.opcodes, EVENT_SEMAPHORE):
            events = self._record(slot)[0x20:0x24]
            self._check_events(slot, *events)
        windows.check_real(self.data, self.opcodes, self.engine)

    def _check_semaphores(self, at, slots, stride):
        columns = [self.data[at + i::stride] for i in range(4)]
        for events in set(zip(*columns)):
            try:
                self._check_events(None, *events)
            except Refused:
                slot = next(i for i, found in zip(slots, zip(*columns)) if found == events)
                self._check_events(slot, *events)

    def _check_events(self, slot, wait_mode, wait, update_mode, update):
        if wait_mode in SEMAPHORE_WAITS and wait in RESERVED_SEMAPHORES:
            self.fail(slot, f"waits for the reserved semaphore {wait} (decision 39)")
        if update_mode in SEMAPHORE_UPDATES and update in RESERVED_SEMAPHORES:
            self.fail(slot, f"updates the reserved semaphore {update} (decision 39)")

    def _scan(self, section):
        self.labels = {}
        section.labels = self.labels
        self._now = self._steps.setdefault(section.name, [])
        previous = None
        for slot in self.special(section):
            data = self._record(slot)
            try:
                section.add(slot, self._emitted(section, slot, data, previous))
            except Refused as problem:
                if problem.slot is None:
                    self.fail(slot, str(problem))
                raise
            previous = slot

    def _emitted(self, section, slot, data, previous):
        """Slots the record becomes; raises for what has no rule."""
        opcode = data[0]
        if opcode in (op.TRIGGER, op.REARM):
            return self._queue_record(section, slot, data)
        if opcode == op.LABEL:
            self.labels.setdefault(struct.unpack_from("<I", data, 0x0C)[0], slot)
            return 0
        if opcode == op.EXTENSION:
            if previous != slot - 1 or self.opcodes[slot - 1] != op.DIRECT_2D:
                self.fail(slot, "EXTENSION does not follow a DMA_DIRECT2D record")
            if any(data[2:]):
                self.fail(slot, "EXTENSION with bounds: no rule says how they are merged")
            return 0
        if opcode == op.FUNCTION_RETURN:
            if not section.is_function:
                self.fail(slot, "FUNCTION_RETURN outside a function")
            return 2
        if opcode == op.FUNCTION_CALL:
            return self._call(slot, data)
        self._check_one(section, slot, data)
        return 1

    def _check_one(self, section, slot, data):
        opcode, places = data[0], Variables(self.subgraph, None)
        if opcode == op.DIRECT_2D:
            self._dge(section, slot, data, places)
        elif opcode == op.READ_VAR_ADDR:
            places.address(*struct.unpack_from("<II", data, 0x10))
        elif opcode in (op.TENSOR_LOAD, op.TENSOR_STORE):
            self._tensor(slot, data, places)
        elif opcode == op.INST and data[0x0C] != EXIT_EXECUTION:
            self.fail(slot, f"INST sub-opcode {data[0x0C]} has no rule")

    def _tensor(self, slot, data, places):
        """MEM_2D: steps count elements; the span must be inside the variable (05 A3, A5)."""
        dtype, counts = data[0x0C], (data[0x0E], data[0x0F])
        if dtype == DTYPE_U64 or counts[0] * counts[1] > MAX_TENSOR_ELEMENTS:
            self.fail(slot, f"dtype {dtype} or {counts[0] * counts[1]} elements")
        var_id, displacement = struct.unpack_from("<II", data, 0x10)
        low, high = extent(displacement, *windows.pattern(data))
        if low < 0:
            self.fail(slot, f"starts {-low} bytes before the variable")
        places.address(var_id, displacement, high - displacement)

    def _queue_record(self, section, slot, data):
        name = queue_name(data)
        if name not in self.owners:
            self.fail(slot, f"unknown queue {name!r}")
        queue_set, instance = self.owners[name]
        if queue_set.dynamic or queue_set.owner != self.engine:
            self.fail(slot, f"queue {name} is dynamic or owned by {queue_set.owner}")
        if data[0] == op.TRIGGER:
            self._trigger(section, slot, data, instance)
        return 2 * queue_set.num_queues

    def _trigger(self, section, slot, data, instance):
        raw, block_id = struct.unpack_from("<II", data, 0x2C)
        self._once(section, slot, "DMA_TRIGGER")
        if raw:
            return
        key = (section.name, block_id)
        if key not in instance.blocks:
            self.fail(slot, f"queue {instance.name} has no block {block_id}"
                      + (f" of function {section.name}" if section.name else ""))
        self._now.append((instance.name, *key))

    def _once(self, section, slot, what):
        """C1 and D4 run as often as they are laid down (decision 36)."""
        if section.is_function and self.calls.get(section.name, 0) != 1:
            self.fail(slot, f"{what} in function {section.name}, which is called "
                      f"{self.calls.get(section.name, 0)} times (decision 36)")

    def _call(self, slot, data):
        name = text_field(data, 0x0C, NAME_BYTES)[:CALLEE_BYTES]
        if name not in [section.name for section in self.sections[1:]]:
            self.fail(slot, f"unknown function {name!r}")
        arguments = struct.unpack_from("<I", data, 0x30)[0]
        if arguments not in NO_ARGUMENTS:
            self.fail(slot, f"args_table_var_id {arguments} (05 U)")
        self._now.append(name)
        return 2

    def _executed(self, name, done):
        """Triggers in the order one execution meets them. 05 U lays MAIN's blocks before those of
        functions; tail increments consume a ring linearly, so with a call between two triggers of
        one queue that would start the wrong blocks."""
        done.add(name)
        for step in self._steps.get(name, ()):
            if not isinstance(step, str):
                yield step
            elif step not in done:
                yield from self._executed(step, done)

    def _dge(self, section, slot, data, places):
        self._once(section, slot, "DMA_DIRECT2D")
        if data[0x0F] != 0:
            self.fail(slot, f"dge_op {data[0x0F]} is no copy (decision 36)")
        sets = [s for s in self.subgraph.queue_sets if s.dynamic and s.owner == self.engine]
        if not sets:
            self.fail(slot, "the engine owns no dynamic queue set")
        if not any(data[0x0D] in queue_set.semaphores for queue_set in sets):
            self.fail(slot, f"semaphore {data[0x0D]} is in no dynamic set (decision 38)")
        members = [member for variable in self.subgraph.variables
                   if variable.kind == "dge-table" for member in variable.members]
        limit = self.arch.partition_bytes(bool(self.subgraph.carve_outs))
        for side in D4_SIDES:
            check_dge(data, side, places, members, limit)

    def _place(self):
        """Start offsets of the sections: preamble, MAIN, postamble, functions (05 A7)."""
        at = PREAMBLE_SLOTS
        for section in self.sections:
            section.start = at * SLOT
            at += section.slots() + (0 if section.is_function else POSTAMBLE_SLOTS)
        self.image_slots = at

    # -- branches

    def branch_target(self, section, slot, data):
        """Source slot a label or relative branch goes to."""
        value = struct.unpack_from("<i", data, 0x30)[0]
        if data[0x0E] == MODE_LABEL:
            if value & 0xFFFFFFFF not in section.labels:
                self.fail(slot, f"unknown label {value & 0xFFFFFFFF}")
            return section.labels[value & 0xFFFFFFFF]
        if value % SLOT:
            self.fail(slot, f"branch of {value} bytes")
        target = slot + value // SLOT
        if not section.first <= target < section.last:
            self.fail(slot, f"branch to slot {target} leaves {section.name or 'MAIN'}")
        return target

    def _check_branches(self, section):
        for slot in self.special(section):
            data = self._record(slot)
            if data[0] not in (COMPARE_BRANCH, op.BRANCH_HINT) or \
                    data[0x0E] not in (MODE_LABEL, MODE_RELATIVE):
                continue
            target = self.branch_target(section, slot, data)
            if data[0] == COMPARE_BRANCH and target <= slot:
                self._check_loop(target, slot)

    def _check_loop(self, first, last):
        for slot in range(first, last + 1):
            if self.opcodes[slot] in (op.TRIGGER, op.DIRECT_2D):
                self.fail(slot, f"runs again through the backward branch of slot {last} "
                          "(decision 36)")
