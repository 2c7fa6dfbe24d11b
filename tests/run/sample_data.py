# SPDX-License-Identifier: MIT
"""Tensors of generated NEFFs and numbers for them."""

import json
import os
import random
import struct
import subprocess

import movement

NEFFLD = os.environ["NEFFLD_EXE"]
DESCR = {"float32": "<f4", "float16": "<f2", "bfloat16": "<V2", "int8": "|i1", "uint8": "|u1"}


def tensors(path):
    """Inputs and outputs as {name: (dtype, shape)}."""
    done = subprocess.run([NEFFLD, "inspect", path, "--report", "json"], capture_output=True,
                          check=True)
    model = json.loads(done.stdout)["models"][0]["graph"]
    sides = []
    for side in ("inputs", "outputs"):
        sides.append({tensor["name"]: (tensor["dtype"], tensor["shape"])
                      for tensor in model[side]})
    return sides


def elements(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


def byte_sizes(tensors_by_name):
    """Bytes of each tensor by name."""
    return {tensor: elements(shape) * movement.DTYPES[dtype][1]
            for tensor, (dtype, shape) in tensors_by_name.items()}


def random_values(dtype, count, seed):
    """Numbers of ordinary size for floats, so that sums and casts are no infinities."""
    source = random.Random(seed)
    if dtype in ("float32", "float16", "bfloat16"):
        return b"".join(movement.encode_one(source.uniform(-100, 100), dtype) for _ in range(count))
    return source.randbytes(count * movement.DTYPES[dtype][1])


def write_npy(path, dtype, shape, data):
    text = f"{{'descr': '{DESCR[dtype]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    text = text.ljust(117) + "\n"
    with open(path, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)


def make_inputs(where, inputs, seed):
    """Writes NAME.npy for every input; returns the elements by name."""
    data = {}
    for at, (tensor, (dtype, shape)) in enumerate(inputs.items()):
        data[tensor] = random_values(dtype, elements(shape), 100 * seed + at)
        write_npy(os.path.join(where, f"{tensor}.npy"), dtype, shape, data[tensor])
    return data
