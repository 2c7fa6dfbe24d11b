# SPDX-License-Identifier: MIT
"""Generated NEFFs that move data give, bit for bit, what a model of their JSON gives."""

import json
import os
import random
import struct
import unittest

import movement
import neff_model
from run_support import NEFFLD, NRT_RUN, RunTest, call, folder, in_arguments, payload, sample

SAMPLES = ("vecadd-v2", "vecadd-v3", "many-queues-v3", "virtual-overlap-v2", "one-partition-v2",
           "cast-v3", "transpose-v3", "long-runs-v3", "copy-shapes-v3", "dge-v3", "dge-lnc2-v3",
           "single-core-v3", "empty-v3")
DESCR = {"float32": "<f4", "float16": "<f2", "bfloat16": "<V2", "int8": "|i1", "uint8": "|u1"}


def tensors(path):
    """Inputs and outputs as {name: (dtype, shape)}."""
    done = call(NEFFLD, "inspect", path, "--report", "json")
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


def random_values(dtype, count, seed):
    """Numbers of ordinary size for floats, so that sums and casts are no infinities."""
    source = random.Random(seed)
    if dtype in ("float32", "float16", "bfloat16"):
        return b"".join(movement.encode_one(source.uniform(-100, 100), dtype) for _ in range(count))
    return source.randbytes(count * movement.DTYPES[dtype][1])


def one_nan(halves):
    words = struct.unpack(f"<{len(halves) // 2}H", halves)
    return struct.pack(f"<{len(words)}H", *(0x7E00 if word & 0x7FFF > 0x7C00 else word
                                             for word in words))


def write_npy(path, dtype, shape, data):
    text = f"{{'descr': '{DESCR[dtype]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    text = text.ljust(117) + "\n"
    with open(path, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)


class SamplesTest(RunTest):
    def make_inputs(self, name, inputs, seed):
        where, data = folder("inputs", f"{name}-{seed}"), {}
        for at, (tensor, (dtype, shape)) in enumerate(inputs.items()):
            data[tensor] = random_values(dtype, elements(shape), 100 * seed + at)
            write_npy(os.path.join(where, f"{tensor}.npy"), dtype, shape, data[tensor])
        return where, data

    def check_outputs(self, expected, where, what):
        for tensor, data in expected.items():
            header, found = payload(os.path.join(where, f"{tensor}.npy"))
            if "'<f2'" in header:  # conversions keep a NaN, but nobody says which
                found, data = one_nan(found), one_nan(data)
            if found == data:
                continue
            at = next(i for i, pair in enumerate(zip(found, data)) if pair[0] != pair[1])
            self.fail(f"{what}: {tensor} differs first at byte {at}: found {found[at]:02x}, "
                      f"expected {data[at]:02x}")

    def check_sample(self, name):
        path = sample(name)
        inputs, outputs = tensors(path)
        sizes = {tensor: elements(shape) * movement.DTYPES[dtype][1]
                 for tensor, (dtype, shape) in outputs.items()}
        expected, pairs = [], []
        for seed in (1, 2, 3):
            where, data = self.make_inputs(name, inputs, seed)
            expected.append(neff_model.execute(path, data, sizes))
            out = folder("out", f"{name}-{seed}")
            done = call(NEFFLD, "run", path, *in_arguments(inputs, where), "--out", out, "--repeat",
                        "2", "--force")
            self.assert_ran(done)
            self.check_outputs(expected[-1], out, f"{name} with the command, inputs {seed}")
            pairs.append((where, folder("nrt", f"{name}-{seed}")))
        env = {"NEFFLD_DEVICE": "sim:v2"} if name.endswith("-v2") else {}
        self.assert_ran(call(NRT_RUN, path, *(f"{where}={out}" for where, out in pairs), env=env))
        for want, (_, out) in zip(expected, pairs):
            self.check_outputs(want, out, f"{name} with the library")


def add_test(name):
    setattr(SamplesTest, f"test_{name.replace('-', '_')}", lambda self: self.check_sample(name))


for each in SAMPLES:
    add_test(each)

if __name__ == "__main__":
    unittest.main()
