# SPDX-License-Identifier: MIT
"""Cases: GPSIMD microcode libraries (spec 02 s8.3, 04 s2.3)."""

import json

from corpus.case import case, program, refused
from corpus.program import pattern
from corpus.slots import slot


def functions(count, stem="f", first=0):
    """Opcodes with and without sign, some with a sub opcode."""
    found = []
    for number in range(first, first + count):
        entry = {"name": f"{stem}{number}", "opcode": number - 128 if number % 2 else 0xF0}
        if number % 3 == 0:
            entry["sub_opcode"] = 255 - number
        found.append(entry)
    return found


def add_library(part, name, size, entries=(), inline=False, **keys):
    """Adds a library of `size` bytes; the list is a member of its own or stands in def.json."""
    part.files[name] = pattern(size, 3 + size % 250)
    entry = {"library": name, "ulib_to_ucode_version": "1.21.1.0", "opcode": -123,
             "total_cpus": 8, "functions": list(entries), **keys}
    if inline:
        part.keys.setdefault("ucode_lib", []).append(entry)
        return
    part.keys["ucode_lib"] = "ucode_lib.json"
    listed = json.loads(part.files.get("ucode_lib.json", b"[]"))
    part.files["ucode_lib.json"] = json.dumps([*listed, entry]).encode()


@case()
def one_library(arch):
    made = program(arch)
    add_library(made.main, "all.so", 70000, functions(18))
    return made


@case()
def libraries_by_name(arch):
    """Not in file order, at odd sizes, with every number of CPUs, one without functions."""
    made = program(arch)
    for number, (name, size) in enumerate((("z.so", 1), ("b.so", 65), ("B.so", 64), ("m.so", 63),
                                           ("a/deep.so", 4097))):
        add_library(made.main, name, size, functions(number, name[0]), inline=True,
                    opcode=(133, 5)[number % 2], total_cpus=(0, 1, 8)[number % 3])
    return made


@case("v2")
def most_libraries(arch):
    """9 libraries, 97 functions, 28 of one, names of 64 bytes."""
    made = program(arch)
    left = 97
    for number in range(9):
        count = min(28, left) if number < 4 else 0
        left -= count
        add_library(made.main, f"l{number}.so", 100 + number,
                    functions(count, "n" * 62, 10) if number < 4 else ())
    return made


@case("v2")
def shared_library(arch):
    """Three models, of which two have the same library and the third the same in another version."""
    models = [program(arch) for _ in range(3)]
    for made, entries in zip(models, (functions(3), functions(3), functions(4))):
        add_library(made.main, "all.so", 5000, entries)
    return models, []


@case("v2")
def library_lists_are_not_shared(arch):
    models = [program(arch) for _ in range(2)]
    for made in models:
        add_library(made.main, "a.so", 5000, functions(3))
        add_library(made.main, "b.so", 100, functions(1))
    return models, []


def library_case(name, *libraries, archs=("v2",)):
    def make(arch):
        made = program(arch)
        for number, keys in enumerate(libraries):
            entry = {"name": f"l{number}.so", "size": 100, **keys}
            add_library(made.main, **entry)
        made.main.emit("pool", slot(0xA4))
        return made
    refused(f"library-{name}", *archs)(make)


EVERYWHERE = ("v2", "v3")
library_case("10th", *({} for _ in range(10)))
library_case("98th-function", *({"entries": functions(28)} for _ in range(3)),
             {"entries": functions(14)})
library_case("29-functions", {"entries": functions(29)})
library_case("name-of-65-bytes", {"entries": [{"name": "n" * 65, "opcode": 1}]})
library_case("empty", {"size": 0})
library_case("version-2", {"ulib_to_ucode_version": "2.1"}, archs=EVERYWHERE)
library_case("2-cpus", {"total_cpus": 2}, archs=EVERYWHERE)
library_case("cpu-1", {"cpu_id": 1}, archs=EVERYWHERE)
library_case("twice", {"name": "a.so"}, {"name": "a.so"}, archs=EVERYWHERE)
