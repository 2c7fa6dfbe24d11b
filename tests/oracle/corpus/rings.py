# SPDX-License-Identifier: MIT
"""Cases: DMA rings: run lengths, patterns, sizes, instances, repeats, signals."""

from corpus.case import KIB, MIB, case, program
from corpus.program import PARTITION
from corpus.slots import copy, named, rearm, row, trigger

LENGTHS = (1, 2, 4095, 65535, 65536, 65537, 131071, 131072, 131073)


def with_memory(arch, size=2 * MIB):
    made = program(arch, tensor=size)
    made.main.constant("w", 300 * KIB)
    made.main.variable("t", "tmp-buf", size=size)
    made.main.virtual("v", size, 0)
    return made


def fire(part, queue, *blocks):
    part.emit(part.owner(queue), *(trigger(queue, block) for block in blocks))


@case()
def run_lengths(arch):
    made = with_memory(arch)
    part = made.main
    for queue, queues, source, target in (("qStatic", 1, "t", "v"), ("qIn", 3, "x", "t"),
                                          ("qOut", 16, "v", "y")):
        part.queue(queue, "in" if queue != "qStatic" else "data", queues=queues,
                   first_semaphore=8 + 40 * ("qStatic", "qIn", "qOut").index(queue))
        for length in LENGTHS:
            fire(part, queue, part.block(queue, [row(source, target, length, 1, 3)]))
        fire(part, queue, part.block(queue, [row(source, target, n, n, 0) for n in LENGTHS]))
    return made


@case()
def patterns(arch):
    """1 to 4 dimensions, negative and overlapping outer steps, steps of size-1 dimensions."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=5)
    shapes = [
        copy("t", "v", [8], [1], [1], from_off=5),
        copy("t", "v", [3, 7], [1, 3], [1, 64]),
        copy("t", "v", [16, 9], [1, -16], [1, 16], from_off=1000),
        copy("t", "v", [2, 3, 4], [1, 2, 6], [1, -100, 1000], to_off=500),
        copy("t", "v", [4, 2, 3, 5], [1, 64, 1024, -4096], [1, 4, 8, 24], from_off=65536),
        copy("t", "v", [2, 2, 2, 2], [1, 0, 0, 2], [1, 2, 4, 8]),
        copy("t", "v", [70000, 2, 1, 2], [1, 70000, 1 << 40, 140000], [1, 100, -(1 << 40), 0]),
        copy("w", "SB", [64, 128], [1, 64], [1, PARTITION], to_off=100),
        copy("w", "SB", [16, 4, 128], [1, 16, 64], [1, 64, PARTITION]),
        copy("SB", "v", [32, 16], [1, -PARTITION], [1, 32], from_off=15 * PARTITION + 8),
    ]
    for shape in shapes:
        fire(part, "qData", part.block("qData", [shape]))
    fire(part, "qData", part.block("qData", shapes))
    return made


def packed_blocks(arch):
    """Packets that end at the byte limit, at 64 descriptors, at a block; rows longer than a packet;
    bound rings."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=2)
    part.queue("qIn", "in", queues=3, first_semaphore=30)
    fire(part, "qData",
         part.block("qData", [copy("w", "t", [64, 400], [1, 64], [1, 128])]),
         part.block("qData", [copy("w", "t", [4, 300], [1, 8], [1, 16])]),
         part.block("qData", [row("w", "t", 70000), copy("w", "t", [2048, 5], [1, 2048], [1, 4096]),
                              row("w", "t", 1)]),
         part.block("qData", []), part.block("qData", [row("w", "t", 4096)] * 3))
    fire(part, "qIn", part.block("qIn", [copy("x", "t", [128, 500], [1, 128], [1, 256])]))
    return made


def packet_case(name, size):
    def make(arch):
        return packed_blocks(arch), ["--packet-bytes", str(size)]
    make.__name__ = f"packets-{name}"
    case()(make)


packet_case("least", 4096)
packet_case("middle", 10000)
packet_case("most", 1048575)


@case("v3")
def casts(arch):
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=3)
    for source, target, narrow, wide, count in (
            ("int8", "float32", 1, 4, 33), ("float32", "bfloat16", 4, 2, 100),
            ("float16", "float32", 2, 4, 40000), ("uint8", "float32", 1, 4, 16384),
            ("float32", "int8", 4, 1, 16385)):
        part_sizes = [count * narrow, 3], [count * wide, 3]
        fire(part, "qData", part.block("qData", [copy(
            "t", "v", part_sizes[0], [1, count * narrow], [1, count * wide], op="cast",
            to_sizes=part_sizes[1], from_dtype=source, to_dtype=target)]))
    return made


@case()
def transposes(arch):
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=4)
    for size, columns, rows, outer in ((2, 5, 3, (1, 1)), (4, 8, 16, (2, 3)), (1, 4, 4, (3, 1))):
        entry = copy("t", "v", [columns * size, rows, *outer], [1, columns * size, 4096, 65536],
                     [1, 1024, 8, 32768], to_sizes=[rows * size, columns, *outer],
                     transpose_op="WZXY", transpose_element_size=size,
                     transpose_shape=[1, 1, rows, columns], num_tiling_dimensions=2)
        del entry["op"]
        fire(part, "qData", part.block("qData", [entry]))
    return made


@case()
def ring_sizes(arch):
    """Used counts around every step of the linear sizing rule."""
    made = with_memory(arch)
    part = made.main
    for number, elements in enumerate((30, 31, 32, 33, 47, 48, 49, 111, 112, 113)):
        queue = part.queue(f"q{number}", queues=1, first_semaphore=8 + number)
        fire(part, queue, part.block(queue, [copy("t", "v", [4, elements - 1], [1, 4], [1, 8])]))
    return made


