# SPDX-License-Identifier: MIT
"""explain, disasm, diff and check as a user runs them."""

import json
import os
import unittest

from support import (CliTest, FORMAT, FILE, Neff, USAGE, real_files, run, sample,
                     write_bytes)

CHECK = 1


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


class Explain(CliTest):
    def test_an_instruction_shows_both_sides_and_the_reason(self):
        file = sample("vecadd-v3")
        rows = lines(self.assert_ok(run("relocs", file, "--format", "json")).out)
        for form in ("queue_register", "descriptor_count", "ring_section", "branch_offset"):
            row = next(row for row in rows if row["form"] == form)
            with self.subTest(form=form):
                found = lines(self.assert_ok(
                    run("explain", file, row["address"], "--format", "json")).out)[0]
                self.assertEqual(row["address"], found["address"])
                patches = {patch["address"]: patch for patch in found["patches"]}
                self.assertEqual(row["new"], patches[row["address"]]["new"])
                self.assertEqual(row["old"], patches[row["address"]]["old"])
                text = self.assert_ok(run("explain", file, row["address"])).out
                self.assertIn("patched", text)
                self.assertIn(form, text)

    def test_hostile_addresses_are_usage_errors(self):
        file = sample("vecadd-v3")
        for word in ("", "0x", "x", "-1", "1e3", "0x1g", "18446744073709551616", "0x1 0x2", "\x1b[2J"):
            with self.subTest(word=word):
                result = run("explain", file, "--", word)
                self.assertEqual(USAGE, result.code, result.err)
                self.assertEqual("", result.out)
                self.assertNotIn("\x1b", result.err)
        self.assertEqual(USAGE, run("explain", file).code)
        self.assertEqual(USAGE, run("explain", file, *["1"] * 1025).code)
        self.assert_ok(run("explain", file, "0xffffffffffffffff"), "nothing known")

    def test_files_that_are_nothing(self):
        folder = self.fresh_folder()
        self.assert_refused(run("explain", os.path.join(folder, "none"), "1"), FILE)
        self.assert_refused(run("explain", write_bytes(os.path.join(folder, "e"), b""), "1"), FILE)
        elf = write_bytes(os.path.join(folder, "elf"), b"\x7fELF" + bytes(60))
        self.assert_refused(run("explain", elf, "1"), FORMAT, "ELF")


class Disasm(CliTest):
    def test_every_record_of_both_sides_is_there_once(self):
        for name in ("vecadd-v3", "dge-v3", "rearm-v2"):
            file = sample(name)
            rows = lines(self.assert_ok(run("disasm", file, "--format", "json")).out)
            report = json.loads(self.assert_ok(run("load", file, "--report", "json")).out)
            for subgraph in report["models"][0]["subgraphs"]:
                for stream in subgraph["instructions"]:
                    mine = [row for row in rows if row["subgraph"] == subgraph["name"]
                            and row["engine"] == stream["engine"]]
                    after = [row["after"]["slot"] for row in mine if "after" in row]
                    self.assertEqual(list(range(stream["slots_out"])), after)
                    before = {row["before"]["slot"] for row in mine if "before" in row}
                    self.assertEqual(set(range(stream["slots_in"])), before)

    def test_an_image_has_the_same_after_side(self):
        file = sample("dge-v3")
        image = os.path.join(self.fresh_folder(), "i.zst")
        self.assert_ok(run("dump", file, "-o", image, "--zstd"))
        live = [row["after"] for row in lines(run("disasm", file, "--format", "json").out)
                if "after" in row]
        kept = [row["after"] for row in lines(self.assert_ok(
            run("disasm", image, "--format", "json")).out)]
        self.assertEqual(live, kept)
        self.assert_ok(run("disasm", image, "--engine", "sp", "--subgraph", "sg00"), "B8 DMAMEMCPY")

    def test_selections_that_name_nothing(self):
        file = sample("vecadd-v3")
        self.assert_refused(run("disasm", file, "--subgraph", "sg\x9b77"), USAGE, "no subgraph")
        self.assertEqual(USAGE, run("disasm", file, "--engine", "gpu").code)


