# SPDX-License-Identifier: MIT
"""GPSIMD microcode libraries: what def.json says and what is staged (spec 02 s8.3, 04 s2.3 and
docs/choices.md for the layout of the function table)."""

import struct
from dataclasses import dataclass

from container import Refused
from tables import concatenate

LIBRARY_LIMIT, FUNCTION_LIMIT, PER_LIBRARY_LIMIT, NAME_LIMIT = 9, 97, 28, 64
ENTRY_BYTES, QUEUE_PAIRS = 280, 8
TABLE_BYTES = FUNCTION_LIMIT * ENTRY_BYTES + QUEUE_PAIRS * 8
ABI_MAJOR = 1
TOTAL_CPUS = (0, 1, 8)
BUILT_IN_OPCODES, USER_FLAGS = (-123, 133), 6


@dataclass
class Library:
    name: str
    content: bytes
    flags: int
    total_cpus: int
    functions: tuple         # (name, opcode byte, sub opcode byte)
    cpu_id: int = 0


def parse_library(entry, reader):
    name = entry["library"]
    major = entry["ulib_to_ucode_version"].split(".")[0]
    if not major.isdigit() or int(major) != ABI_MAJOR:
        raise Refused(f"library {name} has version {entry['ulib_to_ucode_version']}")
    if entry.get("total_cpus", 0) not in TOTAL_CPUS or entry.get("cpu_id", 0) != 0:
        raise Refused(f"library {name} has {entry.get('total_cpus')} CPUs or another than 0")
    functions = tuple((function["name"], function["opcode"] & 255,
                       function.get("sub_opcode", 0) & 255)
                      for function in entry.get("functions", ()))
    return Library(name, reader.blob(name),
                   0 if entry["opcode"] in BUILT_IN_OPCODES else USER_FLAGS,
                   entry.get("total_cpus", 0), functions)


def parse_libraries(definition, reader):
    """Ascending names; `ucode_lib` names a file or is the array itself (02 s16.2)."""
    entries = definition.get("ucode_lib", [])
    if isinstance(entries, str):
        entries = reader.json(entries)
    libraries = [parse_library(entry, reader) for entry in entries]
    libraries.sort(key=lambda library: library.name.encode())
    for first, second in zip(libraries, libraries[1:]):
        if first.name == second.name:
            raise Refused(f"library {first.name} is listed twice")
    return libraries


def check_limits(libraries):
    if len(libraries) > LIBRARY_LIMIT:
        raise Refused(f"{len(libraries)} libraries")
    if sum(len(library.functions) for library in libraries) > FUNCTION_LIMIT:
        raise Refused("too many functions for the table")
    for library in libraries:
        if not library.content or len(library.functions) > PER_LIBRARY_LIMIT:
            raise Refused(f"library {library.name} is empty or has "
                          f"{len(library.functions)} functions")
        for name, _, _ in library.functions:
            if len(name.encode()) > NAME_LIMIT:
                raise Refused(f"function name {name} is too long")


def memory_of(libraries):
    """(bytes, offset of each library)."""
    return concatenate([library.content for library in libraries])


def function_table(libraries, base):
    """The table when the libraries' memory is at `base`."""
    _, starts = memory_of(libraries)
    table = bytearray()
    for library, start in zip(libraries, starts):
        for name, opcode, sub_opcode in library.functions:
            table += struct.pack("<256sBBxxIIxxxxQ", name.encode(), opcode, sub_opcode,
                                 library.cpu_id, library.total_cpus, base + start)
    return bytes(table.ljust(TABLE_BYTES, b"\0"))
