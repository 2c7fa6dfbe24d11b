# SPDX-License-Identifier: MIT
"""Every command does what its help says."""

import json
import os
import resource
import signal
import subprocess
import unittest

from support import (NEFFLD, CliTest, Neff, have, read_bytes, run, sample, sample_names,
                     write_bytes)

COMMANDS = ("inspect", "load", "dump", "relocs", "pack", "unpack")
STAGES = ("guard", "parse", "graph", "build", "plan", "stage", "relocate")
# Allocators fill freed memory with this, so that reading it is a difference and not luck.
POISON = {"MALLOC_PERTURB_": "85"}


class HelpTest(CliTest):
    def test_help_names_every_command_and_the_exit_codes(self):
        result = self.assert_ok(run("--help"), "Exit codes", *COMMANDS)
        self.assertEqual("", result.err)

    def test_every_command_explains_its_options(self):
        expected = {"inspect": "--members", "load": "--until", "dump": "--rings",
                    "relocs": "--form", "pack": "--dialect", "unpack": "DIR"}
        for command, option in expected.items():
            with self.subTest(command):
                self.assert_ok(run(command, "--help"), "Usage:", option)

    def test_version_is_one_line(self):
        self.assertRegex(self.assert_ok(run("--version")).out, r"\Aneffld \d+\.\d+\.\d+\n\Z")


class InspectTest(CliTest):
    def test_text_shows_header_tensors_and_subgraphs(self):
        self.assert_ok(run("inspect", sample("vecadd-v3")), "NEFF 2.0", "cayman (v3)",
                       "input       left float32[12288]", "output      sum float32[12288]",
                       "subgraph sg00", "subgraph sg01")

    def test_members_are_listed(self):
        self.assert_ok(run("inspect", sample("vecadd-v3"), "--members"), "sg00/def.json",
                       "sg01/PE.bin", "neff.json")

    def test_json_needs_no_device(self):
        report = json.loads(self.assert_ok(
            run("inspect", sample("vecadd-v2"), "--report", "json")).out)
        self.assertNotIn("device", report)
        self.assertEqual("v2", report["models"][0]["graph"]["arch"])


