# SPDX-License-Identifier: MIT
"""Many clients at once, and a server that is killed while they are in calls."""
import errno
import os
import pty
import select
import signal
import subprocess
import time
import unittest

from support import CLIENTS, NEFFLD, ShimTest

SERVER = "neuron-shim-ser"  # as the kernel keeps the name


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(number) for number in file.read().split()]


def name_of(process):
    with open(f"/proc/{process}/comm", encoding="ascii") as file:
        return file.read().strip()


def as_in_a_terminal():
    """Before a program starts: `nohup` and shells in the background ignore some signals for it."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Hardship(ShimTest):
    def start(self, *words):
        """neffld with a program, running."""
        running = subprocess.Popen([NEFFLD, *words], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment,
                                   preexec_fn=as_in_a_terminal)
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        self.addCleanup(running.kill)
        return running

    def server_of(self, running):
        servers = [child for child in children(running.pid) if name_of(child) == SERVER]
        self.assertEqual(len(servers), 1)
        return servers[0]

    def read_lines(self, running, count):
        """The first lines of a program that goes on."""
        lines, text, deadline = [], "", time.monotonic() + 60
        while len(lines) < count:
            ready, _, _ = select.select([running.stdout], [], [], deadline - time.monotonic())
            self.assertTrue(ready, f"no more than {text!r} came")
            text += os.read(running.stdout.fileno(), 4096).decode()
            lines = text.splitlines()
        return lines

    def test_a_signal_sent_to_the_command_alone_reaches_the_program(self):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                running = self.start("shim", "--", "sh", "-c",
                                     "ulimit -c 0; echo ready; exec sleep 100")
                self.read_lines(running, 1)
                running.send_signal(number)
                self.assertEqual(running.wait(60), 128 + number)
        self.assertEqual(os.listdir(self.sessions), [])

    def test_an_interrupt_from_the_terminal_reaches_the_program_once(self):
        script = "n=0; trap 'n=$((n + 1))' INT; echo ready; sleep 2; sleep 1; exit $n"
        process, terminal = pty.fork()
        if process == 0:
            os.execve(NEFFLD, [NEFFLD, "shim", "--", "sh", "-c", script], self.environment)
        self.addCleanup(os.close, terminal)
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 100)
        os.write(terminal, b"\x03")
        _, status = os.waitpid(process, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 1)

    @unittest.skipIf(os.geteuid() != 0, "only root can become other users")
    def test_a_session_serves_its_user_and_root_and_that_of_root_serves_all(self):
        nobody, somebody = 65534, 65533
        for folder in (self.sessions, os.path.dirname(self.sessions)):
            os.chmod(folder, 0o777)
        try:
            subprocess.run([NEFFLD, "--version"], user=somebody, check=True, capture_output=True)
        except PermissionError:
            self.skipTest("other users cannot reach the build folder")
        for owner, served in ((nobody, (nobody, 0)), (0, (nobody, somebody, 0))):
            running = subprocess.Popen(
                [NEFFLD, "shim", "--", "sh", "-c", "echo $NEFFLD_SHIM_SESSION; exec sleep 100"],
                stdout=subprocess.PIPE, env=self.environment, user=owner, group=owner,
                extra_groups=[], text=True)
            self.addCleanup(running.stdout.close)
            self.addCleanup(running.kill)
            variables = {**self.environment, **self.preload(),
                         "NEFFLD_SHIM_SESSION": running.stdout.readline().strip()}
            for user in (nobody, somebody, 0):
                done = subprocess.run(["sh", "-c", ": </dev/neuron0"], env=variables, user=user,
                                      group=user, extra_groups=[], capture_output=True,
                                      check=False, timeout=60)
                self.assertEqual(done.returncode == 0, user in served,
                                 f"{user} in a session of {owner}: {done.stderr}")
            running.terminate()
            running.wait(60)

    def test_too_few_descriptors_are_named(self):
        done = self.run_program("sh", "-c", 'ulimit -n 12; exec "$0" shim -- true', NEFFLD, status=6)
        self.assertIn("Too many open files", done.stderr)
        self.assertIn("ulimit -n", done.stderr)
        self.assertNotIn("memory:", done.stderr)

    def test_thirty_clients_at_once(self):
        # 16 processes can be attached to a device.
        script = ("n=0; while [ $n -lt 30 ]; do \"$0\" work $((n % 2)) 5 & n=$((n + 1)); done; wait")
        done = self.shim("sh", "-c", script, CLIENTS[0], options=("--count", "2"))
        self.assertEqual(sorted(done.stdout.split()), ["done"] * 30 + ["working"] * 30)
        self.assertEqual(os.listdir(self.sessions), [])

    def test_killed_clients_give_everything_back(self):
        # Ten are killed with memory in their hands, in the middle of calls; twenty others go on.
        script = """
victims= n=0
while [ $n -lt 30 ]; do
  if [ $((n % 3)) = 0 ]; then "$0" work $((n % 2)) 0 & victims="$victims $!"
  else "$0" work $((n % 2)) 20 & fi
  n=$((n + 1))
done
sleep 0.5
kill -9 $victims
wait
for device in /sys/class/neuron_device/neuron?; do
  echo "$(cat $device/neuron_core0/stats/memory_usage/device_mem/tensors/present)"
done
exec "$0" share"""
        done = self.shim("sh", "-c", script, CLIENTS[0], options=("--count", "2"))
        self.assertEqual(sorted(done.stdout.split()),
                         ["0"] * 2 + ["done"] * 20 + ["ok", "share"] + ["working"] * 30)

    def test_a_killed_server_is_an_error_in_every_call(self):
        script = "for n in 1 2 3 4; do \"$0\" work 0 0 & done; wait; exec \"$0\" work 0 1"
        running = self.start("shim", "--", "sh", "-c", script, CLIENTS[0])
        self.assertEqual(self.read_lines(running, 4), ["working"] * 4)
        time.sleep(0.3)  # into their calls
        os.kill(self.server_of(running), signal.SIGKILL)
        said, complaint = running.communicate(timeout=30)
        self.assertEqual(said.splitlines(),
                         [f"ioctl {errno.EIO} mmap {errno.EIO} open {errno.EIO} close 0"] * 4)
        self.assertEqual(complaint.count("the server of the devices has gone"), 4)
        # Whoever starts later has no devices.
        self.assertIn("the session's devices are gone", complaint)
        self.assertIn("the server of the devices ended with status 137; "
                      "the program ended with 3", complaint)
        self.assertEqual(running.returncode, 3)
        self.assertEqual(os.listdir(self.sessions), [])


if __name__ == "__main__":
    unittest.main()
