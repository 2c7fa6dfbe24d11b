# SPDX-License-Identifier: MIT
"""Cut, flipped and grown files: refused, or understood exactly as before."""

import os
import random
import tarfile
import unittest

from support import (FILE, FORMAT, RESOURCE, UNSUPPORTED, CliTest, Neff, gzip_of, in_parallel,
                     real_files, run, read_bytes, sample, scratch, tar_of, write_bytes)

FLIPS = 500
SEED = 20


class TruncationTest(CliTest):
    def check_cuts(self, file, step=512):
        blob = read_bytes(file)

        def cut(size):
            path = write_bytes(os.path.join(scratch(), f"cut-{size}.neff"), blob[:size])
            result = run("load", path)
            os.unlink(path)
            return size, result

        for size, result in in_parallel(cut, range(0, len(blob), step)):
            with self.subTest(size=size):
                self.assert_refused(result, FILE if size == 0 else FORMAT)

    def test_a_generated_file_cut_at_every_512th_byte(self):
        self.check_cuts(sample("single-core-v3"))

    def test_a_real_file_cut_at_every_512th_byte(self):
        for file in real_files():
            if os.path.basename(file).startswith("05-"):
                self.check_cuts(file)

    def test_cuts_that_data_size_agrees_with(self):
        blob = read_bytes(sample("vecadd-v2"))
        for size in range(1024 + 512, len(blob) - 1024, 4096):
            with self.subTest(size=size):
                neff = Neff(sample("vecadd-v2"))
                neff.payload = blob[1024:size]
                result = run("load", neff.save("cut.neff"))
                if result.code:  # zeros behind the stream may go
                    self.assert_refused(result, FORMAT)
                else:
                    self.assertEqual(b"", blob[size:].strip(b"\0"))