class LoadTest(CliTest):
    def report(self, *arguments, env=None):
        return json.loads(self.assert_ok(run("load", *arguments, "--report", "json", env=env)).out)

    def test_text_is_the_default_and_shows_every_allocation(self):
        result = self.assert_ok(run("load", sample("vecadd-v3")), "device sim:v3 (v3, simulated)",
                                "allocations", "exec tx ring", "instructions pool", "queues")
        self.assertEqual("", result.err)

    def test_json_has_the_documented_keys(self):
        report = self.report(sample("conv-like-v2"))
        self.assertEqual(1, report["schema"])
        self.assertEqual({"name": "sim:v2", "architecture": "v2", "simulated": True},
                         {key: report["device"][key]
                          for key in ("name", "architecture", "simulated")})
        model = report["models"][0]
        self.assertLessEqual({"file", "name", "uuid", "handles", "container", "graph", "stages",
                              "subgraphs", "allocations", "totals", "warnings"}, set(model))
        self.assertEqual({"h_nn", "h_model"}, set(model["handles"]))
        self.assertLessEqual({"file_bytes", "stored_bytes", "gzip_bytes", "padding_bytes",
                              "tar_bytes", "members", "tar_dialect", "hash", "pkg_version",
                              "neff_version", "feature_bits", "features", "vnc_size"},
                             set(model["container"]))
        self.assertLessEqual({"kelf", "target", "arch", "inputs", "outputs", "mac_count"},
                             set(model["graph"]))
        self.assertEqual({"name", "dtype", "shape", "size"}, set(model["graph"]["inputs"][0]))
        subgraph = model["subgraphs"][0]
        self.assertLessEqual({"name", "core", "hbm", "variables", "queue_sets", "instructions",
                              "rings", "dma", "dge", "constants_bytes", "scratchpad_bytes",
                              "relocations"}, set(subgraph))
        self.assertEqual({"var_id", "name", "kind", "pa", "size"}, set(subgraph["variables"][0]))
        self.assertEqual({"name", "type", "owner", "queue_id", "num_queues", "blocks", "template",
                          "dynamic"}, set(subgraph["queue_sets"][0]))
        self.assertEqual(["pe", "act", "pool", "dve", "sp"],
                         [engine["engine"] for engine in subgraph["instructions"]])
        self.assertEqual({"engine", "pa", "slots_in", "slots_out"},
                         set(subgraph["instructions"][0]))
        self.assertEqual({"queue", "instance", "k", "side", "pa", "allocated", "used"},
                         set(subgraph["rings"][0]))
        self.assertEqual({"blocks", "descriptors", "elements", "bytes", "casts", "transposes"},
                         set(subgraph["dma"]))
        self.assertEqual({"operations", "elements", "bytes"}, set(subgraph["dge"]))
        allocation = model["allocations"][0]
        self.assertEqual({"seq", "pa", "size", "requested", "align", "usage", "category", "hbm",
                          "core", "owner"}, set(allocation))
        self.assertTrue(allocation["pa"].startswith("0x"))
        self.assertEqual(list(range(len(model["allocations"]))),
                         [entry["seq"] for entry in model["allocations"]])

    def test_totals_are_the_sums_over_the_subgraphs(self):
        for name in ("dge-lnc2-v3", "remote-lnc2-v3", "conv-like-v2"):
            with self.subTest(name):
                model = self.report(sample(name))["models"][0]
                for part in ("dma", "dge"):
                    for key, total in model["totals"][part].items():
                        self.assertEqual(total, sum(s[part][key] for s in model["subgraphs"]), key)

    def test_what_a_stage_has_not_made_is_absent(self):
        for stage in ("build", "plan"):
            model = self.report(sample("vecadd-v3"), "--until", stage)["models"][0]
            for part in (model["totals"], model["subgraphs"][0]):
                self.assertEqual(stage == "plan", {"dma", "dge"} <= set(part), stage)
                self.assertEqual(stage == "plan", bool({"dma", "dge"} & set(part)), stage)

    def test_each_stage_can_be_the_last(self):
        for number, stage in enumerate(STAGES):
            with self.subTest(stage):
                report = self.report(sample("vecadd-v3"), "--until", stage)
                model = report["models"][0]
                self.assertEqual(list(STAGES[:number + 1]),
                                 [entry["name"] for entry in model["stages"]])
                # The first five need no device.
                self.assertEqual(number >= 5, "device" in report)
                self.assertEqual(number >= 5, "allocations" in model)
                self.assert_ok(run("load", sample("vecadd-v3"), "--until", stage))

    def test_progress_json_is_one_object_a_line_with_every_phase_in_order(self):
        result = self.assert_ok(run("load", sample("vecadd-v3"), "--progress", "json"))
        lines = [json.loads(line) for line in result.err.splitlines()]
        phases = list(dict.fromkeys(line["phase"] for line in lines))
        self.assertEqual(list(STAGES), phases)
        for line in lines:
            self.assertEqual({"phase", "done", "total"}, set(line))
        for phase in STAGES:
            counts = [line["done"] for line in lines if line["phase"] == phase]
            self.assertEqual(sorted(counts), counts, phase)

    def test_the_environment_names_the_device_and_the_option_beats_it(self):
        file = sample("vecadd-v3")
        self.assertEqual("sim:v3", self.report(
            file, env={"NEFFLD_DEVICE": "sim:v3"})["device"]["name"])
        self.assert_refused(run("load", file, env={"NEFFLD_DEVICE": "sim:v2"}), 5)
        self.assert_ok(run("load", file, "--device", "sim:v3", env={"NEFFLD_DEVICE": "sim:v2"}))

    def test_verify_reads_everything_back(self):
        for name in ("vecadd-v3", "act-sets-v3", "conv-like-v2"):
            with self.subTest(name):
                self.assert_ok(run("load", sample(name), "--verify"), "verified: ")

    def test_several_files_stay_resident_together(self):
        report = self.report(sample("vecadd-v3"), sample("cast-v3"))
        first, second = report["models"]
        self.assertNotEqual(first["handles"]["h_model"], second["handles"]["h_model"])
        addresses = [a["pa"] for model in report["models"] for a in model["allocations"]]
        self.assertEqual(len(addresses), len(set(addresses)))
        self.assertIn("exec tx ring", [a["owner"] for a in first["allocations"]])
        self.assertNotIn("exec tx ring", [a["owner"] for a in second["allocations"]])

    def test_core_places_the_model(self):
        model = self.report(sample("vecadd-v3"), "--core", "1")["models"][0]
        self.assertEqual([2, 3], [subgraph["core"] for subgraph in model["subgraphs"]])
        self.assertEqual({2, 3}, {entry["core"] for entry in model["allocations"]})

    def test_addresses_are_the_same_every_time(self):
        models = [self.report(sample("dge-lnc2-v3"))["models"][0] for _ in range(2)]
        self.assertEqual(models[0]["allocations"], models[1]["allocations"])

    def test_a_file_for_any_architecture_runs_on_v3(self):
        file = Neff(sample("vecadd-v3")).edit("kelf-0.json", lambda d: d.update(target="*"))
        self.assertEqual("sim:v3", self.report(file.save("any.neff"))["device"]["name"])

    def test_another_architecture_can_be_allowed_and_is_warned_about(self):
        words = (sample("vecadd-v2"), "--device", "sim:v3", "--allow-legacy", "--until", "build")
        self.assertIn("Loading a NEFF compiled for a different arch, NEFF arch: v2, instance arch: "
                      "v3", self.report(*words)["models"][0]["warnings"])
        self.assert_ok(run("load", *words), "NEFF arch: v2, instance arch: v3")

    def test_uncompressed_files_load_and_verify(self):
        raw = sample("conv-like-v2", "--compression", "none")
        self.assert_ok(run("load", raw, "--verify", env=POISON), "verified: ")

    def test_every_sample_loads_and_verifies_uncompressed(self):
        for name in sample_names():
            if name in ("scale", "refused-v3"):
                continue
            with self.subTest(name):
                raw = sample(name, "--compression", "none")
                self.assert_ok(run("load", raw, "--verify", env=POISON), "verified: ")


