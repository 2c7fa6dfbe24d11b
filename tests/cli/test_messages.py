# SPDX-License-Identifier: MIT
"""Broken inputs, two tables, of members and of the bytes around them: each is refused with one
sentence of its own that says where and what."""

import json
import os
import struct
import tarfile
import unittest

from support import (FILE, FORMAT, RESOURCE, UNSUPPORTED, CliTest, Neff, gzip_of, run, sample, scratch,
                     tar_of, write_bytes)

DEF, POOL, ACT, DVE = ("sg00/def.json", "sg00/Pool.json", "sg00/Activation.json",
                       "sg00/DVE.json")
LINE = "\n" + 12 * " "  # between two fields of a variable in def.json


def header(form, offset, value):
    return lambda neff: neff.set(form, offset, value)


def without(member):
    return lambda neff: neff.members.pop(member)


def edited(member, change):
    return lambda neff: neff.edit(member, change)


def text(member, old, new):
    """Replaces text, for JSON that json.dumps would not write."""
    def change(neff):
        data = neff.members[member].decode()
        assert old in data, (member, old)
        neff.members[member] = data.replace(old, new, 1).encode()
    return change


def cut(member, size):
    def change(neff):
        neff.members[member] = neff.members[member][:size]
    return change


def variable(name, **fields):
    return edited(DEF, lambda d: d["var"].setdefault(name, {}).update(fields))


def queue(**fields):
    return edited(DEF, lambda d: d["dma_queue"]["qPoolIO0"].update(fields))


def block(**fields):
    return edited(POOL, lambda d: d["dma"][0].update(fields))


def descriptor(**fields):
    return edited(POOL, lambda d: d["dma"][0]["desc"][0].update(fields))


def slot(member, number, offset, value):
    def change(neff):
        data = bytearray(neff.members[member])
        data[number * 64 + offset] = value
        neff.members[member] = bytes(data)
    return change


def block_of_trigger(number):
    """The first DMA trigger of POOL names another block."""
    def change(neff):
        data = bytearray(neff.members["sg00/Pool.bin"])
        for at in range(0, len(data), 64):
            if data[at] == 0xC1:
                struct.pack_into("<I", data, at + 0x30, number)
                neff.members["sg00/Pool.bin"] = bytes(data)
                return
        raise AssertionError("no DMA trigger in Pool.bin")
    return change


def renamed(old, new):
    return edited(DEF, lambda d: d["var"].update({new: d["var"].pop(old)}))


