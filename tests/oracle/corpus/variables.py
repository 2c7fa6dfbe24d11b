# SPDX-License-Identifier: MIT
"""Cases: every kind of variable, scratchpad arenas, logical cores of two, shared arenas."""

from corpus.case import KIB, MIB, case, program
from corpus.slots import read_address, row, tensor, trigger

CONTIGUOUS = ["--contiguous-scratchpad"]


@case()
def every_kind(arch):
    made = program(arch)
    part = made.main
    ids = {"SB": 0, "x": 1, "y": 2}
    ids["w"] = part.constant("w", 5000, 32768)
    ids["raw"] = part.constant("raw", 777, 0, raw=True)
    ids["tmp"] = part.variable("tmp", "tmp-buf", size=700 * KIB, alignment=1 << 20)
    ids["spill"] = part.virtual("spill", 8192, 4096)
    ids["common"] = part.virtual("common", 8192, 0, backing_buf="main")
    for name in ("SB", "x", "y", "w", "raw", "tmp", "spill", "common"):
        part.variable(f"to_{name}", "pointer", size=8, referenced_var_id=ids[name])
    part.variable("members", "list", list=[3, 4, 1])
    table = part.variable("table", "dge-table", list=[2, 3, 0, 1, 5, 6, 7, 2, 8, 9])
    part.variable("to_table", "pointer", size=8, referenced_var_id=table)
    for name in ("w", "raw", "tmp", "spill", "common"):
        part.emit("act", tensor(0xCE, ids[name], 64), read_address(ids[name], 8))
    return made


@case()
def alignments_and_pools(arch):
    """Sizes around the small-pool limit and large alignments, first fit reusing the gaps."""
    made = program(arch)
    part = made.main
    for number, (size, alignment) in enumerate((
            (512 * KIB, 0), (512 * KIB + 1, 0), (4096, 1 << 21), (4097, 8192), (1, 4096),
            (600 * KIB, 1 << 24), (1, 0), (4096, 1 << 30), (64, 2), (3 * MIB, 1 << 16))):
        part.variable(f"t{number}", "tmp-buf", size=size, alignment=alignment)
    part.constant("w", 600 * KIB, 65536)
    return made


def arenas(part, page):
    part.virtual("low", 64 * KIB, 0)
    part.virtual("crossing", MIB, page - 64 * KIB)
    part.virtual("large", page + 4096, 4096)
    part.virtual("high", 64 * KIB, page + 8192)
    part.virtual("shared", 128 * KIB, 4096, backing_buf="shared")
    part.virtual("sharded", 4096, 64 * KIB, backing_buf="sharded")


@case()
def oversized_virtual(arch):
    made = program(arch)
    arenas(made.main, 512 * MIB)
    return made


@case()
def larger_pages(arch):
    made = program(arch)
    arenas(made.main, 512 * MIB)
    return made, ["--scratchpad-page-size", "1024"]


@case()
def contiguous(arch):
    made = program(arch)
    arenas(made.main, 64 * MIB)
    return made, CONTIGUOUS


def two_cores(arch, page):
    made = program(arch, 2)
    for number, part in enumerate(made.subgraphs):
        arenas(part, page)
        part.constant(f"own{number}", 1000)
    return made


@case("v3")
def paged_two_cores(arch):
    return two_cores(arch, 512 * MIB)


@case("v3")
def contiguous_two_cores(arch):
    return two_cores(arch, 64 * MIB), CONTIGUOUS


@case("v3")
def remotes(arch):
    """Each core uses the other's memory: descriptors, pointers, tables."""
    made = program(arch, 2)
    for number, part in enumerate(made.subgraphs):
        part.constant(f"w{number}", 4096 * (number + 1))
        part.variable(f"t{number}", "tmp-buf", size=8192)
        part.virtual(f"v{number}", 8192, 4096 * number)
    for number, part in enumerate(made.subgraphs):
        other = 1 - number
        found = [part.variable(f"{name}{other}_remote_sg{other:02}", "remote")
                 for name in ("w", "t", "v")]
        state = part.variable(f"SB_remote_sg{other}", "remote")
        part.variable("cell", "pointer", size=8, referenced_var_id=found[1])
        part.variable("table", "dge-table", list=[1, found[0], found[2], state, 2])
        part.queue("qData", queues=4)
        part.block("qData", [row(f"w{other}_remote_sg{other:02}", f"t{number}", 100, 12, 30),
                             row(f"v{number}", f"t{other}_remote_sg{other:02}", 4096, 4096, 1)],
                   semaphore=8, remote_semaphores=[9, 11])
        part.emit("sp", trigger("qData", 0))
    return made


@case()
def empty_table(arch):
    made = program(arch)
    made.main.variable("table", "dge-table", list=[])
    return made


@case()
def pointers_in_descriptors(arch):
    """A descriptor may move a pointer's cell, and read one that a table lists."""
    made = program(arch)
    part = made.main
    part.constant("w", 64)
    part.variable("cell", "pointer", size=8, referenced_var_id=3)
    part.variable("other", "pointer", size=8, referenced_var_id=1)
    part.variable("table", "dge-table", list=[4, 5])
    part.queue("qData", queues=2)
    part.block("qData", [row("cell", "other", 8), row("w", "cell", 3)])
    part.emit("sp", trigger("qData", 0))
    return made


@case()
def no_tables(arch):
    """Only what every model has."""
    return program(arch)


def sharing(arch, subgraphs, sizes, arguments):
    models = []
    for size in sizes:
        made = program(arch, subgraphs)
        for part in made.subgraphs:
            part.constant("w", 100)
            if size:
                part.virtual("spill", size, 4096)
                part.virtual("common", 4096, 8192, backing_buf="main")
        models.append(made)
    return models, arguments


@case()
def models_share_pages(arch):
    """The second needs fewer pages than there are, the third more."""
    return sharing(arch, 1, (600 * MIB, 4096, 0, 1500 * MIB), [])


@case()
def models_share_contiguous_pages(arch):
    return sharing(arch, 1, (100 * MIB, 4096, 0, 200 * MIB), CONTIGUOUS)


@case("v3")
def models_of_one_and_two_cores(arch):
    one, _ = sharing(arch, 1, (8192,), [])
    two, _ = sharing(arch, 2, (8192, 700 * MIB), [])
    return one + two, []


@case("v3")
def second_logical_core(arch):
    made = two_cores(arch, 512 * MIB)
    return made, ["--core", "1"]
