# SPDX-License-Identifier: MIT
"""The scratchpad arenas behind `virtual` variables (spec 03 s4, R4, R5, R7)."""

from container import Refused
from pool import CONTIGUOUS_SCRATCHPAD, PAGE

CONTIGUOUS_PAGE = 64 << 20
PAGE_ALIGN = 4 << 20
MAX_PAGES = 1024
SCRATCHPAD = 11
SHARED_BUFFERS = ("shared", "main")


def is_shared(variable):
    return variable.backing_buf in SHARED_BUFFERS  # spec 03 R4


def arena_bytes(subgraph, shared):
    return max((variable.backing_offset + variable.size for variable in subgraph.variables
                if variable.kind == "virtual" and is_shared(variable) == shared), default=0)


def reserve(plan):
    """Lays out the arenas of all subgraphs and takes the pages that are missing."""
    contiguous, page = plan.node.options.contiguous, plan.node.options.page_bytes
    if contiguous:
        page = CONTIGUOUS_PAGE
    shared = max(arena_bytes(subgraph, True) for subgraph in plan.model.subgraphs)
    run = {0: shared}            # subgraph index whose core holds the arena -> bytes
    plan.arenas = []             # (holding index, base offset) of each local arena
    for index, subgraph in enumerate(plan.model.subgraphs):
        size, holder = arena_bytes(subgraph, False), 0 if contiguous else index
        base = run.get(holder, 0)
        slack = page - base % page
        if base % page and slack < size and not contiguous:
            base += slack
        plan.arenas.append((holder, base))
        run[holder] = base + size
    plan.page_counts = {holder: -(-size // page) for holder, size in run.items()}
    for holder in sorted(run):
        _take_pages(plan, holder, page, contiguous)


def _take_pages(plan, holder, page, contiguous):
    need = plan.page_counts[holder]
    if need > MAX_PAGES:
        raise Refused(f"{need} scratchpad pages, {MAX_PAGES} are allowed")
    pages = plan.node.arenas.setdefault(plan.cores[holder], [])
    while len(pages) < need:
        category, align = (CONTIGUOUS_SCRATCHPAD, 0) if contiguous else (SCRATCHPAD, PAGE_ALIGN)
        pages.append(plan.allocate(holder, f"scratchpad page {len(pages)}", page, align, category))


def place(plan, index, variable):
    """Address in the arena, None when the variable needs an allocation of its own."""
    contiguous, page = plan.node.options.contiguous, plan.node.options.page_bytes
    holder, base = (0, 0) if is_shared(variable) else plan.arenas[index]
    offset = base + variable.backing_offset
    pages = plan.node.arenas[plan.cores[holder]]
    if contiguous:               # the arena starts in this model's last page, the lowest (R5)
        address = pages[plan.page_counts[holder] - 1] + offset
    elif offset % page + variable.size > page:
        return None
    else:
        address = pages[offset // page] + offset % page
    if address % PAGE:
        raise Refused(f"virtual variable {variable.name} at arena offset {offset}: addresses "
                      "need to be 4K aligned (03 s3.2)")
    return address
