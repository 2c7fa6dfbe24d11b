# SPDX-License-Identifier: MIT
"""One random change of a program, which may make it illegal."""

from corpus.case import MIB

ENGINES = ("pe", "act", "pool", "dve", "sp")
RECORD_BYTES = (0, 1, 4, 5, 6, 7, 0x0D, 0x0F, 0x10, 0x14, 0x17, 0x30)


def change(random, made):
    """Changes one thing of a legal program."""
    part = random.choice(made.subgraphs)
    choice = random.randint(0, 3)
    if choice == 0:
        entry = random.choice(list(part.variables.values()))
        key = random.choice(("size", "alignment", "referenced_var_id"))
        if key in entry and entry["type"] != "file":
            entry[key] = random.choice((0, 1, 3, 4096, 8192, entry[key] + 1))
    elif choice == 1:
        descs = [desc for blocks in part.blocks.values() for block in blocks
                 for desc in block["desc"]]
        if descs:
            desc = random.choice(descs)
            key = random.choice(("from_off", "to_off"))
            desc[key] = random.choice((0, desc[key] + 1, desc[key] * 2, MIB))
    else:
        engine = random.choice(ENGINES)
        stream = part.streams[engine]
        number = random.randint(0, len(stream) - 1)
        data = bytearray(stream[number])
        data[random.choice(RECORD_BYTES)] = \
            random.choice((0, 1, 2, 3, 0x10, 0x20, 240, 255, random.randint(0, 255)))
        stream[number] = bytes(data)
