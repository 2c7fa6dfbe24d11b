# SPDX-License-Identifier: MIT
"""Running the C programs with an environment that holds nothing but what a test says."""

import functools
import os
import subprocess
import sys
import tempfile
import unittest

NEFFLD = os.environ["NEFFLD_EXE"]
MAKE_SAMPLE = os.environ["NEFFLD_MAKE_SAMPLE"]
LIBNRT = os.environ["NEFFLD_LIBNRT"]
PROGRAMS = os.environ["NEFFLD_NRT_PROGRAMS"]
REAL_FILES = os.environ.get("NEFFLD_NEFFS")
TIMEOUT_SECONDS = 120


class Run:
    """A finished process: exit code, stdout and stderr as text."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "backslashreplace")
        self.err = done.stderr.decode("utf-8", "backslashreplace")


def run(command, env=None):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("NEFFLD", "NEURON", "LD_LIBRARY"))}
    environment.update(env or {})
    return Run(subprocess.run([str(word) for word in command], env=environment,
                              timeout=TIMEOUT_SECONDS, capture_output=True, check=False))


def program(name, *arguments, env=None):
    return run([os.path.join(PROGRAMS, f"nrt-{name}"), *arguments], env)


@functools.lru_cache(maxsize=None)
def scratch():
    """A folder for the whole process, removed at its end."""
    holder = tempfile.TemporaryDirectory(prefix="neffld-nrt-")
    unittest.addModuleCleanup(holder.cleanup)
    scratch.holder = holder
    return holder.name


@functools.lru_cache(maxsize=None)
def sample(name):
    """Path of a generated NEFF."""
    path = os.path.join(scratch(), f"{name}.neff")
    subprocess.run([MAKE_SAMPLE, name, path], check=True)
    return path


def real_files(arch):
    """Paths of the real files for "v2" or "v3"; says what is skipped when there are none."""
    if not REAL_FILES:
        print("SKIPPED: real files (NEFFLD_NEFFS is not set)", file=sys.stderr)
        return []
    return sorted(os.path.join(REAL_FILES, name) for name in os.listdir(REAL_FILES)
                  if name.endswith(".neff") and f"-{arch}-" in name)
