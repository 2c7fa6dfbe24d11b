# SPDX-License-Identifier: MIT
"""ACT and DVE tables of a program, and the cases that have them."""

import json

from corpus.case import case, program, refused
from corpus.program import pattern

DVE_SIZES = {"v2": {"opcode_table": 0x800, "control_table": 0x800, "datapath_table": 0x2000},
             "v3": {"opcode_table": 0x400, "control_fast_table": 0x1000,
                    "control_slow_table": 0x1000, "datapath_table": 0x4000}}
PROFILE_BYTES = ("sym_invert_sign_point", "symmetry_opt_en", "symmetry_opt_use_neg_region",
                 "imm_bias", "fma_indirection_src_sel", "small_pos_signal_exp_threshold",
                 "small_neg_signal_exp_threshold", "large_pos_signal_exp_threshold",
                 "large_neg_signal_exp_threshold")
PROFILE_HALVES = ("pos_small_signal_pwl_control", "neg_small_signal_pwl_control",
                  "pos_large_signal_pwl_control", "neg_large_signal_pwl_control")
PROFILE_WORDS = ("func_id", "symmetry_point", "pwl_control_base_pos", "pwl_control_base_neg",
                 "large_pos_signal_mantissa_threshold", "large_neg_signal_mantissa_threshold",
                 "fnan_result", "fpinf_result", "fninf_result", "fzero_result", "fma_const_0",
                 "fma_const_1")


def profile(number):
    found = {key: (number * 31 + at) % 2 for at, key in enumerate(PROFILE_BYTES[:5])}
    found.update({key: (number * 7 + at * 13) & 0xFF for at, key in enumerate(PROFILE_BYTES[5:])})
    found.update({key: number * 257 + at for at, key in enumerate(PROFILE_HALVES)})
    found.update({key: 0x7F800000 + number * 65537 + at for at, key in enumerate(PROFILE_WORDS)})
    found["exp_offset"] = -127 + number
    return found


def add_act(part, sizes):
    """One activation set for each (bucket bytes, control bytes, profiles)."""
    info, names = [], []
    for number, (bucket, control, profiles) in enumerate(sizes):
        name = f"set{number}"
        files = {f"{name}_bkt.bin": pattern(bucket, 3 + number),
                 f"{name}_ctrl.bin": pattern(control, 5 + number),
                 f"{name}.json": json.dumps({"profile_meta_data": [
                     profile(number * 25 + n) for n in range(profiles)]}).encode()}
        part.files.update(files)
        bkt, ctrl, profile_json = files
        info.append({"name": name, "bkt_bin": bkt, "ctrl_bin": ctrl, "profile_json": profile_json,
                     "act": {}})
        names.append(name)
    part.files["act_info.json"] = json.dumps({
        "pwp_file_keys": ["bkt_bin", "ctrl_bin", "profile_json"],
        "act_func_sets": list(reversed(info))}).encode()
    part.engine_keys["act"].update(act_info="act_info.json", act_semaphore=12,
                                   activation_function_sets=names)


def add_dve(part, grow=None):
    """The architecture's DVE tables; the table `grow` is one byte too long."""
    tables = {}
    for number, (key, size) in enumerate(DVE_SIZES[part.arch].items()):
        part.files[f"{key}.bin"] = pattern(size + (key == grow), 11 + number)
        tables[key] = f"{key}.bin"
    part.engine_keys["dve"]["dve_tables"] = [tables]


@case()
def act_and_dve_tables(arch):
    made = program(arch)
    add_act(made.main, ((30112, 2848, 15),))
    add_dve(made.main)
    return made


@case()
def act_sets_of_odd_sizes(arch):
    """Several sets, pieces at multiples of 64, a buffer of more than one descriptor."""
    made = program(arch)
    add_act(made.main, ((70000, 1, 25), (1, 63, 0), (64, 65, 1), (33, 8, 3)))
    return made


@case("v3")
def tables_on_both_cores(arch):
    made = program(arch, 2)
    for number, part in enumerate(made.subgraphs):
        add_act(part, ((96 + number, 32, 2),) * (number + 1))
        add_dve(part)
    return made


@refused("dve-table-size")
def dve_table_size(arch):
    made = program(arch)
    add_dve(made.main, "opcode_table")
    return made


@refused("26-profiles")
def too_many_profiles(arch):
    made = program(arch)
    add_act(made.main, ((32, 32, 26),))
    return made


@refused("unknown-act-set")
def unknown_act_set(arch):
    made = program(arch)
    add_act(made.main, ((32, 32, 1),))
    made.main.engine_keys["act"]["activation_function_sets"].append("other")
    return made