class RelocsTest(CliTest):
    def rows(self, *arguments):
        text = self.assert_ok(run("relocs", *arguments, "--format", "json")).out
        return [json.loads(line) for line in text.splitlines()]

    def test_json_rows_agree_with_the_counts_of_the_report(self):
        for name in ("vecadd-v3", "dge-v3", "pointers-v3", "conv-like-v2"):
            with self.subTest(name):
                rows = self.rows(sample(name))
                report = json.loads(run("load", sample(name), "--report", "json").out)
                counted = {}
                for row in rows:
                    key = (row["subgraph"], row["form"])
                    counted[key] = counted.get(key, 0) + 1
                expected = {(subgraph["name"], form): count
                            for subgraph in report["models"][0]["subgraphs"]
                            for form, count in subgraph["relocations"].items()}
                self.assertEqual(expected, counted)

    def test_new_values_are_what_the_image_holds(self):
        folder = self.fresh_folder()
        for name in ("dge-v3", "pointers-v3"):
            with self.subTest(name):
                image, report = f"{folder}/{name}.elf", f"{folder}/{name}.json"
                self.assert_ok(run("dump", sample(name), "-o", image, "--report", report))
                data = read_bytes(image)
                offsets = load_offsets(data)
                for row in self.rows(sample(name)):
                    at = offset_of(offsets, int(row["address"], 16))
                    found = int.from_bytes(data[at:at + row["width"]], "little")
                    self.assertEqual(int(row["new"], 16), found, row)

    def test_form_selects_and_text_is_one_row_a_line(self):
        rows = self.rows(sample("vecadd-v3"), "--form", "branch_offset")
        self.assertEqual({"branch_offset"}, {row["form"] for row in rows})
        text = self.assert_ok(run("relocs", sample("vecadd-v3"), "--form", "branch_offset")).out
        self.assertEqual(len(rows), len(text.splitlines()))


