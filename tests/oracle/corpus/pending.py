# SPDX-License-Identifier: MIT
"""Cases the loader does not agree on yet, without their architecture, each with the reason."""

PENDING = {}