class FlipTest(CliTest):
    def flipped(self, blob, count, *arguments):
        """[(bit, run)] of `count` files with one payload bit flipped."""
        numbers = random.Random(SEED)
        bits = numbers.sample(range(1024 * 8, len(blob) * 8), count)

        def flip(bit):
            changed = bytearray(blob)
            changed[bit // 8] ^= 1 << bit % 8
            path = write_bytes(os.path.join(scratch(), f"flip-{arguments[0]}-{bit}.neff"), changed)
            result = run(arguments[0], path, *arguments[1:])
            os.unlink(path)
            return bit, result

        return in_parallel(flip, bits)

    def test_with_the_hash_every_flipped_bit_is_refused(self):
        blob = read_bytes(sample("single-core-v3"))
        for bit, result in self.flipped(blob, FLIPS, "load", "--until", "parse"):
            with self.subTest(bit=bit):
                self.assert_refused(result, FORMAT, "hash")

    def test_without_the_hash_a_flipped_bit_is_refused_or_changes_no_member(self):
        file = sample("single-core-v3")
        blob = read_bytes(file)
        accepted = 0
        for bit, result in self.flipped(blob, FLIPS, "inspect", "--no-verify", "--report", "json"):
            with self.subTest(bit=bit):
                if result.code != 0:
                    self.assert_refused(result, FORMAT)
                    continue
                accepted += 1
                changed = bytearray(blob)
                changed[bit // 8] ^= 1 << bit % 8
                path = write_bytes(os.path.join(scratch(), "accepted.neff"), changed)
                self.assertEqual(Neff(file).members, Neff(path).members)
        self.assertLess(accepted, FLIPS // 20)


class TailTest(CliTest):
    """What follows the gzip stream inside the payload (spec 01 section 5)."""

    def file_with_tail(self, tail):
        neff = Neff(sample("vecadd-v2"))
        neff.payload = gzip_of(neff.archive()) + tail
        return neff.save("tail.neff")

    def test_any_number_of_zeros_is_padding(self):
        for size in (0, 1, 10165):
            with self.subTest(size=size):
                self.assertEqual(0, run("load", self.file_with_tail(bytes(size))).code)

    def test_anything_else_is_refused(self):
        for tail in (b"\1", bytes(100) + b"x", bytes(10164) + b"\1", gzip_of(b"second")):
            with self.subTest(tail=tail[:8]):
                self.assert_refused(run("load", self.file_with_tail(tail)), FORMAT)

    def test_the_crc_and_length_fields_count_without_the_hash_too(self):
        neff = Neff(sample("vecadd-v2"))
        stream = gzip_of(neff.archive())
        for at in range(1, 9):
            changed = bytearray(stream)
            changed[-at] ^= 0x10
            neff.payload = bytes(changed)
            with self.subTest(at=at):
                self.assert_refused(run("load", neff.save("crc.neff"), "--no-verify"), FORMAT)


class ArchiveTest(CliTest):
    def check(self, tar, code=FORMAT, *texts):
        neff = Neff(sample("vecadd-v2"))
        neff.payload = gzip_of(tar)
        return self.assert_refused(run("load", neff.save("archive.neff")), code, *texts)

    def test_a_damaged_header_anywhere_is_refused(self):
        neff = Neff(sample("vecadd-v2"))
        tar, offsets, at = neff.archive(), [], 0
        for data in neff.members.values():
            offsets.append(at)
            at += 512 + -(-len(data) // 512) * 512
        for offset in offsets[::7]:
            changed = bytearray(tar)
            changed[offset + 150] ^= 1
            with self.subTest(offset=offset):
                self.check(bytes(changed), FORMAT, "checksum")

    def test_lost_end_blocks_and_sizes_that_lie_are_refused(self):
        tar = Neff(sample("vecadd-v2")).archive()
        end = len(tar.rstrip(b"\0")) + 511 & ~511
        self.check(tar[:end - 512])
        for text in (b"77777777777\0", b"\x80" + bytes(3) + (2**60).to_bytes(8, "big"),
                     b"\x80" + bytes(3) + (2**63).to_bytes(8, "big"), b"\xff" * 12,
                     b"00000zz0000\0"):
            with self.subTest(size=text):
                changed = bytearray(tar)
                changed[124:136] = text
                changed[148:156] = b" " * 8
                changed[148:156] = b"%06o\0 " % sum(changed[:512])
                result = run("load", self.packed(bytes(changed)))
                self.assertIn(result.code, (FORMAT, RESOURCE))
                self.assert_refused(result, result.code)

    def packed(self, tar):
        neff = Neff(sample("vecadd-v2"))
        neff.payload = gzip_of(tar)
        return neff.save("size.neff")

    def test_only_files_and_folders_are_members(self):
        for kind, name in ((tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "hard"),
                           (tarfile.FIFOTYPE, "pipe"), (tarfile.CHRTYPE, "device")):
            with self.subTest(name):
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, "neff.json"
                members = list(Neff(sample("vecadd-v2")).members.items())
                self.check(tar_of(members[:2] + [(info, b"")] + members[2:]), FORMAT, name)

    def test_names_that_lead_elsewhere_or_occur_twice_are_refused(self):
        members = list(Neff(sample("vecadd-v2")).members.items())
        for name in ("../x", "/etc/x", "a/../x", "sg00/def.json", "./sg00/def.json", "x\ny"):
            with self.subTest(name):
                self.check(tar_of(members + [(name, b"1")]), FORMAT)


class LegalFormsTest(CliTest):
    def test_the_hash_may_be_plain_or_word_swapped_and_the_report_says_which(self):
        self.assert_ok(run("inspect", sample("vecadd-v2")), "hash plain")
        self.assert_ok(run("inspect", sample("vecadd-v3")), "hash word-swapped")
        self.assert_ok(run("inspect", sample("vecadd-v3"), "--no-verify"), "hash not checked")

    def test_a_hash_that_is_not_verified_is_a_warning_that_says_what_was(self):
        neff = Neff(sample("vecadd-v3"))
        file = neff.save("wrong-hash.neff")
        blob = bytearray(read_bytes(file))
        blob[0xAC] ^= 1
        write_bytes(file, blob)
        for command in ("load", "inspect", "plan"):
            with self.subTest(command):
                self.assert_refused(run(command, file), FORMAT, "hash")
                self.assert_ok(run(command, file, "--no-verify"), "warning: the header hash was not "
                               "verified; gzip CRC and length, tar checksums and sizes were")
                self.assertNotIn("not verified", run(command, sample("vecadd-v3")).out)

    def test_bytes_behind_the_payload_are_ignored_with_a_warning(self):
        blob = read_bytes(sample("vecadd-v2")) + b"tail"
        path = write_bytes(os.path.join(scratch(), "behind.neff"), blob)
        self.assert_ok(run("load", path), "4 bytes behind the payload are ignored")


class FeatureTest(CliTest):
    def header(self, **fields):
        neff = Neff(sample("vecadd-v2"))
        neff.set("<Q", 0x18, fields.get("major", 2))
        neff.set("<Q", 0x20, fields.get("minor", 0))
        neff.set("<Q", 0x220, fields.get("bits", 0))
        return run("load", neff.save("header.neff"))

    def test_every_unknown_bit_is_listed_by_number(self):
        for bits, text in ((1 << 27, "bits: 27;"), (1 << 62, "bits: 62;"),
                           (1 << 27 | 1 << 40 | 1, "bits: 27, 40;")):
            with self.subTest(bits=hex(bits)):
                self.assert_refused(self.header(bits=bits), UNSUPPORTED, text,
                                    "NRT_UNSUPPORTED_NEFF_VERSION")

    def test_a_newer_major_version_is_refused_and_the_minor_is_ignored(self):
        self.assert_refused(self.header(major=3), UNSUPPORTED, "3.0")
        self.assertEqual(0, self.header(minor=9999).code)

    def test_eight_loads_at_once_give_eight_unbroken_lines(self):
        neff = Neff(sample("vecadd-v2")).set("<Q", 0x18, 3)
        file = neff.save("eight.neff")
        for result in in_parallel(lambda _: run("load", file), range(8)):
            self.assert_refused(result, UNSUPPORTED)


if __name__ == "__main__":
    unittest.main()
