# SPDX-License-Identifier: MIT
"""Placement rules of 03 s4 and decision 34 on plans small enough to compute by hand."""

import unittest

from arch import V2, V3
from container import Refused, parse_neff
from corpus.case import program
from kelf import parse_model
from plan import Node, Options
from pool import PoolError

MIB = 1 << 20


def model(made):
    return parse_model(parse_neff(made.bytes()))


class Scratchpads(unittest.TestCase):
    def place(self, sizes, contiguous, shared=0):
        """Places of `v` in the subgraphs of one model whose arenas have these sizes."""
        made = program("v3", len(sizes))
        for part, size in zip(made.subgraphs, sizes):
            part.virtual("v", size, 0)
            if shared:
                part.virtual("s", shared, 0, backing_buf="main")
        node = Node(V3, Options(contiguous=contiguous))
        plan = node.load(model(made))
        pages = [entry.pa for entry in node.allocations if "page" in entry.owner]
        return [places[3] for places in plan.places], pages

    def test_contiguous_arena_starts_in_its_lowest_page(self):
        places, pages = self.place([100 * MIB], True)
        self.assertEqual(pages, [0x5BC000000, 0x5B8000000])
        self.assertEqual(places, [0x5B8000000])

    def test_contiguous_locals_follow_each_other_on_the_first_core(self):
        places, pages = self.place([100 * MIB, 100 * MIB], True, 4096)
        self.assertEqual(pages, [0x5BC000000 - 0x4000000 * i for i in range(4)])
        self.assertEqual(places, [0x5B0001000, 0x5B0001000 + 100 * MIB])

    def test_paged_local_arena_skips_to_a_page_it_would_straddle(self):
        places, pages = self.place([512 * MIB], False, 4096)
        self.assertEqual(pages, [0x1000000, 0x21000000])
        self.assertEqual(places, [0x21000000])

    def test_paged_local_arena_follows_the_shared_one_when_it_fits(self):
        places, pages = self.place([4096], False, 4096)
        self.assertEqual((places, pages), ([0x1001000], [0x1000000]))

    def test_second_model_reuses_pages_and_adds_the_missing(self):
        node = Node(V3)
        for size in (600 * MIB, 4096, 1500 * MIB):
            made = program("v3")
            made.main.virtual("v", size, 0)
            node.load(model(made))
        pages = [(entry.model, entry.owner) for entry in node.allocations if "page" in entry.owner]
        self.assertEqual(pages, [(0, "scratchpad page 0"), (0, "scratchpad page 1"),
                                 (2, "scratchpad page 2")])
        owners = [entry.owner for entry in node.allocations if entry.model == 1]
        self.assertNotIn("exec tx ring", owners)

    def test_addresses_must_be_4_kib_aligned(self):
        with self.assertRaises(Refused):
            self.place([4096], False, 100)

    def test_an_arena_that_does_not_fit_is_refused(self):
        with self.assertRaises(PoolError):
            self.place([24 << 30], False)
        with self.assertRaises(Refused):
            self.place([65 << 30], True)


class Order(unittest.TestCase):
    def test_owners_in_the_order_of_decision_34(self):
        made = program("v2")
        made.main.constant("w", 100)
        made.main.virtual("v", 4096, 0)
        made.main.variable("cell", "pointer", size=8, referenced_var_id=3)
        made.main.variable("table", "dge-table", list=[1])
        node = Node(V2)
        node.load(model(made))
        self.assertEqual([entry.owner for entry in node.allocations], [
            "exec tx ring", "exec rx ring", "request buffer", "scratchpad page 0", "variable w",
            "constant block", "pointer cells", "table table", "instructions pe",
            "instructions act", "instructions pool", "instructions dve", "instructions sp"])

    def test_remote_variables_have_their_siblings_address(self):
        made = program("v3", 2)
        made.subgraphs[1].constant("w", 100)
        made.main.variable("w_remote_sg1", "remote")
        plan = Node(V3).load(model(made))
        self.assertEqual(plan.places[0][3], plan.places[1][3])
