#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds all that runs in one process - machines, simulator, units - with sanitizers, and runs those tests; for the thread sanitizer
# what runs in several threads.
# Usage: scripts/sanitize.sh address,undefined | thread
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:?which sanitizer}
build=build/${kind//,/-}
scripts/setup.sh
# -O1 halves the time to compile instrumented code. It takes four times as long to run, and mistakes in the use of memory do not need the rare
# interleavings: QUIRE_SIM_PART.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
  -DQUIRE_SANITIZE="$kind" -DQUIRE_BUILD_APPS=OFF -DQUIRE_SIM_PART=24 >/dev/null
# The thread sanitizer has nothing to find in machines and the simulator, which have one thread; it knows no fork of a process with
# threads, and nothing of what the kernel does for a detector. UCX keeps its own memory until the end.
# Small programs in all their orders run the same code as those with random ones, and are two thirds of the simulator's time. So do searches for
# what was broken on purpose. Texts of sources are no code.
orders='exhaustive|every_order|sequential_death\.|sequential_replicas|sync_(group_)?deaths\.'
searches='_mutation\.|_broken\.|release_passing|gc_marker_seeds|city_of_1000'
target=sanitized_tests which=(-L 'unit|machine|sim' -E "$orders|$searches|unit\\.layers\\.")
[ "$kind" = thread ] && target=threaded_tests which=(-L threaded)
ninja -C "$build" "$target"
cd "$build"
ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1 \
  ctest --output-on-failure --no-tests=error "${which[@]}" -j $((2 * $(nproc)))
