# SPDX-License-Identifier: MIT
"""Cases that every loader must refuse: records, variables, queue sets, descriptors."""

from corpus.case import KIB, MIB, program, refused
from corpus.program import PARTITION
from corpus.rings import fire, instances, with_memory
from corpus.slots import (branch_label, branch_relative, call, copy, direct, function, label,
                          read_address, rearm, returns, row, slot, tensor, trigger)
from corpus.streams import SB, TABLE, VARIABLE, dge, far, plain

EDGE = 64 * PARTITION            # a multiple of 16 MiB, in the state buffer and anywhere

# -- records: (name, record) put behind two plain ones on an engine

UNTRANSLATED = (0xC4, 0xC5, 0xC6, 0xC7, 0xCA, 0xCF, 0xD0, 0xD6, 0xD7, 0xD9, 0xDB, 0xDC, 0xDE)
UNKNOWN = (0x00, 0x0B, 0x40, 0x80, 0x89, 0x97, 0xC0, 0xEF, 0xFF, 0x08, 0xE0)
ONLY_V2 = (0x87, 0x8F)
ONLY_V3 = (0x06, 0x81, 0xBC, 0xF1)


def record_case(name, make_slots, *archs, engine="dve"):
    """The slots go behind two plain records of `engine`."""
    def make(arch):
        made = with_memory(arch)
        made.main.queue("qData", owner=engine, queues=2)
        made.main.queue("qOther", owner="pe", queues=1, first_semaphore=30)
        made.main.block("qData", [row("w", "t", 64)])
        made.main.block("qOther", [row("w", "t", 64)])
        made.main.emit(engine, plain(1), *make_slots())
        return made
    refused(name, *archs)(make)


for code in UNTRANSLATED + UNKNOWN:
    record_case(f"opcode-{code:02x}", lambda code=code: [slot(code)])
for code in ONLY_V2:
    record_case(f"opcode-{code:02x}", lambda code=code: [slot(code)], "v3")
for code in ONLY_V3:
    record_case(f"opcode-{code:02x}", lambda code=code: [slot(code)], "v2",
                engine="pe" if code == 6 else "dve")
record_case("matmul-on-act", lambda: [slot(0x02)], engine="act")
record_case("activate-on-pool", lambda: [slot(0x21)], engine="pool")


def with_byte(data, at, value):
    data[at] = value
    return data


record_case("word-length", lambda: [with_byte(plain(1), 1, 0x08)])
for number in (0, 2, 240, 245):
    record_case(f"wait-semaphore-{number}", lambda number=number: [slot(0xA4, wait=(5, number))])
    record_case(f"update-semaphore-{number}",
                lambda number=number: [slot(0x46, update=(0x13, number))])
record_case("second-wait-semaphore-1", lambda: [slot(0xA0, wait=(5, 9), b20=5, b21=1)])
record_case("unknown-queue", lambda: [trigger("qNone", 0)])
record_case("empty-queue-name", lambda: [trigger("", 0)])
record_case("unknown-block", lambda: [trigger("qData", 7)])
record_case("foreign-queue", lambda: [trigger("qOther", 0)])
record_case("rearm-unknown-queue", lambda: [rearm("qNone")])
record_case("rearm-foreign-queue", lambda: [rearm("qOther")])
record_case("unknown-label", lambda: [branch_label(3), label(4)])
record_case("branch-behind-the-stream", lambda: [branch_relative(4), plain(1)])
record_case("branch-before-the-stream", lambda: [branch_relative(-3)])
record_case("branch-off-slot", lambda: [slot(0xA9, b0E=3, i30=96), plain(1), plain(2)])
record_case("branch-out-of-main", lambda: [branch_relative(3), call("f"), function("f"),
                                           plain(1), returns()])
record_case("branch-out-of-function", lambda: [call("f"), function("f"), branch_relative(-3),
                                               returns()])
record_case("label-of-another-function", lambda: [label(6), call("f"), function("f"),
                                                  branch_label(6), returns()])
record_case("trigger-in-loop", lambda: [label(1), trigger("qData", 0), plain(2),
                                        branch_label(1, 3)])
record_case("trigger-in-function-called-twice",
            lambda: [call("f"), call("f"), function("f"), trigger("qData", 0), returns()])
record_case("trigger-of-mains-block-in-function",
            lambda: [call("f"), function("f"), trigger("qData", 0), returns()])
record_case("trigger-in-function-never-called", lambda: [function("f"), trigger("qData", 0),
                                                         returns()])
