# SPDX-License-Identifier: MIT
"""The host vrings of template queue sets, as `dump --rings DIR` writes them."""

import os

from groups import compare_bytes

GROUP = "host vrings"


def compare_vrings(groups, expectations, folder):
    names = set(os.listdir(folder))
    for expectation in expectations:
        for name, data in expectation.vrings.items():
            if name not in names:
                groups.check(GROUP, not data, f"{name} is not in {folder}")
                continue
            names.discard(name)
            with open(os.path.join(folder, name), "rb") as stream:
                found = stream.read()
            compare_bytes(groups, GROUP, name, data, found, 16)
            groups.check(GROUP, len(data) == len(found),
                         f"{name}: expected {len(data)} bytes, found {len(found)}")
    for name in sorted(names):
        groups.check(GROUP, os.path.getsize(os.path.join(folder, name)) == 0, f"{name} is extra")
