# SPDX-License-Identifier: MIT
"""Operands that name variables: legality and resolution (spec 05 A3, A4, 03 s3.4)."""

import struct
from dataclasses import dataclass

from container import Refused

MARKER_VARIABLE, MARKER_TABLE, MARKER_MASK = 0x10, 0x20, 0xFC
MARKER_TABLE_BIT = 0x20
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

    def address(self, var_id, displacement, size):
        """Address of `size` bytes at `displacement`; Refused texts carry no slot."""
        self._check(self._find(var_id), displacement, size)
        if self.places is None:      # only checking
            return 0
        address = self.places[var_id] + displacement
        if address >> 56:
            raise Refused(f"address {address:#x} has more than 56 bits")
        return address

    def operand(self, var_id, displacement, size):
        """The same for a PSEUDO_ADDR8: var_id 0 may mean the state buffer (spec 05 A3)."""
        variable = self._find(var_id)
        if var_id == 0 and variable.kind != "state-buffer":
            if len(self.state_buffers) != 1:
                raise Refused("var_id 0 and no single state buffer")
            var_id = self.state_buffers[0]
        elif variable.kind in NOT_IN_OPERANDS:
            raise Refused(f"the operand names the {variable.kind} {variable.name}")
        return self.address(var_id, displacement, size)

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


def dge_extent(slot, side):
    """(low, high) bytes one side of a D4 touches, relative to its operand."""
    _, steps, counts, run = side
    step = struct.unpack_from("<2i", slot, steps)
    count = struct.unpack_from("<2H", slot, counts)
    length = struct.unpack_from("<H", slot, run)[0] or 65536
    reach = [(n - 1) * s for n, s in zip(count, step)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + length


def resolve_dge(slot, side, variables, table_entries):
    """The 8 operand bytes of one side of a D4 after relocation."""
    at = side[0]
    marker = slot[at + 7] & MARKER_MASK
    displacement, reference = struct.unpack_from("<II", slot, at)
    if marker & MARKER_TABLE_BIT:
        if table_entries is not None and reference & 0xFFFF >= table_entries:
            raise Refused(f"table index {reference & 0xFFFF} of {table_entries}")
        return bytes(slot[at:at + 8])
    if marker != MARKER_VARIABLE:
        raise Refused(f"operand marker {slot[at + 7]:#x} has no rule")
    low, high = dge_extent(slot, side)
    if displacement + low < 0:
        raise Refused(f"the operand starts {-low} bytes before its offset {displacement}")
    return struct.pack("<Q", variables.operand(reference & 0xFFFFFF, displacement, high))


def dge_operand(slot, side, slot_in, slot_out):
    at = side[0]
    displacement, reference = struct.unpack_from("<II", slot, at)
    return DgeOperand(slot_in, slot_out, at, slot[at + 7] & MARKER_MASK, reference & 0xFFFFFF,
                      displacement, bytes(slot[at:at + 8]))
