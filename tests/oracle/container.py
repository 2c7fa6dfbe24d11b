# SPDX-License-Identifier: MIT
"""The NEFF container: 1024-byte header, payload hash, gzip, tar (spec 01 and 08 s1)."""

import hashlib
import io
import struct
import tarfile
import zlib
from dataclasses import dataclass

HEADER_BYTES = 1024
SKIPPED_SUFFIX = "wavegraph-bin.json"  # dropped in the walk, spec 01 s5.3


class NeffError(Exception):
    """The file cannot be understood by this checker; the text says what was found."""


class Refused(NeffError):
    """A file every loader must refuse; `engine` and `slot` say where, when it is a record."""

    def __init__(self, text, engine=None, slot=None):
        super().__init__(text if engine is None else f"{engine} slot {slot}: {text}")
        self.engine, self.slot = engine, slot


@dataclass
class Header:
    pkg_version: int
    data_size: int
    version: str
    hash_bytes: bytes
    uuid: str
    name: str
    feature_bits: int
    vnc_size: int


@dataclass
class Neff:
    header: Header
    hash_form: str
    file_bytes: int
    gzip_bytes: int
    padding_bytes: int
    tar_bytes: int
    members: dict


def parse_header(blob):
    if len(blob) < HEADER_BYTES:
        raise NeffError(f"file has {len(blob)} bytes, a NEFF header has {HEADER_BYTES}")
    pkg, _header_size, data_size, major, minor = struct.unpack_from("<5Q", blob, 0)
    name = blob[0xDC:0xDC + 256].split(b"\0")[0].decode()
    feature_bits, vnc_size = struct.unpack_from("<QI", blob, 0x220)
    return Header(pkg, data_size, f"{major}.{minor}", blob[0xAC:0xAC + 32],
                  blob[0xCC:0xCC + 16].hex(), name, feature_bits, vnc_size)


def word_swapped(digest):
    """Each 4-byte group reversed: the form newer producers store (spec 08 s1.2)."""
    return b"".join(digest[i:i + 4][::-1] for i in range(0, len(digest), 4))


def hash_form(header, payload):
    """Which stored form matches the payload: `plain`, `word-swapped` or `mismatch`."""
    if header.pkg_version == 1:
        return "plain" if hashlib.sha256(payload).digest() == header.hash_bytes else "mismatch"
    digest = hashlib.md5(payload).digest()
    stored = header.hash_bytes[:16]
    if stored == digest:
        return "plain"
    return "word-swapped" if stored == word_swapped(digest) else "mismatch"


def inflate(payload):
    """Returns (tar bytes, stored bytes without the zero tail)."""
    if payload[:3] != b"\x1f\x8b\x08":
        return payload, len(payload)
    stream = zlib.decompressobj(31)
    tar = stream.decompress(payload) + stream.flush()
    if not stream.eof:
        raise NeffError("truncated gzip payload")
    return tar, len(payload) - len(stream.unused_data)


def read_members(tar):
    members = {}
    with tarfile.open(fileobj=io.BytesIO(tar), mode="r:") as archive:
        for entry in archive:
            if entry.isdir():
                continue
            name = entry.name.removeprefix("./")
            if name.endswith(SKIPPED_SUFFIX):
                continue
            members[name] = archive.extractfile(entry).read() if entry.isfile() else b""
    return members


def parse_neff(blob):
    header = parse_header(blob)
    payload = blob[HEADER_BYTES:HEADER_BYTES + header.data_size]
    if len(payload) != header.data_size:
        raise NeffError(f"data_size {header.data_size} exceeds the {len(payload)} stored bytes")
    tar, gzip_bytes = inflate(payload)
    return Neff(header, hash_form(header, payload), len(blob), gzip_bytes,
                len(payload) - gzip_bytes, len(tar), read_members(tar))


def read_neff(path):
    with open(path, "rb") as stream:
        return parse_neff(stream.read())
