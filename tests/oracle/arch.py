# SPDX-License-Identifier: MIT
"""Address maps and capabilities of the two architectures (spec 03 s7, 04 s5 and s7.1, 09)."""

from dataclasses import dataclass

GIB = 1 << 30
ENGINES = ("pe", "act", "pool", "dve", "sp")  # engine numbers 0..4
RING_QUEUE_STRIDE = 0x1000
RX_SIDE = 0x20000
TAIL_INCREMENT = 0x38
RX_SW_CONTROL = 0x64
TX_SW_CONTROL = 0xB0
SEMAPHORE_INCREMENT = 0x1800
STATE_BUFFER_BYTES = 0x2000000


@dataclass(frozen=True)
class Arch:
    name: str
    core_bases: tuple
    event_unit: int          # event unit relative to the core base
    local_window: int        # added to engine-local window offsets (04 rule 21)
    hbm_bases: tuple
    hbm_bytes: int
    cores_per_hbm: int
    dma_engine_bases: tuple  # first DMA engine of each core
    dma_engine_stride: int
    strong_order: bool       # SOW on RX instead of DMB on TX (decision 31)
    dve_tables: tuple        # (owner suffix, JSON key, bytes, window offset), copy order
    partition_limits: tuple  # usable SBUF bytes of a partition: without, with the reservation
    reservation_required: bool
    collective_trigger: int  # TOP_SP 0 host trigger (05 U)
    cores_per_logical: int   # default logical core size (spec 03 s8)
    has_libraries: bool      # GPSIMD libraries are staged (04 s2.2 step 11)

    def partition_bytes(self, reserved):
        return self.partition_limits[reserved]

    def hbm_of_core(self, core):
        return core // self.cores_per_hbm

    def event(self, core, number):
        return self.core_bases[core] + self.event_unit + 4 * number

    def semaphore(self, core, number):
        return self.core_bases[core] + self.event_unit + SEMAPHORE_INCREMENT + 4 * number

    def local(self, core, offset):
        return self.core_bases[core] + self.local_window + offset

    def queue_register(self, core, engine, queue, receive, register):
        base = self.dma_engine_bases[core] + engine * self.dma_engine_stride
        side = RX_SIDE if receive else 0
        return base + side + RING_QUEUE_STRIDE * (queue + 1) + register


def _v3_core(core):
    return (core >> 2) << 47 | ((core >> 1) & 1) << 38 | (2 + (core & 1)) << 36


_V3_DMA = (0x1002000000, 0x5004000000, 0x801002000000, 0x805004000000)

V2 = Arch(
    name="v2",
    core_bases=(0xFFFC0000000, 0xFFFC4000000),
    event_unit=0x2700000,
    local_window=0,
    hbm_bases=(0, 0x1000000000),
    hbm_bytes=16 * GIB,
    cores_per_hbm=1,
    dma_engine_bases=(0xFFFF0000000, 0xFFFF0700000),
    dma_engine_stride=0x40000,
    strong_order=False,
    dve_tables=(("opcode", "opcode_table", 0x800, 0x2B86000),
                ("control", "control_table", 0x800, 0x2B80000),
                ("datapath", "datapath_table", 0x2000, 0x2B82000)),
    partition_limits=(0x30000, 0x30000),
    reservation_required=False,
    collective_trigger=0xFFFD0000000 + 0x60848,
    cores_per_logical=1,
    has_libraries=True,
)

V3 = Arch(
    name="v3",
    core_bases=tuple(_v3_core(core) for core in range(8)),
    event_unit=0x802700000,
    local_window=0x800000000,
    hbm_bases=(0, 0x4000000000, 0x800000000000, 0x804000000000),
    hbm_bytes=24 * GIB,
    cores_per_hbm=2,
    dma_engine_bases=tuple(_V3_DMA[core // 2] + (core % 2) * 16 * 0x100000 for core in range(8)),
    dma_engine_stride=0x100000,
    strong_order=True,
    dve_tables=(("opcode", "opcode_table", 0x400, 0x2B86000),
                ("control fast", "control_fast_table", 0x1000, 0x2B80000),
                ("control slow", "control_slow_table", 0x1000, 0x2B81000),
                ("datapath", "datapath_table", 0x4000, 0x2B82000)),
    partition_limits=(0x38000, 229368),
    reservation_required=True,
    collective_trigger=0x8280000000 + 0x615A0,
    cores_per_logical=2,
    has_libraries=False,
)

PARAM_RAM_OFFSET = 0x2B87000
PARAM_RAM_BYTES = 0x400
ACT_WINDOWS = (0x2500000, 0x2520000, 0x2540000, 0x2580000)
ACT_LOAD_EVENT = 6
DVE_LOAD_EVENT = 7

TARGETS = {"sunda": V2, "v2": V2, "": V2, "cayman": V3, "v3": V3}
BY_NAME = {"v2": V2, "v3": V3}
