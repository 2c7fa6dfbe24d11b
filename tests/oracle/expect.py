# SPDX-License-Identifier: MIT
"""Expected contents of every allocation of one planned model."""

import struct
from dataclasses import dataclass

from arch import ACT_LOAD_EVENT, ACT_WINDOWS, DVE_LOAD_EVENT, ENGINES, PARAM_RAM_OFFSET
from layout import IO_KINDS
from operands import Variables
from plan import ring_owner
from rings import RingSet, linear_ring_descriptors, template_pointer
from tables import SIGNAL_OFFSET, act_buffers, constant_block, dve_buffers, param_ram
from translate import Translator
from ucode import function_table, memory_of


@dataclass
class Content:
    group: str
    index: int               # subgraph of the model
    owner: str
    data: bytes
    unit: int = 1            # 16 = descriptors, 64 = instruction slots


class Expectation:
    """`contents` by allocation; whatever an allocation holds beyond its content is zero."""

    def __init__(self, plan):
        self.plan, self.arch = plan, plan.arch
        self.contents = {}   # allocation seq -> Content
        self.images = []     # per subgraph {engine: Image}
        self.vrings = {}     # host vring file name -> bytes
        for index, subgraph in enumerate(plan.model.subgraphs):
            self._subgraph(index, subgraph)

    def add(self, group, index, owner, data, unit=1):
        entry = self.plan.by_owner[index, owner]
        self.contents[entry.seq] = Content(group, index, owner, data, unit)

    def _subgraph(self, index, subgraph):
        signal = self.plan.address(index, "constant block") + SIGNAL_OFFSET
        for variable in subgraph.variables:
            if variable.kind == "file":
                self.add("weights", index, f"variable {variable.name}", variable.payload)
        self.add("constant blocks", index, "constant block", constant_block())
        self._pointer_cells(index, subgraph)
        self._tables(index, subgraph)
        self._act(index, subgraph, signal)
        self._dve(index, subgraph, signal)
        self._libraries(index, subgraph.libraries)
        self._instructions(index, subgraph)
        self._rings(index, subgraph, signal)

    def _cell(self, index, var_id):
        """An address cell: 0 while the variable is not placed (spec 03 R2, R3)."""
        return struct.pack("<Q", self.plan.places[index].get(var_id, 0))

    def _pointer_cells(self, index, subgraph):
        cells = [variable for variable in subgraph.variables if variable.kind == "pointer"]
        if cells:
            self.add("pointer cells", index, "pointer cells",
                     b"".join(self._cell(index, variable.referenced) for variable in cells))

    def _tables(self, index, subgraph):
        for variable in subgraph.variables:
            if variable.kind == "dge-table" and variable.members:
                self.add("dge tables", index, f"table {variable.name}",
                         b"".join(self._cell(index, member) for member in variable.members))

    def _act(self, index, subgraph, signal):
        buffers = act_buffers(subgraph.act_sets)
        for owner, data in buffers:
            self.add("act tables", index, owner, data)
        targets = [self.arch.local(self.plan.cores[index], window) for window in ACT_WINDOWS]
        self._copy_ring(index, "act", buffers, targets, signal, ACT_LOAD_EVENT)

    def _dve(self, index, subgraph, signal):
        tables = dve_buffers(subgraph.dve_tables, self.arch)
        if tables:
            tables.append(("dve param ram", param_ram(), PARAM_RAM_OFFSET))
        for owner, data, _ in tables:
            self.add("dve tables", index, owner, data)
        core = self.plan.cores[index]
        targets = [self.arch.local(core, window) for _, _, window in tables]
        self._copy_ring(index, "dve", [(owner, data) for owner, data, _ in tables], targets,
                        signal, DVE_LOAD_EVENT)

    def _libraries(self, index, libraries):
        if (index, "ucode table") not in self.plan.by_owner:
            return               # none, or another model has staged the one they share
        memory, _ = memory_of(libraries)
        self.add("ucode libraries", index, "ucode libraries", memory)
        self.add("ucode table", index, "ucode table",
                 function_table(libraries, self.plan.address(index, "ucode libraries")))

    def _copy_ring(self, index, name, buffers, targets, signal, event):
        if not buffers:
            return
        core = self.plan.cores[index]
        ring = RingSet(1, self.arch, core, signal)
        for (owner, data), target in zip(buffers, targets):
            ring.append_copy(0, self.plan.address(index, owner), target, len(data))
        ring.append_poke(0, self.arch.event(core, event))
        for side in ("tx", "rx"):
            self.add(f"{name} ring", index, f"{name} {side} ring", padded(ring.half(0, side)), 16)

    def _instructions(self, index, subgraph):
        layout = self.plan.layouts[index]
        counts = {name: iter(values) for name, values in layout.counts.items()}
        variables = Variables(subgraph, self.plan.places[index])
        images = {}
        for engine in ENGINES:
            translator = Translator(self.arch, self.plan.cores[index], layout.streams[engine],
                                    variables, counts)
            owner = f"instructions {engine}"
            images[engine] = translator.image(self.plan.address(index, owner))
            self.add("instructions", index, owner, bytes(images[engine].data), 64)
        self.images.append(images)

    def _rings(self, index, subgraph, signal):
        layout = self.plan.layouts[index]
        for queue_set in subgraph.queue_sets:
            for instance in queue_set.instances:
                if layout.sequence[instance.name]:
                    self._instance(index, subgraph, queue_set, instance, signal)

    def _instance(self, index, subgraph, queue_set, instance, signal):
        template = queue_set.name in self.plan.layouts[index].templates
        if template:
            ring = self._authored(index, queue_set, instance, signal,
                                  self._bases(index, subgraph, template=True))
            self._add_vrings(subgraph, queue_set, instance, ring)
            if self.plan.io is None:
                return
        ring = self._authored(index, queue_set, instance, signal, self._bases(index, subgraph))
        group = "bound rings" if template else "static rings"
        for k in range(queue_set.num_queues):
            for side in ("tx", "rx"):
                half = ring.half(k, side)
                if half:
                    self.add(group, index, ring_owner(queue_set, instance, k, side), padded(half),
                             16)

    def _bases(self, index, subgraph, template=False):
        bases = {}
        for variable in subgraph.variables:
            if template and variable.kind in IO_KINDS:
                bases[variable.name] = template_pointer(variable.var_id)
            elif variable.var_id in self.plan.places[index]:
                bases[variable.name] = self.plan.places[index][variable.var_id]
        return bases

    def _authored(self, index, queue_set, instance, signal, bases):
        ring = RingSet(queue_set.num_queues, self.arch, self.plan.cores[index], signal,
                       self.plan.node.options.packet_bytes)
        for block in self.plan.layouts[index].sequence[instance.name]:
            ring.append_block(block, bases)
        return ring

    def _add_vrings(self, subgraph, queue_set, instance, ring):
        for k in range(queue_set.num_queues):
            for side in ("tx", "rx"):
                name = f"{subgraph.name}.{queue_set.name}.{instance.index}.{k}.{side}.bin"
                self.vrings[name] = ring.half(k, side)


def padded(half):
    """A ring: used descriptors, then zeros up to the allocated count."""
    return half.ljust(16 * linear_ring_descriptors(len(half) // 16), b"\0")