@case()
def repeats_and_order(arch):
    """Blocks laid down in trigger order, twice or never; two queues interleaved; re-armed."""
    made = with_memory(arch)
    part = made.main
    for name, first, queues in (("qA", 8, 2), ("qB", 24, 7)):
        part.queue(name, queues=queues, first_semaphore=first)
        for block in range(4):
            part.block(name, [row("w", "t", 10 + block, 100 * block, 1000 * block)])
    fire(part, "qA", 2, 0)
    fire(part, "qB", 3)
    fire(part, "qA", 2, 2)
    fire(part, "qB", 1, 0)
    part.emit("sp", rearm("qA", wait=(5, 9), update=(0x13, 7), value=3), rearm("qB"))
    return made


@case()
def many_descriptors(arch):
    """More descriptors in one ring than a host page of 65536 holds."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=1)
    fire(part, "qData", part.block("qData", [copy("t", "v", [2, 700, 100], [1, 2, 1400],
                                                  [1, 4, 2800])]))
    return made


@case()
def events_and_defaults(arch):
    made = with_memory(arch)
    part = made.main
    part.queue("qEvent", queues=1)
    part.block("qEvent", [row("w", "t", 64)], event=20)
    part.block("qEvent", [row("w", "t", 64)], semaphore=200)
    part.queue("qDefault", queues=3, first_semaphore=40)
    for _ in range(5):
        part.block("qDefault", [row("w", "t", 64)])
    fire(part, "qEvent", 0, 1)
    fire(part, "qDefault", 4, 3, 2, 1, 0)
    return made


@case()
def owners_and_unused_sets(arch):
    """Every engine owns a queue; sets without blocks keep their hardware queue id."""
    made = with_memory(arch)
    part = made.main
    for number, owner in enumerate(("sp", "dve", "pool", "act", "pe")):
        queue = part.queue(f"q{number}", owner=owner, queues=1 + 3 * number,
                           first_semaphore=8 + 16 * number)
        if number != 2:
            fire(part, queue, part.block(queue, [row("w", "t", 500, number)]))
    part.queue("q5", "in", queues=16, first_semaphore=100)
    part.queue("q6", queues=16, first_semaphore=100)
    fire(part, "q6", part.block("q6", [row("w", "t", 500)]))
    return made


@case()
def mixed_template(arch):
    """One block with an input makes the whole set a template; two inputs in one block."""
    made = with_memory(arch)
    part = made.main
    part.input("x2", 4096)
    part.queue("qMixed", queues=4)
    part.block("qMixed", [row("w", "t", 640, 1)])
    part.block("qMixed", [row("x", "t", 64, 32), row("x2", "v", 64, 4032), row("w", "y", 7, 7)])
    part.queue("qPure", queues=2, first_semaphore=30)
    part.block("qPure", [row("w", "v", 64)])
    fire(part, "qMixed", 0, 1, 0)
    fire(part, "qPure", 0)
    return made


def instances(arch, count, queues):
    made = with_memory(arch)
    part = made.main
    names = [f"ring{number}" for number in range(count)]
    part.queue("qMulti", queues=queues, queue_instances=names)
    used = range(count) if count < 4 else (0, 1, count - 2, count - 1)
    for number in range(count):
        part.block(names[number], [row("w", "t", 1 + number, number)], 0,
                   instance_name=names[number])
    part.block(names[0], [row("w", "t", 70000)], 1, instance_name=names[0])
    for number in used:
        part.emit("sp", trigger(names[number], 0))
    part.emit("sp", trigger(names[0], 1))
    return made


@case()
def instances_1(arch):
    return instances(arch, 1, 16)


@case()
def instances_3(arch):
    return instances(arch, 3, 5)


def all_instances(arch, count):
    made = instances(arch, count, 1)
    made.main.emit("sp", *(trigger(f"ring{number}", 0) for number in range(count)))
    return made


@case("v3")
def instances_511(arch):
    return all_instances(arch, 511)


@case("v2")
def instances_512(arch):
    return all_instances(arch, 512)


@case("v3")
def instances_513(arch):
    return all_instances(arch, 513)


@case()
def raw_count(arch):
    """use_raw_count takes the count from the record; nothing is laid down for it."""
    made = with_memory(arch)
    part = made.main
    part.queue("qData", queues=1)
    part.block("qData", [row("w", "t", 100)])
    fire(part, "qData", 0)
    data = named(0xC1, "qData", w2C=1, w30=5)
    part.emit("sp", data)
    return made


@case()
def indirect(arch):
    """A set of type data with indirect_memcpy: its rings come before the ACT tables."""
    made = with_memory(arch)
    part = made.main
    part.queue("qIndirect", queues=1, indirect_memcpy=True)
    fire(part, "qIndirect", part.block("qIndirect", [row("w", "t", 256)]))
    return made


@case()
def untriggered_io_block(arch):
    """A block with an input makes the set a template also when nothing triggers it."""
    made = with_memory(arch)
    part = made.main
    part.queue("qMixed", queues=4)
    part.block("qMixed", [row("w", "t", 640, 1)])
    part.block("qMixed", [row("x", "t", 64, 32)])
    fire(part, "qMixed", 0)
    return made


@case()
def act_load_set(arch):
    """A set of type act_load owns a ring like any other."""
    made = with_memory(arch)
    part = made.main
    part.queue("qAct", "act_load", owner="act", queues=1)
    fire(part, "qAct", part.block("qAct", [row("w", "t", 32)]))
    return made
