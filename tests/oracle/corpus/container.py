# SPDX-License-Identifier: MIT
"""Writer of the NEFF container: 1024-byte header, one gzip member, ustar (spec 01, 08 s1)."""

import hashlib
import struct
import zlib

HEADER_BYTES = 1024
PAYLOAD_MULTIPLE = 10240
BLOCK = 512


def octal(value, width):
    return f"{value:0{width - 1}o}".encode() + b"\0"


def tar_header(name, size):
    header = bytearray(BLOCK)
    encoded = name.encode()
    if len(encoded) > 100:
        raise ValueError(f"member name {name} is over 100 bytes")
    header[:len(encoded)] = encoded
    header[100:108], header[108:116], header[116:124] = b"0000664\0", b"0001750\0", b"0001750\0"
    header[124:136], header[136:148] = octal(size, 12), octal(0, 12)
    header[148:156], header[156:157], header[257:265] = b" " * 8, b"0", b"ustar\x0000"
    header[148:156] = octal(sum(header), 7) + b" "
    return bytes(header)


def tar(members):
    parts = []
    for name in sorted(members):
        data = members[name]
        parts += [tar_header(name, len(data)), data, bytes(-len(data) % BLOCK)]
    return b"".join(parts) + bytes(2 * BLOCK)


def gzip_member(data):
    stream = zlib.compressobj(1, zlib.DEFLATED, -15)
    body = stream.compress(data) + stream.flush()
    return b"\x1f\x8b\x08\x00\x01\x00\x00\x00\x04\x03" + body + \
        struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def neff(members, name, uuid, vnc_size):
    payload = gzip_member(tar(members))
    payload += bytes(-len(payload) % PAYLOAD_MULTIPLE)
    header = bytearray(HEADER_BYTES)
    struct.pack_into("<5Q", header, 0, 2, HEADER_BYTES, len(payload), vnc_size, 0)
    struct.pack_into("<I", header, 0xA8, 1)
    header[0xAC:0xBC] = hashlib.md5(payload).digest()
    header[0xCC:0xDC] = uuid
    header[0xDC:0xDC + len(name)] = name.encode()
    struct.pack_into("<I", header, 0x1DC, 1)
    header[0x1E0] = 1
    struct.pack_into("<QI", header, 0x220, 0xC00 if vnc_size == 2 else 0, vnc_size)
    return bytes(header) + payload
