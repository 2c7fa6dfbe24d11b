# SPDX-License-Identifier: MIT
"""Every byte of a device image against the expectation: what is not content must be zero.

Nothing of the image but addresses and bytes is used: a PT_LOAD belongs to the allocation that was
planned at its address."""

from groups import compare_bytes

ZERO_CHUNK = 1 << 20
ZEROS = bytes(ZERO_CHUNK)


def compare_segments(groups, allocations, image):
    """{allocation seq: PT_LOAD}; the image must hold exactly the planned allocations."""
    loads, matched = {load.paddr: load for load in image.loads}, {}
    groups.equal("segments", "PT_LOAD count", len(allocations), len(image.loads))
    for entry in allocations:
        what = f"#{entry.seq} core {entry.core} {entry.owner} at {entry.pa:#x}"
        load = loads.pop(entry.pa, None)
        groups.check("segments", load is not None, f"{what} is not in the image")
        if load is not None:
            matched[entry.seq] = load
            groups.equal("segments", what, (entry.size, entry.size, 0),
                         (load.filesz, load.memsz, load.vaddr))
    for load in loads.values():
        groups.check("segments", False, f"{load.paddr:#x} ({load.filesz} bytes) is not explained")
    order = [load.paddr for load in image.loads]
    groups.check("segments", order == [entry.pa for entry in allocations] or bool(loads),
                 "the PT_LOADs are not in allocation order")
    return matched


def compare_contents(groups, allocations, contents, image, matched):
    for entry in allocations:
        load = matched.get(entry.seq)
        if load is None:
            continue
        content, size = contents.get(entry.seq), 0
        where = f"core {entry.core} {entry.owner}"
        if content is not None:
            size = len(content.data)
            compare_bytes(groups, content.group, where, content.data, image.read(load, 0, size),
                          content.unit)
        check_zero(groups, image, load, size, where)


def check_zero(groups, image, load, start, where):
    """The rest of a PT_LOAD; holes of the file are zero without reading them."""
    groups.check("unused bytes are zero", True, "", load.filesz - start)
    for first, last in image.data_ranges(load, start):
        for at in range(first, last, ZERO_CHUNK):
            part = image.read(load, at, min(ZERO_CHUNK, last - at))
            if part != ZEROS[:len(part)]:
                offset = next(i for i, byte in enumerate(part) if byte)
                groups.fail("unused bytes are zero", f"{where}, offset {at + offset:#x}: "
                            f"{part[offset:offset + 16].hex()} is not explained")
                return
