# SPDX-License-Identifier: MIT
"""Small generated NEFFs and a writer of device images, for the self-test only."""

import json
import struct

from arch import ENGINES
from corpus import container
from corpus.program import ENGINE_FILES, npy
from opcodes import DIRECT_2D, LABEL, TENSOR_LOAD, TRIGGER
from records import record
from rings import linear_ring_descriptors
from summary import container_summary, subgraph_summary

PROFILE_KEYS = (
    "func_id symmetry_point sym_invert_sign_point symmetry_opt_en symmetry_opt_use_neg_region "
    "imm_bias exp_offset pwl_control_base_pos pwl_control_base_neg small_pos_signal_exp_threshold "
    "pos_small_signal_pwl_control small_neg_signal_exp_threshold neg_small_signal_pwl_control "
    "large_pos_signal_exp_threshold large_pos_signal_mantissa_threshold "
    "pos_large_signal_pwl_control large_neg_signal_exp_threshold "
    "large_neg_signal_mantissa_threshold neg_large_signal_pwl_control fnan_result fpinf_result "
    "fninf_result fzero_result fma_const_0 fma_const_1 fma_indirection_src_sel").split()


def trigger(queue, block_id, events=bytes(8)):
    slot = record(TRIGGER, events)
    slot[0x0C:0x0C + len(queue)] = queue.encode()
    struct.pack_into("<I", slot, 0x30, block_id)
    return bytes(slot)


def direct_2d(source, target, semaphore, rows_apart):
    """128 runs of 64 bytes; `source` and `target` are (marker, index, offset)."""
    slot = record(DIRECT_2D)
    slot[0x0D], slot[0x0E], slot[0x3E], slot[0x3F] = semaphore, 16, 10, 10
    for at, (marker, index, offset), step in ((0x10, source, 64), (0x28, target, rows_apart)):
        struct.pack_into("<II", slot, at, offset, marker << 24 | index)
        struct.pack_into("<iiHHH", slot, at + 8, step, 1, 128, 1, 64)
    return bytes(slot)


def tensor_load(var_id, offset):
    slot = record(TENSOR_LOAD)
    slot[0x0C], slot[0x0E], slot[0x0F] = 9, 1, 1
    struct.pack_into("<II", slot, 0x10, var_id, offset)
    return bytes(slot)


def copy(source, target, sizes, from_steps, to_steps, **extra):
    entry = {"op": "copy", "from": source, "to": target, "from_sizes": sizes, "to_sizes": sizes,
             "from_steps": from_steps, "to_steps": to_steps}
    return {**entry, **extra}


def variables():
    return {
        "SB": {"type": "state-buffer", "var_id": 0},
        "x": {"type": "input", "var_id": 1, "size": 1 << 20},
        "y": {"type": "output", "var_id": 2, "size": 1 << 20},
        "w": {"type": "file", "var_id": 3, "file_name": "w.npy", "alignment": 32768, "size": 9000},
        "spill": {"type": "virtual", "var_id": 4, "size": 1 << 20, "backing_variable_off": 4096},
        "tmp": {"type": "tmp-buf", "var_id": 5, "size": 700 * 1024},
        "table": {"type": "dge-table", "var_id": 6, "list": [2, 1]},
        "cell": {"type": "pointer", "var_id": 7, "size": 8, "referenced_var_id": 3},
    }


def blocks(queue, semaphores):
    """Blocks of the static queue `qData` or of the template queue `qIn`."""
    partition = [1, 262144]
    if queue == "qIn":
        return [{"id": 0, "queue": queue, "semaphore": semaphores[0], "desc": [
            copy("x", "SB", [512, 37], [1, 512], partition, to_off=1024)]}]
    long_runs = copy("spill", "tmp", [70000, 3], [1, 70000], [1, 70000])
    cast = copy("w", "SB", [64, 20], [1, 64], partition, op="cast", from_dtype="int8",
                to_dtype="float32", to_sizes=[256, 20])
    tiles = copy("w", "spill", [16, 4, 2, 1], [1, 16, 64, 1], [1, 16, 64, 1],
                 transpose_op="WZXY", transpose_element_size=2, transpose_shape=[1, 1, 4, 8],
                 num_tiling_dimensions=2,
                 to_sizes=[8, 8, 2, 1])
    tiles["to_steps"] = [1, 8, 64, 1]
    del tiles["op"]
    return [{"id": 0, "queue": queue, "semaphore": semaphores[0], "desc": [long_runs, cast]},
            {"id": 1, "queue": queue, "semaphore": semaphores[1], "desc": [tiles, copy(
                "w", "spill", [2, 5, 7], [1, 2, 10], [1, 4, 40], from_off=6)]}]


