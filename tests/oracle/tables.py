# SPDX-License-Identifier: MIT
"""Tables the loader builds in HBM: ACT, DVE, constant block (spec 04 s2.3 and s13, 02 s16.16)."""

import struct

from arch import PARAM_RAM_BYTES
from container import Refused

PIECE_ALIGN = 64
CONSTANT_BLOCK_BYTES = 64
SIGNAL_OFFSET = 4

_THRESHOLDS = ("small_pos_signal_exp_threshold", "small_neg_signal_exp_threshold",
               "large_pos_signal_exp_threshold", "large_neg_signal_exp_threshold")
_CONTROLS = ("pos_small_signal_pwl_control", "neg_small_signal_pwl_control",
             "pos_large_signal_pwl_control", "neg_large_signal_pwl_control")
_MANTISSAS = ("large_pos_signal_mantissa_threshold", "large_neg_signal_mantissa_threshold")
_RESULTS = ("fnan_result", "fpinf_result", "fninf_result", "fzero_result", "fma_const_0",
            "fma_const_1")


def constant_block():
    return struct.pack("<II", 0, 1).ljust(CONSTANT_BLOCK_BYTES, b"\0")


def profile_record(profile):
    """The 76 bytes of one activation function (spec 02 s10.4 and s16.16)."""
    head = struct.pack("<IIBBBxiII", profile["func_id"], profile["symmetry_point"],
                       profile["sym_invert_sign_point"], profile["symmetry_opt_en"],
                       profile["symmetry_opt_use_neg_region"], profile["exp_offset"],
                       profile["pwl_control_base_pos"], profile["pwl_control_base_neg"])
    middle = struct.pack("<4B4H2I4x",
                         *(profile[key] for key in _THRESHOLDS + _CONTROLS + _MANTISSAS))
    tail = struct.pack("<6IBB2x", *(profile[key] for key in _RESULTS),
                       profile["fma_indirection_src_sel"], profile["imm_bias"])
    return head + middle + tail


def concatenate(pieces):
    """Returns (buffer, offset of each piece): pieces start at multiples of 64."""
    buffer, starts = bytearray(), []
    for piece in pieces:
        buffer += bytes(-len(buffer) % PIECE_ALIGN)
        starts.append(len(buffer))
        buffer += piece
    return bytes(buffer), starts


def act_buffers(act_sets):
    """[(owner, bytes)] in allocation order; empty without sets (decision 14)."""
    if not act_sets:
        return []
    buckets, bucket_starts = concatenate([entry[0] for entry in act_sets])
    controls, control_starts = concatenate([entry[1] for entry in act_sets])
    profiles, profile_starts = concatenate(
        [b"".join(map(profile_record, entry[2])) for entry in act_sets])
    directory = b"".join(
        struct.pack("<6I", bucket_starts[i], len(entry[0]), control_starts[i], len(entry[1]),
                    profile_starts[i], 76 * len(entry[2]))
        for i, entry in enumerate(act_sets))
    return [("act bucket", buckets), ("act control", controls), ("act profiles", profiles),
            ("act directory", directory)]


def param_ram():
    return struct.pack("<256f", *(1.0 / (i + 1) for i in range(PARAM_RAM_BYTES // 4)))


def dve_buffers(dve_tables, arch):
    """[(owner, bytes, window offset)] without the param RAM; empty when no tables are named."""
    buffers = []
    for owner, key, size, window in arch.dve_tables if dve_tables else ():
        if len(dve_tables[key]) != size:
            raise Refused(f"{key} has {len(dve_tables[key])} bytes, {size} are needed")
        buffers.append((f"dve {owner}", dve_tables[key], window))
    return buffers
