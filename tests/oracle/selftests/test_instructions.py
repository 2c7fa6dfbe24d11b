# SPDX-License-Identifier: MIT
"""Worked examples of the specification: records, images, instruction pointers."""

import struct
import unittest

from arch import V2, V3
from container import Refused, parse_neff
from corpus import rings, streams
from expect import Expectation
from ipmap import device_to_neff, image_rows, neff_ip, rows_of, source_slot
from kelf import Block, Instance, QueueSet, Subgraph, Variable, parse_model
from layout import Layout
from operands import Variables
from plan import Node
from records import SLOT, branch_record, postamble, preamble
from scan import Stream
from translate import Translator


class Instructions(unittest.TestCase):
    def translate(self, text, bases=None, num_queues=1, queue_id=1, counts=(), base=0,
                  state_buffer=None):
        """Slots of the POOL image; every var_id up to the largest of `bases` exists."""
        kinds = {state_buffer: "state-buffer"}
        variables = [Variable(f"v{i}", kinds.get(i, "file"), i, 1 << 30)
                     for i in range(max(bases or {0: 0}) + 1)]
        variables.append(Variable("table", "dge-table", len(variables), 16, members=(0, 0)))
        blocks = {("", i): Block(i, "q_gradient_out", 11, None, (), []) for i in range(4)}
        queue = QueueSet("q_gradient_out", "out", "pool", num_queues, (11,), queue_id,
                         [Instance("q_gradient_out", 0, blocks)])
        dynamic = QueueSet("qDyn", "dynamic", "pool", 16, tuple(range(10, 26)), None)
        subgraph = Subgraph("sg00", variables, [queue, dynamic], {}, [], {})
        source = b"".join(bytes.fromhex(part).ljust(64, b"\0") for part in text)
        stream = Stream("pool", source, subgraph, V2)
        translator = Translator(V2, 0, stream, Variables(subgraph, bases or {}),
                                {queue.name: iter(counts)})
        image = translator.image(base)
        return [bytes(image.data[at:at + 64]) for at in range(0, len(image.data), 64)]

    TRIGGER = "c110000004160000000000" "00715f6772616469656e745f6f7574"

    def test_e3_direct_2d(self):
        slots = self.translate(["d410000004160000" "00000000000c0100" "0000000004000010"
                                "0000000000000000" "0100010080000000" "0002000001000010"
                                "0000000000000000" "0100010080000a0a"],
                               {4: 0x100002000, 1: 0xFFFC0000000}, state_buffer=1)
        self.assertEqual(slots[1].hex(),
                         "b810000004160000" "00000000000c0100" "0020000001000000"
                         "0000000000000000" "0100010080000000" "000200c0ff0f0000"
                         "0000000000000000" "0100010080000a0a")

    def test_e3_table_operand_is_kept(self):
        slots = self.translate(["d4100000" + "00" * 9 + "0c0000" + "4000000001000020" + "00" * 8
                                + "0100010010000000" + "0000000000000010" + "00" * 8
                                + "0100010010000000"], {0: 0x1000}, state_buffer=0)
        self.assertEqual(slots[1][0x10:0x18].hex(), "4000000001000020")
        self.assertEqual(slots[1][0x28:0x30].hex(), "0010000000000000")

    def test_e2_tensor_load(self):
        slots = self.translate(["ce10000000000000" "0000000009000101" "0400000040000000"
                                "0100000001000000" "05"], {4: 0x100002000})
        self.assertEqual(slots[1][:33].hex(), "aa10000000000000" "0000000009000101"
                         "4020000001000000" "0100000001000000" "05")

    def test_e5_trigger(self):
        slots = self.translate([self.TRIGGER], counts=[[2]])
        self.assertEqual(slots[1].hex(), ("a510000004160000" "0000000004000000"
                                          "382002f0ff0f0000" "02").ljust(128, "0"))
        self.assertEqual(slots[2].hex(), ("a510000000000000" "0000000004000000"
                                          "382000f0ff0f0000" "02").ljust(128, "0"))

    def test_trigger_of_two_rings_splits_wait_and_update(self):
        text = "c110000005071304" + "09000000" + self.TRIGGER[24:]
        slots = self.translate([text], num_queues=2, counts=[[3, 4]])[1:5]
        self.assertEqual([slot[4:12].hex() for slot in slots],
                         ["0507000009000000", "00" * 8, "00" * 8, "0000130409000000"])
        self.assertEqual([struct.unpack_from("<QI", slot, 0x10) for slot in slots],
                         [(0xFFFF0022038, 3), (0xFFFF0002038, 3), (0xFFFF0062038, 4),
                          (0xFFFF0042038, 4)])

    def test_rearm_writes_the_reset_bit(self):
        slots = self.translate(["c2" + self.TRIGGER[2:]])[1:3]
        self.assertEqual([struct.unpack_from("<QI", slot, 0x10) for slot in slots],
                         [(0xFFFF0022064, 0x100), (0xFFFF00020B0, 0x100)])

    def test_frame_of_every_image(self):
        self.assertEqual(preamble("pool")[:12].hex(), "a010000004f214f200000000")
        slots = self.translate(["b110", "cc10"])
        self.assertEqual([slot[0] for slot in slots], [0xA0, 0xB1, 0xA6, 0xA9])
        self.assertEqual(slots[2][:12].hex(), "a6100000000013f500000000")
        self.assertEqual(struct.unpack_from("<i", slots[3], 0x30)[0], -3 * 64)

    def test_e6_branch_record(self):
        expected = "a910000200000000" "0000000000000300" + "00" * 32 + "40feffff" + "00" * 12
        self.assertEqual(branch_record(-0x1C0).hex(), expected)
        self.assertEqual(postamble(0x180)[64:].hex(), expected)

    def test_branch_to_label_and_relative_branch_use_output_distances(self):
        branch = "a910000000000000" "0000000000000{}00" + "00" * 32 + "{}"
        slots = self.translate(["b110", "cc10" + "00" * 10 + "07", "c2" + self.TRIGGER[2:],
                                branch.format("2", "07000000"), branch.format("3", "80ffffff")])
        distances = [(slot[3], slot[0x0E], struct.unpack_from("<i", slot, 0x30)[0])
                     for slot in slots if slot[0] == 0xA9]
        self.assertEqual(distances[:2], [(2, 3, -128), (2, 3, -192)])

    def test_e6_ip_maps(self):
        rows = rows_of([2, 2, 1])
        self.assertEqual(rows, [(0, 1, "INSERT"), (0x80, 1, "INSERT")])
        self.assertEqual([neff_ip(rows, 64 * slot) for slot in range(5)], [1, 1, 2, 2, 3])
        rows = rows_of([3, 0, 1, 2, 1])
        self.assertEqual(rows, [(0, 2, "INSERT"), (0xC0, 1, "DELETE"), (0x100, 1, "INSERT")])
        self.assertEqual([neff_ip(rows, 64 * slot) for slot in range(7)], [1, 1, 1, 3, 4, 4, 5])

    def test_unknown_pseudo_opcode_is_refused(self):
        with self.assertRaises(Refused):
            self.translate(["c510"])


