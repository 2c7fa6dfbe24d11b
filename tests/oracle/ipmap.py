# SPDX-License-Identifier: MIT
"""Device instruction pointers back to NEFF ones (spec 05 A8)."""

from records import SLOT

INSERT, DELETE, MODIFY = "INSERT", "DELETE", "MODIFY"


def rows_of(emitted):
    """Rows (offset, slots, type) of one section; `emitted` = slots per source slot."""
    rows, position = [], 0
    for count in emitted:
        if count > 1:
            rows.append((position, count - 1, INSERT))
        elif count == 0:
            rows.append((position, 1, DELETE))
        position += count * SLOT
    return rows


def neff_ip(rows, ip):
    """Walk of spec 05 A8 over the rows of one section; `ip` relative to its first slot."""
    number, at = 1, 0
    for site, count, kind in rows:
        if site > ip or (site == ip and kind != DELETE):
            break
        number += (site - at) // SLOT
        at = site
        if kind == INSERT:
            at += SLOT * count
            if at >= ip:
                return number
        elif kind == DELETE:
            number += count
        else:
            number += 1
            at += SLOT
    return number + (ip - at) // SLOT


def image_rows(stream):
    """[(section, offset in the section, slots, type)] of a whole image, rows of all functions
    relative to the first function."""
    main, functions = stream.sections[0], stream.sections[1:]
    rows = [("PREAMBLE", 0, 1, INSERT)]
    rows += [("MAIN", *row) for row in main.rows()]
    rows.append(("POSTAMBLE", 0, 2, INSERT))
    for function in functions:
        moved = function.start - functions[0].start
        rows += [("FUNCTION", moved + offset, count, kind) for offset, count, kind in
                 function.rows()]
    return rows


def source_slot(stream, offset):
    """NEFF slot number, from 1, of the record at image byte `offset`; None outside sections."""
    sections = stream.sections
    for section in sections:
        if section.start <= offset < section.start + section.slots() * SLOT:
            low, high = section.first, section.last
            while high - low > 1:     # the last source slot that starts at or before offset
                middle = (low + high) // 2
                if section.offset(middle) <= offset:
                    low = middle
                else:
                    high = middle
            return low + 1
    return None


def device_to_neff(stream, offset):
    """The walk's answer for an image byte offset, FUNCTION as in A8; None where A8 has none."""
    main, functions = stream.sections[0], stream.sections[1:]
    if main.start <= offset < main.start + main.slots() * SLOT:
        return neff_ip(main.rows(), offset - main.start)
    if functions and functions[0].start <= offset < stream.image_slots * SLOT:
        rows = [row[1:] for row in image_rows(stream) if row[0] == "FUNCTION"]
        return main.last - main.first + neff_ip(rows, offset - functions[0].start)
    return None
