# SPDX-License-Identifier: MIT
"""The allocation sequence of models on one device (decision 34, spec 03 s4 and s12)."""

from dataclasses import dataclass

import scratchpad
import ucode
import windows
from arch import ENGINES, PARAM_RAM_BYTES
from container import Refused
from layout import IO_KINDS, Layout
from pool import Hbm
from queue_rules import check_queues
from records import SLOT
from rings import linear_ring_descriptors
from tables import CONSTANT_BLOCK_BYTES, act_buffers, dve_buffers
from variable_rules import check_variables

CODE, CONSTANTS, SCRATCHPAD, MISC, PRIVATE_SCRATCH, DMA_RINGS = 8, 10, 11, 12, 15, 18
EXEC_RING_BYTES = 131072
REQUEST_BYTES = 64
BUFFER_ALIGN = 64
RING_ALIGN = 256
CODE_ALIGN = 0x8000


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
    model: int


@dataclass
class Options:
    """What the loader was told; defaults as the loader's."""

    page_bytes: int = 512 << 20
    contiguous: bool = False
    logical_core: int = 0
    packet_bytes: int = 0    # 0: every copy is a packet


class Node:
    """One device: its HBMs and what stays on a core when several models share it."""

    def __init__(self, arch, options=None):
        self.arch, self.options = arch, options or Options()
        self.hbms = [Hbm(base, arch.hbm_bytes) for base in arch.hbm_bases]
        self.allocations, self.plans = [], []
        self.ready = set()       # cores with exec rings
        self.libraries = {}      # core -> GPSIMD libraries its models share
        self.arenas = {}         # core -> scratchpad pages, lowest arena offset first

    def allocate(self, core, owner, size, align, category, model):
        hbm = self.arch.hbm_of_core(core)
        pa, rounded = self.hbms[hbm].allocate(size, align, category)
        entry = Allocation(len(self.allocations), pa, rounded, size, align, category, hbm, core,
                           owner, model)
        self.allocations.append(entry)
        return entry

    def load(self, model, io_addresses=None):
        plan = Plan(model, self, len(self.plans), io_addresses)
        self.plans.append(plan)
        return plan


