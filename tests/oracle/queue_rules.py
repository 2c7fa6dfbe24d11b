# SPDX-License-Identifier: MIT
"""What queue sets and static DMA blocks may say (spec 02 s6, s7.1, decisions 3, 9..11, 39)."""

from container import Refused
from rings import DTYPE_BYTES, DTYPE_CODES, descriptor_pieces

MAX_SETS = 32
MAX_RING_SETS = 13
MAX_QUEUES = 16
PARTITIONS, PARTITION_STRIDE = 128, 0x40000
RESERVED_SEMAPHORES = {0, 1, 2, 240, 241, 242, 243, 244, 245}
OWNERS = ("pe", "act", "pool", "dve", "sp")
RING_KINDS = ("in", "out", "data", "dynamic", "act_load")


def check_reserved(numbers, what):
    for number in numbers:
        if number in RESERVED_SEMAPHORES:
            raise Refused(f"{what} uses the reserved semaphore {number} (decision 39)")
        if not 0 <= number < 256:
            raise Refused(f"{what} uses semaphore {number}, 0..255 exist")


def check_queue_set(queue_set):
    name = f"queue set {queue_set.name}"
    if queue_set.kind not in RING_KINDS:
        raise Refused(f"{name} has type {queue_set.kind}, which has no rule")
    if queue_set.owner not in OWNERS:
        raise Refused(f"{name} has the unknown owner {queue_set.owner}")
    if not 1 <= queue_set.num_queues <= MAX_QUEUES:
        raise Refused(f"{name} has {queue_set.num_queues} queues")
    if queue_set.kind == "act_load" and queue_set.num_queues != 1:
        raise Refused(f"{name} of type act_load has {queue_set.num_queues} queues, not 1")
    if len(queue_set.instances) > 1 and queue_set.kind in ("in", "out"):
        raise Refused(f"{name} of type {queue_set.kind} has queue instances")
    check_reserved(queue_set.semaphores, name)
    if queue_set.dynamic and queue_set.blocks:
        raise Refused(f"dynamic {name} has static blocks (02 s16.12)")


def check_block(subgraph, queue_set, block, partition_bytes, siblings):
    where = f"{block.queue} block {block.block_id}"
    if block.remote_semaphores and not siblings:
        raise Refused(f"{where}: remote semaphores without a sibling core")
    check_reserved([] if block.semaphore is None else [block.semaphore], where)
    check_reserved(block.remote_semaphores, where)
    if block.event is not None and queue_set.num_queues > 1:
        raise Refused(f"{where}: an event with {queue_set.num_queues} queues (decision 36)")
    for number, desc in enumerate(block.descriptors):
        check_descriptor(subgraph, desc, f"{where} descriptor {number}", partition_bytes)


def check_descriptor(subgraph, desc, where, partition_bytes):
    for dtype in (desc.from_dtype, desc.to_dtype):
        if desc.op == "cast" and dtype not in DTYPE_CODES:
            raise Refused(f"{where}: unknown dtype {dtype}")
    check_shape(desc, where)
    for side, name, off, sizes, steps in (
            ("from", desc.source, desc.from_off, desc.from_sizes, desc.from_steps),
            ("to", desc.target, desc.to_off, desc.to_sizes, desc.to_steps)):
        variable = subgraph.names.get(name)
        if variable is None:
            raise Refused(f"{where}: {side} names unknown variable {name}")
        if variable.kind in ("list", "dge-table"):
            raise Refused(f"{where}: {side} names the {variable.kind} {name}")
        low, high = extent(off, sizes, steps)
        if variable.kind == "pointer" and (off or high > sizes[0]):
            raise Refused(f"{where}: {side} names the pointer {name} with an offset (03 s3.4)")
        if variable.kind == "state-buffer":
            check_partitions(off, sizes, steps, partition_bytes, f"{where} {side}")
        elif low < 0 or high > variable.size:
            raise Refused(f"{where}: {side} covers {low}..{high} of {name}, which has "
                          f"{variable.size} bytes")


def check_shape(desc, where):
    try:
        descriptor_pieces(desc)
    except Refused as problem:
        raise Refused(f"{where}: {problem}") from problem
    if desc.op == "cast":
        width = DTYPE_BYTES[DTYPE_CODES[desc.from_dtype]]
        if desc.from_sizes[0] % width:
            raise Refused(f"{where}: run of {desc.from_sizes[0]} bytes of {width}-byte elements")
    if desc.op == "transpose" and (desc.element_size == 0
                                   or desc.from_sizes[0] % desc.element_size):
        raise Refused(f"{where}: transpose_element_size {desc.element_size}")


def extent(off, sizes, steps):
    """[low, high) byte offsets; negative steps count, steps of size-1 dims do not."""
    reach = [(size - 1) * step for size, step in zip(sizes[1:], steps[1:])]
    return (off + sum(part for part in reach if part < 0),
            off + sum(part for part in reach if part > 0) + sizes[0])


def starts(off, sizes, steps):
    """Distinct (partition, byte) reach of the runs: every corner is enough for affine walks only
    within a partition, so partition steps and byte steps are taken apart."""
    low = high = off % PARTITION_STRIDE
    first = last = off // PARTITION_STRIDE
    for size, step in zip(sizes[1:], steps[1:]):
        jump, rest = divmod(step, PARTITION_STRIDE)
        if size == 1:
            continue
        if rest == 0:
            first, last = first + min(0, (size - 1) * jump), last + max(0, (size - 1) * jump)
        else:
            reach = (size - 1) * step
            low, high = low + min(0, reach), high + max(0, reach)
    return first, last, low, high


def check_partitions(off, sizes, steps, partition_bytes, where):
    """Every run inside one partition of the state buffer (decision 11)."""
    first, last, low, high = starts(off, sizes, steps)
    if first < 0 or last >= PARTITIONS:
        raise Refused(f"{where}: partitions {first}..{last}, 0..{PARTITIONS - 1} exist")
    if low < 0 or high + sizes[0] > partition_bytes:
        raise Refused(f"{where}: bytes {low}..{high + sizes[0]} of a partition, which has "
                      f"{partition_bytes}")


def check_queues(model, arch):
    for subgraph in model.subgraphs:
        sets = subgraph.queue_sets
        if len(sets) > MAX_SETS:
            raise Refused(f"{subgraph.name} has {len(sets)} queue sets, {MAX_SETS} are allowed")
        names = [instance.name for queue_set in sets for instance in queue_set.instances]
        if len(names) != len(set(names)):
            raise Refused(f"{subgraph.name}: ring instance names repeat")
        for queue_set in sets:
            check_queue_set(queue_set)
        if sum(queue_set.kind == "act_load" for queue_set in sets) > 1:
            raise Refused(f"{subgraph.name} has two act_load sets")
        if sum(not queue_set.dynamic for queue_set in sets) > MAX_RING_SETS:
            raise Refused(f"{subgraph.name} has more than {MAX_RING_SETS} ring-owning sets")
        reserved = bool(subgraph.carve_outs)
        for queue_set in sets:
            for block in queue_set.blocks:
                check_block(subgraph, queue_set, block, arch.partition_bytes(reserved),
                            len(model.subgraphs) > 1)