# name, exit code, what must be in the sentence, change of the sample vecadd-v3
CASES = [
    # header
    ("major version", UNSUPPORTED, "version", header("<Q", 0x18, 3)),
    ("feature bit", UNSUPPORTED, "features", header("<Q", 0x220, 1 << 30)),
    ("packager", UNSUPPORTED, "packager", header("<Q", 0x00, 7)),
    ("header size", FORMAT, "header_size", header("<Q", 0x08, 1 << 40)),
    # members
    ("neff.json absent", FORMAT, "neff.json", without("neff.json")),
    ("kelf absent", FORMAT, "kelf-0.json", without("kelf-0.json")),
    ("def.json absent", FORMAT, DEF, without(DEF)),
    ("second def.json absent", FORMAT, "sg01/def.json", without("sg01/def.json")),
    *[(f"{engine}.json absent", FORMAT, f"sg00/{engine}.json", without(f"sg00/{engine}.json"))
      for engine in ("PE", "Activation", "Pool", "DVE", "SP")],
    *[(f"{engine}.bin absent", FORMAT, f"sg00/{engine}.bin", without(f"sg00/{engine}.bin"))
      for engine in ("PE", "Activation", "Pool", "DVE", "SP")],
    *[(f"{table} absent", FORMAT, table, without(f"sg00/default_{table}_table.bin"))
      for table in ("opcode", "datapath", "control_fast", "control_slow")],
    ("table too short", FORMAT, "sg00", cut("sg00/default_opcode_table.bin", 100)),
    # neff.json and the kelf
    ("neff.json no JSON", FORMAT, "neff.json", cut("neff.json", 100)),
    ("neff.json nodes", FORMAT, "nodes", edited("neff.json", lambda d: d.pop("nodes"))),
    ("neff.json heads", FORMAT, "heads", edited("neff.json", lambda d: d.pop("heads"))),
    ("neff.json attrs", FORMAT, "shape", edited("neff.json", lambda d: d["attrs"].pop("shape"))),
    ("neff.json argument", FORMAT, "Input node",
     edited("neff.json", lambda d: d["arg_nodes"].append(77))),
    ("neff.json head", FORMAT, "Output node",
     edited("neff.json", lambda d: d["heads"].append([78, 0, 0]))),
    ("neff.json kelf", FORMAT, "kelf",
     edited("neff.json", lambda d: d["nodes"][2]["attrs"].pop("kelf"))),
    ("neff.json no kelf", FORMAT, "No KELF",
     edited("neff.json", lambda d: d["nodes"][2]["attrs"].pop("func_name"))),
    ("kelf version", FORMAT, "version", edited("kelf-0.json", lambda d: d.pop("version"))),
    ("kelf target", FORMAT, "venus",
     edited("kelf-0.json", lambda d: d.update(target="venus"))),
    ("kelf graphs", FORMAT, "graphs", edited("kelf-0.json", lambda d: d.update(graphs=[]))),
    ("kelf twins", FORMAT, "duplicate graph",
     edited("kelf-0.json", lambda d: d["graphs"][1].update(name="sg00"))),
    ("kelf three graphs", RESOURCE, "3", edited("kelf-0.json", lambda d: d["graphs"].append(
        {"name": "sg02", "definition": "sg01/def.json"}))),
    # def.json: numbers
    ("size text", FORMAT, "$.var.sum.size", variable("sum", size="49152")),
    ("size negative", FORMAT, "$.var.sum.size", variable("sum", size=-1)),
    ("size fraction", FORMAT, "$.var.sum.size", variable("sum", size=1.5)),
    ("size zero", FORMAT, "$.var.sum.size", variable("sum", size=0)),
    ("size exponent", FORMAT, "$.var.sum.size",
     text(DEF, f'"size": 49152,{LINE}"type": "output"', f'"size": 1e3,{LINE}"type": "output"')),
    ("size 2^64", FORMAT, "$.var.sum.size", variable("sum", size=1 << 64)),
    ("duplicate key", FORMAT, "size", text(DEF, '"size": 49152', '"size": 1, "size": 49152')),
    ("nested too deeply", FORMAT, "deep",
     lambda neff: neff.members.update({DEF: b'{"x":' + b"[" * 1000000})),
    ("bytes behind the JSON", FORMAT, DEF,
     lambda neff: neff.members.update({DEF: neff.members[DEF] + b"\0{}"})),
    ("bad UTF-8", FORMAT, DEF,
     lambda neff: neff.members.update({DEF: neff.members[DEF].replace(b"left", b"le\xfft")})),
    # def.json: variables
    ("var_id gap", FORMAT, "var_ids", variable("sum", var_id=9)),
    ("var_id twice", FORMAT, "duplicate", variable("sum", var_id=1)),
    ("var_id absent", FORMAT, "var_id", edited(DEF, lambda d: d["var"]["sum"].pop("var_id"))),
    ("kind unknown", FORMAT, "sausage", variable("sum", type="sausage")),
    ("no output", FORMAT, "Outputs", variable("sum", type="input")),
    ("offset wraps", FORMAT, "backing_variable_off",
     variable("v", type="virtual", var_id=4, size=16, backing_variable_off=(1 << 64) - 8)),
    ("file absent", FORMAT, "weights.npy",
     variable("w", type="file", var_id=4, size=16, file_name="weights.npy")),
    ("pointer to nothing", FORMAT, "referenced_var_id",
     variable("p", type="pointer", var_id=4, size=8, referenced_var_id=99)),
    ("list of nothing", FORMAT, "list[0]",
     variable("t", type="list", var_id=4, list=[99])),
    ("reservation absent", FORMAT, "reservation",
     edited(DEF, lambda d: d.pop("runtime_statebuffer_reservation"))),
    ("reservation moved", FORMAT, "offset",
     edited(DEF, lambda d: d["runtime_statebuffer_reservation"][0].update(offset=1))),
    # queues and blocks
    ("queue owner", FORMAT, "owner", queue(owner="gpu")),
    ("queue type", FORMAT, "sideways", queue(type="sideways")),
    ("queue rings", FORMAT, "num_queues", queue(num_queues=17)),
    ("queue no rings", FORMAT, "num_queues", queue(num_queues=0)),
    ("queue semaphores", FORMAT, "semaphore", queue(semaphore_set=[1])),
    ("block queue", FORMAT, "qNone", block(queue="qNone")),
    ("block twice", FORMAT, "twice", block(id=1)),
    ("block semaphore", FORMAT, "241", block(semaphore=241)),
    ("descriptor variable", FORMAT, "nobody", descriptor(**{"from": "nobody"})),
    ("descriptor operation", None, "teleport", descriptor(op="teleport")),
    ("descriptor dtype", FORMAT, "float7", descriptor(from_dtype="float7")),
    ("descriptor size zero", FORMAT, "to_sizes", descriptor(to_sizes=[0, 128])),
    ("descriptor dimensions", FORMAT, "from_sizes", descriptor(from_sizes=[1, 1, 1, 1, 192],
                                                               from_steps=[1, 1, 1, 1, 1])),
    ("descriptor steps", FORMAT, "to_steps", descriptor(to_steps=[2, 384])),
    ("descriptor out of the variable", FORMAT, "sum", descriptor(to_off=49152 - 100)),
    ("descriptor far out", FORMAT, "sum", descriptor(to_off=(1 << 64) - 100)),
    ("descriptor out of SBUF", FORMAT, "desc", descriptor(from_off=229300)),
    ("descriptor sides differ", FORMAT, "desc", descriptor(from_sizes=[96, 128])),
    # engine JSON and streams
    ("engine JSON no JSON", FORMAT, "Pool.json", cut(POOL, 30)),
    ("instr absent", FORMAT, "instr", edited(POOL, lambda d: d.pop("instr"))),
    ("ACT set without info", FORMAT, "act_info",
     edited(ACT, lambda d: (d.update(activation_function_sets=["gelu"]), d.pop("act_info")))),
    ("two DVE tables", FORMAT, "dve_tables",
     edited(DVE, lambda d: d["dve_tables"].append(d["dve_tables"][0]))),
    ("unknown opcode", UNSUPPORTED, "0xFD", slot("sg00/DVE.bin", 0, 0, 0xFD)),
    ("record length", FORMAT, "words", slot("sg00/DVE.bin", 0, 1, 3)),
    ("trigger of no block", FORMAT, "block", block_of_trigger(4711)),
]


