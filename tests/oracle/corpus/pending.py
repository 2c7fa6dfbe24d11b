# SPDX-License-Identifier: MIT
"""Cases the loader does not agree on yet, without their architecture, each with the reason."""

_BRANCHES = "branches are not translated"
_FUNCTIONS = "functions are not translated"
_RECORD = "the record is not translated"
_CONTIGUOUS = "there is no contiguous scratchpad mode"

PENDING = {
    **dict.fromkeys(("branch-around-everything", "branch-events-and-registers", "exits",
                     "labels-and-branches", "refused-dge-in-loop", "refused-trigger-in-loop"),
                    _BRANCHES),
    **dict.fromkeys(("functions", "functions-with-dma", "refused-branch-out-of-function",
                     "refused-function-twice", "refused-label-of-another-function",
                     "refused-trigger-in-function-called-twice",
                     "refused-trigger-in-function-never-called",
                     "refused-trigger-of-mains-block-in-function"), _FUNCTIONS),
    **dict.fromkeys(("collectives", "every-kind", "extensions", "one-to-one", "prefetch-hints"),
                    _RECORD),
    **dict.fromkeys(("contiguous", "contiguous-two-cores", "models-share-contiguous-pages"),
                    _CONTIGUOUS),
    "refused-dge-extension-with-compute-op": "the compute op of an extension is accepted",
    "indirect": "indirect_memcpy is read as a plain data queue set",
    "raw-count": "raw descriptor counts are refused",
    "refused-load-33-elements": "more than 32 elements are accepted",
    "refused-store-33-elements": "more than 32 elements are accepted",
    **dict.fromkeys(("refused-load-pointer-offset", "refused-descriptor-pointer-offset"),
                    "an offset into a pointer's cell is accepted"),
    "refused-template-with-instances": "template sets of several instances are accepted",
    "table-offset-in-register": "operand markers other than 0x10 and 0x20 are refused",
}
