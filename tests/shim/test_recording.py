# SPDX-License-Identifier: MIT
"""neffld trace record: what a program asks of a device and what it answers."""
import errno
import os
import re
import subprocess
import tempfile
import unittest

from support import CLIENTS, NEFFLD, ShimTest

FORMAT = 4  # exit status: the trace has no end


class Recording(ShimTest):
    def calls(self, trace, status=0):
        """Calls and mappings as `trace show` has them, without numbers and callers."""
        shown = self.run_program(NEFFLD, "trace", "show", trace, status=status).stdout.splitlines()
        return [re.sub(r"^#\d+ ", "", line) for line in shown
                if line.startswith(("#", "mmap ", "munmap "))]

    def record(self, *words, options=("--device", "sim:v3"), status=0):
        trace = self.path("trace")
        self.run_program(NEFFLD, "trace", "record", "-o", trace, *options, "--", *words,
                         status=status)
        return trace

    def test_a_load_is_what_the_in_process_recorder_writes(self):
        neff = self.sample("vecadd-v3")
        inside = self.path("inside")
        for data in ((), ("--record-data",)):
            with self.subTest(options=data):
                self.run_program(NEFFLD, "load", neff, "--device", "sim:v3", "--record", inside,
                                 *data)
                outside = self.record(NEFFLD, "load", neff, "--device", "/dev/neuron0",
                                      options=("--device", "sim:v3", *data))
                ours, theirs = self.calls(inside), self.calls(outside)
                # On a node the loader first asks, without attaching, who the driver is.
                questions = [line.split()[0] for line in theirs[:3]]
                self.assertEqual(questions, ["COMPATIBLE_VERSION", "DEVICE_BASIC_INFO",
                                             "DRIVER_INFO_GET"])
                # The subgraphs of the load are built by a thread each.
                self.assertEqual(sorted(theirs[3:]), sorted(ours))
                self.assertGreater(len(ours), 50)

    def test_an_execution_is_what_the_in_process_recorder_writes(self):
        words = [NEFFLD, "run", self.sample("single-core-v3"), "--random", "1", "--device"]
        inside = self.path("inside")
        self.run_program(*words, "sim:v3", "--record", inside)
        ours, theirs = self.calls(inside), self.calls(self.record(*words, "/dev/neuron0"))
        self.assertEqual(theirs[3:], ours)
        self.assertGreater(sum(" -> mapped" in line for line in ours), 0)
        self.assertEqual(sum(line.startswith("MEM_ALLOC") for line in ours),
                         sum(line.startswith("MEM_FREE") for line in ours))

    def test_the_trace_is_there_when_the_command_ends_and_can_be_replayed(self):
        trace = self.record(NEFFLD, "load", self.sample("vecadd-v2"), "--device", "/dev/neuron0",
                            options=("--device", "sim:v2", "--record-data"))
        done = self.run_program(NEFFLD, "trace", "replay", trace, "--device", "sim:v2")
        self.assertIn(" 0 differences", done.stdout)
        self.run_program(NEFFLD, "trace", "diff", trace, trace)

    def test_processes_and_files_are_told_apart(self):
        trace = self.record(CLIENTS[0], "fork", options=("--device", "sim:v3", "--count", "2"))
        shown = self.run_program(NEFFLD, "trace", "show", trace).stdout
        self.assertIn("device: sim:v3\n", shown)
        self.assertIn("caller: process 1, /dev/neuron0, read-write\n", shown)
        self.assertIn("caller: process 2, /dev/neuron0, read-write\n", shown)
        self.assertNotIn("process 4", shown)

    def test_mappings_are_recorded_and_their_end(self):
        trace = self.record(CLIENTS[0], "memory", options=("--device", "sim:v3", "--count", "2"))
        shown = self.run_program(NEFFLD, "trace", "show", trace).stdout
        self.assertEqual(len(re.findall("mmap .*length=0x100000 .*mapped", shown)), 2)
        self.assertEqual(shown.count("munmap length=0x100000"), 2)

    def test_the_status_is_the_programs(self):
        self.record("sh", "-c", "exit 7", status=7)

    def on_another_driver(self, *words):
        """Records a program on a node of another driver: the kernel itself answers, and not as a
        Neuron driver does. The folder with `trace` and `messages`, and what was printed."""
        if os.getuid() != 0 or os.path.exists("/dev/neuron0"):
            self.skipTest("needs root for a node of its own, and no other node")
        script = """
set -e
mount --make-rprivate /
mkdir dev
mount -t tmpfs none dev
mknod dev/null c 1 3
mknod dev/urandom c 1 9
mknod dev/neuron0 c 1 3
mount --bind dev /dev
"$NEFFLD_EXE" trace record -o trace -- "$@" 2> messages || true
"""
        folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(folder.cleanup)
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *words], cwd=folder.name,
                              env={**self.environment, "TMPDIR": folder.name}, timeout=60,
                              capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"no mounts of our own: {done.stderr}")
        with open(os.path.join(folder.name, "messages"), encoding="utf-8") as messages:
            return folder.name, done.stdout, messages.read()

    def test_calls_to_a_real_node_are_passed_on(self):
        folder, _, messages = self.on_another_driver(CLIENTS[0], "open", "descriptor")
        # What no wrapper of ours answers: /dev/null can be read and written.
        self.assertIn("read(fd, &byte, one) == -1", messages)
        shown = self.run_program(NEFFLD, "trace", "show", os.path.join(folder, "trace")).stdout
        self.assertIn("simulated: no\n", shown)
        self.assertIn("caller: process 1, /dev/neuron0, read-only\n", shown)
        self.assertIn("DEVICE_BASIC_INFO -> -ENOTTY", shown)

    def test_processes_that_outlive_the_program_are_recorded_too(self):
        ask = ("import fcntl,os,time; fd=os.open('/dev/neuron0',os.O_RDWR)\n"
               "for wait in (1, 0):\n"
               "  try: fcntl.ioctl(fd, 0x40084E64, bytes(64))\n"
               "  except OSError as error: print(error.errno, flush=True)\n"
               "  if wait: os.mkdir('asked')\n"
               "  time.sleep(wait)")
        folder, printed, messages = self.on_another_driver(
            "sh", "-c", "python3 -c \"$0\" & while [ ! -e asked ]; do sleep 0.05; done", ask)
        self.assertEqual(printed.split(), [str(errno.ENOTTY)] * 2)
        self.assertEqual(messages, "")
        self.assertEqual(len(self.calls(os.path.join(folder, "trace"))), 2)

    def test_a_killed_recorder_leaves_the_program_its_node(self):
        ask = """
import fcntl, os, signal
def ask():
    try: fcntl.ioctl(fd, 0x40084E64, bytes(64))
    except OSError as error: print(error.errno, flush=True)
fd = os.open('/dev/neuron0', os.O_RDWR)
ask()
with open(f'/proc/{os.getppid()}/task/{os.getppid()}/children') as file:
    server, = (int(child) for child in file.read().split() if int(child) != os.getpid())
os.kill(server, signal.SIGKILL)
ask()
ask()
"""
        folder, printed, messages = self.on_another_driver("python3", "-c", ask)
        self.assertEqual(printed.split(), [str(errno.ENOTTY)] * 3)
        self.assertEqual(messages.count("the recorder has gone"), 1)
        self.assertIn("ended with status 137; the program ended with 0", messages)
        # What was recorded until then is there.
        self.assertEqual(len(self.calls(os.path.join(folder, "trace.part"), status=FORMAT)), 1)

    def test_without_a_node_the_program_finds_none(self):
        if os.path.exists("/dev/neuron0"):
            self.skipTest("this machine has a node")
        trace = self.record("cat", "/dev/neuron0", options=(), status=1)
        self.assertEqual(self.calls(trace), [])
        self.assertIn("simulated: no", self.run_program(NEFFLD, "trace", "show", trace).stdout)


if __name__ == "__main__":
    unittest.main()
