# SPDX-License-Identifier: MIT
"""The allocation plan of one model on a fresh device (decision 34, spec 03 s4 and s12)."""

import re
from dataclasses import dataclass

from arch import ENGINES, PARAM_RAM_BYTES
from container import NeffError
from instructions import SLOT, image_slots, triggers
from pool import Hbm
from rings import block_counts, linear_ring_descriptors
from tables import CONSTANT_BLOCK_BYTES, act_buffers, dve_buffers

CODE, CONSTANTS, SCRATCHPAD, MISC, PRIVATE_SCRATCH, DMA_RINGS = 8, 10, 11, 12, 15, 18
EXEC_RING_BYTES = 131072
REQUEST_BYTES = 64
BUFFER_ALIGN = 64
RING_ALIGN = 256
CODE_ALIGN = 0x8000
PAGE_BYTES = 512 << 20
PAGE_ALIGN = 4 << 20
SHARED_BUFFERS = ("shared", "main")
REMOTE_NAME = re.compile(r"^(.+)_remote_sg([0-9]+)$")


@dataclass
class Allocation:
    seq: int
    pa: int
    size: int
    requested: int
    align: int
    category: int
    hbm: int
    core: int
    owner: str


class Layout:
    """Address-free facts of one subgraph: trigger order and descriptor counts of its rings."""

    def __init__(self, subgraph):
        self.sequence = {queue_set.name: [] for queue_set in subgraph.queue_sets}
        sets = {queue_set.name: queue_set for queue_set in subgraph.queue_sets}
        for engine in ENGINES:
            for name, block_id in triggers(subgraph.streams[engine]):
                if name not in sets or sets[name].dynamic or block_id not in sets[name].blocks:
                    raise NeffError(f"{engine}: trigger of unknown block {block_id} of {name}")
                if sets[name].owner != engine:
                    raise NeffError(f"{engine} triggers {name}, which {sets[name].owner} owns")
                self.sequence[name].append(sets[name].blocks[block_id])
        self.counts = {name: [block_counts(block, sets[name].num_queues) for block in blocks]
                       for name, blocks in self.sequence.items()}
        self.used = {name: [sum(column) for column in zip(*counts)]
                     for name, counts in self.counts.items()}
        kinds = {variable.name: variable.kind for variable in subgraph.variables}
        self.templates = {name for name, blocks in self.sequence.items() if any(
            kinds[side] in ("input", "output")
            for block in blocks for desc in block.descriptors
            for side in (desc.source, desc.target))}
        num_queues = {queue_set.name: queue_set.num_queues for queue_set in subgraph.queue_sets}
        self.image_slots = {engine: image_slots(subgraph.streams[engine], num_queues)
                            for engine in ENGINES}


def is_shared(variable):
    return variable.backing_buf in SHARED_BUFFERS  # spec 03 R4


def arena_bytes(subgraph, shared):
    return max((variable.backing_offset + variable.size for variable in subgraph.variables
                if variable.kind == "virtual" and is_shared(variable) == shared), default=0)


