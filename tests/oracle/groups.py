# SPDX-License-Identifier: MIT
"""Counted comparisons, printed one line a group with the first differences of each."""

MAX_SHOWN = 10
UNIT_NAMES = {16: "descriptor", 64: "slot"}


class Groups:
    """Counts comparisons per group and keeps the first differences of each."""

    def __init__(self):
        self.checked, self.failed, self.shown = {}, {}, {}

    def declare(self, *groups):
        for group in groups:
            self.checked.setdefault(group, 0)

    def check(self, group, same, text, count=1):
        self.checked[group] = self.checked.get(group, 0) + count
        if not same:
            self.fail(group, text)

    def equal(self, group, what, expected, found):
        self.check(group, expected == found, f"{what}: expected {expected!r}, found {found!r}")

    def fail(self, group, text, count=1):
        self.failed[group] = self.failed.get(group, 0) + count
        self.shown.setdefault(group, []).append(text)

    def print(self):
        for group, count in self.checked.items():
            failed = self.failed.get(group, 0)
            verdict = f"{failed} DIFFERENT" if failed else "all equal"
            print(f"{group}: {count} checked, {verdict}")
            for text in self.shown.get(group, [])[:MAX_SHOWN]:
                print(f"    {text}")
        return 1 if self.failed else 0


def compare_bytes(groups, group, where, expected, found, unit):
    """Unit by unit; `where` names the owner."""
    units = -(-len(expected) // unit)
    groups.check(group, True, "", units)
    if expected == found:
        return
    for number in range(units):
        want, have = (data[number * unit:(number + 1) * unit] for data in (expected, found))
        if want == have:
            continue
        room = MAX_SHOWN - len(groups.shown.get(group, []))
        if room <= 0:
            groups.failed[group] += 1
            continue
        place = f"{UNIT_NAMES[unit]} {number}, offset {number * unit:#x}" if unit > 1 else \
            f"offset {number:#x}"
        groups.fail(group, f"{where}, {place}: expected {want.hex()}, "
                    f"found {have.hex() or 'nothing'}")
