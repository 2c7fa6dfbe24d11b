# SPDX-License-Identifier: MIT
"""Commands that only read, where the system gives them little memory."""
import os
import unittest

from support import (RESOURCE, SENTENCE, CliTest, Neff, least_memory, run, run_within, sample, scratch)

STEPS_MIB = (*(quarter / 4 for quarter in range(16)), *range(4, 24), 28, 32, 40, 48, 64, 96, 256, 512)


class MemoryTest(CliTest):
    def commands(self):
        """Words by name; the payload is hashed in a thread of its own and larger than the steps."""
        neff = Neff(sample("conv-like-v2"))
        neff.members["sg00/more.bin"] = os.urandom(16 << 20)
        file = neff.save("memory.neff")
        trace, image = os.path.join(scratch(), "memory.trace"), os.path.join(scratch(), "image.zst")
        plain = os.path.join(scratch(), "image.elf")
        self.assert_ok(run("dump", sample("vecadd-v3"), "-o", image, "--zstd", "--record", trace))
        self.assert_ok(run("dump", sample("vecadd-v3"), "-o", plain))
        folder = os.path.join(self.fresh_folder(), "folder")
        self.assert_ok(run("unpack", sample("vecadd-v3"), folder))
        self.unpacked = os.path.join(self.fresh_folder(), "members")
        return {
            "inspect": ("inspect", file),
            "check": ("check", file),
            "check of a small file": ("check", sample("vecadd-v3")),
            "plan": ("plan", file),
            "unpack": ("unpack", file, self.unpacked),
            "trace show": ("trace", "show", trace),
            "trace diff": ("trace", "diff", trace, trace),
            "pack": ("pack", folder, "-o", os.path.join(scratch(), "packed.neff")),
            "disasm": ("disasm", image),
            "disasm of a plain image": ("disasm", plain),
            "diff": ("diff", plain, plain),
        }

    def test_a_shortage_is_a_sentence_about_memory_or_nothing(self):
        least = least_memory()
        for name, words in self.commands().items():
            codes = set()
            for step in STEPS_MIB:
                done = run_within(least + int(step * (1 << 20)), *words)
                with self.subTest(name, step=step):
                    self.assertIn(done.returncode, (0, RESOURCE), done.stderr)
                    if done.returncode:
                        self.assertEqual(b"", done.stdout)
                        self.assertRegex(done.stderr.decode(), SENTENCE)
                        self.assertIn(b"memory", done.stderr)
                        self.assertFalse(os.path.exists(self.unpacked))
                    elif name == "unpack":
                        os.rename(self.unpacked, self.unpacked + str(step))
                codes.add(done.returncode)
            with self.subTest(name):
                self.assertIn(0, codes, "the steps end too early")


if __name__ == "__main__":
    unittest.main()
