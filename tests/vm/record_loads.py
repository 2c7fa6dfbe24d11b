#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_loads.py NEFFLD MAKE_SAMPLE FOLDER: loads every generated sample, and every real file of the
folder NEFFLD_NEFFS, on the in-process device and keeps what tests/vm/loads compares the module with.

For NAME.neff, with and without --bind: the calls of the load and of reading all memory back
(NAME.KIND.trace), that memory (NAME.KIND.image.zst), and the arguments (NAME.KIND.arguments, one a
line). `list` has a line "architecture NAME KIND SIZE" for each, SIZE being small or large.
"""

import json
import os
import subprocess
import sys

BIND_FROM = 0x1_0000_0000  # in HBM 0 of every architecture
BIND_ALIGN = 0x10000
UNSUPPORTED = 5
LARGE_BYTES = 64 << 20  # of memory in use


def run(*arguments, allowed=(0,)):
    done = subprocess.run(arguments, capture_output=True, check=False)
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr.decode()}")
    return done


def bind_arguments(model):
    """--bind for every name, one after the other in HBM 0."""
    address, arguments = BIND_FROM, {}
    for tensor in model["graph"]["inputs"] + model["graph"]["outputs"]:
        if tensor["name"] in arguments:
            continue
        arguments[tensor["name"]] = f"--bind={tensor['name']}={address:#x}"
        address += -(-tensor["size"] // BIND_ALIGN) * BIND_ALIGN
    return list(arguments.values())


def record(neffld, file, arguments, stem):
    """Bytes of memory in use, or nothing if the loader does not support the file."""
    with open(f"{stem}.arguments", "w", encoding="utf-8") as out:
        out.writelines(f"{argument}\n" for argument in arguments)
    done = run(neffld, "dump", file, "--device", "sim", "-o", f"{stem}.image.zst", "--zstd",
               "--report", f"{stem}.report", "--record", f"{stem}.trace", "--record-data", *arguments, allowed=(0, UNSUPPORTED))
    if done.returncode:
        return None
    with open(f"{stem}.report", encoding="utf-8") as report:
        model = json.load(report)["models"][0]
        size = sum(allocation["size"] for allocation in model["allocations"])
    os.remove(f"{stem}.report")
    return size


def files(make_sample, folder):
    for line in run(make_sample, "--list").stdout.decode().splitlines():
        file = f"{folder}/{line.split()[0]}.neff"
        run(make_sample, line.split()[0], file)
        yield file
    real = os.environ.get("NEFFLD_NEFFS")
    if not real:
        print("SKIPPED  loads of real files (NEFFLD_NEFFS is not set)")
        return
    for name in sorted(os.listdir(real)):
        if name.endswith(".neff"):
            os.symlink(os.path.join(os.path.abspath(real), name), f"{folder}/{name}")
            yield f"{folder}/{name}"


def main():
    neffld, make_sample, folder = sys.argv[1:]
    os.makedirs(folder)
    lines = []
    for file in files(make_sample, folder):
        name = os.path.basename(file).removesuffix(".neff")
        inspected = run(neffld, "inspect", file, "--report", "json", allowed=(0, UNSUPPORTED))
        if inspected.returncode:
            print(f"not loaded: {inspected.stderr.decode().strip()}")
            continue
        model = json.loads(inspected.stdout)["models"][0]
        arch = "2" if model["graph"]["arch"] == "v2" else "3"
        for kind, arguments in (("free", []), ("bound", bind_arguments(model))):
            size = record(neffld, file, arguments, f"{folder}/{name}.{kind}")
            if size is not None:
                size = "large" if size > LARGE_BYTES else "small"
                lines.append(f"{arch} {name} {kind} {size}\n")
            elif kind == "free":
                print(f"not loaded: {name}, the loader does not support it")
    with open(f"{folder}/list", "w", encoding="utf-8") as out:
        out.writelines(sorted(lines))


main()
