#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vm/transcripts.sh [BUILD]: plays every recorded conversation with the real driver
# (tests/transcripts) against the kernel module in the test machine, each on a freshly loaded module
# with the parameters of its device. BUILD is the build folder (default: build).
#
# The same file runs on both sides: outside it starts the machine, inside it loads and plays.
set -u
program=/add/replay-transcripts

outside() {
  root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
  # Filling the HBM of 1 GiB of one recording takes real memory.
  VM_RAM=${VM_RAM:-3072}
  export VM_RAM
  set -- --add "${1:-$root/build}/tests/transcripts/replay-transcripts" \
    --add "$root/tests/vm/transcripts.sh"
  for file in "$root"/tests/transcripts/*.txt; do set -- "$@" --add "$file"; done
  exec "$root/scripts/vm" "$@" -- /add/transcripts.sh
}

# One run: PARAMETERS : NAMES.
play() {
  # shellcheck disable=SC2086 # both are words
  insmod /neuron_sim.ko raw_mappings=1 mem_limit=1536M ${1%:*} &&
    "$program" /add --on /dev/neuron ${1#*:}
  code=$?
  rmmod neuron_sim && [ "$code" = 0 ]
}

inside() {
  cd /tmp || exit 1
  failed=0
  "$program" /add --plan >plan || exit 1
  while IFS= read -r run; do
    play "$run" >out 2>&1 </dev/null || {
      failed=$((failed + 1))
      cat out
      rmmod neuron_sim 2>/dev/null
    }
    cat out >>all
  done <plan
  awk '/lines are no calls/ { lines += $1; differ += $4; listed += $6; runs++ }
    END { printf "%d modules loaded, %d lines replayed, %d differ, %d listed\n", runs, lines, differ, listed }' all
  dmesg >log
  grep -E 'WARNING|BUG|Oops|Call Trace' log && failed=$((failed + 1))
  [ "$failed" = 0 ] && [ -s plan ]
}

if [ -f /neuron_sim.ko ]; then inside; else outside "$@"; fi
