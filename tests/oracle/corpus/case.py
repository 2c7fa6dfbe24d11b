# SPDX-License-Identifier: MIT
"""Named cases: programs with the loader options they are loaded with."""

from dataclasses import dataclass, field

from corpus.program import Program
from corpus.slots import ordering

KIB, MIB = 1 << 10, 1 << 20
CASES = []


@dataclass
class Case:
    name: str
    programs: list           # loaded together, in order
    arguments: list = field(default_factory=list)
    bind: bool = True        # also check it with inputs and outputs bound
    refused: bool = False    # the oracle must find a reason to refuse it


def case(*archs):
    """Registers `make(arch)`, which returns a Program, or (programs, arguments)."""
    def register(make):
        for arch in archs or ("v2", "v3"):
            CASES.append((f"{make.__name__.replace('_', '-')}-{arch}", arch, make, False))
        return make
    return register


def refused(name, *archs):
    """Registers `make(arch)` as a file that must be refused."""
    def register(make):
        for arch in archs or ("v2", "v3"):
            CASES.append((f"refused-{name}-{arch}", arch, make, True))
        return make
    return register


def build(name, arch, make, must_refuse):
    made = make(arch)
    programs, arguments = made if isinstance(made, tuple) else (made, [])
    if isinstance(programs, Program):
        programs = [programs]
    for program in programs:
        program.name = name
    return Case(name, programs, arguments, len(programs) == 1 and not must_refuse, must_refuse)


def program(arch, subgraphs=1, tensor=64 * KIB):
    """A start: input x, output y, one record on every engine."""
    made = Program(arch, subgraphs)
    for part in made.subgraphs:
        part.input("x", tensor)
        part.output("y", tensor)
        for engine in part.streams:
            part.emit(engine, ordering())
    return made
