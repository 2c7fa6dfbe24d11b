# SPDX-License-Identifier: MIT
"""Operands that name variables: legality and resolution (spec 05 A3, A4, 03 s3.4)."""

import struct
from dataclasses import dataclass

from container import Refused
from queue_rules import check_partitions, extent

MARKER_VARIABLE, MARKER_TABLE, MARKER_MASK = 0x10, 0x20, 0xFC
MARKER_TABLE_BIT, OFFSET_IN_REGISTER = 0x20, 0x0C
UNPLACED = ("input", "output", "list")
NOT_IN_OPERANDS = ("list", "dge-table", "remote")
D4_SIDES = ((0x10, 0x18, 0x20, 0x24), (0x28, 0x30, 0x38, 0x3C))


@dataclass
class DgeOperand:
    slot_in: int
    slot_out: int            # in the whole image
    offset: int              # of the operand inside the slot
    marker: int
    index: int
    displacement: int
    source: bytes            # the 8 bytes before translation


class Variables:
    """The variables of one subgraph with their addresses."""

    def __init__(self, subgraph, places):
        self.variables, self.places = subgraph.variables, places
        self.state_buffers = [v.var_id for v in self.variables if v.kind == "state-buffer"]

    def address(self, var_id, displacement, size=1):
        """Address of `size` bytes of a variable; Refused texts carry no slot."""
        self._check(self._find(var_id), displacement, size)
        if self.places is None:      # only checking
            return 0
        address = self.places[var_id] + displacement
        if address >> 56:
            raise Refused(f"address {address:#x} has more than 56 bits")
        return address

    def named_by(self, var_id):
        """The variable of a PSEUDO_ADDR8: var_id 0 may mean the state buffer (spec 05 A3)."""
        variable = self._find(var_id)
        if var_id == 0 and variable.kind != "state-buffer":
            if len(self.state_buffers) != 1:
                raise Refused("var_id 0 and no single state buffer")
            return self.variables[self.state_buffers[0]]
        if variable.kind in NOT_IN_OPERANDS:
            raise Refused(f"the operand names the {variable.kind} {variable.name}")
        if variable.kind in UNPLACED:
            raise Refused(f"Variable {variable.name} is not staged in HBM")
        return variable

    def _find(self, var_id):
        if var_id >= len(self.variables):
            raise Refused(f"unknown var_id {var_id}")
        return self.variables[var_id]

    @staticmethod
    def _check(variable, displacement, size):
        if variable.kind in UNPLACED:
            raise Refused(f"Variable {variable.name} is not staged in HBM")
        if displacement + size > variable.size:
            raise Refused(f"invalid offset in {variable.name}, {variable.size} < "
                          f"({displacement} + {size})")
        if variable.kind == "pointer" and displacement:
            raise Refused(f"offset {displacement} into the pointer {variable.name}")


def dge_pattern(slot, side):
    """(sizes, steps) in the form of a static descriptor: the run, then the two dimensions."""
    _, steps, counts, run = side
    return ([struct.unpack_from("<H", slot, run)[0] or 65536, *struct.unpack_from("<2H", slot,
                                                                                 counts)],
            [1, *struct.unpack_from("<2i", slot, steps)])


def check_dge(slot, side, variables, members, partition_bytes):
    """One side of a D4: its operand and everything its transfer touches (decision 11)."""
    at = side[0]
    marker = slot[at + 7] & MARKER_MASK
    displacement, reference = struct.unpack_from("<II", slot, at)
    if marker & MARKER_TABLE_BIT:
        index = reference & 0xFFFF
        if index >= len(members):
            raise Refused(f"table index {index} of {len(members)}")
        variable = variables.variables[members[index]]
        if marker & OFFSET_IN_REGISTER:
            return
    elif marker == MARKER_VARIABLE:
        variable = variables.named_by(reference & 0xFFFFFF)
    else:
        raise Refused(f"operand marker {slot[at + 7]:#x} has no rule")
    sizes, steps = dge_pattern(slot, side)
    if 0 in sizes:
        raise Refused(f"operand {at:#x}: a count is 0")
    if variable.kind == "state-buffer":
        check_partitions(displacement, sizes, steps, partition_bytes, f"operand {at:#x}")
        return
    low, high = extent(displacement, sizes, steps)
    if low < 0 or high > variable.size:
        raise Refused(f"operand {at:#x} covers {low}..{high} of {variable.name}, which has "
                      f"{variable.size} bytes")
    if variable.kind == "pointer" and displacement:
        raise Refused(f"offset {displacement} into the pointer {variable.name}")


def resolve_dge(slot, side, variables):
    """The 8 operand bytes of one side of a D4 after relocation."""
    at = side[0]
    displacement, reference = struct.unpack_from("<II", slot, at)
    if slot[at + 7] & MARKER_TABLE_BIT:
        return bytes(slot[at:at + 8])
    variable = variables.named_by(reference & 0xFFFFFF)
    return struct.pack("<Q", variables.places[variable.var_id] + displacement)


def dge_operand(slot, side, slot_in, slot_out):
    at = side[0]
    displacement, reference = struct.unpack_from("<II", slot, at)
    return DgeOperand(slot_in, slot_out, at, slot[at + 7] & MARKER_MASK, reference & 0xFFFFFF,
                      displacement, bytes(slot[at:at + 8]))
