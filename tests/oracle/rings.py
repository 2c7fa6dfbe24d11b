# SPDX-License-Identifier: MIT
"""DMA rings: which descriptor goes where and its 16 bytes (spec 05 B, decisions 4..10, 31, 32)."""

from array import array
from dataclasses import dataclass
from itertools import product

from container import Refused

MAX_RUN = 65536
RING_ID = 1 << 24
FIRST, LAST, CONCAT = 1 << 26, 1 << 27, 1 << 31
FIRST_LAST = FIRST | LAST
PACKET_DESCRIPTORS = 64
DMB = 1 << 30
STRONG_ORDER = 1 << 29
META = 0x01080003
TEMPLATE = 1 << 61

DTYPE_CODES = {"uint64": 1, "int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "bfloat16": 6,
               "float16": 7, "int32": 8, "uint32": 9, "float32": 10, "float32r": 11, "int64": 12,
               "float8e3": 13, "float8e4": 14, "float8e5": 15, "float8_e4m3fn": 14,
               "float8_e4m3fn_x4": 9, "float8_e5m2_x4": 9, "float4_e2m1fn_x4": 5}
DTYPE_BYTES = (0, 8, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 1, 1, 1)


def template_pointer(var_id, offset=0):
    """Pointer of a descriptor side that names an input or output (spec 05 B3)."""
    return TEMPLATE | var_id << 36 | offset


def tx_word(length, barrier=False, meta=META):
    """First 8 bytes of a TX descriptor as u64: len_ctrl, meta_ctrl."""
    control = (length & 0xFFFF) | RING_ID | FIRST_LAST | (DMB if barrier else 0)
    return meta << 32 | control


def rx_word(length, strong_order=False):
    """First 8 bytes of an RX descriptor as u64: len_ctrl, zero."""
    return (length & 0xFFFF) | RING_ID | (STRONG_ORDER if strong_order else 0)


def descriptor_bytes(word, pointer):
    return word.to_bytes(8, "little") + pointer.to_bytes(8, "little")


def cast_meta(from_dtype, to_dtype):
    """meta_ctrl of a cast (decision 9)."""
    return META | 7 << 20 | DTYPE_CODES[from_dtype] << 6 | DTYPE_CODES[to_dtype] << 10


