# SPDX-License-Identifier: MIT
"""What the tests of the preloaded library have in common."""
import os
import subprocess
import tempfile
import time
import unittest

NEFFLD = os.environ["NEFFLD_EXE"]
CLIENTS = os.environ["NEFFLD_SHIM_CLIENTS"].split(":")
PARTS = ["open", "descriptor", "copies", "stat", "folders", "sysfs", "memory", "fork", "exec",
         "passing", "crowd", "share", "threads", "killed"]


class ShimTest(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._folder = tempfile.TemporaryDirectory(dir=memory)
        self.addCleanup(self._folder.cleanup)
        # Sessions keep their folders here, so that a test sees what they leave.
        self.sessions = os.path.join(self._folder.name, "sessions")
        os.mkdir(self.sessions)
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("NEFFLD_SHIM_")}
        self.environment["TMPDIR"] = self.sessions

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def run_program(self, *words, status=0, **variables):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              env={**self.environment, **variables}, timeout=120)
        if status is not None:
            self.assertEqual(done.returncode, status,
                             f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def shim(self, *words, options=(), status=0, **variables):
        return self.run_program(NEFFLD, "shim", *options, "--", *words, status=status, **variables)

    def preload(self, **settings):
        """The variables of a session without `neffld shim` around it."""
        lines = self.run_program(NEFFLD, "shim", "--print").stdout.splitlines()
        variables = dict(line.removeprefix("export ").split("=", 1) for line in lines)
        variables = {key: value.strip("'") for key, value in variables.items()}
        return {**variables, **settings}

    def wait_for_sessions_to_end(self):
        """A session begun by a program itself ends a moment after it."""
        deadline = time.monotonic() + 20
        while os.listdir(self.sessions) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(os.listdir(self.sessions), [])

    def sample(self, name):
        path = self.path(name + ".neff")
        self.run_program(os.environ["NEFFLD_MAKE_SAMPLE"], name, path)
        return path
