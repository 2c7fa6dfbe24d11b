# SPDX-License-Identifier: MIT
"""Opcode legality by architecture and engine (spec 05 A2, A4, U)."""

from container import Refused

TRIGGER, REARM, BARRIER, READ_VAR_ADDR = 0xC1, 0xC2, 0xC3, 0xC9
COLLECTIVE, SEND_RECV, LABEL = 0xC8, 0xCB, 0xCC
TENSOR_STORE, TENSOR_LOAD = 0xCD, 0xCE
FUNCTION_BEGIN, FUNCTION_RETURN, FUNCTION_CALL = 0xD1, 0xD2, 0xD3
DIRECT_2D, SYNC_BARRIER, CORE_BARRIER = 0xD4, 0xD5, 0xD8
EXTENSION, BRANCH_HINT, INST = 0xDA, 0xDD, 0xDF
PSEUDO_FIRST, PSEUDO_LAST = 0xC1, 0xDF
LOWERED = {TRIGGER, REARM, BARRIER, READ_VAR_ADDR, COLLECTIVE, SEND_RECV, LABEL, TENSOR_STORE,
           TENSOR_LOAD, FUNCTION_BEGIN, FUNCTION_RETURN, FUNCTION_CALL, DIRECT_2D, SYNC_BARRIER,
           CORE_BARRIER, EXTENSION, BRANCH_HINT, INST}
REFUSED = {0xC4, 0xC5, 0xC6, 0xC7, 0xCA, 0xCF, 0xD0, 0xD6, 0xD7, 0xD9, 0xDB, 0xDC, 0xDE}

PE_ONLY = frozenset(range(0x01, 0x0B))
ACT_ONLY = frozenset((*range(0x21, 0x26), 0x30))
V3_AND_LATER = frozenset((0x06, 0x07, 0x81, 0xBC, 0xBD, 0xBE, 0xBF, 0xD7, 0xE4, 0xE9, 0xF1, 0xF2))
V4_AND_LATER = frozenset((0x08, 0x09, 0x0A, 0x25, 0xB4, 0xE0, 0xE1, 0xE2, 0xE3))
V2_ONLY = frozenset((0x87, 0x88, 0x8A, 0x8B, 0x8C, 0x8D, 0x8F))
INVALID = 0xFF


def _spans(*spans):
    return frozenset(code for first, last in spans for code in range(first, last + 1))


ALL = _spans((0x01, 0x0A), (0x21, 0x25), (0x30, 0x30), (0x41, 0x4F), (0x51, 0x54), (0x58, 0x58),
             (0x5E, 0x64), (0x65, 0x74), (0x76, 0x7F), (0x81, 0x88), (0x8A, 0x8F), (0x92, 0x96),
             (0x98, 0xAB), (0xB0, 0xB5), (0xB8, 0xB8), (0xBB, 0xBF), (0xC1, 0xDF), (0xE0, 0xEA),
             (0xF0, 0xF2), (INVALID, INVALID))
KNOWN = {"v2": ALL - V3_AND_LATER - V4_AND_LATER, "v3": ALL - V2_ONLY - V4_AND_LATER}


def legal(opcode, arch, engine):
    if opcode == INVALID or opcode not in KNOWN[arch.name] or opcode in REFUSED:
        return False
    if opcode in PE_ONLY:
        return engine == "pe"
    return engine == "act" or opcode not in ACT_ONLY


def check_opcodes(opcodes, arch, engine):
    """`opcodes` is the byte 0 of every slot; the first illegal slot is named."""
    bad = {opcode for opcode in set(opcodes) if not legal(opcode, arch, engine)}
    if not bad:
        return
    slot = min(opcodes.index(opcode) for opcode in bad)
    raise Refused(f"Unsupported hardware operator code {opcodes[slot]} ({opcodes[slot]:#x}) "
                  f"on {arch.name}", engine, slot)