class IpTest(CliTest):
    def rows(self, *arguments):
        done = self.assert_ok(run("ip", sample("control-flow-v3"), *arguments, "--format", "json"))
        return [json.loads(line) for line in done.out.splitlines()]

    def test_slots_and_addresses_map_both_ways(self):
        for row in self.rows("2", "3", "8", "--engine", "sp"):
            for record in range(row["records"]):
                address = int(row["address"], 16) + 64 * record
                back = self.rows(f"{address:#x}")[0]
                self.assertEqual((row["subgraph"], "sp", row["slot"], record),
                                 (back["subgraph"], back["engine"], back["slot"], back["record"]))

    def test_a_slot_without_an_engine_is_answered_for_every_stream_that_has_it(self):
        engines = {row["engine"] for row in self.rows("1") if row["subgraph"] == "sg00"}
        self.assertEqual({"pe", "act", "pool", "dve", "sp"}, engines)
        removed = self.rows("1", "--engine", "pe")[0]  # the label of a v3 stream
        self.assertEqual(0, removed["records"])

    def test_text_says_which_record_of_an_expansion_it_is(self):
        text = self.assert_ok(run("ip", sample("control-flow-v3"), "2", "--engine", "sp")).out
        self.assertRegex(text.splitlines()[0],
                         r"^0x[0-9a-f]{11}  sg00 sp +slot 2 \(neff ip 3\), record 1 of 2$")

    def test_what_is_no_instruction_of_the_file_is_answered_with_no(self):
        for place, text in (("0x10", "lies in no instruction image"), ("100000", "no stream has a")):
            error = self.assert_refused(run("ip", sample("control-flow-v3"), place), 1)
            self.assertIn(text, error)
        start = int(self.rows("0", "--engine", "pe")[0]["address"], 16)
        error = self.assert_refused(run("ip", sample("control-flow-v3"), f"{start - 64:#x}"), 1)
        self.assertIn("is out of bounds of the main buffer", error)
        self.assertIn(f"sg00 pe: address {start - 64:#x} is image offset 0x0", error)
        self.assert_refused(run("ip", sample("control-flow-v3"), "12x"), 2)


def load_offsets(data):
    """[(address, size, file offset)] of an image's PT_LOADs."""
    loads = []
    for i in range(int.from_bytes(data[56:58], "little")):
        at = 64 + 56 * i
        if int.from_bytes(data[at:at + 4], "little") == 1:
            loads.append(tuple(int.from_bytes(data[at + n:at + n + 8], "little")
                               for n in (24, 32, 8)))
    return loads


def offset_of(loads, address):
    for start, size, offset in loads:
        if start <= address < start + size:
            return offset + address - start
    raise AssertionError(f"{address:#x} is in no segment")


