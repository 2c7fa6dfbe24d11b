# SPDX-License-Identifier: MIT
"""Cases the loader does not agree on yet, without their architecture, each with the reason."""

PENDING = {
    "functions-with-dma": "block ids must be unique over the functions of a queue",
    "refused-load-pointer-offset": "an offset into a pointer's cell is accepted",
}
