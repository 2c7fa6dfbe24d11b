# SPDX-License-Identifier: MIT
"""Address-free facts of one subgraph: scanned streams, ring contents in order, descriptor counts."""

from arch import ENGINES
from container import Refused
from rings import block_counts
from scan import Stream

IO_KINDS = ("input", "output")


class Layout:
    def __init__(self, subgraph, arch):
        self.subgraph = subgraph
        self.streams = {engine: Stream(engine, subgraph.streams[engine], subgraph, arch)
                        for engine in ENGINES}
        self._number_collectives()
        self.sequence = {}       # instance name -> [Block] in trigger order
        self.counts = {}         # instance name -> [descriptors per ring] of each of those blocks
        self.used = {}           # instance name -> descriptors of one half, per ring
        self.templates = set()   # queue sets that wait for inputs and outputs (decision 21)
        for queue_set in subgraph.queue_sets:
            for instance in queue_set.instances:
                self._instance(queue_set, instance)
            if self._names_io(queue_set.blocks):
                self._template(queue_set)

    def _instance(self, queue_set, instance):
        name = instance.name
        blocks = [instance.blocks[function, block] for queue, function, block in
                  self.streams[queue_set.owner].triggers if queue == name]
        self.sequence[name] = blocks
        self.counts[name] = [block_counts(block, queue_set.num_queues) for block in blocks]
        self.used[name] = [sum(column) for column in zip(*self.counts[name])]

    def _template(self, queue_set):
        """The descriptors of a ring instance are all that def.json lists, triggered or not
        (decision 21, 02 s10.3)."""
        self.templates.add(queue_set.name)
        if len(queue_set.instances) > 1:
            raise Refused(f"template queue set {queue_set.name} has "
                          f"{len(queue_set.instances)} instances (04 s3)")

    def _names_io(self, blocks):
        names = self.subgraph.names
        return any(names[side].kind in IO_KINDS for block in blocks for desc in block.descriptors
                   for side in (desc.source, desc.target))

    def _number_collectives(self):
        """1-based index over the engines in order, each in stream order (05 U)."""
        number = 0
        for stream in self.streams.values():
            for slot in stream.collective_slots:
                number += 1
                stream.collectives[slot] = number
