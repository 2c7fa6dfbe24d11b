# SPDX-License-Identifier: MIT
"""Cases: instruction streams: pseudo records, labels, branches, functions, DGE."""

import struct

from corpus.case import KIB, case, program
from corpus.program import PARTITION
from corpus.rings import fire, with_memory
from corpus.slots import (branch_label, branch_relative, call, direct, function, label, ordering,
                          read_address, rearm, returns, row, slot, tensor, trigger)

SB, TABLE, VARIABLE = 0, 0x20, 0x10
EVENTS = {"wait": (5, 9), "update": (0x13, 4), "value": 7}


def plain(number):
    return slot(0xA4, value=0, w20=number)


@case()
def one_to_one(arch):
    """Records that become one record, with and without events."""
    made = program(arch)
    part = made.main
    weight = part.constant("w", 4096)
    cell = part.variable("cell", "pointer", size=8, referenced_var_id=weight)
    for events in ({}, EVENTS, {"wait": (6, 3)}, {"update": (0x15, 200), "value": 9}):
        part.emit("pool", slot(0xC3, **events), slot(0xD5, **events), slot(0xD8, **events),
                  read_address(weight, 4095, **events), read_address(cell, 0, 1, 2, **events),
                  tensor(0xCD, weight, 16, **events), tensor(0xCE, weight, 0, 3, (8, 4), **events),
                  tensor(0xCE, 0, 0x123, **events), tensor(0xCE, cell, 0, 9, (2, 1)))
    return made


def far(first_step, offset, counts=(2, 1), second_step=1, opcode=0xCE, dtype=9):
    """A tensor record with steps in elements of a variable in the state buffer's window."""
    data = tensor(opcode, SB, offset, dtype, counts)
    struct.pack_into("<2i", data, 0x18, first_step, second_step)
    return data


