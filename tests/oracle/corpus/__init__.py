# SPDX-License-Identifier: MIT
"""NEFF files written from nothing, for what real files do not contain."""