class Diff(CliTest):
    def test_a_file_equals_itself_in_every_shape(self):
        file = sample("vecadd-v3")
        folder = self.fresh_folder()
        plain, packed = os.path.join(folder, "i"), os.path.join(folder, "i.zst")
        self.assert_ok(run("dump", file, "-o", plain))
        self.assert_ok(run("dump", file, "-o", packed, "--zstd", "--core", "1"))
        for a, b in ((file, file), (plain, packed), (file, packed), (packed, file)):
            with self.subTest(a=a, b=b):
                self.assert_ok(run("diff", a, b), "equal")

    def test_an_unbound_image_equals_its_file_whatever_rings_it_has(self):
        image = os.path.join(self.fresh_folder(), "image")
        for name in ("empty-v3", "dge-v3", "dge-lnc2-v3", "vecadd-v2"):
            with self.subTest(sample=name):
                self.assert_ok(run("dump", sample(name), "-o", image))
                self.assert_ok(run("diff", image, sample(name)), "equal")
                self.assert_ok(run("diff", sample(name), image), "equal")

    def test_a_changed_weight_is_named(self):
        neff = Neff(sample("conv-like-v2"))
        member = next(name for name in neff.members if name.endswith(".npy"))
        data = bytearray(neff.members[member])
        data[-1] ^= 1
        neff.members[member] = bytes(data)
        result = run("diff", sample("conv-like-v2"), neff.save("weight.neff"), "--format", "json")
        self.assertEqual(CHECK, result.code, result.err)
        found = lines(result.out)
        self.assertEqual(1, len(found))
        self.assertIn("variable", found[0]["what"])

    def test_different_files_are_told_apart(self):
        result = run("diff", sample("vecadd-v3"), sample("cast-v3"))
        self.assertEqual(CHECK, result.code)
        self.assertIn("<", result.out)
        self.assertRegex(result.err, r"differ in \d+ things")
        self.assertEqual(USAGE, run("diff", sample("vecadd-v3")).code)


