# SPDX-License-Identifier: MIT
"""How a stream divides into MAIN and functions, and where each source slot goes (spec 05 A6, A8)."""

from bisect import bisect_left
from dataclasses import dataclass, field

from container import Refused
from opcodes import FUNCTION_BEGIN, FUNCTION_CALL
from records import SLOT, text_field

CALLEE_BYTES = 32
NAME_BYTES = 36


@dataclass
class Section:
    """Source slots [first, last) of MAIN (name "") or of one function, without its D1 record."""

    name: str
    first: int
    last: int
    registers: tuple = (0, 0)
    begin: int = None        # slot of the D1 record
    sites: list = field(default_factory=list)    # source slots that do not emit one slot
    deltas: list = field(default_factory=list)   # slots inserted up to and with that site
    start: int = 0           # byte offset in the image

    @property
    def is_function(self):
        return self.begin is not None

    def add(self, slot, emitted):
        if emitted != 1:
            self.sites.append(slot)
            self.deltas.append((self.deltas[-1] if self.deltas else 0) + emitted - 1)

    def slots(self):
        return self.last - self.first + (self.deltas[-1] if self.deltas else 0)

    def offset(self, slot):
        """Image byte offset of what source slot `slot` becomes."""
        site = bisect_left(self.sites, slot)
        moved = self.deltas[site - 1] if site else 0
        return self.start + (slot - self.first + moved) * SLOT

    def rows(self):
        """IP map rows (offset in the section, slots, type) of spec 05 A8."""
        rows, before = [], 0
        begin = [] if self.begin is None else [(0, 1, "DELETE")]
        for site, delta in zip(self.sites, self.deltas):
            count = delta - before
            rows.append((self.offset(site) - self.start, abs(count),
                         "INSERT" if count > 0 else "DELETE"))
            before = delta
        return begin + rows


def slots_with(opcodes, *wanted):
    """Ascending slot numbers whose opcode is one of `wanted`."""
    found = []
    for opcode in wanted:
        at = opcodes.find(opcode)
        while at >= 0:
            found.append(at)
            at = opcodes.find(opcode, at + 1)
    return sorted(found)


def split(stream, opcodes, engine):
    """[MAIN, function, ...] in stream order."""
    begins = slots_with(opcodes, FUNCTION_BEGIN)
    ends = begins + [len(opcodes)]
    sections = [Section("", 0, ends[0])]
    for number, begin in enumerate(begins):
        slot = stream[begin * SLOT:(begin + 1) * SLOT]
        name = text_field(slot, 0x0C, NAME_BYTES)[:CALLEE_BYTES]
        if not name or name in [section.name for section in sections]:
            raise Refused(f"function name {name!r} is empty or taken", engine, begin)
        sections.append(Section(name, begin + 1, ends[number + 1], (slot[0x31], slot[0x32]),
                                begin))
    return sections


def call_sites(stream, opcodes):
    """{function name: number of D3 records that name it}."""
    counts = {}
    for number in slots_with(opcodes, FUNCTION_CALL):
        name = text_field(stream[number * SLOT:(number + 1) * SLOT], 0x0C, NAME_BYTES)
        counts[name[:CALLEE_BYTES]] = counts.get(name[:CALLEE_BYTES], 0) + 1
    return counts
