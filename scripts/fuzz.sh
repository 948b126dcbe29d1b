#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Gives random bytes to each of the decoders in tests/fuzz, under the address and undefined-behaviour sanitizers, beginning
# with tests/fuzz/corpus. FUZZ_SECONDS (120) in all; FUZZ_ONLY names one. Exit status 77: there is no clang with libFuzzer.
# An input that breaks something is put beside the corpus's others, where `make test` reads it from then on.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-120}
build=build/fuzz

has_fuzzer() { command -v "$1" >/dev/null && printf 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  "$1" -x c++ -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null; }
compiler=
scripts/setup.sh fuzz || true
for candidate in ${FUZZ_CXX:-} clang++-14 clang++; do
  if has_fuzzer "$candidate"; then compiler=$candidate; break; fi
done
if [ -z "$compiler" ]; then
  echo "fuzz: SKIPPED: no clang with libFuzzer (Debian: apt install clang-14 libclang-rt-14-dev; FUZZ_CXX names another)" >&2
  exit 77
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" \
  -DCMAKE_CXX_COMPILER="$compiler" -DQUIRE_FUZZ=ON \
  -DCMAKE_C_COMPILER="${compiler/++/}" -DQUIRE_SANITIZE=address,undefined,fuzzer-no-link -DQUIRE_BUILD_APPS=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
target=fuzzers
[ -z "${FUZZ_ONLY:-}" ] || target=fuzz_$FUZZ_ONLY
ninja -C "$build" -j "${JOBS:-$(nproc)}" "$target"

names=()
for source in tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$source" _fuzz.cpp)
  [ -z "${FUZZ_ONLY:-}" ] || [ "$FUZZ_ONLY" = "$name" ] || continue
  names+=("$name")
done
together=$(nproc)  # each has one thread, and at most 2 GiB
rounds=$(((${#names[@]} + together - 1) / together))
each=$((seconds / rounds > 0 ? seconds / rounds : 1))
# fuzz NAME: status 1, and the end of what it said, if an input broke something.
fuzz() {
  local found=$build/found/$1 status=0
  mkdir -p "$found" "tests/fuzz/corpus/$1"
  # Errors that decoders log, as they should, are not shown; what libFuzzer says of a crash is.
  ASAN_OPTIONS=detect_leaks=1 timeout $((each + 120)) "$build/tests/fuzz/fuzz_$1" -max_total_time="$each" -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -close_fd_mask=1 -artifact_prefix="tests/fuzz/corpus/$1/broke-" \
    "$found" "tests/fuzz/corpus/$1" >"$build/$1.log" 2>&1 || { status=1; tail -n 60 "$build/$1.log"; }
  printf 'fuzz: %-8s %s inputs in %d s\n' "$1" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$1.log")" "$each"
  return $status
}
failed=()
for ((first = 0; first < ${#names[@]}; first += together)); do
  declare -A running=()
  for name in "${names[@]:first:together}"; do
    fuzz "$name" &
    running[$name]=$!
  done
  for name in "${!running[@]}"; do
    wait "${running[$name]}" || failed+=("$name")
  done
  unset running
done
if [ ${#failed[@]} -ne 0 ]; then
  echo "fuzz: broken: ${failed[*]}; the inputs are tests/fuzz/corpus/NAME/broke-*, and belong there when they are mended" >&2
  exit 1
fi