class Check(CliTest):
    def test_a_file_that_names_no_target_is_said_to_name_none(self):
        neff = Neff(sample("vecadd-v2"))
        kelf = next(name for name in neff.members if name.startswith("kelf"))
        file = neff.edit(kelf, lambda document: document.pop("target", None)).save("no-target.neff")
        self.assert_ok(run("inspect", file), "target      none given (v2)")
        self.assert_ok(run("check", file), "target      none given (v2)")

    def test_good_files_run_to_their_end(self):
        for name in ("vecadd-v3", "conv-like-v2", "dge-lnc2-v3"):
            self.assert_ok(run("check", sample(name), "--run"), "runs to the end", "compatible")

    def test_a_tensor_that_only_the_subgraphs_know_is_a_bad_file_with_a_name(self):
        file = Neff(sample("vecadd-v3")).edit("sg00/def.json", lambda d: d["var"].update(
            extra={"type": "input", "size": 64, "var_id": len(d["var"])})).save("extra.neff")
        for words in (("check", file, "--run"), ("diff", file, sample("vecadd-v3")),
                      ("diff", sample("vecadd-v3"), file)):
            with self.subTest(words=words):
                self.assert_refused(run(*words), FORMAT, "extra.neff", "extra in tensor set")

    def test_a_dead_program_is_reported_with_its_place(self):
        neff = Neff(sample("vecadd-v3"))
        member = "sg00/Pool.bin"
        stream = bytearray(neff.members[member])
        wait = next(at for at in range(0, len(stream), 64) if stream[at + 4] == 5)
        stream[wait + 8:wait + 12] = (1 << 20).to_bytes(4, "little")
        neff.members[member] = bytes(stream)
        result = run("check", neff.save("dead.neff"), "--run", "--format", "json")
        self.assertEqual(CHECK, result.code, result.err)
        report = lines(result.out)[0]
        self.assertEqual("deadlock", report["run"]["outcome"])
        place = next(s for s in report["run"]["stopped"] if s["engine"] == "pool")
        self.assertEqual(wait // 64, place["neff_slot"])
        self.assertEqual(1 << 20, place["wanted"])
        self.assertTrue(place["nobody_left"])
        # The file can be loaded; that it does not end is another thing.
        text = run("check", neff.save("dead.neff"), "--run")
        self.assertEqual(CHECK, text.code)
        self.assertRegex(text.out, r"dead\.neff: compatible, but it does not run to its end\n")

    def test_architecture_driver_and_usage(self):
        file = sample("vecadd-v3")
        self.assertEqual(CHECK, run("check", file, "--arch", "v2").code)
        self.assertEqual(CHECK, run("check", file, "--arch", "mariana").code)
        self.assertEqual(CHECK, run("check", file, "--driver", "5..7").code)
        self.assert_ok(run("check", file, "--driver", "2.24..2.30", "--arch", "cayman"))
        self.assert_refused(run("check", file, "--driver", "7..5"), USAGE)
        self.assertEqual(USAGE, run("check", file, "--arch", "v9").code)

    def test_an_image_can_be_run_but_not_asked_for_its_header(self):
        image = os.path.join(self.fresh_folder(), "i")
        self.assert_ok(run("dump", sample("dge-lnc2-v3"), "-o", image))
        self.assert_ok(run("check", image, "--run"), "runs to the end")
        self.assert_refused(run("check", image), USAGE, "--run")
        bare = os.path.join(self.fresh_folder(), "unbound")
        self.assert_ok(run("dump", sample("vecadd-v3"), "-o", bare))
        self.assert_refused(run("check", bare, "--run"), USAGE, "bound")

    def test_real_files_are_compatible(self):
        for file in real_files():
            with self.subTest(file=os.path.basename(file)):
                self.assert_ok(run("check", file), "compatible")


class Names(CliTest):
    """Names of the file cannot drive the terminal or break JSON."""

    NAME = "v\x1b[2J\u009b31m\u202e\n\"x"

    def hostile(self):
        neff = Neff(sample("conv-like-v2"))

        def rename(document):
            key = next(k for k, v in document["var"].items() if v["type"] == "virtual"
                       or v["type"] == "file")
            self.old = key
            document["var"] = {self.NAME if k == key else k: v
                               for k, v in document["var"].items()}

        neff.edit("sg00/def.json", rename)
        for member in [m for m in neff.members if m.endswith(".json") and m.startswith("sg00/")]:
            document = neff.json(member)
            if "dma" not in document:
                continue
            for block in document["dma"]:
                for descriptor in block["desc"]:
                    for side in ("from", "to"):
                        if descriptor[side] == self.old:
                            descriptor[side] = self.NAME
            neff.members[member] = json.dumps(document).encode()
        return neff.save("hostile-names.neff")

    def test_no_command_passes_control_characters_on(self):
        file = self.hostile()
        image = os.path.join(self.fresh_folder(), "i")
        self.assert_ok(run("dump", file, "-o", image))
        rows = [row for row in lines(run("relocs", file, "--format", "json").out)
                if row["symbol"] == self.NAME]
        self.assertTrue(rows)
        for arguments in (("explain", file, rows[0]["address"]),
                          ("explain", file, rows[0]["address"], "--format", "json"),
                          ("explain", image, rows[0]["new"]), ("disasm", file),
                          ("diff", sample("conv-like-v2"), file),
                          ("diff", sample("conv-like-v2"), file, "--format", "json"),
                          ("check", file, "--run"), ("relocs", file), ("inspect", file)):
            with self.subTest(arguments=arguments[0]):
                result = run(*arguments)
                for text in (result.out, result.err):
                    for bad in "\x1b\u009b\u202e\x07":
                        self.assertNotIn(bad, text)
        found = lines(run("explain", file, rows[0]["address"], "--format", "json").out)[0]
        self.assertEqual(self.NAME, found["patches"][0]["symbol"])


if __name__ == "__main__":
    unittest.main()
