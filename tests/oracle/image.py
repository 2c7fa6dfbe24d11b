# SPDX-License-Identifier: MIT
"""Reader of the device image: an ELF64 core file, one PT_LOAD per allocation."""

import mmap
import os
import struct
from dataclasses import dataclass

PT_LOAD, PT_NOTE, ET_CORE, PN_XNUM = 1, 4, 4, 0xFFFF


class ImageError(Exception):
    """The file is not a device image."""


@dataclass
class Segment:
    kind: int
    offset: int
    paddr: int
    vaddr: int
    filesz: int
    memsz: int


class DeviceImage:
    def __init__(self, path):
        self.file = open(path, "rb")
        self.data = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:6] != b"\x7fELF\x02\x01" or len(self.data) < 64:
            raise ImageError(f"{path} is not a little-endian ELF64 file")
        if struct.unpack_from("<H", self.data, 16)[0] != ET_CORE:
            raise ImageError(f"{path} is not an ELF core file")
        self.segments = self._segments()
        for segment in self.segments:
            if segment.offset + segment.filesz > len(self.data):
                raise ImageError(f"segment at {segment.paddr:#x} ends behind the file")
        self.loads = [segment for segment in self.segments if segment.kind == PT_LOAD]

    def _segments(self):
        phoff, shoff = struct.unpack_from("<QQ", self.data, 32)
        phentsize, count = struct.unpack_from("<HH", self.data, 54)
        if count == PN_XNUM:
            count = struct.unpack_from("<I", self.data, shoff + 44)[0]
        segments = []
        for number in range(count):
            kind, _flags, offset, vaddr, paddr, filesz, memsz = struct.unpack_from(
                "<IIQQQQQ", self.data, phoff + number * phentsize)
            segments.append(Segment(kind, offset, paddr, vaddr, filesz, memsz))
        return segments

    def read(self, load, offset, size):
        """Bytes of one PT_LOAD; short when the range leaves it."""
        start = load.offset + offset
        return self.data[start:min(start + size, load.offset + load.filesz)]

    def data_ranges(self, load, start):
        """[(first, last)] offsets in one PT_LOAD from `start` on that are not holes of the file."""
        at, end = load.offset + start, load.offset + load.filesz
        while at < end:
            try:
                first = os.lseek(self.file.fileno(), at, os.SEEK_DATA)
            except OSError:          # no data behind `at`
                return
            if first >= end:
                return
            at = min(os.lseek(self.file.fileno(), first, os.SEEK_HOLE), end)
            yield first - load.offset, at - load.offset

    def notes(self):
        """[(owner, type, descriptor bytes)] of all PT_NOTE segments."""
        found = []
        for segment in self.segments:
            at, end = segment.offset, segment.offset + segment.filesz
            while segment.kind == PT_NOTE and at + 12 <= end:
                name_size, desc_size, kind = struct.unpack_from("<III", self.data, at)
                name_at, desc_at = at + 12, at + 12 + -(-name_size // 4) * 4
                found.append((self.data[name_at:name_at + name_size].rstrip(b"\0").decode(), kind,
                              self.data[desc_at:desc_at + desc_size]))
                at = desc_at + -(-desc_size // 4) * 4
        return found
