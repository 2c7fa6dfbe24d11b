# SPDX-License-Identifier: MIT
"""Running models two ways, with `neffld run` and with a C program over the library, and judging."""

import functools
import os
import re
import subprocess
import tempfile
import unittest

from support import SENTENCE  # of the command's tests

NEFFLD = os.environ["NEFFLD_EXE"]
MAKE_SAMPLE = os.environ["NEFFLD_MAKE_SAMPLE"]
REFERENCE = os.environ["NEFFLD_REFERENCE"]
NRT_RUN = os.environ["NEFFLD_NRT_RUN"]
REAL_FILES = os.environ.get("NEFFLD_NEFFS")
TIMEOUT_SECONDS = int(os.environ.get("NEFFLD_RUN_TIMEOUT", "300"))

PROGRAMS = {
    "05": ["a_vec", "b_vec"], "06": ["a_tensor"], "07": ["X", "W", "bias"],
    "10": ["q_ref", "k_ref", "v_ref"], "11": ["q_ref", "k_ref", "v_ref"], "12": ["x", "y"],
}
OUTPUTS = {"05": "out", "06": "out", "07": "X_out", "10": "kernel_out", "11": "kernel_out",
           "12": "output0"}


def environment(extra=None):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("NEFFLD", "NEURON", "LD_LIBRARY"))}
    kept.update(extra or {})
    return kept


def call(*words, env=None):
    """A finished process; its exit code, stdout and stderr are text."""
    return subprocess.run([str(word) for word in words], env=environment(env), text=True,
                          errors="backslashreplace", timeout=TIMEOUT_SECONDS, capture_output=True,
                          check=False)


@functools.lru_cache(maxsize=None)
def scratch():
    holder = tempfile.TemporaryDirectory(prefix="neffld-run-")
    unittest.addModuleCleanup(holder.cleanup)
    scratch.holder = holder
    return holder.name


def folder(*names):
    path = os.path.join(scratch(), *names)
    os.makedirs(path, exist_ok=True)
    return path


@functools.lru_cache(maxsize=None)
def real_file(number):
    """Path of a real file; skips the test when there is none."""
    for name in sorted(os.listdir(REAL_FILES)) if REAL_FILES else []:
        if name.startswith(f"{number}-") and name.endswith(".neff"):
            return os.path.join(REAL_FILES, name)
    raise unittest.SkipTest(f"real file {number} (NEFFLD_NEFFS)")


@functools.lru_cache(maxsize=None)
def inputs(number, seed):
    path = folder("inputs", f"{number}-{seed}")
    subprocess.run([REFERENCE, "inputs", number, str(seed), path], check=True)
    return path


@functools.lru_cache(maxsize=None)
def sample(name):
    path = os.path.join(scratch(), f"{name}.neff")
    subprocess.run([MAKE_SAMPLE, name, path], check=True)
    return path


def in_arguments(names, where):
    words = []
    for name in names:
        words += ["--in", f"{name}={os.path.join(where, name)}.npy"]
    return words


def read_bytes(path):
    with open(path, "rb") as stream:
        return stream.read()


def payload(path):
    """Header text and elements of a version 1 .npy file."""
    data = read_bytes(path)
    size = 10 + int.from_bytes(data[8:10], "little")
    return data[10:size].decode().strip(), data[size:]


class RunTest(unittest.TestCase):
    def assert_ran(self, done):
        self.assertEqual(0, done.returncode, done.stderr + done.stdout)
        return done

    def assert_right(self, number, where, output):
        """Within the tolerance of the reference."""
        done = subprocess.run([REFERENCE, "check", number, where, output], text=True,
                              capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return float(re.search(r"max error (\S+),", done.stdout)[1])

    def assert_refused(self, done, code, *texts):
        self.assertEqual(code, done.returncode, done.stderr + done.stdout)
        self.assertRegex(done.stderr, SENTENCE)
        self.assertEqual("", done.stdout)
        for text in texts:
            self.assertIn(text, done.stderr)
