#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_runs.py FOLDER: what tests/vm/runs executes in the test machine. Inputs and right outputs of
generated NEFFs that move data, whose files are in FOLDER already (record_loads.py).

For NAME.neff: NAME.run.TENSOR.npy for every input, NAME.run.TENSOR.expected, the bytes of an output
that a model of the file's JSON works out (tests/run/neff_model.py). The file `runs` has a line
"architecture NAME in|out TENSOR" for each. NEFFLD_EXE is the command.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for each in ("run", "nrt"):
    sys.path.insert(0, os.path.join(HERE, "..", each))
# pylint: disable=wrong-import-position
import neff_model  # noqa: E402
from sample_data import byte_sizes, make_inputs, tensors  # noqa: E402

# Static rings and what they convert; no compute record is in them.
MOVERS = ("copy-shapes-v3", "transpose-v3", "cast-v3", "many-queues-v3", "virtual-overlap-v2",
          "one-partition-v2")


def record(folder, name):
    """The lines of `runs`."""
    path, where = os.path.join(folder, f"{name}.neff"), os.path.join(folder, "npy")
    inputs, outputs = tensors(path)
    sizes = byte_sizes(outputs)
    os.mkdir(where)
    expected = neff_model.execute(path, make_inputs(where, inputs, 1), sizes)
    for tensor in inputs:
        os.rename(os.path.join(where, f"{tensor}.npy"),
                  os.path.join(folder, f"{name}.run.{tensor}.npy"))
    os.rmdir(where)
    for tensor, data in expected.items():
        with open(os.path.join(folder, f"{name}.run.{tensor}.expected"), "wb") as stream:
            stream.write(data)
    arch = name[-1]
    return ([f"{arch} {name} in {tensor}\n" for tensor in inputs] +
            [f"{arch} {name} out {tensor}\n" for tensor in outputs])


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "runs"), "w", encoding="utf-8") as out:
        for name in MOVERS:
            out.writelines(record(folder, name))


main()