def whole():
    return Neff(sample("vecadd-v3")).bytes()


def cut_to(size):
    return lambda: whole()[:size]


def with_header(form, offset, value):
    """A header field that is not made right again."""
    return lambda: Neff(sample("vecadd-v3")).set(form, offset, value).bytes(seal=False)


def sealed(payload):
    neff = Neff(sample("vecadd-v3"))
    neff.payload = payload(neff)
    return neff.bytes()


def stream(change):
    """The gzip stream, changed."""
    def payload(neff):
        data = bytearray(gzip_of(neff.archive()))
        return bytes(change(data) or data)
    return lambda: sealed(payload)


def put(at, value):
    def change(data):
        data[at] ^= value
    return change


def archive(change):
    """The tar, changed; `change` gets its bytes and may give others."""
    def payload(neff):
        data = bytearray(neff.archive())
        return gzip_of(bytes(change(data) or data))
    return lambda: sealed(payload)


def number_of_first_member(field):
    """Another size field in the first header, with a checksum that agrees."""
    def change(tar):
        tar[124:136] = field
        tar[148:156] = b" " * 8
        tar[148:156] = b"%06o\0 " % sum(tar[:512])
    return archive(change)


def more_members(*members):
    return lambda: sealed(lambda neff: gzip_of(tar_of([*neff.members.items(), *members])))


def entry(kind, name):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "neff.json"
    return (info, b"")


def without_end(tar):
    return tar[:(len(tar.rstrip(b"\0")) + 511 & ~511) - 100]