class Plan:
    """One model on a node; `places[i]` = {var_id: address} of subgraph i, on core `cores[i]`."""

    def __init__(self, model, node, number=0, io_addresses=None):
        self.model, self.node, self.arch, self.number = model, node, node.arch, number
        self.io = io_addresses
        check_variables(model, self.arch)
        check_queues(model, self.arch)
        self._check_cores()
        self.layouts = [Layout(subgraph, self.arch) for subgraph in model.subgraphs]
        first = node.options.logical_core * self.arch.cores_per_logical
        self.cores = [first + i for i in range(len(model.subgraphs))]
        self.places = [{} for _ in model.subgraphs]
        self.allocations = []
        self.by_owner = {}       # (subgraph index, owner) -> Allocation
        self._run()

    def _check_cores(self):
        count = len(self.model.subgraphs)
        if count not in (1, self.arch.cores_per_logical):
            raise Refused(f"{count} subgraphs on a logical core of {self.arch.cores_per_logical}")

    def allocate(self, index, owner, size, align, category):
        entry = self.node.allocate(self.cores[index], owner, size, align, category, self.number)
        self.allocations.append(entry)
        self.by_owner[index, owner] = entry
        return entry.pa

    def address(self, index, owner):
        return self.by_owner[index, owner].pa

    def _run(self):
        indices = range(len(self.model.subgraphs))
        for index in indices:
            self._core_resources(index)
        scratchpad.reserve(self)
        for index in indices:
            self._variables(index)
        for index in indices:
            self._remotes(index)
        for index in indices:
            self._resources(index)
        for layout, places in zip(self.layouts, self.places):
            for engine, stream in layout.streams.items():
                windows.check_placed(stream, places, engine)
        if self.io is not None:
            for index in indices:
                self._rings(index, template=True)

    def _core_resources(self, index):
        core = self.cores[index]
        if core not in self.node.ready:
            self.node.ready.add(core)
            self.allocate(index, "exec tx ring", EXEC_RING_BYTES, RING_ALIGN, DMA_RINGS)
            self.allocate(index, "exec rx ring", EXEC_RING_BYTES, RING_ALIGN, DMA_RINGS)
            self.allocate(index, "request buffer", REQUEST_BYTES, BUFFER_ALIGN, MISC)

    def _variables(self, index):
        for variable in self.model.subgraphs[index].variables:
            address = self._place(index, variable)
            if address is not None:
                self.places[index][variable.var_id] = address

    def _place(self, index, variable):
        owner = f"variable {variable.name}"
        if variable.kind == "state-buffer":
            return self.arch.core_bases[self.cores[index]]
        if variable.kind == "file":
            return self.allocate(index, owner, variable.size, variable.alignment, CONSTANTS)
        if variable.kind == "virtual":
            address = scratchpad.place(self, index, variable)
            if address is not None:
                return address
        if variable.kind in ("tmp-buf", "virtual"):
            return self.allocate(index, owner, variable.size, variable.alignment, PRIVATE_SCRATCH)
        if variable.kind in IO_KINDS and self.io is not None:
            return self.io[variable.name]
        return None

    def _remotes(self, index):
        for variable in self.model.subgraphs[index].variables:
            if variable.kind == "remote":
                sibling, var_id = variable.remote
                self.places[index][variable.var_id] = self.places[sibling][var_id]

    def _resources(self, index):
        subgraph = self.model.subgraphs[index]
        self.allocate(index, "constant block", CONSTANT_BLOCK_BYTES, BUFFER_ALIGN, MISC)
        self._pointers(index, subgraph)
        for variable in subgraph.variables:
            if variable.kind == "dge-table" and variable.members:
                self.places[index][variable.var_id] = self.allocate(
                    index, f"table {variable.name}", variable.size, BUFFER_ALIGN, MISC)
        self._rings(index, template=False, indirect=True)
        act = act_buffers(subgraph.act_sets)
        self._table_group(index, "act", [(owner, len(data)) for owner, data in act])
        dve = [(owner, len(data)) for owner, data, _ in dve_buffers(subgraph.dve_tables, self.arch)]
        self._table_group(index, "dve", dve + [("dve param ram", PARAM_RAM_BYTES)] if dve else [])
        self._libraries(index, subgraph.libraries)
        for engine in ENGINES:
            slots = self.layouts[index].streams[engine].image_slots
            self.allocate(index, f"instructions {engine}", slots * SLOT, CODE_ALIGN, CODE)
        self._rings(index, template=False)

    def _pointers(self, index, subgraph):
        cells = [variable for variable in subgraph.variables if variable.kind == "pointer"]
        if cells:
            base = self.allocate(index, "pointer cells", 8 * len(cells), BUFFER_ALIGN, MISC)
            for number, variable in enumerate(cells):
                self.places[index][variable.var_id] = base + 8 * number

    def _libraries(self, index, libraries):
        """GPSIMD libraries; a single one belongs to the core (04 s2.3)."""
        if not libraries or not self.arch.has_libraries:
            return
        ucode.check_limits(libraries)
        if len(libraries) == 1:
            shared = self.node.libraries.setdefault(self.cores[index], [])
            if libraries[0] in shared:
                return
            shared.append(libraries[0])
        memory, _ = ucode.memory_of(libraries)
        self.allocate(index, "ucode libraries", len(memory), BUFFER_ALIGN, CODE)
        self.allocate(index, "ucode table", ucode.TABLE_BYTES, BUFFER_ALIGN, CODE)

    def _table_group(self, index, name, buffers):
        """The buffers of ACT or DVE, then the ring pair that copies them."""
        if not buffers:
            return
        for owner, size in buffers:
            self.allocate(index, owner, size, BUFFER_ALIGN, MISC)
        used = sum(-(-size // 65536) for _, size in buffers) + 1
        for side in ("tx", "rx"):
            self.allocate(index, f"{name} {side} ring", 16 * linear_ring_descriptors(used),
                          RING_ALIGN, DMA_RINGS)

    def _rings(self, index, template, indirect=False):
        layout = self.layouts[index]
        for queue_set in self.model.subgraphs[index].queue_sets:
            if queue_set.indirect != indirect or \
                    (queue_set.name in layout.templates) != template:
                continue
            for instance in queue_set.instances:
                self._instance_rings(index, queue_set, instance, layout.used[instance.name])

    def _instance_rings(self, index, queue_set, instance, used):
        for k, count in enumerate(used):
            for side in ("tx", "rx") if count else ():
                self.allocate(index, ring_owner(queue_set, instance, k, side),
                              16 * linear_ring_descriptors(count), RING_ALIGN, DMA_RINGS)


def ring_owner(queue_set, instance, k, side):
    return f"ring {queue_set.name}.{instance.index}.{k} {side}"