class InstructionPointers(unittest.TestCase):
    """The walk of 05 A8 against the plain list of source slots, on the corpus' streams."""

    def streams(self):
        for make in (streams.functions, streams.functions_with_dma, streams.labels_and_branches,
                     rings.repeats_and_order, streams.one_to_one):
            for arch in (V2, V3):
                made = make(arch.name)
                model = parse_model(parse_neff(made.bytes()))
                yield from Layout(model.subgraphs[0], arch).streams.values()

    def test_walk_finds_the_source_slot_of_every_record(self):
        checked = 0
        for stream in self.streams():
            for offset in range(0, stream.image_slots * SLOT, SLOT):
                slot = source_slot(stream, offset)
                self.assertEqual(device_to_neff(stream, offset), slot)
                checked += slot is not None
        self.assertGreater(checked, 300)

    def test_rows_cover_preamble_and_postamble(self):
        for stream in self.streams():
            rows = image_rows(stream)
            self.assertEqual(rows[0], ("PREAMBLE", 0, 1, "INSERT"))
            self.assertIn(("POSTAMBLE", 0, 2, "INSERT"), rows)
            emitted = sum(row[2] if row[3] == "INSERT" else -row[2] for row in rows)
            self.assertEqual(stream.slots + emitted, stream.image_slots)


class Functions(unittest.TestCase):
    """05 U: calls, returns and exits of the corpus' `functions` case."""

    def setUp(self):
        model = parse_model(parse_neff(streams.functions("v3").bytes()))
        plan = Node(V3).load(model)
        self.base = plan.address(0, "instructions pool")
        data = Expectation(plan).images[0]["pool"].data
        self.slots = [bytes(data[at:at + SLOT]) for at in range(0, len(data), SLOT)]
        self.stream = plan.layouts[0].streams["pool"]

    def target(self, number):
        return number + struct.unpack_from("<i", self.slots[number], 0x30)[0] // SLOT

    def test_a_call_moves_the_return_address_and_branches_to_the_function(self):
        # image: preamble, B1, A4, MOVE, A9, A4, MOVE, A9, MOVE, A9, A4, NOTIFY, A9, first...
        self.assertEqual([slot[0] for slot in self.slots[:14]],
                         [0xA0, 0xB1, 0xA4, 0xA7, 0xA9, 0xA4, 0xA7, 0xA9, 0xA7, 0xA9, 0xA4, 0xA6,
                          0xA9, 0xA4])
        move = self.slots[3]
        self.assertEqual((move[0x18], move[0x19]), (20, 21))
        self.assertEqual(struct.unpack_from("<Q", move, 0x20)[0], self.base + 5 * SLOT)
        self.assertEqual(self.target(4), 13)
        self.assertEqual(self.target(9), 13)

    def test_a_return_drains_and_branches_to_the_register_pair(self):
        first = self.stream.sections[1]
        end = first.start // SLOT + first.slots()
        drain, branch = self.slots[end - 2:end]
        self.assertEqual((drain[0], drain[3], branch[0], branch[3]), (0xA2, 1, 0xA9, 1))
        self.assertEqual((branch[0x0E], branch[0x22], branch[0x23]), (1, 20, 21))

    def test_every_slot_of_a_function_is_marked_and_no_other(self):
        first = self.stream.sections[1].start // SLOT
        self.assertTrue(all(slot[3] & 1 for slot in self.slots[first:]))
        self.assertFalse(any(slot[3] & 1 for slot in self.slots[:first]))

    def test_an_exit_branches_to_the_postamble(self):
        second = self.stream.sections[2]
        number = second.offset(second.last - 2) // SLOT
        self.assertEqual(self.slots[number][3], 3)
        self.assertEqual(self.target(number), 11)