def subgraph_members(folder, v3):
    compute = bytes(record(0x41))
    label = bytes(record(LABEL))
    streams = {
        "pe": bytes(record(0xB1)) + label + compute,
        "act": bytes(record(0xB1)) + tensor_load(3, 16),
        "pool": bytes(record(0xB1)) + direct_2d((0x20, 1, 64), (0x10, 0, 4096), 60, 262144)
        + direct_2d((0x10, 3, 128), (0x10, 4, 256), 61, 64),
        "dve": b"",
        "sp": bytes(record(0xB1)) + label + trigger("qData", 1, bytes((5, 9, 0x13, 4, 7, 0, 0, 0)))
        + compute + trigger("qIn", 0) + trigger("qData", 0),
    }
    members = {f"{folder}/{ENGINE_FILES[e]}.bin": data for e, data in streams.items()}
    engines = {e: {"instr": f"{ENGINE_FILES[e]}.bin", "dma": []} for e in ENGINES}
    engines["sp"]["dma"] = blocks("qData", [8, 9]) + blocks("qIn", [24])
    engines["act"].update(act_info="act_info.json", activation_function_sets=["one", "two"])
    keys = [("opcode_table", 0x400 if v3 else 0x800), ("datapath_table", 0x4000 if v3 else 0x2000)]
    keys += [("control_fast_table", 4096), ("control_slow_table", 4096)] if v3 else \
        [("control_table", 0x800)]
    engines["dve"]["dve_tables"] = [{key: f"{key}.bin" for key, _ in keys}]
    for number, (key, size) in enumerate(keys):
        members[f"{folder}/{key}.bin"] = bytes((number + 1,)) * size
    members.update(act_members(folder))
    members[f"{folder}/w.npy"] = npy(bytes(i * 7 & 255 for i in range(9000)))
    definition = {"var": variables(), "dma_queue": {
        "qData": {"type": "data", "owner": "sp", "num_queues": 4, "semaphore_set": [8, 9, 10, 11]},
        "qIn": {"type": "in", "owner": "sp", "num_queues": 16,
                "semaphore_set": list(range(24, 40))},
        "qDyn": {"type": "dynamic", "owner": "pool", "num_queues": 16,
                 "semaphore_set": list(range(60, 76))}}}
    if v3:
        definition["runtime_statebuffer_reservation"] = [
            {"type": "evtaccel", "base_partition": 0, "partitions": 128, "offset": 229368,
             "size": 8}]
    for engine in ENGINES:
        definition[engine] = f"{ENGINE_FILES[engine]}.json"
        members[f"{folder}/{definition[engine]}"] = json.dumps(engines[engine]).encode()
    members[f"{folder}/def.json"] = json.dumps(definition).encode()
    return members


def act_members(folder):
    info, members = [], {}
    for number, name in enumerate(("one", "two")):
        info.append({"name": name, "bkt_bin": f"{name}_b.bin", "ctrl_bin": f"{name}_c.bin",
                     "profile_json": f"{name}.json"})
        profile = {key: 3 * at + number for at, key in enumerate(PROFILE_KEYS)}
        profile["exp_offset"] = -100 - number
        members[f"{folder}/{name}_b.bin"] = bytes((17 + number,)) * 96
        members[f"{folder}/{name}_c.bin"] = bytes((33 + number,)) * 80
        members[f"{folder}/{name}.json"] = json.dumps({"profile_meta_data": [profile]}).encode()
    members[f"{folder}/act_info.json"] = json.dumps({"act_func_sets": info}).encode()
    return members


def neff_json():
    """The host graph: one input, one output, one KELF node (spec 01 s7.1)."""
    return {
        "nodes": [{"op": "null", "name": "x", "inputs": [], "output_names": ["x"], "is_param": "0"},
                  {"op": "tvm_op", "name": "sg_coreV10", "inputs": [[0, 0, 0]],
                   "output_names": ["y"], "attrs": {
                       "func_name": "__kelf", "kelf": "kelf-0.json", "flatten_data": "0",
                       "num_inputs": "1", "num_outputs": "1"}}],
        "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2],
        "attrs": {"dltype": ["list_str", ["uint8", "uint8"]],
                  "shape": ["list_shape", [[1 << 20], [1 << 20]]],
                  "storage_id": ["list_int", [0, 1]]}}


