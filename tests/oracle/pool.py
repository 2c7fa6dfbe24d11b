# SPDX-License-Identifier: MIT
"""The driver's device-memory pools on a fresh device (spec 03 s10, 06 s5, 11 B.1)."""

import bisect

from container import Refused

PAGE = 4096
SMALL_POOL_BYTES = 1 << 30
SMALL_LIMIT = 512 * 1024
CARVE_OUT_BYTES = 16 << 20
MAX_ALIGN = (1 << 31) - 1
CONTIGUOUS_SCRATCHPAD = 19


class PoolError(Refused):
    """An allocation the driver would refuse."""


def round_page(size):
    return -(-size // PAGE) * PAGE


class FirstFit:
    """Page-granular, address-ordered first fit over [base, end)."""

    def __init__(self, base, end):
        self.base, self.end = base, end
        self.starts, self.ends = [], []  # taken runs, ascending and disjoint

    def take(self, address, size):
        index = bisect.bisect_left(self.starts, address)
        self.starts.insert(index, address)
        self.ends.insert(index, address + size)

    def free_at(self, address, size):
        index = bisect.bisect_right(self.starts, address)
        clear_before = index == 0 or self.ends[index - 1] <= address
        clear_after = index == len(self.starts) or self.starts[index] >= address + size
        return clear_before and clear_after and address + size <= self.end

    def find(self, size, align):
        """Lowest fitting address or None; the page mask is the driver's (spec 11 B.1)."""
        mask = -(-align // PAGE) - 1 if align > PAGE else 0
        candidates = [self.base] + self.ends
        for run, start in enumerate(candidates):
            page = start // PAGE
            address = ((page + mask) & ~mask) * PAGE
            limit = self.starts[run] if run < len(self.starts) else self.end
            if address + size <= limit:
                return address
        return None


class Hbm:
    def __init__(self, base, size):
        split = base + size - SMALL_POOL_BYTES
        self.main = FirstFit(base, split)
        self.small = FirstFit(split, base + size)
        self.contiguous = 0
        self.main.take(base, CARVE_OUT_BYTES)

    def allocate(self, size, align=0, category=0):
        """Returns (address, rounded size)."""
        rounded = round_page(size)
        if rounded == 0:
            raise PoolError("allocation of 0 bytes")
        if category == CONTIGUOUS_SCRATCHPAD:
            return self._allocate_contiguous(rounded)
        if align > MAX_ALIGN:
            raise PoolError(f"alignment {align:#x} is over {MAX_ALIGN:#x}")
        pools = (self.small, self.main) if rounded <= SMALL_LIMIT else (self.main, self.small)
        for pool in pools:
            address = pool.find(rounded, align)
            if address is None:
                continue
            if align > PAGE and address & (align - 1):
                break
            pool.take(address, rounded)
            return address, rounded
        raise PoolError(f"no room for {size} bytes aligned to {align:#x}")

    def _allocate_contiguous(self, size):
        address = self.main.end - self.contiguous - size
        if address < self.main.base or not self.main.free_at(address, size):
            raise PoolError(f"contiguous scratchpad of {size} bytes does not fit")
        self.main.take(address, size)
        self.contiguous += size
        return address, size
