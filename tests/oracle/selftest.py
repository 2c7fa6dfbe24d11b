#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the oracle itself: the worked examples of the spec, and runs over generated NEFFs.

With NEFFLD_NEFFS naming a folder of real NEFFs and their README.md, the parsers are also compared
with the numbers of that README; without it that test is reported as skipped.
"""

import contextlib
import glob
import io
import json
import os
import struct
import tempfile
import unittest

import check_image
import check_numbers
import fixture
from arch import TARGETS, V2, V3
from container import NeffError, parse_neff, read_neff, word_swapped
from expect import Expectation
from instructions import Translator, branch_record, ip_map, neff_ip, preamble, postamble
from kelf import Block, Descriptor, QueueSet, parse_descriptor, parse_model
from plan import Plan
from pool import Hbm, PoolError
from rings import (META, RingSet, block_counts, cast_meta, descriptor_bytes,
                   linear_ring_descriptors, offsets, rx_word, template_pointer, transpose_offsets,
                   tx_word)
from summary import model_summary

KIB, MIB = 1 << 10, 1 << 20
IO = {"x": 0x100000000, "y": 0x200000000}


class DriverPools(unittest.TestCase):
    def test_worked_example_of_03_s10_1(self):
        hbm = Hbm(V3.hbm_bases[0], V3.hbm_bytes)
        steps = [(512 * MIB, 4 * MIB, 11, 0x1000000), (3 * MIB, 0, 10, 0x21000000),
                 (100 * KIB, 0, 10, 0x5C0000000), (4, 0, 12, 0x5C0019000),
                 (640 * KIB, 64 * KIB, 10, 0x21300000), (64 * MIB, 0, 19, 0x5BC000000),
                 (64 * MIB, 0, 19, 0x5B8000000)]
        for size, align, category, address in steps:
            self.assertEqual(hbm.allocate(size, align, category)[0], address)

    def test_alignment_is_the_driver_page_mask(self):
        hbm = Hbm(0, V2.hbm_bytes)
        self.assertEqual(hbm.allocate(4096, 4097)[0], 0x3C0000000)
        hbm.allocate(4096)
        self.assertEqual(hbm.allocate(4096, 4097)[0] % 8192, 0)
        self.assertEqual(hbm.allocate(MIB, 0x7FFFFFFF)[0], 0x80000000)

    def test_holes_before_an_aligned_chunk_are_reused(self):
        hbm = Hbm(0, V2.hbm_bytes)
        hbm.allocate(4096)
        self.assertEqual(hbm.allocate(4096, 32768)[0], 0x3C0008000)
        self.assertEqual(hbm.allocate(4096)[0], 0x3C0001000)

    def test_refusals(self):
        for size, align in ((0, 0), (4096, 1 << 31), (1 << 40, 0)):
            with self.assertRaises(PoolError):
                Hbm(0, V2.hbm_bytes).allocate(size, align)

    def test_state_buffer_of_core_5(self):
        self.assertEqual(V3.core_bases[5], 0x803000000000)


class DescriptorWords(unittest.TestCase):
    def check(self, word, pointer, text):
        self.assertEqual(descriptor_bytes(word, pointer), bytes.fromhex(text))

    def test_vectors_of_04_s4(self):
        source, target = 0x1000000, 0x2000000
        self.check(tx_word(4096), source, "0010000d03000801" "0000000100000000")
        self.check(rx_word(4096), target, "0010000100000000" "0000000200000000")
        self.check(tx_word(65536), source, "0000000d03000801" "0000000100000000")
        self.check(tx_word(4096, True), source, "0010004d03000801" "0000000100000000")
        self.check(tx_word(4096, meta=META | 1 << 26), source,
                   "0010000d03000805" "0000000100000000")
        self.check(rx_word(4096, True), target, "0010002100000000" "0000000200000000")

    def test_linear_ring_sizes_of_04_s6(self):
        sizes = {1: 64, 31: 64, 32: 48, 33: 64, 100: 128, 113: 144, 1000: 1024}
        for used, allocated in sizes.items():
            self.assertEqual(linear_ring_descriptors(used), allocated)

    def test_cast_meta_of_decision_9(self):
        self.assertEqual(cast_meta("int8", "float32"), 0x01080003 | 7 << 20 | 2 << 6 | 10 << 10)


class RingExamples(unittest.TestCase):
    def example_block(self):
        """05 E1: `q_gradient_in` block 0."""
        desc = Descriptor("copy", "input", "gradient_in", 0, 0, [128, 1], [128, 1], [1, 128],
                          [1, 128], "uint8", "uint8")
        return Block(0, "q_gradient_in", 10, None, (), [desc])

    def author(self, arch, input_base):
        ring = RingSet(1, arch, 0, 0x100004000)
        ring.append_block(self.example_block(), {"input": input_base, "gradient_in": 0x100001000})
        return ring.half(0, "tx"), ring.half(0, "rx")

    def test_e1_template_then_resolved(self):
        tx, rx = self.author(V2, template_pointer(0))
        self.assertEqual(tx[:16].hex(), "8000004d03000801" "0000000000000020")
        self.assertEqual(rx[:16].hex(), "8000000100000000" "0010000001000000")
        self.assertEqual(self.author(V2, 0x100000000)[0][:16].hex(),
                         "8000004d03000801" "0000000001000000")

    def test_e1_completion_of_semaphore_10(self):
        tx, rx = self.author(V2, 0x100000000)
        self.assertEqual(tx[16:].hex(), "0400004d03000801" "0040000001000000")
        self.assertEqual(rx[16:].hex(), "0400000100000000" "281870c2ff0f0000")

    def test_e1_strong_order_on_v3(self):
        tx, rx = self.author(V3, 0x100000000)
        self.assertEqual((tx[:4].hex(), rx[:4].hex()), ("8000000d", "80000021"))

    def test_e1_output_template_pointer(self):
        self.assertEqual(template_pointer(2), 0x2000002000000000)
        self.assertEqual(template_pointer(2, 5), 0x2000002000000005)

    def test_elements_go_round_robin_and_restart_for_each_block(self):
        ring = RingSet(4, V3, 0, 0x500)
        desc = parse_descriptor(fixture.copy("a", "b", [8, 6], [1, 8], [1, 16]))
        for _ in range(2):
            ring.append_block(Block(0, "q", 9, None, (), [desc]), {"a": 0, "b": 0x1000})
        sources = [[row[1] for row in struct.iter_unpack("<QQ", ring.half(k, "tx"))]
                   for k in range(4)]
        self.assertEqual(sources[0], [0, 32, 0x500, 0, 32, 0x500])
        self.assertEqual(sources[2], [16, 0x500, 16, 0x500])

    def test_counts_equal_the_authored_descriptors(self):
        for entry in fixture.blocks("qData", [8, 9]) + fixture.blocks("qIn", [24]):
            block = Block(entry["id"], entry["queue"], entry["semaphore"], 3, (5,),
                          [parse_descriptor(desc) for desc in entry["desc"]])
            for rings in (1, 3, 16):
                ring = RingSet(rings, V2, 0, 0)
                ring.append_block(block, dict.fromkeys(("SB", "x", "w", "spill", "tmp"), 0))
                self.assertEqual([len(ring.half(k, "rx")) // 16 for k in range(rings)],
                                 block_counts(block, rings))

    def brute_force(self, block, rings, bases):
        """The same rings element by element, copies and transposes only."""
        tx, rx = [[] for _ in range(rings)], [[] for _ in range(rings)]
        element = 0
        for desc in block.descriptors:
            if desc.op == "transpose":
                places, length = zip(*transpose_offsets(desc)), desc.element_size
            else:
                places = zip(offsets(desc.from_off, desc.from_sizes, desc.from_steps),
                             offsets(desc.to_off, desc.to_sizes, desc.to_steps))
                length = desc.from_sizes[0]
            for low, high in places:
                for at in range(0, length, 65536):
                    part = min(65536, length - at)
                    tx[element % rings].append((tx_word(part, at + part == length),
                                                bases[desc.source] + low + at))
                    rx[element % rings].append((rx_word(part), bases[desc.target] + high + at))
                element += 1
        return tx, rx

    def test_rings_equal_an_element_by_element_build(self):
        bases = {"SB": 0xFFFC0000000, "x": 0x100, "w": 0x200, "spill": 0x300, "tmp": 0x400}
        for entry in fixture.blocks("qData", [8, 9]) + fixture.blocks("qIn", [24]):
            descs = [parse_descriptor(desc) for desc in entry["desc"]]
            block = Block(0, "q", None, None, (), [d for d in descs if d.op != "cast"])
            for rings in (1, 4, 16):
                ring = RingSet(rings, V2, 0, 0)
                ring.append_block(block, bases)
                tx, rx = self.brute_force(block, rings, bases)
                for k in range(rings):
                    self.assertEqual(list(struct.iter_unpack("<QQ", ring.half(k, "tx"))), tx[k])
                    self.assertEqual(list(struct.iter_unpack("<QQ", ring.half(k, "rx"))), rx[k])

    def test_cast_pieces_hold_equal_element_counts(self):
        desc = parse_descriptor(fixture.copy("w", "SB", [40000, 1], [1, 1], [1, 1], op="cast",
                                             from_dtype="int8", to_dtype="float32",
                                             to_sizes=[160000, 1]))
        ring = RingSet(1, V3, 0, 0)
        ring.append_block(Block(0, "q", None, None, (), [desc]), {"w": 0, "SB": 0x1000000})
        rows = zip(struct.iter_unpack("<QQ", ring.half(0, "tx")),
                   struct.iter_unpack("<QQ", ring.half(0, "rx")))
        self.assertEqual([(tx[0] & 0xFFFF, tx[1], rx[0] & 0xFFFF, rx[1] - 0x1000000)
                          for tx, rx in rows],
                         [(16384, 0, 0, 0), (16384, 16384, 0, 65536), (7232, 32768, 28928, 131072)])

    def test_long_run_is_cut_and_the_barrier_is_on_its_last_chunk(self):
        ring = RingSet(1, V2, 0, 0)
        ring.append_copy(0, 0x1000, 0x2000, 65536 + 10)
        rows = list(struct.iter_unpack("<QQ", ring.half(0, "tx")))
        self.assertEqual(rows, [(tx_word(65536), 0x1000), (tx_word(10, True), 0x11000)])

    def test_dimension_one_is_fastest(self):
        self.assertEqual(offsets(5, [4, 2, 2], [1, 10, 100]), [5, 15, 105, 115])

    def test_transpose_of_two_tiles(self):
        desc = Descriptor("transpose", "a", "b", 0, 0, [4, 2, 2, 1], [4, 2, 2, 1], [1, 4, 8, 0],
                          [1, 16, 4, 0], "", "", 2)
        source, target = transpose_offsets(desc)
        self.assertEqual(source, [0, 2, 4, 6, 8, 10, 12, 14])
        self.assertEqual(target, [0, 16, 2, 18, 4, 20, 6, 22])

    def test_transpose_key_beats_op(self):
        entry = fixture.copy("a", "b", [2, 1, 1, 1], [1] * 4, [1] * 4, transpose_element_size=2)
        self.assertEqual(parse_descriptor(entry).op, "transpose")

    def test_strided_innermost_run_is_refused(self):
        with self.assertRaises(NeffError):
            parse_descriptor(fixture.copy("a", "b", [2, 2], [2, 4], [1, 4]))


class Instructions(unittest.TestCase):
    def translate(self, text, bases=None, num_queues=1, queue_id=1, counts=()):
        queue = QueueSet("q_gradient_out", "out", "pool", num_queues, (11,), queue_id)
        translator = Translator(V2, 0, [queue], bases or {}, {queue.name: iter(counts)})
        source = b"".join(bytes.fromhex(part).ljust(64, b"\0") for part in text)
        image = translator.image("pool", source)
        return [bytes(image.data[at:at + 64]) for at in range(0, len(image.data), 64)]

    TRIGGER = "c110000004160000000000" "00715f6772616469656e745f6f7574"

    def test_e3_direct_2d(self):
        slots = self.translate(["d410000004160000" "00000000000c0100" "0000000004000010"
                                "0000000000000000" "0100010080000000" "0002000001000010"
                                "0000000000000000" "0100010080000a0a"],
                               {4: 0x100002000, 1: 0xFFFC0000000})
        self.assertEqual(slots[1].hex(),
                         "b810000004160000" "00000000000c0100" "0020000001000000"
                         "0000000000000000" "0100010080000000" "000200c0ff0f0000"
                         "0000000000000000" "0100010080000a0a")

    def test_e3_table_operand_is_kept(self):
        slots = self.translate(["d4100000" + "00" * 12 + "4000000001000020" + "00" * 16
                                + "0000000000000010"], {0: 0x1000})
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
        slots = self.translate(["b110", "cc10" + "00" * 10 + "07", self.TRIGGER,
                                branch.format("2", "07000000"), branch.format("3", "80ffffff")],
                               counts=[[1]])
        distances = [(slot[3], slot[0x0E], struct.unpack_from("<i", slot, 0x30)[0])
                     for slot in slots if slot[0] == 0xA9]
        self.assertEqual(distances[:2], [(2, 3, -128), (2, 3, -192)])

    def test_e6_ip_maps(self):
        rows = ip_map([2, 2, 1])
        self.assertEqual(rows, [(0, 1, "INSERT"), (0x80, 1, "INSERT")])
        self.assertEqual([neff_ip(rows, 64 * slot) for slot in range(5)], [1, 1, 2, 2, 3])
        rows = ip_map([3, 0, 1, 2, 1])
        self.assertEqual(rows, [(0, 2, "INSERT"), (0xC0, 1, "DELETE"), (0x100, 1, "INSERT")])
        self.assertEqual([neff_ip(rows, 64 * slot) for slot in range(7)], [1, 1, 1, 3, 4, 4, 5])

    def test_unknown_pseudo_opcode_is_refused(self):
        with self.assertRaises(NeffError):
            self.translate(["c510"])


class Containers(unittest.TestCase):
    def test_word_swap_reverses_each_group_of_four(self):
        self.assertEqual(word_swapped(bytes(range(16))).hex(), "03020100070605040b0a09080f0e0d0c")

    def test_both_hash_forms_are_told_apart(self):
        blob = bytearray(fixture.neff_bytes("cayman", 1))
        blob[0xAC:0xBC] = word_swapped(bytes(blob[0xAC:0xBC]))
        self.assertEqual(parse_neff(bytes(blob)).hash_form, "word-swapped")
        blob[0xAC] ^= 1
        self.assertEqual(parse_neff(bytes(blob)).hash_form, "mismatch")

    def test_fixture_parses(self):
        neff = parse_neff(fixture.neff_bytes("sunda", 1))
        self.assertEqual((neff.hash_form, neff.header.name), ("plain", "fixture"))
        self.assertEqual(neff.gzip_bytes + neff.padding_bytes, neff.header.data_size)

    def test_truncated_file_is_refused(self):
        with self.assertRaises(NeffError):
            parse_neff(fixture.neff_bytes("sunda", 1)[:-10240])


class WholeImages(unittest.TestCase):
    """A fake image is written from the expectation; a changed byte must be found."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def prepare(self, target, subgraphs, bind):
        self.neff_path = os.path.join(self.folder, "f.neff")
        blob = fixture.neff_bytes(target, subgraphs)
        with open(self.neff_path, "wb") as stream:
            stream.write(blob)
        self.neff = parse_neff(blob)
        self.plan = Plan(parse_model(self.neff), TARGETS[target], IO if bind else None)
        places = {(entry.core, entry.owner): entry.pa for entry in self.plan.allocations}
        self.expected = Expectation(self.plan, lambda core, owner: places[core, owner],
                                    self.plan.places)
        self.report = fixture.report(self.neff, self.plan)
        self.bind = [f"--bind={name}={address:#x}" for name, address in IO.items()] if bind else []
        self.rings = os.path.join(self.folder, "rings")
        os.makedirs(self.rings, exist_ok=True)
        for name, data in self.expected.vrings.items():
            with open(os.path.join(self.rings, name), "wb") as stream:
                stream.write(data)

    def check(self):
        """Returns (exit status, printed text)."""
        image, report = (os.path.join(self.folder, name) for name in ("i.elf", "r.json"))
        fixture.write_image(image, self.plan, self.expected.contents,
                            {"name": "fixture", "uuid": self.neff.header.uuid})
        with open(report, "w", encoding="utf-8") as stream:
            json.dump(self.report, stream)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            status = check_image.main([self.neff_path, image, report, "--rings", self.rings]
                                      + self.bind)
        return status, text.getvalue()

    def test_equal_images(self):
        for target, subgraphs in (("sunda", 1), ("cayman", 1), ("cayman", 2)):
            for bind in (False, True):
                with self.subTest(target=target, subgraphs=subgraphs, bind=bind):
                    self.prepare(target, subgraphs, bind)
                    status, text = self.check()
                    self.assertEqual(status, 0, text)

    def test_a_changed_byte_is_found_in_every_group(self):
        self.prepare("cayman", 2, True)
        groups = {content.group for content in self.expected.contents}
        self.assertLessEqual({"weights", "constant blocks", "pointer cells", "dge tables",
                              "act tables", "dve tables", "act ring", "dve ring", "instructions",
                              "static rings", "bound rings"}, groups)
        for group in sorted(groups):
            with self.subTest(group=group):
                self.prepare("cayman", 2, True)
                content = next(c for c in self.expected.contents if c.group == group)
                data = bytearray(content.data)
                data[-1] ^= 1
                content.data = bytes(data)
                status, text = self.check()
                self.assertEqual(status, 1)
                self.assertIn(f"{group}: ", text)
                self.assertIn(content.owner, text)

    def test_a_wrong_address_is_found_and_contents_follow_the_report(self):
        self.prepare("sunda", 1, False)
        self.report["models"][0]["allocations"][0]["pa"] = "0x1234000"
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(text, r"allocation addresses: \d+ checked, 1 DIFFERENT")
        self.assertRegex(text, r"static rings: \d+ checked, all equal")

    def test_report_numbers_are_compared(self):
        self.prepare("sunda", 1, False)
        self.report["models"][0]["subgraphs"][0]["rings"][0]["used"] += 1
        self.report["models"][0]["subgraphs"][0]["dma"]["bytes"] += 1
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(text, r"ring entries: \d+ checked, 1 DIFFERENT")
        self.assertRegex(text, r"subgraph totals: \d+ checked, 1 DIFFERENT")

    def test_a_changed_host_vring_is_found(self):
        self.prepare("sunda", 1, False)
        name = next(iter(self.expected.vrings))
        with open(os.path.join(self.rings, name), "r+b") as stream:
            stream.write(b"\xff")
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn(f"{name}, descriptor 0", text)

    def test_unreadable_input_is_a_usage_error(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(check_image.main(["/nonexistent", "/nonexistent", "/nonexistent"]), 2)


class Numbers(unittest.TestCase):
    README = "\n".join((
        "## 3. Numbers to test against", "",
        "| file | vars (all sg) | queue sets | blocks | descs | elements | DMA bytes |"
        " D4 ops / elements / bytes | slots | constants B | scratch B | tar B |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        "| 77 | sb 1 in 1 out 1 file 1 virt 1 tab 1 | in 1 data 1 dynamic 4 (2 per sg) | 3 | 5 | 95"
        " | 1000 | 2 / 256 / 16384 (source) | 1/2/3/0/6; 2/2/2/2/2 | 9000 | 4096 | 20480 |"))

    def test_row_is_parsed(self):
        numbers = check_numbers.parse_row(check_numbers.read_row(self.README, "dir/77-x.neff"))
        self.assertEqual(numbers["variables"]["virtual"], 1)
        self.assertEqual(numbers["queue sets"], {"in": 1, "data": 1, "dynamic": 4})
        self.assertEqual(numbers["D4 bytes"], 16384)
        self.assertEqual(numbers["slots"], [[1, 2, 3, 0, 6], [2, 2, 2, 2, 2]])
        self.assertIsNone(check_numbers.read_row(self.README, "dir/78-x.neff"))

    def test_generated_file_has_its_known_numbers(self):
        neff = parse_neff(fixture.neff_bytes("cayman", 2))
        numbers = check_numbers.report_numbers(model_summary(neff, parse_model(neff)))
        self.assertEqual((numbers["blocks"], numbers["descriptors"]), (6, 10))
        self.assertEqual(numbers["elements"], 2 * (37 + 3 + 20 + 35))
        self.assertEqual(numbers["DMA bytes"],
                         2 * (512 * 37 + 210000 + 256 * 20 + 8 * 8 * 2 + 70))
        self.assertEqual(numbers["D4 bytes"], 2 * 2 * 128 * 64)

    @unittest.skipUnless("NEFFLD_NEFFS" in os.environ, "NEFFLD_NEFFS is not set")
    def test_real_files_have_the_numbers_of_their_readme(self):
        folder = os.environ["NEFFLD_NEFFS"]
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as stream:
            readme = stream.read()
        paths = sorted(glob.glob(os.path.join(folder, "*.neff")))
        self.assertTrue(paths, f"no NEFF files in {folder}")
        for path in paths:
            with self.subTest(file=os.path.basename(path)):
                neff = read_neff(path)
                numbers = check_numbers.report_numbers(model_summary(neff, parse_model(neff)))
                expected = check_numbers.parse_row(check_numbers.read_row(readme, path))
                self.assertEqual(check_numbers.differences(expected, numbers), [])


if __name__ == "__main__":
    unittest.main()