class DumpTest(CliTest):
    def test_readelf_understands_the_image(self):
        if not have("readelf"):
            self.skipTest("readelf is not installed")
        image = os.path.join(self.fresh_folder(), "image.elf")
        report = os.path.join(os.path.dirname(image), "report.json")
        self.assert_ok(run("dump", sample("conv-like-v2"), "-o", image, "--report", report))
        done = subprocess.run(["readelf", "-lnW", image], capture_output=True, check=True)
        text = done.stdout.decode()
        with open(report, encoding="utf-8") as stream:
            allocations = json.load(stream)["models"][0]["allocations"]
        self.assertIn("CORE", text)
        self.assertEqual("", done.stderr.decode())
        self.assertEqual(len(allocations), text.count("LOAD "))
        for allocation in allocations:
            self.assertIn(f"0x{int(allocation['pa'], 16):016x}", text)
        self.assertIn("neffld", text)

    def test_zstd_holds_the_same_image(self):
        if not have("zstd"):
            self.skipTest("zstd is not installed")
        folder = self.fresh_folder()
        plain, packed = f"{folder}/plain.elf", f"{folder}/packed.zst"
        self.assert_ok(run("dump", sample("act-sets-v3"), "-o", plain))
        self.assert_ok(run("dump", sample("act-sets-v3"), "-o", packed, "--zstd"))
        self.assertLess(os.path.getsize(packed), os.path.getsize(plain))
        done = subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True)
        self.assertEqual(read_bytes(plain), done.stdout)

    def test_rings_of_template_sets_are_written_before_bind(self):
        folder = self.fresh_folder()
        self.assert_ok(run("dump", sample("vecadd-v3"), "-o", f"{folder}/i.elf", "--rings",
                           f"{folder}/rings"))
        names = os.listdir(f"{folder}/rings")
        self.assertEqual(2 * 2 * 16, len(names))
        self.assertIn("sg00.qPoolIO0.0.15.rx.bin", names)

    def test_rings_of_several_models_have_files_of_their_own(self):
        folder = self.fresh_folder()
        self.assert_ok(run("dump", sample("vecadd-v3"), sample("cast-v3"), "-o", f"{folder}/i.elf",
                           "--rings", f"{folder}/rings"))
        names = os.listdir(f"{folder}/rings")
        for number, file in enumerate(("vecadd-v3", "cast-v3")):
            alone = f"{folder}/alone-{number}"
            self.assert_ok(run("dump", sample(file), "-o", f"{folder}/{number}.elf", "--rings",
                               alone))
            self.assertEqual(sorted(f"{number}.{name}" for name in os.listdir(alone)),
                             sorted(name for name in names if name.startswith(f"{number}.")))

    def test_rings_take_the_place_of_no_other_file_of_the_command(self):
        folder = self.fresh_folder()
        rings, name = f"{folder}/rings", "sg00.qPoolIO0.0.15.rx.bin"
        os.mkdir(rings)
        file = f"{rings}/{name}"
        write_bytes(file, read_bytes(sample("vecadd-v3")))
        for words in (("dump", file, "-o", f"{folder}/i.elf"),
                      ("dump", sample("vecadd-v3"), "-o", file),
                      ("dump", sample("vecadd-v3"), "-o", f"{folder}/i.elf", "--report", file),
                      ("dump", sample("vecadd-v3"), "-o", f"{folder}/i.elf", "--record", file)):
            with self.subTest(words=words):
                self.assert_refused(run(*words, "--rings", rings), 2, "expected another file")
                if "--record" not in words:  # of a failed load, too, there is a trace
                    self.assertEqual(read_bytes(sample("vecadd-v3")), read_bytes(file))
                self.assertFalse(os.path.exists(f"{folder}/i.elf"))
                self.assertEqual([name], os.listdir(rings))

    def test_an_output_that_cannot_be_written_leaves_the_others_as_they_were(self):
        folder = self.fresh_folder()
        image = f"{folder}/image.elf"
        write_bytes(image, b"old")
        for words in (("--report", f"{folder}/none/report"), ("--rings", f"{folder}/none/rings"),
                      ("--record", f"{folder}/none/trace")):
            with self.subTest(words=words):
                self.assert_refused(run("dump", sample("vecadd-v3"), "-o", image, *words), 3)
                self.assertEqual(b"old", read_bytes(image))

    def test_a_failed_dump_leaves_no_image(self):
        image = os.path.join(self.fresh_folder(), "image.elf")
        self.assert_refused(run("dump", sample("refused-v3"), "-o", image), 5)
        self.assertFalse(os.path.exists(image))


