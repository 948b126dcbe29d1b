#!/usr/bin/env bash
# Builds the machines, the simulator and all that runs in one process with sanitizers, and runs those tests.
# Usage: scripts/sanitize.sh address,undefined | thread
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:?which sanitizer}
build=build/${kind//,/-}
scripts/setup.sh
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DQUIRE_SANITIZE="$kind" -DQUIRE_BUILD_APPS=OFF >/dev/null
ninja -C "$build" sanitized_tests
cd "$build"
# What runs with threads or forks under the thread sanitizer is chosen: it knows no fork of a process with threads, and the
# allocation test brings its own operator new; the simulator has one thread. UCX keeps its own memory until the end.
which=(-L 'unit|machine|sim')
[ "$kind" = thread ] && which=(-L 'unit|machine|sim' -R '^machine\.|heap' -E allocation)
ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1 \
  ctest --output-on-failure --no-tests=error "${which[@]}" -j "$(nproc)"
