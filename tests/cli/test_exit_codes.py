# SPDX-License-Identifier: MIT
"""Each exit code, reached by a real case. Code 1 (verification failed) and 7 (the device failed a
call) need a device that changes or fails by itself; tests/unit/pipeline reaches them, and
error classes map to codes in one place."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from support import (FILE, FORMAT, NEFFLD, RESOURCE, SENTENCE, UNSUPPORTED, USAGE, CliTest, Neff,
                     read_bytes, run, sample, scratch, write_bytes)


class OutputTest(CliTest):
    def test_a_refused_dump_leaves_the_old_file(self):
        image = os.path.join(scratch(), "old.elf")
        write_bytes(image, b"old")
        self.assertNotEqual(0, run("dump", os.path.join(scratch(), "absent.neff"), "-o", image).code)
        self.assertNotEqual(0, run("dump", sample("vecadd-v3"), "-o", "/dev/null").code)
        self.assertEqual(b"old", read_bytes(image))
        self.assertEqual(0, run("dump", sample("vecadd-v3"), "-o", image).code)
        self.assertEqual(b"\x7fELF", read_bytes(image)[:4])

    def test_a_full_or_closed_standard_error_changes_no_code(self):
        for command in ("plan", "load", "check"):
            for redirect in ("2>/dev/full", "2>&-"):
                with self.subTest(command=command, redirect=redirect):
                    done = subprocess.run(["sh", "-c", f'exec "$0" "$1" /absent.neff {redirect}',
                                           NEFFLD, command], check=False, timeout=60)
                    self.assertEqual(FILE, done.returncode)

    def test_arguments_are_escaped_in_what_is_said_about_them(self):
        for words in (("--core", "\x1b[31m"), ("--bogus\x1b",), ("--report", "a\x1bb")):
            with self.subTest(words=words):
                result = run("load", sample("vecadd-v3"), *words)
                self.assertEqual(USAGE, result.code)
                self.assertNotIn("\x1b", result.err)

    def test_wrong_arguments_are_one_sentence_that_names_the_command(self):
        file = sample("vecadd-v3")
        for words, command in (((), "neffld"),
                               (("lode",), "neffld"),
                               (("load",), "neffld load"),
                               (("load", file, "--core"), "neffld load"),
                               (("load", file, "--core", "x"), "neffld load"),
                               (("load", file, "--max-members", "-1"), "neffld load"),
                               (("load", file, "--bogus"), "neffld load"),
                               (("run", file, "--report", "xml"), "neffld run"),
                               (("trace",), "neffld trace"),
                               (("trace", "show"), "neffld trace show"),
                               (("shim", "--count", "0", "true"), "neffld shim")):
            with self.subTest(words=words):
                result = run(*words)
                self.assertEqual((USAGE, ""), (result.code, result.out))
                self.assertRegex(result.err,
                                 rf"\A{command}: [^\n]+; {command} --help tells the options\n\Z")
                self.assertEqual(0, run(*command.split()[1:], "--help").code)

    def test_files_are_written_beside_links_and_never_through_them(self):
        folder, file = os.path.join(scratch(), "links"), sample("vecadd-v3")
        os.makedirs(folder)
        victim = write_bytes(os.path.join(folder, "victim"), b"precious")
        for words in (("load", file, "--record"), ("dump", file, "-o"),
                      ("run", file, "--random", "1", "--trace"),
                      ("dump", file, "-o", os.path.join(folder, "other"), "--report")):
            path = os.path.join(folder, words[0] + words[-1].strip("-"))
            for end in ("", ".part", ".part2", ".tmp"):
                os.symlink(victim, path + end)
            with self.subTest(words=words):
                self.assertEqual(0, run(*words, path).code)
                self.assertEqual(b"precious", read_bytes(victim))
                self.assertTrue(os.path.isfile(path) and not os.path.islink(path))

    def test_run_with_takes_devices_that_are_there(self):
        for device, code, text in (("sim:v9", USAGE, "'sim:v9' is no device"),
                                   ("simv3", USAGE, "'simv3' is no device"),
                                   ("/dev/neuron4711", FILE, "/dev/neuron4711: no device node")):
            for words in (("true",), ("--print",)):
                with self.subTest(device=device, words=words):
                    self.assert_refused(run("run-with", "--device", device, *words), code, text)
        for device in ("sim", "sim:v2", "sim:v3", "auto", "/dev/null"):
            self.assertEqual(0, run("run-with", "--device", device, "true").code, device)

    def test_a_list_that_never_ends_is_not_read(self):
        self.assertEqual(FILE, run("conformance", "--expected-failure", "/dev/zero").code)

    def test_pack_writes_nothing_that_a_loader_refuses(self):
        folder = os.path.join(scratch(), "empty-folder")
        os.makedirs(folder, exist_ok=True)
        target = os.path.join(scratch(), "refused.neff")
        self.assertEqual(FORMAT, run("pack", folder, "-o", target).code)
        write_bytes(os.path.join(folder, "neff.json"), b"{}")
        self.assertEqual(UNSUPPORTED, run("pack", folder, "-o", target, "--features",
                                          "0x8000000").code)
        self.assertEqual(USAGE, run("pack", folder, "-o", target, "--features", "-1").code)
        self.assertFalse(os.path.exists(target))

    def test_unpack_checks_the_hash(self):
        neff = Neff(sample("vecadd-v3"))
        damaged = neff.save("bad-hash.neff")
        data = bytearray(read_bytes(damaged))
        data[0xAC] ^= 1
        write_bytes(damaged, bytes(data))
        folder = os.path.join(scratch(), "bad-hash")
        self.assertEqual(FORMAT, run("unpack", damaged, folder).code)
        self.assertEqual(0, run("unpack", damaged, folder, "--no-verify").code)


class UsageTest(CliTest):
    def test_options_that_would_be_ignored_are_refused(self):
        file = sample("vecadd-v3")
        for words, text in (
                (("load", file, "--until", "plan", "--bind", "left=0x100000000"), "--bind"),
                (("load", file, "--until", "plan", "--record", "never.trace"), "--record"),
                (("load", file, "--dry-run", "--verify"), "--verify"),
                (("inspect", file, "--report", "json", "--members"), "--members"),
                (("load", file, "--bind", "left=1", "--bind", "left=2"), "twice"),
                (("load", file, "--record", ""), "--record: expected a name"),
                (("trace", "record", "-o", "", "--", "true"), "--output: expected a name"),
                (("load", file, "--scratchpad-page-size", "17592186044928"),
                 "--scratchpad-page-size: found 17592186044928 MiB")):
            with self.subTest(words=words):
                self.assert_refused(run(*words), USAGE, text)
        self.assertEqual(USAGE, run("relocs", file, "--form", "var_adress").code)
        self.assertEqual(USAGE, run("load", file, "--max-members", "-1").code)

    def test_unknown_commands_are_named_beside_those_there_are(self):
        for words, text in ((("bogus",), "found 'bogus', expected a command: inspect, plan, "),
                            (("--bogus",), "found '--bogus', expected a command: "),
                            (("inspect", "--bogus"), "not expected: --bogus"),
                            (("trace", "bogus"), "neffld trace: found 'bogus', expected a command: "
                                                 "show, record, replay, diff;")):
            with self.subTest(words=words):
                self.assert_refused(run(*words), USAGE, text)

    def test_words_no_option_takes_are_refused_with_those_it_takes(self):
        folder = os.path.join(scratch(), "nothing")
        for words, taken in ((("--dialect", "zip"), "gnu,pax,ustar"),
                             (("--compression", "zip"), "deflate,none,stored")):
            error = self.assert_refused(run("pack", folder, "-o", "never.neff", *words), USAGE,
                                        words[0], "zip not in {" + taken + "}")
            self.assertTrue(error.isprintable() or error.endswith("\n"), error)
        self.assert_refused(run("load", sample("vecadd-v3"), "--device", "bogus"), USAGE, "bogus",
                            "expected sim, sim:v2, sim:v3, auto or the path of a node")

    def test_a_wrong_value_of_a_variable_names_the_variable(self):
        file = sample("vecadd-v3")
        for variable, option, value in (
                ("NEURON_SCRATCHPAD_PAGE_SIZE", "--scratchpad-page-size", "100"),
                ("NEURON_RT_DBG_DMA_PACKETIZATION_SIZE", "--packet-bytes", "4095"),
                ("NEURON_RT_DBG_DMA_PACKETIZATION_SIZE", "--packet-bytes", "x"),
                ("NEURON_RT_CONTIGUOUS_SCRATCHPAD", "--contiguous-scratchpad", "maybe")):
            self.assert_ok(run("inspect", file, env={variable: value}))  # has no such option
            with self.subTest(variable=variable, value=value):
                error = self.assert_refused(run("plan", file, env={variable: value}), USAGE, variable)
                self.assertNotIn(option, error)
        for words in (("--packet-bytes", "1"), ("--packet-bytes=1",)):
            error = self.assert_refused(
                run("plan", file, *words, env={"NEURON_RT_DBG_DMA_PACKETIZATION_SIZE": "1"}), USAGE,
                "--packet-bytes")
            self.assertNotIn("NEURON_RT", error)
        self.assert_ok(run("plan", file, "--packet-bytes", "0",
                           env={"NEURON_RT_DBG_DMA_PACKETIZATION_SIZE": "1"}))
        error = self.assert_refused(run("load", file, env={"NEFFLD_DEVICE": "foo"}), USAGE,
                                    "NEFFLD_DEVICE: 'foo' is no device")
        self.assertNotIn("--device", error)
        auto = run("load", file, "--device", "auto", "--device-prefix", "a\x1b[31mb\nc")
        self.assertNotIn("\x1b", self.assert_ok(auto).err)

    def test_an_output_may_not_be_an_input(self):
        file = os.path.join(scratch(), "both.neff")
        write_bytes(file, read_bytes(sample("vecadd-v3")))
        before = read_bytes(file)
        self.assert_refused(run("dump", file, "-o", file), USAGE,
                            "too, expected another file to write")
        self.assert_refused(run("load", file, "--record", file), USAGE,
                            "too, expected another file to write")
        self.assertEqual(before, read_bytes(file))

    def test_packing_does_not_write_over_a_member(self):
        folder = os.path.join(scratch(), "packed-over")
        self.assertEqual(0, run("unpack", sample("vecadd-v3"), folder).code)
        for member in ("neff.json", "sg00/../sg00/def.json"):
            path = os.path.join(folder, member)
            before = read_bytes(path)
            self.assert_refused(run("pack", folder, "-o", path), USAGE, "expected another file")
            self.assertEqual(before, read_bytes(path))
        self.assertEqual(0, run("pack", folder, "-o", os.path.join(folder, "new.neff")).code)

    def test_tensors_are_not_written_over_those_that_are_read(self):
        folder, file = os.path.join(scratch(), "tensors-over"), sample("vecadd-v3")
        self.assertEqual(0, run("run", file, "--random", "1", "--save-inputs", folder).code)
        left, total = os.path.join(folder, "left.npy"), os.path.join(folder, "sum.npy")
        right = os.path.join(folder, "right.npy")
        shutil.copy(left, total)
        shutil.copy(left, right)
        before = read_bytes(left)
        for read, option in ((right, "--save-inputs"), (total, "--out")):
            with self.subTest(option):
                self.assert_refused(run("run", file, "--random", "1", "--in", f"left={read}",
                                        option, folder, "--force"), USAGE, "expected another file")
                self.assertEqual(before, read_bytes(read))

    def test_two_outputs_are_two_files(self):
        file, path = sample("vecadd-v3"), os.path.join(scratch(), "two-outputs")
        twin = os.path.join(scratch(), ".", "two-outputs")
        for words in (("dump", file, "-o", path, "--report", twin),
                      ("dump", file, "-o", path, "--record", twin),
                      ("dump", file, "-o", path + "1", "--report", path, "--record", twin),
                      ("run", file, "--random", "1", "--trace", path, "--record", twin)):
            with self.subTest(words=words):
                self.assert_refused(run(*words), USAGE, "expected another file")
                self.assertFalse(os.path.exists(path))

    def test_words_the_parser_does_not_know(self):
        file = sample("vecadd-v3")
        for words in ((), ("nonsense",), ("load",), ("load", file, "--nonsense"),
                      ("load", file, "--report", "xml"), ("load", file, "--progress", "text"),
                      ("load", file, "--core", "-1"), ("load", file, "--core", "x"),
                      ("load", file, "--scratchpad-page-size", ""),
                      ("load", file, "--scratchpad-page-size", "36893488147419103232"),
                      ("load", file, "--core", ""), ("load", file, "--max-members", ""),
                      ("dump", file, "-o", ""), ("dump", file, "-o", "never.elf", "--report", ""),
                      ("dump", file, "-o", "never.elf", "--rings", ""),
                      ("dump", file), ("pack", scratch()), ("unpack", file),
                      ("pack", scratch(), "-o", "x", "--dialect", "zip")):
            with self.subTest(words=words):
                result = run(*words)
                self.assertEqual(USAGE, result.code, result.err)
                self.assertEqual("", result.out)
                self.assertNotEqual("", result.err)

    def test_values_that_mean_nothing(self):
        file = sample("vecadd-v3")
        image = os.path.join(scratch(), "never.elf")
        for words, text in (
                (("load", file, "--until", "nope"), "nope"),
                (("load", file, "--verify", "--until", "plan"), "--verify"),
                (("load", file, "--core", "4"), "core 4"),
                (("load", file, "--scratchpad-page-size", "0"), "--scratchpad-page-size: found"),
                (("load", file, "--scratchpad-page-size", "511"), "--scratchpad-page-size: found"),
                (("load", file, "--scratchpad-page-size", "4096"), "--scratchpad-page-size: found"),
                (("load", file, "--bind", "left"), "'left'"),
                (("load", file, "--bind", "left="), "'left='"),
                (("load", file, "--bind", "left=0xZZ"), "0xZZ"),
                (("load", file, "--bind", "left=0x10000000000000000"), "0x1000"),
                (("dump", file, "-o", image, "--bind", "left=0x100000000"), "tensor"),
                (("pack", scratch(), "-o", image, "--uuid", "12"), "12")):
            with self.subTest(words=words[2:]):
                self.assert_refused(run(*words), USAGE, text)
        self.assertFalse(os.path.exists(image))

    def test_a_time_that_is_no_number(self):
        result = run("repro", sample("vecadd-v3"), "--seconds", "nan")
        self.assertEqual(USAGE, result.code)
        self.assertIn("--seconds: found nan", result.err)

    def test_an_unknown_name_is_no_input_or_output(self):
        binds = [f"--bind={name}={address}" for name, address in
                 (("left", 0x100000000), ("right", 0x100010000), ("sum", 0x100020000),
                  ("typo", 0x100030000))]
        self.assert_ok(run("load", sample("vecadd-v3"), *binds[:3]))
        self.assert_refused(run("load", sample("vecadd-v3"), *binds), USAGE, "typo")

    def test_names_of_several_files_are_given_together(self):
        files = (sample("vecadd-v3"), sample("cast-v3"))
        names = set()
        for file in files:
            graph = json.loads(run("inspect", file, "--report", "json").out)["models"][0]["graph"]
            names.update(tensor["name"] for tensor in graph["inputs"] + graph["outputs"])
        binds = [f"--bind={name}={0x100000000 + i * 0x100000}" for i, name in enumerate(names)]
        self.assert_ok(run("load", *files, *binds, "--verify"))

    def test_a_bind_of_several_files_says_which_file_lacks_the_name(self):
        binds = [f"--bind={name}={0x100000000 + i * 0x10000}" for i, name in
                 enumerate(("left", "right", "sum"))]
        result = run("load", sample("vecadd-v3"), sample("cast-v3"), *binds)
        self.assert_refused(result, USAGE, "cast-v3.neff")


class FileTest(CliTest):
    def test_files_that_cannot_be_read(self):
        folder = self.fresh_folder()
        os.mkfifo(f"{folder}/pipe")
        empty = write_bytes(f"{folder}/empty.neff", b"")
        cases = {f"{folder}/absent.neff": "does not exist", folder: "is a folder",
                 f"{folder}/pipe": "regular file", empty: "is empty",
                 f"{empty}/below": "cannot be opened"}
        for path, text in cases.items():
            for command in ("load", "inspect", "relocs"):
                with self.subTest(path=path, command=command):
                    self.assert_refused(run(command, path), FILE, path, text)

    def test_the_second_file_is_named_when_it_is_the_one(self):
        self.assert_refused(run("load", sample("vecadd-v3"), "/absent.neff"), FILE, "/absent.neff")

    def test_outputs_that_cannot_be_written(self):
        file, folder = sample("vecadd-v3"), self.fresh_folder()
        image = f"{folder}/image.elf"
        members = f"{folder}/members"
        self.assert_ok(run("unpack", file, members))
        for words in (("dump", file, "-o", "/nonexistent/x.elf"), ("dump", file, "-o", folder),
                      ("dump", file, "-o", image, "--report", "/nonexistent/r.json"),
                      ("dump", file, "-o", image, "--rings", f"{image}/rings"),
                      ("pack", f"{folder}/absent", "-o", image),
                      ("pack", members, "-o", "/nonexistent/x.neff"),
                      ("unpack", file, "/nonexistent/x/y")):
            with self.subTest(words=words):
                self.assert_refused(run(*words), FILE)

    def test_a_full_output_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("/dev/full does not exist")
        file = sample("vecadd-v3")
        for words in (("inspect", file), ("load", file), ("relocs", file), ("--version",),
                      ("--help",), ("load", "--help")):
            with self.subTest(words), open("/dev/full", "wb") as full:
                done = subprocess.run([NEFFLD, *words], stdout=full, stderr=subprocess.PIPE,
                                      check=False)
                self.assertEqual(FILE, done.returncode)
                self.assertRegex(done.stderr.decode(), SENTENCE)

    def test_progress_that_nobody_can_read_stops_nothing(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("/dev/full does not exist")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([NEFFLD, "load", sample("vecadd-v3"), "--progress", "json"],
                                  stdout=subprocess.PIPE, stderr=full, check=False)
        self.assertEqual(0, done.returncode)
        self.assertIn(b"loaded", done.stdout)

    def test_a_closed_output_is_an_error_and_no_file_takes_its_place(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        for closed, code in ((0, 0), (1, FILE), (2, 0)):
            with self.subTest(closed=closed):
                trace = os.path.join(holder.name, f"{closed}.trace")
                done = subprocess.run(
                    [NEFFLD, "load", sample("vecadd-v3"), "--record", trace], check=False,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    preexec_fn=lambda closed=closed: os.close(closed))
                self.assertEqual(code, done.returncode, done.stderr)
                self.assert_ok(run("trace", "show", trace), "MEM_ALLOC")


class FormatTest(CliTest):
    def test_bytes_that_break_a_rule(self):
        path = write_bytes(os.path.join(scratch(), "text.neff"), b"not a neff at all " * 100)
        self.assert_refused(run("load", path), FORMAT)
        for command in ("load", "inspect", "relocs"):
            self.assert_refused(run(command, path), FORMAT, path)
        self.assert_refused(run("unpack", path, os.path.join(scratch(), "u")), FORMAT)

    def test_the_limit_of_nesting_holds_for_every_document(self):
        for member in ("neff.json", "kelf-0.json", "sg00/def.json", "sg00/PE.json"):
            with self.subTest(member):
                deep = functools.reduce(lambda inner, _: [inner], range(20), 1)
                file = Neff(sample("vecadd-v3")).edit(
                    member, lambda d, deep=deep: d.update(deep=deep)).save("deep.neff")
                self.assert_ok(run("load", file, "--max-json-depth", "21"))
                self.assert_refused(run("load", file, "--max-json-depth", "20"), FORMAT, member,
                                    "nested deeper than 20 levels")

    def test_a_failed_unpack_makes_no_folder(self):
        blob = read_bytes(sample("vecadd-v3"))
        path = write_bytes(os.path.join(scratch(), "short.neff"), blob[:5000])
        self.assert_refused(run("unpack", path, os.path.join(scratch(), "none")), FORMAT)
        self.assertFalse(os.path.exists(os.path.join(scratch(), "none")))


class UnsupportedTest(CliTest):
    def test_another_architecture_names_both(self):
        self.assert_refused(run("load", sample("vecadd-v3"), "--device", "sim:v2"), UNSUPPORTED,
                            "NEFF arch: v3", "instance arch: v2")
        self.assert_refused(run("load", sample("vecadd-v2"), "--device", "sim:v3"), UNSUPPORTED,
                            "NEFF arch: v2", "instance arch: v3")
        # Two files, one device: it is the first one's.
        self.assert_refused(run("load", sample("vecadd-v2"), sample("vecadd-v3")), UNSUPPORTED,
                            "vecadd-v3.neff", "instance arch: v2")

    def test_every_target_on_every_device(self):
        for target, arch in (("sunda", 2), ("v2", 2), ("cayman", 3), ("v3", 3), ("mariana", 4),
                             ("v4", 4)):
            file = Neff(sample("empty-v3")).edit("kelf-0.json", lambda d: d.update(
                target=target)).save(f"target-{target}.neff")
            for device in (2, 3):
                with self.subTest(target=target, device=device):
                    result = run("load", file, "--until", "graph", "--device", f"sim:v{device}")
                    if arch == device:
                        self.assert_ok(result)
                    else:
                        self.assert_refused(result, UNSUPPORTED, f"v{arch}", f"v{device}")

    def test_names_that_are_no_device(self):
        for device in ("sim:v4", "nonsense"):
            with self.subTest(device):
                self.assert_refused(run("load", sample("vecadd-v3"), "--device", device), USAGE,
                                    device)

    def test_v4_is_built_and_planned_but_not_staged(self):
        file = Neff(sample("vecadd-v3")).edit(
            "kelf-0.json", lambda d: d.update(target="mariana")).save("v4.neff")
        self.assert_ok(run("load", file, "--until", "plan"), "v4")
        self.assert_ok(run("inspect", file), "v4")
        self.assert_refused(run("load", file), UNSUPPORTED, "v4")


class ResourceTest(CliTest):
    def test_limits_are_options(self):
        for words in (("--max-inflated", "1000"), ("--max-members", "3")):
            with self.subTest(words=words):
                self.assert_refused(run("load", sample("vecadd-v3"), *words), RESOURCE)

    def test_a_huge_file_is_refused_before_it_is_read(self):
        path = os.path.join(scratch(), "sparse.neff")
        write_bytes(path, b"")
        os.truncate(path, 1 << 40)
        members = os.path.join(scratch(), "sparse-members")
        for words in (("load", path), ("inspect", path), ("plan", path), ("check", path),
                      ("unpack", path, members), ("run", path, "--random", "1")):
            with self.subTest(words=words):
                self.assert_refused(run(*words), RESOURCE, path,
                                    "has 1099511627776 bytes, the limit is")
        os.truncate(path, 100 << 20)
        self.assert_refused(run("load", path, "--max-inflated", "1000000"), RESOURCE,
                            "has 104857600 bytes, the limit is 2049552")
        os.unlink(path)

    def test_a_model_that_does_not_fit_the_device(self):
        # 13 GiB of scratchpad for one core of a v2 device, of which less is free.
        neff = Neff(sample("vecadd-v2"))
        definition = neff.json("sg00/def.json")
        number = len(definition["var"])
        definition["var"]["huge"] = {"type": "virtual", "var_id": number, "ops": [],
                                     "size": 13 << 30, "backing_variable_off": 0}
        neff.edit("sg00/def.json", lambda d: d.update(definition))
        file = neff.save("huge.neff")
        result = run("load", file)
        # The memory report comes first, the sentence last.
        report, mark, sentence = result.err.rpartition("neffld: ")
        self.assertIn("Displaying Current Memory Utilization:", report)
        result.err = mark + sentence
        self.assert_refused(result, RESOURCE, "the largest free block is", "--contiguous-scratchpad")


if __name__ == "__main__":
    unittest.main()