# name, exit code, what must be in the sentence, the bytes of the file
FILES = [
    ("nothing", FILE, "empty", lambda: b""),
    ("a byte less than a header", FORMAT, "1023", cut_to(1023)),
    ("only a header", FORMAT, "file sz: 400", cut_to(1024)),
    ("payload cut off", FORMAT, "data_size", cut_to(3000)),
    ("data_size too large", FORMAT, "data_size", with_header("<Q", 0x10, 1 << 40)),
    ("data_size that wraps", FORMAT, "data_size", with_header("<Q", 0x10, (1 << 64) - 1024)),
    ("data_size 0", FORMAT, "payload", with_header("<Q", 0x10, 0)),
    ("header_size of the file", FORMAT, "header_size", with_header("<Q", 0x08, 1 << 62)),
    ("another hash", FORMAT, "hash", lambda: bytes([*whole()[:0xAC], 7, *whole()[0xAD:]])),
    ("no gzip, no tar", FORMAT, "tar", lambda: sealed(lambda neff: b"nothing of use " * 200)),
    ("gzip method", FORMAT, "method", stream(put(2, 1))),
    ("gzip flags", FORMAT, "flags", stream(put(3, 0xE0))),
    ("gzip CRC", FORMAT, "CRC", stream(put(-6, 1))),
    ("gzip length", FORMAT, "length", stream(put(-2, 1))),
    ("gzip torn", FORMAT, "gzip", stream(lambda data: data[:len(data) // 2])),
    ("second gzip member", FORMAT, "second gzip member", stream(lambda data: data + data)),
    ("padding not zero", FORMAT, "padding", stream(lambda data: data + bytes(99) + b"x")),
    ("tar empty", FORMAT, "empty", lambda: sealed(lambda neff: gzip_of(b""))),
    ("tar checksum", FORMAT, "checksum", archive(put(150, 1))),
    ("tar size 2^60", FORMAT, "1152921504606846976",
     number_of_first_member(b"\x80" + bytes(3) + (1 << 60).to_bytes(8, "big"))),
    ("tar size negative", FORMAT, r"\xff\xff", number_of_first_member(b"\xff" * 12)),
    ("tar size no number", FORMAT, "00000zz0000", number_of_first_member(b"00000zz0000\0")),
    ("tar torn", FORMAT, "bytes follow this header", archive(without_end)),
    ("bytes behind the tar", FORMAT, "behind the end", archive(lambda tar: tar + b"x" * 512)),
    ("symbolic link", FORMAT, "soft", more_members(entry(tarfile.SYMTYPE, "soft"))),
    ("hard link", FORMAT, "hard", more_members(entry(tarfile.LNKTYPE, "hard"))),
    ("pipe", FORMAT, "pipe", more_members(entry(tarfile.FIFOTYPE, "pipe"))),
    ("device", FORMAT, "tty", more_members(entry(tarfile.CHRTYPE, "tty"))),
    ("parent folder", FORMAT, "../x", more_members(("../x", b""))),
    ("absolute name", FORMAT, "/etc/x", more_members(("/etc/x", b""))),
    ("line break in a name", FORMAT, "newline", more_members(("x\ny", b""))),
    ("member twice", FORMAT, "twice", more_members((DEF, b"{}"))),
    ("member twice, spelled differently", FORMAT, "twice", more_members(("./" + POOL, b"{}"))),
]


def sentence_of(result, file):
    """The message without the file's name, which differs for every case anyway."""
    return result.err.replace(file, "FILE")


class MessagesTest(CliTest):
    def results(self):
        for number, (name, code, words, change) in enumerate(CASES):
            neff = Neff(sample("vecadd-v3"))
            change(neff)
            file = neff.save(f"broken-{number}.neff")
            yield name, code, words, file, run("load", file)
        for number, (name, code, words, content) in enumerate(FILES):
            file = write_bytes(os.path.join(scratch(), f"bytes-{number}.neff"), content())
            yield name, code, words, file, run("load", file)

    def test_each_broken_input_has_a_sentence_of_its_own(self):
        sentences = {}
        for name, code, words, file, result in self.results():
            with self.subTest(name):
                self.assert_refused(result, result.code if code is None else code, file, words)
                self.assertIn(result.code, (FILE, FORMAT, UNSUPPORTED, RESOURCE))
                self.assertNotIn("unexpected exception", result.err)
            sentences.setdefault(sentence_of(result, file), []).append(name)
        twins = {text: names for text, names in sentences.items() if len(names) > 1}
        self.assertGreaterEqual(len(CASES), 60)
        self.assertGreaterEqual(len(FILES), 30)
        self.assertEqual({}, twins)

    def test_the_innermost_cause_is_in_the_last_part_of_the_chain(self):
        neff = Neff(sample("vecadd-v3"))
        variable("sum", size=-1)(neff)
        result = run("load", neff.save("chain.neff"))
        self.assertRegex(result.err, r"neffld: .*chain\.neff: sg00/def\.json: \$\.var\.sum\.size"
                                     r".*-1.*\(NRT_INVALID\)\n\Z")

    def test_names_with_control_bytes_cannot_break_the_line(self):
        neff = Neff(sample("vecadd-v3"))
        renamed("sum", "s\n\x1bm")(neff)
        result = run("load", neff.save("control.neff"))
        self.assertNotEqual(0, result.code)
        self.assertEqual(1, result.err.count("\n"))
        self.assertNotIn("\x1b", result.err)

    def test_the_edited_sample_itself_is_fine(self):
        neff = Neff(sample("vecadd-v3"))
        for member in (DEF, POOL, ACT, DVE, "neff.json", "kelf-0.json"):
            neff.members[member] = json.dumps(neff.json(member)).encode()
        self.assertEqual(0, run("load", neff.save("fine.neff"), "--verify").code)


if __name__ == "__main__":
    unittest.main()
