# SPDX-License-Identifier: MIT
"""Expected contents of every allocation, from the NEFF and a table of addresses."""

import struct
from dataclasses import dataclass

from arch import ACT_LOAD_EVENT, ACT_WINDOWS, DVE_LOAD_EVENT, ENGINES, PARAM_RAM_OFFSET
from instructions import Translator
from rings import RingSet, linear_ring_descriptors, template_pointer
from tables import SIGNAL_OFFSET, act_buffers, constant_block, dve_buffers, param_ram


@dataclass
class Content:
    group: str
    core: int
    owner: str
    data: bytes
    unit: int = 1            # 16 = descriptors, 64 = instruction slots


class Expectation:
    """`address(core, owner)` gives the place of an allocation; `places` those of variables."""

    def __init__(self, plan, address, places):
        self.plan, self.arch, self.address, self.places = plan, plan.arch, address, places
        self.contents = []
        self.images = []     # per subgraph {engine: Image}
        self.vrings = {}     # host vring file name -> bytes
        for core, subgraph in enumerate(plan.model.subgraphs):
            self._subgraph(core, subgraph)

    def add(self, group, core, owner, data, unit=1):
        self.contents.append(Content(group, core, owner, data, unit))

    def _subgraph(self, core, subgraph):
        signal = self.address(core, "constant block") + SIGNAL_OFFSET
        for variable in subgraph.variables:
            if variable.kind == "file":
                self.add("weights", core, f"variable {variable.name}", variable.payload)
        self.add("constant blocks", core, "constant block", constant_block())
        self._pointer_cells(core, subgraph)
        self._tables(core, subgraph)
        self._act(core, subgraph, signal)
        self._dve(core, subgraph, signal)
        self._instructions(core, subgraph)
        self._rings(core, subgraph, signal)

    def _cell(self, core, var_id):
        """An address cell: 0 while the variable is not placed (spec 03 R2, R3)."""
        return struct.pack("<Q", self.places[core].get(var_id, 0))

    def _pointer_cells(self, core, subgraph):
        cells = [variable for variable in subgraph.variables if variable.kind == "pointer"]
        if cells:
            self.add("pointer cells", core, "pointer cells",
                     b"".join(self._cell(core, variable.referenced) for variable in cells))

    def _tables(self, core, subgraph):
        for variable in subgraph.variables:
            if variable.kind == "dge-table":
                self.add("dge tables", core, f"table {variable.name}",
                         b"".join(self._cell(core, member) for member in variable.members))

    def _act(self, core, subgraph, signal):
        buffers = act_buffers(subgraph.act_sets)
        for owner, data in buffers:
            self.add("act tables", core, owner, data)
        targets = [self.arch.local(core, window) for window in ACT_WINDOWS]
        self._copy_ring(core, "act", buffers, targets, signal, ACT_LOAD_EVENT)

    def _dve(self, core, subgraph, signal):
        tables = dve_buffers(subgraph.dve_tables, self.arch)
        if tables:
            tables.append(("dve param ram", param_ram(), PARAM_RAM_OFFSET))
        for owner, data, _ in tables:
            self.add("dve tables", core, owner, data)
        targets = [self.arch.local(core, window) for _, _, window in tables]
        self._copy_ring(core, "dve", [(owner, data) for owner, data, _ in tables], targets,
                        signal, DVE_LOAD_EVENT)

    def _copy_ring(self, core, name, buffers, targets, signal, event):
        if not buffers:
            return
        ring = RingSet(1, self.arch, core, signal)
        for (owner, data), target in zip(buffers, targets):
            ring.append_copy(0, self.address(core, owner), target, len(data))
        ring.append_poke(0, self.arch.event(core, event))
        for side in ("tx", "rx"):
            self._ring(f"{name} ring", core, f"{name} {side} ring", ring.half(0, side))

    def _ring(self, group, core, owner, half):
        """A ring: used descriptors, then zeros up to the allocated count."""
        size = 16 * linear_ring_descriptors(len(half) // 16)
        self.add(group, core, owner, half.ljust(size, b"\0"), 16)

    def _instructions(self, core, subgraph):
        layout = self.plan.layouts[core]
        counts = {name: iter(values) for name, values in layout.counts.items()}
        translator = Translator(self.arch, core, subgraph.queue_sets, self.places[core], counts)
        images = {}
        for engine in ENGINES:
            images[engine] = translator.image(engine, subgraph.streams[engine])
            self.add("instructions", core, f"instructions {engine}", bytes(images[engine].data),
                     64)
        self.images.append(images)

    def _rings(self, core, subgraph, signal):
        layout = self.plan.layouts[core]
        for queue_set in subgraph.queue_sets:
            if queue_set.dynamic or not layout.sequence[queue_set.name]:
                continue
            if queue_set.name not in layout.templates:
                bases = self._bases(core, subgraph)
                ring = self._authored(core, subgraph, queue_set, signal, bases)
                self._add_rings("static rings", core, queue_set, ring)
                continue
            bases = self._bases(core, subgraph, template=True)
            self._add_vrings(core, subgraph, queue_set,
                             self._authored(core, subgraph, queue_set, signal, bases))
            if self.plan.io is not None:
                bases = self._bases(core, subgraph)
                ring = self._authored(core, subgraph, queue_set, signal, bases)
                self._add_rings("bound rings", core, queue_set, ring)

    def _bases(self, core, subgraph, template=False):
        bases = {}
        for variable in subgraph.variables:
            if template and variable.kind in ("input", "output"):
                bases[variable.name] = template_pointer(variable.var_id)
            elif variable.var_id in self.places[core]:
                bases[variable.name] = self.places[core][variable.var_id]
        return bases

    def _authored(self, core, subgraph, queue_set, signal, bases):
        ring = RingSet(queue_set.num_queues, self.arch, core, signal)
        for block in self.plan.layouts[core].sequence[queue_set.name]:
            ring.append_block(block, bases)
        return ring

    def _add_rings(self, group, core, queue_set, ring):
        for k in range(queue_set.num_queues):
            for side in ("tx", "rx"):
                half = ring.half(k, side)
                if half:
                    self._ring(group, core, f"ring {queue_set.name}.0.{k} {side}", half)

    def _add_vrings(self, core, subgraph, queue_set, ring):
        for k in range(queue_set.num_queues):
            for side in ("tx", "rx"):
                name = f"{subgraph.name}.{queue_set.name}.0.{k}.{side}.bin"
                self.vrings[name] = ring.half(k, side)
