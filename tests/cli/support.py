# SPDX-License-Identifier: MIT
"""What the tests of the command line share: running it, samples, and NEFFs taken apart in Python.

The reader and writer of NEFFs here are the standard library's tarfile and zlib on purpose: they
know nothing of the loader, so a broken file is broken in the way the test says.
"""

import functools
import hashlib
import io
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zlib
from concurrent.futures import ThreadPoolExecutor

NEFFLD = os.environ.get("NEFFLD_EXE", "neffld")
MAKE_SAMPLE = os.environ.get("NEFFLD_MAKE_SAMPLE", "make-sample")
ORACLE = os.environ.get("NEFFLD_ORACLE", os.path.join(os.path.dirname(__file__), "..", "oracle"))
REAL_FILES = os.environ.get("NEFFLD_NEFFS")

HEADER_BYTES = 1024
USAGE, FILE, FORMAT, UNSUPPORTED, RESOURCE, DEVICE = 2, 3, 4, 5, 6, 7
# Of a command, or of the reader of its words.
SENTENCE = re.compile(r"\Aneffld: [^\n]+ \(NRT_[A-Z_0-9]+\)\n\Z|"
                      r"\A(neffld[a-z -]*): [^\n]+; \1 --help tells the options\n\Z")
TIMEOUT_SECONDS = 60


class Run:
    """A finished process: exit code, stdout and stderr as text."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def run(*arguments, env=None):
    environment = {key: value for key, value in os.environ.items() if key != "NEFFLD_DEVICE"}
    environment.update(env or {})
    done = subprocess.run([NEFFLD, *map(str, arguments)], env=environment, timeout=TIMEOUT_SECONDS,
                          capture_output=True, check=False)
    return Run(done.returncode, done.stdout.decode("utf-8", "backslashreplace"),
               done.stderr.decode("utf-8", "backslashreplace"))


def run_within(limit, *arguments):
    """run() with at most `limit` bytes of address space, as bytes."""
    return subprocess.run([NEFFLD, *map(str, arguments)], timeout=TIMEOUT_SECONDS,
                          capture_output=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def least_memory():
    """Bytes of address space, in whole MiB, below which the program itself is not loaded."""
    least = 16 << 20
    while run_within(least, "--version").returncode != 0:
        least += 1 << 20
    return least


def in_parallel(function, items):
    """A process start is waiting, not computing."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return list(pool.map(function, items))


@functools.lru_cache(maxsize=None)
def scratch():
    """A folder for the whole process, removed at its end."""
    holder = tempfile.TemporaryDirectory(prefix="neffld-cli-")
    unittest.addModuleCleanup(holder.cleanup)
    scratch.holder = holder
    return holder.name


@functools.lru_cache(maxsize=None)
def sample_names():
    done = subprocess.run([MAKE_SAMPLE, "--list"], capture_output=True, check=True)
    return [line.split()[0] for line in done.stdout.decode().splitlines()]


@functools.lru_cache(maxsize=None)
def sample(name, *arguments):
    """Path of a generated NEFF."""
    text = "".join(arguments).replace("-", "").replace("/", "")
    path = os.path.join(scratch(), f"{name}{text}.neff")
    subprocess.run([MAKE_SAMPLE, name, path, *arguments], check=True)
    return path


def real_files():
    """Paths of the real files; prints what is skipped when there are none."""
    if not REAL_FILES:
        print("SKIPPED: real files (NEFFLD_NEFFS is not set)", file=sys.stderr)
        return []
    return sorted(os.path.join(REAL_FILES, name) for name in os.listdir(REAL_FILES)
                  if name.endswith(".neff"))


def read_bytes(path):
    with open(path, "rb") as stream:
        return stream.read()


def write_bytes(path, data):
    with open(path, "wb") as stream:
        stream.write(data)
    return path


def tar_of(members):
    """A ustar archive of [(name, bytes)] or of (TarInfo, bytes)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if not isinstance(name, tarfile.TarInfo) or info.isreg():
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def gzip_of(data, level=1):
    stream = zlib.compressobj(level, zlib.DEFLATED, 31)
    return stream.compress(data) + stream.flush()


class Neff:
    """A NEFF in parts: header fields by offset, members by name."""

    def __init__(self, path):
        blob = read_bytes(path)
        self.header = bytearray(blob[:HEADER_BYTES])
        data_size = struct.unpack_from("<Q", blob, 0x10)[0]
        payload = blob[HEADER_BYTES:HEADER_BYTES + data_size]
        tar_bytes = zlib.decompressobj(31).decompress(payload)
        with tarfile.open(fileobj=io.BytesIO(tar_bytes)) as tar:
            self.members = {member.name: tar.extractfile(member).read()
                            for member in tar if member.isreg()}
        self.payload = None  # instead of the members' archive

    def json(self, member):
        return json.loads(self.members[member])

    def edit(self, member, change):
        """Applies `change` to the parsed JSON of a member."""
        document = self.json(member)
        change(document)
        self.members[member] = json.dumps(document).encode()
        return self

    def set(self, form, offset, value):
        struct.pack_into(form, self.header, offset, value)
        return self

    def archive(self):
        return tar_of(self.members.items())

    def bytes(self, seal=True):
        """The file; `seal` makes hash and data_size right."""
        payload = self.payload if self.payload is not None else gzip_of(self.archive())
        header = bytearray(self.header)
        if seal:
            struct.pack_into("<Q", header, 0x10, len(payload))
            header[0xAC:0xBC] = hashlib.md5(payload).digest()
        return bytes(header) + payload

    def save(self, name, seal=True):
        return write_bytes(os.path.join(scratch(), name), self.bytes(seal))


def have(tool):
    if shutil.which(tool):
        return True
    print(f"SKIPPED: {tool} is not installed", file=sys.stderr)
    return False


class CliTest(unittest.TestCase):
    """Assertions about one run."""

    def assert_ok(self, result, *texts):
        self.assertEqual(0, result.code, result.err)
        for text in texts:
            self.assertIn(text, result.out)
        return result

    def assert_refused(self, result, code, *texts):
        """One sentence on stderr, nothing on stdout, the right exit code."""
        self.assertEqual(code, result.code, result.err or result.out[:400])
        self.assertRegex(result.err, SENTENCE)
        self.assertEqual("", result.out)
        for text in texts:
            self.assertIn(text, result.err)
        return result.err

    def fresh_folder(self):
        holder = tempfile.TemporaryDirectory(dir=scratch())
        self.addCleanup(holder.cleanup)
        return holder.name


if sys.version_info < (3, 9):
    raise SystemExit("the tests of the command line need Python 3.9")