class HostileNamesTest(CliTest):
    """Names come from the file: no output may be broken by them, or reach the terminal raw."""

    NAME = 'w\n\t\x1b[31m"\\\u00e9'

    def test_names_of_subgraphs_and_queues_lead_to_no_folder(self):
        for name, written in (("../victim/b", "%2E%2E%2Fvictim%2Fb."), ("a\x1b.b", "a%1B%2Eb."),
                              ("/tmp/neffld", "%2Ftmp%2Fneffld."), ("n" * 300, "n" * 170)):
            neff = Neff(sample("vecadd-v3"))
            for member in [member for member in neff.members if member.startswith("kelf")]:
                neff.members[member] = neff.members[member].replace(
                    b'"name": "sg00"', b'"name": ' + json.dumps(name).encode(), 1)
            folder = self.fresh_folder()
            file = neff.save("subgraph.neff")
            with self.subTest(name=name):
                self.assert_ok(run("dump", file, "-o", f"{folder}/i.elf", "--rings",
                                   f"{folder}/rings"))
                self.assertEqual({"i.elf", "rings"}, set(os.listdir(folder)))
                names = os.listdir(f"{folder}/rings")
                self.assertEqual(2 * 2 * 16, len(names))
                self.assertTrue(all(one.startswith(written) for one in names), names[:3])

    def file_with_variable(self):
        neff = Neff(sample("conv-like-v2"))
        for member in neff.members:
            if member.endswith(".json"):
                neff.members[member] = neff.members[member].replace(
                    b'"eye_1"', json.dumps(self.NAME).encode())
        return neff.save("variable.neff")

    def file_with_model(self):
        neff = Neff(sample("vecadd-v3"))
        name = b'a"b\\\xff\n\x1b[31m'
        neff.header[0xDC:0xDC + 256] = name.ljust(256, b"\0")
        return neff.save("model.neff")

    def test_json_outputs_stay_json(self):
        for file in (self.file_with_variable(), self.file_with_model()):
            with self.subTest(file=os.path.basename(file)):
                done = subprocess.run([NEFFLD, "load", file, "--report", "json"],
                                      capture_output=True, check=True)
                json.loads(done.stdout.decode("utf-8"))
        report = json.loads(run("load", self.file_with_variable(), "--report", "json").out)
        names = [v["name"] for v in report["models"][0]["subgraphs"][0]["variables"]]
        self.assertIn(self.NAME, names)

    def test_the_note_of_an_image_stays_json(self):
        image = os.path.join(self.fresh_folder(), "i.elf")
        self.assert_ok(run("dump", self.file_with_model(), "-o", image))
        data = read_bytes(image)
        start = data.index(b'{"name"')
        json.loads(data[start:data.index(b"}", start) + 1].decode("utf-8"))

    def test_ledger_rows_stay_one_line_each(self):
        file = self.file_with_variable()
        rows = self.assert_ok(run("relocs", file, "--format", "json")).out.splitlines()
        self.assertIn(self.NAME, {json.loads(row)["symbol"] for row in rows})
        text = self.assert_ok(run("relocs", file)).out
        self.assertEqual(len(rows), text.count("\n"))
        self.assertNotIn("\x1b", text)

    def test_text_reports_hold_no_control_bytes(self):
        for file in (self.file_with_variable(), self.file_with_model()):
            for command in ("load", "inspect"):
                with self.subTest(file=os.path.basename(file), command=command):
                    text = self.assert_ok(run(command, file)).out
                    self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")


