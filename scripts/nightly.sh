#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A night of what finds mistakes: MINUTES (480) in all, on a build that is there (BUILD, build). Most of it is the soak: seeds that nobody has tried,
# programs under random settings, launchers, small limits, kills, links that are slow or cut. Then all decoders are fuzzed for the tenth part, and the
# scripts in findings/ look whether kernel and libraries still do what Quire counts on. What the soak finds becomes seeds, in tests/sim/found_seeds.txt,
# which `make test` tries from then on; what breaks a decoder stays in its corpus. Exit status 1 if anything was found.
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=${MINUTES:-480}
build=${BUILD:-build}
fuzzed_s=$((minutes * 60 / 10))
status=0

soaked=$(printf '%d.%02d' $((minutes * 85 / 100)) $((minutes * 85 % 100)))
scripts/soak/run.py --build "$build" --minutes "$soaked" --every "${EVERY:-60}" --found tests/sim/found_seeds.txt ${SOAK_FLAGS:-} || status=1

for script in findings/*.sh; do
  timeout 120 bash "$script" >"$build/finding.log" 2>&1
  case $? in
    0 | 77) ;;
    *) echo "nightly: $script says that the world has changed:"; cat "$build/finding.log"; status=1 ;;
  esac
done

FUZZ_SECONDS=$fuzzed_s scripts/fuzz.sh
case $? in
  0 | 77) ;;
  *) status=1 ;;
esac
exit $status
