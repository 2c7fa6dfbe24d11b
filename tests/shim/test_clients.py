# SPDX-License-Identifier: MIT
"""C programs see simulated devices, however they were compiled and started."""
import os
import subprocess
import tempfile
import unittest

from support import CLIENTS, PARTS, ShimTest


def imported(program):
    """Functions the program takes from the C library."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True,
                            text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}


class Clients(ShimTest):
    def test_variants_call_what_they_are_for(self):
        plain, fortified, large, both = (imported(client) for client in CLIENTS)
        self.assertLessEqual({"open", "openat", "mmap", "fopen"}, plain)
        self.assertLessEqual({"__open_2", "__openat_2", "__read_chk", "__readlink_chk"}, fortified)
        self.assertLessEqual({"open64", "mmap64", "fopen64", "readdir64"}, large)
        self.assertLessEqual({"__open64_2", "__openat64_2"}, both)

    def test_every_variant_in_one_session(self):
        for client in CLIENTS:
            for device in ("sim:v2", "sim:v3"):
                with self.subTest(client=os.path.basename(client), device=device):
                    done = self.shim(client, *PARTS, options=("--device", device, "--count", "2"))
                    self.assertEqual(done.stdout.split(), [word for part in PARTS
                                                           for word in ("ok", part)])
                    self.assertEqual(os.listdir(self.sessions), [])

    def test_every_part_with_the_variables_alone(self):
        variables = self.preload(NEFFLD_SHIM_COUNT="2")
        for part in PARTS:
            with self.subTest(part=part):
                self.run_program(CLIENTS[0], part, **variables)
        self.wait_for_sessions_to_end()

    def test_relative_names_below_the_tree_are_known_to_children(self):
        script = ("cd /sys/class/neuron_device && cat neuron0/core_count && cd neuron1 && "
                  "cat core_count ../neuron0/core_count && cd stats && cat hardware/sram_ecc_uncorrected")
        for folder in ("/dev/shm", "/tmp"):
            with self.subTest(folder=folder), tempfile.TemporaryDirectory(dir=folder) as sessions:
                done = self.shim("sh", "-c", script, options=("--count", "2"), TMPDIR=sessions)
                self.assertEqual(done.stdout, "8880")

    def test_processes_started_by_a_shell_share_the_devices(self):
        # The second would get handle 1 if the device were another one or had forgotten the first.
        script = ("import os,time,sys; fd=os.open('/dev/neuron0',os.O_RDWR); "
                  "print(os.listdir('/sys/class/neuron_device').count('neuron0')); "
                  "sys.stdout.flush(); time.sleep({})")
        done = self.shim("sh", "-c",
                         f"python3 -c \"{script.format(1)}\" & python3 -c \"{script.format(0)}\"; "
                         "wait; cat /sys/class/neuron_device/neuron0/core_count")
        self.assertEqual(done.stdout.split(), ["1", "1", "8"])


if __name__ == "__main__":
    unittest.main()