@case()
def tensor_spans_in_one_window(arch):
    """To the last byte before a 16 MiB boundary, from the first behind it, forwards and back."""
    made = program(arch)
    part = made.main
    edge = 64 * PARTITION        # of the two 16 MiB halves of the state buffer's window
    for opcode in (0xCD, 0xCE):
        part.emit("pool", far(1, edge - PARTITION + 0x100, opcode=opcode),
                  far(PARTITION // 4, 0, (32, 1), opcode=opcode),
                  far(2 * PARTITION // 4, PARTITION, (32, 1), opcode=opcode),
                  far(-PARTITION // 4, edge + 31 * PARTITION, (32, 1), opcode=opcode),
                  far(PARTITION // 4, edge, (2, 16), 2 * PARTITION // 4, opcode))
    for opcode in (0xAA, 0xAB):
        for address, step, counts in ((edge - 8, 1, (2, 1)), (edge - 4, -1, (4, 1)),
                                      (edge, 1, (4, 1)), (edge + 4, -1, (2, 1)),
                                      (edge - 4, 1, (0, 9))):
            part.emit("act", slot(opcode, b0C=9, b0E=counts[0], b0F=counts[1], q10=address,
                                  i18=step, b20=5))
        # Registers and tables hold their address, a shape in registers its steps.
        for marker in (0x80, 0x20, 0x40):
            part.emit("act", slot(opcode, b0C=9, b0E=2, b0F=1, q10=edge - 4, b17=marker, i18=1))
    return made


@case()
def labels_and_branches(arch):
    """Forward and backward, over expansions and removed labels, every compare operation."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", owner="dve", queues=3)
    part.block("qData", [row("w", "t", 64)])
    part.emit("dve", label(5), plain(1), branch_label(5), branch_label(9, 3), rearm("qData"),
              plain(2), label(9), branch_label(7, 12, b20=3, b21=4))
    fire(part, "qData", 0)
    part.emit("dve", branch_relative(2, 6), slot(0xC3), label(7), plain(3), branch_relative(-2),
              branch_relative(0, 1), branch_label(7, 2), plain(4))
    for compare in range(13):
        part.emit("act", branch_relative(1, compare), plain(compare))
    return made


@case()
def branch_around_everything(arch):
    """From the first record to the last and back."""
    made = program(arch)
    part = made.main
    part.emit("pe", label(1), branch_label(2), *(plain(n) for n in range(50)), slot(0xCC, w0C=77),
              branch_label(1, 4, **EVENTS), label(2), plain(9))
    return made


@case()
def branch_events_and_registers(arch):
    """Events stay on a branch; register forms are copied."""
    made = program(arch)
    part = made.main
    part.emit("sp", branch_relative(1, 3, **EVENTS), plain(1),
              slot(0xA9, b0E=1, b22=8, b23=9), slot(0xA9, b0E=4, b22=8, b23=9), plain(2))
    return made


@case()
def exits(arch):
    made = program(arch)
    part = made.main
    part.emit("pool", slot(0xDF, b0C=1), plain(1), slot(0xDF, b0C=1, **EVENTS), plain(2))
    part.emit("act", branch_relative(2, 3), slot(0xDF, b0C=1), plain(1))
    return made


@case()
def functions(arch):
    """Calls from MAIN and from functions, several call sites, exit inside a function."""
    made = program(arch)
    part = made.main
    weight = part.constant("w", 4096)
    part.emit("pool", plain(1), call("first"), plain(2), call("second", 0xFFFFFFFF, **EVENTS),
              call("first"), plain(3),
              function("first", 20, 21), plain(10), call("second"), read_address(weight, 0),
              returns(), function("second", 30, 31), label(3), plain(11), slot(0xC3),
              branch_label(3, 4), slot(0xDF, b0C=1), returns(**EVENTS),
              function("x" * 32, 1, 2), branch_relative(1), returns())
    part.emit("sp", call("only"), function("only"), returns())
    return made


@case()
def functions_with_dma(arch):
    """Blocks of a function: ids restart in each; they lie in the ring where its call stands."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=3)
    part.queue("qIn", "in", queues=2, first_semaphore=30)
    part.block("qData", [row("w", "t", 64)], 0)
    part.block("qData", [row("w", "t", 65, 1)], 1)
    part.block("qIn", [row("x", "t", 3)], 0)
    part.block("qData", [row("w", "v", 66, 2)], 0, function_start="fill")
    part.block("qData", [row("w", "v", 67, 3)], 1)
    part.block("qData", [row("w", "v", 68, 4)], 0, function_start="other")
    part.block("qIn", [row("x", "v", 4)], 0, function_start="other")
    part.emit("sp", trigger("qData", 1), call("other"), call("fill"), trigger("qIn", 0),
              trigger("qData", 0),
              function("fill"), trigger("qData", 1), trigger("qData", 0), returns(),
              function("other"), trigger("qIn", 0), trigger("qData", 0, **EVENTS), returns())
    return made


@case()
def prefetch_hints(arch):
    made = program(arch)
    made.main.emit("act", slot(0xDD, b0E=2, w30=4), plain(1), branch_label(4), slot(0xC3),
                   label(4), plain(2))
    return made


def dge(arch):
    made = program(arch)
    part = made.main
    part.constant("w", 64 * KIB)
    part.virtual("v", 64 * KIB, 0)
    part.variable("tmp", "tmp-buf", size=64 * KIB)
    part.variable("table", "dge-table", list=[2, 1])
    part.queue("qDyn", "dynamic", owner="pool", first_semaphore=24,
               dynamic_dma={"SB_scratch_partition_offset": 0, "SB_scratch_partition_size": 16384})
    part.queue("qActDyn", "dynamic", owner="act", first_semaphore=40)
    return made


@case()
def direct_copies(arch):
    made = dge(arch)
    part = made.main
    part.emit("pool", direct((VARIABLE, 3, 0), (VARIABLE, SB, 0x1000), 24),
              direct((VARIABLE, SB, 0x30000 - 64), (VARIABLE, 4, 128), 25, steps=((0x40000, 1), (64, 1))),
              direct((TABLE, 1, 0xE000), (VARIABLE, SB, 8), 26, **EVENTS),
              direct((VARIABLE, 5, 65535), (TABLE, 0, 3), 39, (1, 1), 1),
              direct((VARIABLE, 3, 8128), (VARIABLE, 4, 0), 24, (64, 2), 64,
                     ((-64, 4096), (64, 4096))),
              direct((VARIABLE, 3, 0), (VARIABLE, 4, 0), 24, (1, 1), 0))
    part.emit("act", direct((VARIABLE, 3, 0), (VARIABLE, SB, 0), 44))
    return made


@case()
def extensions(arch):
    """An extension without bounds is merged into its D4 and gone."""
    made = dge(arch)
    made.main.emit("pool", direct((VARIABLE, 3, 0), (VARIABLE, SB, 0), 24), slot(0xDA), plain(1))
    return made


@case()
def collectives(arch):
    """One trigger write each, numbered over the engines."""
    made = program(arch)
    part = made.main
    source = part.constant("w", 4096)
    target = part.variable("t", "tmp-buf", size=4096)
    keys = {"b0C": 4, "b0D": 10, "w10": source, "w14": target, "q18": 16, "b20": 1}
    part.emit("sp", slot(0xC8, **keys), slot(0xC8, **keys, **EVENTS))
    part.emit("pool", slot(0xCB, **keys), plain(1), slot(0xC8, **keys))
    return made


@case()
def every_real_opcode(arch):
    """Each opcode the architecture knows, where it may run, copied as it is."""
    import opcodes
    made = program(arch)
    for opcode in sorted(opcodes.KNOWN[arch] - set(range(0xC1, 0xE0)) - {0xA9, 0xFF}):
        engine = "pe" if opcode in opcodes.PE_ONLY else "act" if opcode in opcodes.ACT_ONLY \
            else "dve"
        made.main.emit(engine, slot(opcode, w10=opcode << 8))
    return made


@case()
def missing_engines(arch):
    """Empty streams are preamble and postamble."""
    made = program(arch)
    for engine in ("pe", "act"):
        made.main.streams[engine] = []
    made.main.emit("pool", ordering())
    return made


@case()
def table_offset_in_register(arch):
    """Marker 0x28: table reference whose offset is in a register; passes through (05 A3)."""
    made = dge(arch)
    made.main.emit("pool", direct((0x28, 1, 5), (VARIABLE, SB, 0), 24))
    return made