def linear_ring_descriptors(used):
    """Allocated descriptors of a linear ring (spec 04 s6)."""
    return 64 if used <= 31 else -(-(used + 16) // 16) * 16


def offsets(base, sizes, steps):
    """Start offsets of the innermost runs, dimension 1 fastest (decision 32)."""
    if len(sizes) == 1:
        return [base]
    if len(sizes) == 2:
        return [base + i * steps[1] for i in range(sizes[1])]
    inner = offsets(0, sizes[:-1], steps[:-1])
    return [base + i * steps[-1] + low for i in range(sizes[-1]) for low in inner]


def transpose_offsets(desc):
    """Byte offsets of all elements on both sides (decision 8, spec 08 s3.4)."""
    size = desc.element_size
    columns, rows = desc.from_sizes[0] // size, desc.from_sizes[1]
    if desc.to_sizes[0] != rows * size or desc.to_sizes[1] != columns:
        raise Refused(f"transpose {desc.from_sizes} -> {desc.to_sizes} is inconsistent")
    outer = [range(n) for n in reversed(desc.from_sizes[2:])]
    source, target = [], []
    for index in product(*outer):
        place = list(reversed(index))
        low = desc.from_off + sum(i * s for i, s in zip(place, desc.from_steps[2:]))
        high = desc.to_off + sum(i * s for i, s in zip(place, desc.to_steps[2:]))
        for y in range(rows):
            row = low + y * desc.from_steps[1]
            source.extend(range(row, row + columns * size, size))
            first = high + y * size
            target.extend(first + x * desc.to_steps[1] for x in range(columns))
    return source, target


@dataclass
class Runs:
    """The elements of one descriptor: run starts on both sides and the pieces of each run."""

    source: list
    target: list
    pieces: list             # [(from offset, to offset, from bytes, to bytes)] within a run
    meta: int


def copy_pieces(length):
    return [(at, at, min(MAX_RUN, length - at), min(MAX_RUN, length - at))
            for at in range(0, length, MAX_RUN)]


def cast_pieces(desc):
    narrow = DTYPE_BYTES[DTYPE_CODES[desc.from_dtype]]
    wide = DTYPE_BYTES[DTYPE_CODES[desc.to_dtype]]
    count = desc.from_sizes[0] // narrow
    if count * narrow != desc.from_sizes[0] or count * wide != desc.to_sizes[0]:
        raise Refused("cast sides have different element counts")
    step = MAX_RUN // max(narrow, wide)
    return [(at * narrow, at * wide, min(step, count - at) * narrow, min(step, count - at) * wide)
            for at in range(0, count, step)]


def descriptor_pieces(desc):
    """Pieces of one run, without expanding the runs."""
    if desc.op == "transpose":
        return copy_pieces(desc.element_size)
    if desc.op == "cast":
        if desc.from_sizes[1:] != desc.to_sizes[1:]:
            raise Refused("cast sides have different shapes")
        return cast_pieces(desc)
    if desc.from_sizes != desc.to_sizes:
        raise Refused(f"copy sizes differ: {desc.from_sizes} and {desc.to_sizes}")
    return copy_pieces(desc.from_sizes[0])


def element_count(desc):
    count = 1
    for size in desc.from_sizes[1:]:
        count *= size
    if desc.op == "transpose":
        count *= desc.from_sizes[0] // desc.element_size
    return count


def target_bytes(desc):
    total = 1
    for size in desc.to_sizes:
        total *= size
    return total


def expand(desc):
    pieces = descriptor_pieces(desc)
    if desc.op == "transpose":
        source, target = transpose_offsets(desc)
    else:
        source = offsets(desc.from_off, desc.from_sizes, desc.from_steps)
        target = offsets(desc.to_off, desc.to_sizes, desc.to_steps)
    meta = cast_meta(desc.from_dtype, desc.to_dtype) if desc.op == "cast" else META
    return Runs(source, target, pieces, meta)


def poke_count(block):
    return (block.event is not None) + (block.semaphore is not None) + len(block.remote_semaphores)


def block_counts(block, rings):
    """Descriptors of one half that the block puts on each ring."""
    counts = [poke_count(block)] * rings
    element = 0
    for desc in block.descriptors:
        total, pieces = element_count(desc), len(descriptor_pieces(desc))
        for k in range(rings):
            first = (k - element) % rings
            counts[k] += pieces * max(0, -(-(total - first) // rings))
        element += total
    return counts


def pack(half, start, packet_bytes):
    """Puts the TX descriptors from word `start` on into packets (spec 04 s5, s13 rule 4): a packet
    ends before the descriptor that would make it too long or the 65th."""
    packets, filled = [], 0
    for at in range(start, len(half), 2):
        length = half[at] & 0xFFFF or MAX_RUN
        if not packets or filled + length > packet_bytes or len(packets[-1]) == PACKET_DESCRIPTORS:
            packets.append([])
            filled = 0
        packets[-1].append(at)
        filled += length
    for packet in packets:
        for at in packet:
            half[at] &= ~(FIRST_LAST | CONCAT)
            half[at] |= (FIRST if at == packet[0] else 0) | (LAST if at == packet[-1] else CONCAT)


class RingSet:
    """Both halves of the n rings of one queue set, filled in trigger order."""

    def __init__(self, rings, arch, core, signal_source, packet_bytes=0):
        self.rings, self.arch, self.core = rings, arch, core
        self.signal_source, self.packet_bytes = signal_source, packet_bytes
        self.tx = [array("Q") for _ in range(rings)]
        self.rx = [array("Q") for _ in range(rings)]

    def append_copy(self, k, source, target, size):
        """One element of a host-built copy: chunked, barrier on the last chunk (decision 31)."""
        self._append_run(k, source, target, copy_pieces(size), META)

    def append_poke(self, k, address):
        self._append_run(k, self.signal_source, address, copy_pieces(4), META)

    def _append_run(self, k, source, target, pieces, meta):
        strong = self.arch.strong_order
        for number, (low, high, from_bytes, to_bytes) in enumerate(pieces):
            barrier = not strong and number == len(pieces) - 1
            self.tx[k].extend((tx_word(from_bytes, barrier, meta), source + low))
            self.rx[k].extend((rx_word(to_bytes, strong), target + high))

    def _append_regular(self, k, source, target, length, meta):
        """All elements of one ring that are a single piece: same first word, many pointers."""
        strong = self.arch.strong_order
        _, _, from_bytes, to_bytes = length
        for ring, word, pointers in ((self.tx[k], tx_word(from_bytes, not strong, meta), source),
                                     (self.rx[k], rx_word(to_bytes, strong), target)):
            part = array("Q", (word,)) * (2 * len(pointers))
            part[1::2] = array("Q", pointers)
            ring.extend(part)

    def append_block(self, block, bases):
        """Elements of the block, then its pokes on every ring (decision 4)."""
        element, starts = 0, [len(half) for half in self.tx]
        for desc in block.descriptors:
            runs = expand(desc)
            low, high = bases[desc.source], bases[desc.target]
            source = [low + offset for offset in runs.source]
            target = [high + offset for offset in runs.target]
            for k in range(min(self.rings, len(source))):
                ring = (element + k) % self.rings
                self._append_elements(ring, source[k::self.rings], target[k::self.rings], runs)
            element += len(source)
        for half, start in zip(self.tx, starts) if self.packet_bytes else ():
            pack(half, start, self.packet_bytes)
        for k in range(self.rings):
            self._append_signals(k, block)

    def _append_elements(self, ring, source, target, runs):
        if len(runs.pieces) == 1:
            self._append_regular(ring, source, target, runs.pieces[0], runs.meta)
            return
        for low, high in zip(source, target):
            self._append_run(ring, low, high, runs.pieces, runs.meta)

    def _append_signals(self, k, block):
        if block.event is not None:
            self.append_poke(k, self.arch.event(self.core, block.event))
        if block.semaphore is not None:
            self.append_poke(k, self.arch.semaphore(self.core, block.semaphore))
        for number in block.remote_semaphores:  # decision 37
            self.append_poke(k, self.arch.semaphore(self.core ^ 1, number))

    def half(self, k, side):
        """The used descriptors of one half, as bytes."""
        return (self.tx if side == "tx" else self.rx)[k].tobytes()