record_case("unknown-function", lambda: [call("g"), function("f"), returns()])
record_case("function-twice", lambda: [function("f"), returns(), function("f"), returns()])
record_case("function-without-name", lambda: [function(""), returns()])
record_case("return-in-main", lambda: [returns()])
record_case("call-with-arguments", lambda: [call("f", 3), function("f"), returns()])
record_case("library-reload", lambda: [slot(0xDF, b0C=2)])
record_case("unknown-inst", lambda: [slot(0xDF, b0C=0)])
record_case("lone-extension", lambda: [slot(0xDA)])
for opcode, name in ((0xCE, "load"), (0xCD, "store")):
    record_case(f"{name}-u64", lambda opcode=opcode: [tensor(opcode, 3, 0, 1)])
    record_case(f"{name}-33-elements", lambda opcode=opcode: [tensor(opcode, 3, 0, 9, (11, 3))])
    record_case(f"{name}-behind-variable", lambda opcode=opcode: [tensor(opcode, 3, 300 * KIB)])
    record_case(f"{name}-half-behind", lambda opcode=opcode: [tensor(opcode, 3, 300 * KIB - 3)])
    record_case(f"{name}-unknown-variable", lambda opcode=opcode: [tensor(opcode, 77, 0)])
    record_case(f"{name}-input", lambda opcode=opcode: [tensor(opcode, 1, 0)])
    for at, step, counts in ((EDGE - PARTITION, PARTITION // 4, (2, 1)),
                             (EDGE, -PARTITION // 4, (2, 1)),
                             (EDGE - PARTITION, 1, (2, 2)),
                             (EDGE + PARTITION, -PARTITION // 4, (3, 1))):
        record_case(f"{name}-over-16-mib-from-{at:x}-by-{step}",
                    lambda opcode=opcode, at=at, step=step, counts=counts: [
                        far(step, at, counts, PARTITION // 4, opcode)])
for opcode, name in ((0xAA, "load"), (0xAB, "store")):
    for address, step in ((EDGE - 4, 1), (EDGE, -1), (EDGE - 2, 0)):
        record_case(f"real-{name}-over-16-mib-from-{address:x}-by-{step}",
                    lambda opcode=opcode, address=address, step=step: [
                        slot(opcode, b0C=9, b0E=2, b0F=1, q10=address, i18=step)])
record_case("address-behind-variable", lambda: [read_address(3, 300 * KIB)])
record_case("address-of-output", lambda: [read_address(2, 0)])
record_case("address-of-unknown-variable", lambda: [read_address(6, 0)])


def dge_case(name, *slots, engine="pool"):
    def make(arch):
        made = dge(arch)
        made.main.variable("cell", "pointer", size=8, referenced_var_id=3)
        made.main.emit(engine, plain(1), *slots)
        return made
    refused(f"dge-{name}")(make)


FROM, TO = (VARIABLE, 3, 0), (VARIABLE, SB, 0)
@refused("load-pointer-offset")
def load_pointer_offset(arch):
    made = program(arch)
    made.main.variable("cell", "pointer", size=8, referenced_var_id=1)
    made.main.emit("sp", tensor(0xCE, 3, 4))
    return made


dge_case("semaphore", direct(FROM, TO, 8))
dge_case("engine-without-queue", direct(FROM, TO, 24), engine="sp")
dge_case("source-behind-variable", direct((VARIABLE, 3, 64 * KIB - 127 * 64 - 63), TO, 24))
dge_case("target-behind-variable", direct(FROM, (VARIABLE, 4, 1), 24, steps=((64, 1), (516, 1))))
dge_case("start-before-variable", direct((VARIABLE, 3, 63), TO, 24, steps=((-64, 1),
                                                                          (PARTITION, 1))))
dge_case("input", direct((VARIABLE, 1, 0), TO, 24))
dge_case("table-as-variable", direct((VARIABLE, 6, 0), TO, 24, (1, 1), 4))
dge_case("unknown-variable", direct((VARIABLE, 90, 0), TO, 24))
dge_case("table-entry", direct((TABLE, 2, 0), TO, 24))
dge_case("table-entry-behind-variable", direct((TABLE, 1, 0xE001), TO, 24))
dge_case("partition-128", direct(FROM, (VARIABLE, SB, PARTITION), 24))
dge_case("partition-end", direct(FROM, (VARIABLE, SB, 0x38000 - 63), 24))
dge_case("pointer-offset", direct((VARIABLE, 7, 4), TO, 24, (1, 1), 4))
dge_case("count-0", direct(FROM, TO, 24, (0, 1)))
dge_case("indirect", direct(FROM, TO, 24, b0F=1))
dge_case("transpose", direct(FROM, TO, 24, b0F=2))
dge_case("in-loop", label(1), direct(FROM, TO, 24), branch_label(1, 3))
dge_case("extension-with-bounds", direct(FROM, TO, 24), slot(0xDA, w0C=100))
dge_case("extension-with-compute-op", direct(FROM, TO, 24), slot(0xDA, b03=1))
dge_case("trigger", trigger("qDyn", 0))
dge_case("rearm", rearm("qDyn"))

# -- variables


def variable_case(name, change, *archs, subgraphs=1):
    def make(arch):
        made = program(arch, subgraphs)
        change(made.main)
        return made
    refused(name, *archs)(make)


for kind in ("tmp-buf", "input", "output"):
    variable_case(f"{kind}-of-size-0", lambda part, kind=kind: part.variable("z", kind, size=0))
variable_case("virtual-of-size-0", lambda part: part.virtual("z", 0, 0))
variable_case("alignment-3", lambda part: part.variable("z", "tmp-buf", size=9, alignment=3))
variable_case("alignment-2-to-the-31",
              lambda part: part.variable("z", "tmp-buf", size=9, alignment=1 << 31))
variable_case("pointer-of-4-bytes",
              lambda part: part.variable("z", "pointer", size=4, referenced_var_id=1))
variable_case("pointer-to-nothing",
              lambda part: part.variable("z", "pointer", size=8, referenced_var_id=9))
variable_case("pointer-to-pointer",
              lambda part: [part.variable("p", "pointer", size=8, referenced_var_id=1),
                            part.variable("z", "pointer", size=8, referenced_var_id=3)])
variable_case("table-of-nothing", lambda part: part.variable("z", "dge-table", list=[1, 9]))
variable_case("list-of-nothing", lambda part: part.variable("z", "list", list=[9]))
variable_case("table-of-tables", lambda part: [part.variable("l", "list", list=[1]),
                                               part.variable("z", "dge-table", list=[1, 3])])
variable_case("two-tables", lambda part: [part.variable("a", "dge-table", list=[1]),
                                          part.variable("z", "dge-table", list=[2])])
variable_case("unknown-kind", lambda part: part.variable("z", "buffer", size=9))
variable_case("unknown-backing", lambda part: part.virtual("z", 4096, 0, backing_buf="other"))
variable_case("virtual-on-alt-fabric", lambda part: part.virtual("z", 4096, 0, fabric_path="alt"))
variable_case("virtual-off-page", lambda part: part.virtual("z", 4096, 512))
variable_case("no-room", lambda part: part.variable("z", "tmp-buf", size=40 << 30))
variable_case("no-room-for-pages", lambda part: part.virtual("z", 4096, 40 << 30))
variable_case("no-aligned-room", lambda part: [
    part.variable(f"z{n}", "tmp-buf", size=5 << 30, alignment=1 << 30) for n in range(5)])
variable_case("too-many-pages", lambda part: part.virtual("z", 4096, 1024 * 512 * MIB))
variable_case("sparse-ids", lambda part: part.variables.update(
    z={"type": "tmp-buf", "size": 9, "var_id": 7}))
variable_case("shared-id", lambda part: part.variables.update(
    z={"type": "tmp-buf", "size": 9, "var_id": 1}))
variable_case("size-unlike-payload", lambda part: [part.constant("z", 100),
                                                   part.variables["z"].update(size=101)])
variable_case("no-output", lambda part: part.variables["y"].update(type="input"))
variable_case("lone-remote", lambda part: part.variable("x_remote_sg1", "remote"))
for name, other in (("of-nothing", "q_remote_sg1"), ("of-input", "x_remote_sg01"),
                    ("of-itself", "SB_remote_sg0"), ("of-a-third", "SB_remote_sg2"),
                    ("without-number", "SB_remote")):
    variable_case(f"remote-{name}", lambda part, other=other: part.variable(other, "remote"), "v3",
                  subgraphs=2)
variable_case("no-reservation", lambda part: part.keys.clear(), "v3")
for key, value in (("offset", 229360), ("size", 16), ("partitions", 127), ("base_partition", 1),
                   ("type", "other")):
    variable_case(f"reservation-{key}", lambda part, key=key, value=value: part.keys[
        "runtime_statebuffer_reservation"][0].update({key: value}), "v3")

# -- queue sets and descriptors


def queue_case(name, change, *archs):
    def make(arch):
        made = with_memory(arch)
        change(made.main)
        return made
    refused(name, *archs)(make)


def fourteen(part):
    for number in range(14):
        queue = part.queue(f"q{number:02}", queues=1, first_semaphore=10 + number)
        fire(part, queue, part.block(queue, [row("w", "t", 8)]))


queue_case("14-ring-sets", fourteen)
queue_case("33-sets", lambda part: [part.queue(f"q{n:02}", "dynamic", queues=1,
                                               first_semaphore=10 + n) for n in range(33)])
queue_case("0-queues", lambda part: part.queue("q", queues=0))
queue_case("17-queues", lambda part: part.queue("q", queues=17))
queue_case("unknown-owner", lambda part: part.queues.update(
    q={"type": "data", "owner": "q7", "num_queues": 1, "semaphore": 9}))
queue_case("unknown-queue-type", lambda part: part.queue("q", "sideways"))
queue_case("act-load-of-2-queues", lambda part: part.queue("q", "act_load", queues=2))
queue_case("two-act-load-sets", lambda part: [part.queue("q1", "act_load", queues=1),
                                              part.queue("q2", "act_load", queues=1)])
for kind in ("embedding_update", "custom_op"):
    queue_case(f"queue-type-{kind.replace('_', '-')}", lambda part, kind=kind: part.queue(
        "q", kind, queues=1))
queue_case("both-semaphore-keys", lambda part: part.queue("q", semaphore=9))
queue_case("reserved-queue-semaphore", lambda part: part.queue("q", queues=1, first_semaphore=2))
queue_case("reserved-block-semaphore", lambda part: [
    part.queue("q"), part.block("q", [row("w", "t", 8)], semaphore=241)])
queue_case("instances-of-in", lambda part: part.queue("q", "in", queue_instances=["a", "b"]))
queue_case("static-block-on-dynamic", lambda part: [
    part.queue("q", "dynamic"), part.block("q", [row("w", "t", 8)])])
queue_case("event-with-two-queues", lambda part: [
    part.queue("q", queues=2), part.block("q", [row("w", "t", 8)], event=20)])
queue_case("remote-semaphores-of-one-core", lambda part: [
    part.queue("q"), part.block("q", [row("w", "t", 8)], remote_semaphores=[9])])
queue_case("block-twice", lambda part: [
    part.queue("q"), part.block("q", [row("w", "t", 8)], 3), part.block("q", [], 3)])


@refused("template-with-instances")
def template_with_instances(arch):
    made = instances(arch, 2, 2)
    made.main.block("ring1", [row("x", "t", 5)], 1, instance_name="ring1")
    made.main.emit("sp", trigger("ring1", 1))
    return made


def descriptor_case(name, descriptor, *archs):
    def change(part):
        part.queue("qData", queues=2)
        part.block("qData", [row("w", "t", 8), descriptor])
        fire(part, "qData", 0)
    queue_case(f"descriptor-{name}", change, *archs)


def pointer_with_offset(part):
    part.variable("cell", "pointer", size=8, referenced_var_id=1)
    part.queue("qData", queues=2)
    part.block("qData", [row("w", "cell", 4, 0, 4)])
    fire(part, "qData", 0)


queue_case("descriptor-pointer-offset", pointer_with_offset)
descriptor_case("unknown-source", row("none", "t", 8))
descriptor_case("unknown-target", row("w", "none", 8))
descriptor_case("size-0", row("w", "t", 0))
descriptor_case("outer-size-0", copy("w", "t", [8, 0], [1, 8], [1, 8]))
descriptor_case("strided-run", copy("w", "t", [8, 2], [2, 8], [1, 8]))
descriptor_case("unlike-sizes", copy("w", "t", [8, 2], [1, 8], [1, 8], to_sizes=[4, 4]))
descriptor_case("unlike-lengths", copy("w", "t", [8, 2], [1, 8], [1]))
descriptor_case("5-dimensions", copy("w", "t", [1] * 5, [1] * 5, [1] * 5))
descriptor_case("source-behind", row("w", "t", 2, 300 * KIB - 1))
descriptor_case("target-behind", row("w", "t", 2, 0, 2 * MIB - 1))
descriptor_case("source-before", copy("t", "v", [8, 3], [1, -8], [1, 8], from_off=15))
descriptor_case("partition-128", copy("w", "SB", [8, 2], [1, 8], [1, PARTITION],
                                      to_off=127 * PARTITION))
descriptor_case("partition-end", row("w", "SB", 8, 0, 0x30000 - 7), "v2")
descriptor_case("reserved-bytes", row("w", "SB", 8, 0, 229361), "v3")
for operation in ("add", "min", "max", "fma", "transpose", "other"):
    descriptor_case(operation, row("w", "t", 8) | {"op": operation})
descriptor_case("cast-of-unlike-counts", copy(
    "w", "t", [8, 2], [1, 8], [1, 8], op="cast", from_dtype="int8", to_dtype="float32"))
descriptor_case("cast-of-half-elements", copy(
    "w", "t", [7], [1], [1], op="cast", from_dtype="float32", to_dtype="float32"))
