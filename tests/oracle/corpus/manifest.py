# SPDX-License-Identifier: MIT
"""Cases: the same things said in other words: JSON keys that are optional, old, or oddly placed."""

from corpus.case import case, program, refused
from corpus.rings import fire, with_memory
from corpus.slots import copy, row, trigger


def without(entry, *keys):
    return {key: value for key, value in entry.items() if key not in keys}


@case()
def absent_keys(arch):
    """No op, no offsets, no dtype, legacy `size`; a set without owner; one `semaphore`."""
    made = with_memory(arch)
    part = made.main
    part.queue("qOne", owner="pool", queues=1)
    part.queues["qOne"] = {"type": "data", "semaphore": 77}
    part.queues["qBare"] = {"type": "data", "owner": "sp"}
    part.blocks["pool"].append({"id": 3, "queue": "qOne", "desc": [
        without(row("w", "t", 90), "op", "from_off", "to_off"),
        {"from": "w", "to": "v", "size": 70000, "to_off": 5}]})
    part.blocks["sp"].append({"id": 0, "queue": "qBare", "desc": [row("w", "t", 1)]})
    part.blocks["sp"].append({"id": 1, "queue": "qBare", "semaphore": 99,
                              "desc": [row("w", "t", 2)]})
    part.emit("pool", trigger("qOne", 3))
    part.emit("sp", trigger("qBare", 0), trigger("qBare", 1))
    return made


@case()
def blocks_elsewhere(arch):
    """Blocks at the top level of def.json and in the file of an engine that is not the owner."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", owner="sp", queues=3)
    part.keys["dma"] = [{"id": 0, "queue": "qData", "desc": [row("w", "t", 10)]}]
    part.blocks["act"].append({"id": 1, "queue": "qData", "desc": [row("w", "t", 11)],
                               "section_start_desc": True, "priority_class": 1,
                               "#comment": "by hand"})
    part.block("qData", [row("w", "t", 12)], 2)
    fire(part, "qData", 2, 0, 1)
    return made


@case()
def empty_blocks(arch):
    """A block without descriptors is its signals."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=4)
    part.block("qData", [])
    fire(part, "qData", 0)
    return made


@case()
def odd_names(arch):
    made = program(arch)
    part = made.main
    part.variable("-t125_i0_Spill 0", "tmp-buf", size=100)
    part.constant("w.0", 100)
    queue = part.queue("q" * 31, queues=2)
    part.queue("a-b c", queues=1, first_semaphore=30)
    for name in (queue, "a-b c"):
        part.block(name, [row("w.0", "-t125_i0_Spill 0", 50)])
        part.emit("sp", trigger(name, 0))
    return made


@case()
def absent_engines_and_tails(arch):
    """Engines without a key are empty; bytes behind the last whole slot are not counted."""
    made = program(arch)
    made.main.absent = {"dve", "pe"}
    made.main.tails["pool"] = bytes(range(63))
    return made


@case("v3")
def graphs_out_of_order(arch):
    """kbins follow the sorted names."""
    made = program(arch, 2)
    for number, part in enumerate(made.subgraphs):
        part.constant("w", 100 + number)
    made.listed = made.subgraphs[::-1]
    return made


@case("v3")
def dtype_aliases(arch):
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=1)
    for source, target, narrow, wide in (
            ("float8_e4m3fn", "float32", 1, 4), ("float8e3", "bfloat16", 1, 2),
            ("float8e5", "float8e4", 1, 1), ("float32r", "float16", 4, 2),
            ("uint64", "int64", 8, 8), ("uint32", "int16", 4, 2),
            ("float8_e4m3fn_x4", "float32", 4, 4), ("float4_e2m1fn_x4", "uint16", 2, 2)):
        fire(part, "qData", part.block("qData", [copy(
            "t", "v", [10 * narrow, 2], [1, 100], [1, 100], op="cast", from_dtype=source,
            to_dtype=target, to_sizes=[10 * wide, 2])]))
    return made


@case("v2")
def second_core(arch):
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=2)
    fire(part, "qData", part.block("qData", [row("w", "SB", 100)]))
    return made, ["--core", "1"]


@case("v3")
def last_logical_core(arch):
    made = program(arch, 2)
    for part in made.subgraphs:
        part.constant("w", 100)
        part.queue("qData", queues=2)
        fire(part, "qData", part.block("qData", [row("w", "SB", 100)], remote_semaphores=[30]))
    return made, ["--core", "3"]


@refused("queue-name-of-32-bytes")
def long_queue_name(arch):
    """Cannot be triggered: the field holds 31 characters and a NUL."""
    made = with_memory(arch)
    made.main.queue("q" * 32, queues=1)
    made.main.block("q" * 32, [row("w", "t", 8)])
    made.main.emit("sp", trigger("q" * 31, 0))
    return made