class Plan:
    """Runs the allocation sequence; `allocations` in order, `places[i]` = {var_id: address}."""

    def __init__(self, model, arch, io_addresses=None):
        self.model, self.arch = model, arch
        self.io = io_addresses
        self.hbms = [Hbm(base, arch.hbm_bytes) for base in arch.hbm_bases]
        self.allocations = []
        self.layouts = [Layout(subgraph) for subgraph in model.subgraphs]
        self.places = [{} for _ in model.subgraphs]
        self.pages = [[] for _ in model.subgraphs]
        self._run()

    def allocate(self, core, owner, size, align, category):
        hbm = self.arch.hbm_of_core(core)
        pa, rounded = self.hbms[hbm].allocate(size, align, category)
        self.allocations.append(Allocation(len(self.allocations), pa, rounded, size, align,
                                           category, hbm, core, owner))
        return pa

    def _run(self):
        cores = range(len(self.model.subgraphs))
        for core in cores:
            self.allocate(core, "exec tx ring", EXEC_RING_BYTES, RING_ALIGN, DMA_RINGS)
            self.allocate(core, "exec rx ring", EXEC_RING_BYTES, RING_ALIGN, DMA_RINGS)
            self.allocate(core, "request buffer", REQUEST_BYTES, BUFFER_ALIGN, MISC)
        self._scratchpads()
        for core in cores:
            self._variables(core)
        for core in cores:
            self._remotes(core)
        for core in cores:
            self._resources(core)
        if self.io is not None:
            for core in cores:
                self._rings(core, template=True)

    def _scratchpads(self):
        """Arena bases and pages of every core (spec 03 s4.2, paged mode, R7 off)."""
        shared = max(arena_bytes(subgraph, True) for subgraph in self.model.subgraphs)
        self.local_base = []
        for core, subgraph in enumerate(self.model.subgraphs):
            size, run = arena_bytes(subgraph, False), shared if core == 0 else 0
            slack = PAGE_BYTES - run % PAGE_BYTES
            if run % PAGE_BYTES and slack < size:
                run += slack
            self.local_base.append(run)
            for page in range(-(-(run + size) // PAGE_BYTES)):
                self.pages[core].append(self.allocate(core, f"scratchpad page {page}", PAGE_BYTES,
                                                      PAGE_ALIGN, SCRATCHPAD))

    def _variables(self, core):
        for variable in self.model.subgraphs[core].variables:
            address = self._place(core, variable)
            if address is not None:
                self.places[core][variable.var_id] = address

    def _place(self, core, variable):
        owner = f"variable {variable.name}"
        if variable.kind == "state-buffer":
            return self.arch.core_bases[core]
        if variable.kind == "file":
            return self.allocate(core, owner, variable.size, variable.alignment, CONSTANTS)
        if variable.kind == "tmp-buf":
            return self.allocate(core, owner, variable.size, variable.alignment, PRIVATE_SCRATCH)
        if variable.kind == "virtual":
            return self._place_virtual(core, variable, owner)
        if variable.kind in ("input", "output") and self.io is not None:
            return self.io[variable.name]
        return None

    def _place_virtual(self, core, variable, owner):
        base, pages = self.local_base[core], self.pages[core]
        if is_shared(variable):
            base, pages = 0, self.pages[0]
        offset = base + variable.backing_offset
        if offset % PAGE_BYTES + variable.size > PAGE_BYTES:
            return self.allocate(core, owner, variable.size, variable.alignment, PRIVATE_SCRATCH)
        return pages[offset // PAGE_BYTES] + offset % PAGE_BYTES

    def _remotes(self, core):
        for variable in self.model.subgraphs[core].variables:
            if variable.kind == "remote":
                name, index = REMOTE_NAME.match(variable.name).groups()
                sibling = self.model.subgraphs[int(index)].by_name(name)
                self.places[core][variable.var_id] = self.places[int(index)][sibling.var_id]

    def _resources(self, core):
        subgraph = self.model.subgraphs[core]
        self.allocate(core, "constant block", CONSTANT_BLOCK_BYTES, BUFFER_ALIGN, MISC)
        self._pointers(core, subgraph)
        for variable in subgraph.variables:
            if variable.kind == "dge-table":
                self.places[core][variable.var_id] = self.allocate(
                    core, f"table {variable.name}", variable.size, BUFFER_ALIGN, MISC)
        act = act_buffers(subgraph.act_sets)
        self._table_group(core, "act", [(owner, len(data)) for owner, data in act])
        dve = [(owner, len(data)) for owner, data, _ in dve_buffers(subgraph.dve_tables, self.arch)]
        self._table_group(core, "dve", dve + [("dve param ram", PARAM_RAM_BYTES)] if dve else [])
        for engine in ENGINES:
            slots = self.layouts[core].image_slots[engine]
            self.allocate(core, f"instructions {engine}", slots * SLOT, CODE_ALIGN, CODE)
        self._rings(core, template=False)

    def _pointers(self, core, subgraph):
        cells = [variable for variable in subgraph.variables if variable.kind == "pointer"]
        if cells:
            base = self.allocate(core, "pointer cells", 8 * len(cells), BUFFER_ALIGN, MISC)
            for number, variable in enumerate(cells):
                self.places[core][variable.var_id] = base + 8 * number

    def _table_group(self, core, name, buffers):
        """The buffers of ACT or DVE, then the ring pair that copies them."""
        if not buffers:
            return
        for owner, size in buffers:
            self.allocate(core, owner, size, BUFFER_ALIGN, MISC)
        used = sum(-(-size // 65536) for _, size in buffers) + 1
        for side in ("tx", "rx"):
            self.allocate(core, f"{name} {side} ring", 16 * linear_ring_descriptors(used),
                          RING_ALIGN, DMA_RINGS)

    def _rings(self, core, template):
        layout = self.layouts[core]
        for queue_set in self.model.subgraphs[core].queue_sets:
            if queue_set.dynamic or (queue_set.name in layout.templates) != template:
                continue
            for k, used in enumerate(layout.used[queue_set.name]):
                for side in ("tx", "rx") if used else ():
                    self.allocate(core, f"ring {queue_set.name}.0.{k} {side}",
                                  16 * linear_ring_descriptors(used), RING_ALIGN, DMA_RINGS)