def neff_bytes(target, subgraphs):
    """One NEFF whose subgraphs all hold the same program."""
    names = [f"sg{number:02}" for number in range(subgraphs)]
    members = {
        "neff.json": json.dumps(neff_json()).encode(),
        "kelf-0.json": json.dumps({"version": "0.5", "target": target, "graphs": [
            {"name": name, "definition": f"{name}/def.json"} for name in names]}).encode()}
    for name in names:
        members.update(subgraph_members(name, target == "cayman"))
    return container.neff(members, "fixture", bytes(range(16)), 1 if target == "sunda" else 2)


def write_image(path, plan, contents, note):
    """An ELF64 core file whose segments hold `contents` ({seq: Content}) and zeros."""
    segments = {seq: content.data for seq, content in contents.items()}
    text = json.dumps(note).encode()
    text += bytes(-len(text) % 4)
    notes = struct.pack("<III", 7, len(text), 1) + b"neffld\0\0" + text
    count = len(plan.allocations) + 1
    at = 64 + 56 * count
    headers = struct.pack("<IIQQQQQQ", 4, 4, at, 0, 0, len(notes), len(notes), 4)
    body, at = [notes], at + len(notes)
    for entry in plan.allocations:
        headers += struct.pack("<IIQQQQQQ", 1, 6, at, 0, entry.pa, entry.size, entry.size, 4096)
        body.append((at, segments.get(entry.seq, b"")))
        at += entry.size
    elf = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 4, 0, 1, 0, 64, 0, 0, 64, 56, count, 64, 0, 0)
    with open(path, "wb") as stream:
        stream.write(elf + headers + notes)
        for offset, data in body[1:]:
            stream.seek(offset)
            stream.write(data)
        stream.truncate(at)


def report(neff, plan):
    """A report in the interface's schema that agrees with the plan."""
    model, subgraphs = plan.model, []
    for core, subgraph in enumerate(model.subgraphs):
        layout, entry = plan.layouts[core], subgraph_summary(subgraph, plan.layouts[core])
        places = {a.owner: hex(a.pa) for (index, _), a in plan.by_owner.items() if index == core}
        entry.update(core=core, hbm=plan.arch.hbm_of_core(core), rings=[])
        for variable, record_ in zip(subgraph.variables, entry["variables"]):
            place = plan.places[core].get(variable.var_id)
            record_.update(pa=None if place is None else hex(place), size=variable.size)
        for record_ in entry["instructions"]:
            record_.update(pa=places[f"instructions {record_['engine']}"],
                           slots_out=layout.streams[record_["engine"]].image_slots)
        for name, used in layout.used.items():
            for k, count in enumerate(used):
                for side in ("tx", "rx"):
                    entry["rings"].append({
                        "queue": name, "instance": 0, "k": k, "side": side, "used": count,
                        "allocated": linear_ring_descriptors(count),
                        "pa": places.get(f"ring {name}.0.{k} {side}")})
        tables = len(plan.arch.dve_tables) + 1
        for queue, name, used in (("qActTable", "act", 5), ("qDveTable", "dve", tables + 1)):
            for side in ("tx", "rx") if f"{name} tx ring" in places else ():
                entry["rings"].append({"queue": queue, "instance": 0, "k": 0, "side": side,
                                       "used": used, "allocated": 64,
                                       "pa": places[f"{name} {side} ring"]})
        subgraphs.append(entry)
    allocations = [{**vars(a), "pa": hex(a.pa)} for a in plan.allocations]
    container = {**container_summary(neff), "hash": neff.hash_form}
    graph = {key: [{"name": v.name, "size": v.size} for v in model.subgraphs[0].variables
                   if v.kind == kind] for key, kind in (("inputs", "input"), ("outputs", "output"))}
    return {"schema": 1, "device": {"architecture": plan.arch.name}, "models": [
        {"name": neff.header.name, "uuid": neff.header.uuid, "container": container,
         "graph": graph,
         "subgraphs": subgraphs, "allocations": allocations}]}