class PackTest(CliTest):
    def round_trip(self, name, *options):
        folder = self.fresh_folder()
        first, packed, second = f"{folder}/a", f"{folder}/b.neff", f"{folder}/c"
        self.assert_ok(run("unpack", sample(name), first))
        self.assert_ok(run("pack", first, "-o", packed, *options))
        self.assert_ok(run("unpack", packed, second))
        self.assertEqual(files_of(first), files_of(second))
        self.assertEqual(Neff(sample(name)).members, files_of(first))
        return packed

    def test_unpack_then_pack_gives_the_same_members_in_every_dialect(self):
        for dialect in ("ustar", "pax", "gnu"):
            with self.subTest(dialect):
                self.round_trip("act-sets-v3", "--dialect", dialect)

    def test_every_compression_can_be_read_back(self):
        for compression in ("stored", "none"):
            with self.subTest(compression):
                self.round_trip("vecadd-v2", "--compression", compression)

    def test_header_options_are_kept_and_the_packed_file_loads_to_the_same_image(self):
        uuid = "00112233-4455-6677-8899-aabbccddeeff"
        packed = self.round_trip("vecadd-v3", "--name", "mine", "--uuid", uuid, "--features",
                                 "3072", "--vnc-size", "2", "--word-swapped-hash")
        model = json.loads(self.assert_ok(run("load", packed, "--report", "json")).out)["models"][0]
        self.assertEqual(("mine", uuid, "0xc00", "word-swapped", 2),
                         (model["name"], model["uuid"], model["container"]["feature_bits"],
                          model["container"]["hash"], model["container"]["vnc_size"]))
        original = json.loads(run("load", sample("vecadd-v3"), "--report", "json").out)["models"][0]
        self.assertEqual(original["allocations"], model["allocations"])
        self.assertEqual(original["subgraphs"], model["subgraphs"])

    def test_two_packs_differ_in_their_uuid_only(self):
        folder = self.fresh_folder()
        self.assert_ok(run("unpack", sample("vecadd-v2"), f"{folder}/a"))
        for name in ("1", "2"):
            self.assert_ok(run("pack", f"{folder}/a", "-o", f"{folder}/{name}.neff"))
        one, two = read_bytes(f"{folder}/1.neff"), read_bytes(f"{folder}/2.neff")
        self.assertNotEqual(one[0xCC:0xDC], two[0xCC:0xDC])
        self.assertEqual(one[:0xCC] + one[0xDC:], two[:0xCC] + two[0xDC:])

    def test_unpack_refuses_a_folder_that_is_not_empty_and_leaves_it_alone(self):
        folder = self.fresh_folder()
        write_bytes(f"{folder}/mine", b"kept")
        self.assert_refused(run("unpack", sample("vecadd-v2"), folder), 3, "is not empty")
        self.assertEqual({"mine": b"kept"}, files_of(folder))

    def test_an_unpack_that_ends_early_leaves_no_half_model(self):
        file = sample("vecadd-v2")
        limit = max(map(len, Neff(file).members.values())) - 1  # the largest member is cut

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        for there in (True, False):
            with self.subTest(there=there):
                folder = self.fresh_folder()
                target = f"{folder}/members"
                if there:
                    os.mkdir(target)
                done = subprocess.run([NEFFLD, "unpack", file, target], capture_output=True,
                                      check=False, preexec_fn=limit_files)
                self.assertEqual(3, done.returncode)
                self.assertEqual(["members"] if there else [], os.listdir(folder))
                self.assertEqual([], os.listdir(target) if there else [])

    def test_unpacking_with_few_descriptors_leaves_all_or_nothing(self):
        codes = set()
        for most in range(4, 12):
            def limit_descriptors(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

            for there in (True, False):
                folder = self.fresh_folder()
                target = f"{folder}/members"
                if there:
                    os.mkdir(target)
                done = subprocess.run([NEFFLD, "unpack", sample("vecadd-v3"), target], check=False,
                                      capture_output=True, preexec_fn=limit_descriptors)
                with self.subTest(most=most, there=there):
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    if done.returncode:
                        self.assertEqual(["members"] if there else [], os.listdir(folder))
                        self.assertEqual([], os.listdir(target) if there else [])
                codes.add(done.returncode)
        self.assertEqual({0, 3}, codes)

    def test_unpack_never_leaves_its_folder(self):
        for name in ("../escape", "/abs", "a/../../escape", ""):
            with self.subTest(name):
                folder = self.fresh_folder()
                neff = Neff(sample("vecadd-v2"))
                neff.members = {"neff.json": b"{}", name: b"out"}
                file = neff.save("escape.neff")
                self.assert_refused(run("unpack", file, f"{folder}/target"), 4)
                self.assertFalse(os.path.exists(f"{folder}/escape"))
                self.assertEqual({}, files_of(f"{folder}/target"))

    def test_pack_refuses_links(self):
        folder = self.fresh_folder()
        os.mkdir(f"{folder}/d")
        os.symlink("/etc/hostname", f"{folder}/d/link")
        self.assert_refused(run("pack", f"{folder}/d", "-o", f"{folder}/x.neff"), 3, "link")
        self.assertFalse(os.path.exists(f"{folder}/x.neff"))


def files_of(folder):
    found = {}
    for root, _folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            found[os.path.relpath(path, folder)] = read_bytes(path)
    return found


if __name__ == "__main__":
    print(f"testing {NEFFLD}")
    unittest.main()
