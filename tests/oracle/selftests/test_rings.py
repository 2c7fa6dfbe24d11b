# SPDX-License-Identifier: MIT
"""Worked examples of the specification: the driver's pools, descriptors and rings."""

import struct
import unittest

import fixture
from arch import V2, V3
from container import NeffError
from kelf import Block, Descriptor, parse_descriptor
from pool import Hbm, PoolError
from rings import (META, RingSet, block_counts, cast_meta, descriptor_bytes,
                   linear_ring_descriptors, offsets, rx_word, template_pointer, transpose_offsets,
                   tx_word)

KIB, MIB = 1 << 10, 1 << 20


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
