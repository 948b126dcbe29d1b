#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles for AArch64 what needs no library of others, and runs the tests of it that need no userfaultfd under qemu's user emulation.
# tests/tidy/processors.txt has what is for x86-64 only, docs/limits.md what this proves. Exit status 77: there is no cross compiler.
#   scripts/aarch64.sh [BUILD] [all]    all: compiles the other layers, too, for which UCX's headers are enough
# AARCH64_CXX names another compiler. Without qemu or the sources of GoogleTest nothing is run, and a line says so.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
out=$build/aarch64
# These layers need a library of others, and so does each layer that may include one of them.
need_a_library=' transport mount bootstrap '
# Of tests/unit, but for machine, which is of tests/machine. A choice: all would take minutes to compile.
tests=(machine restart diff store slices wire protocol_table core_file clock options watch)
machines=(release_unit release_update sequential_race sequential_store sync_lock)

scripts/setup.sh aarch64 || true
compiler=${AARCH64_CXX:-aarch64-linux-gnu-g++}
if ! command -v "$compiler" >/dev/null; then
  echo "aarch64: SKIPPED: there is no $compiler (Debian: apt install g++-aarch64-linux-gnu; AARCH64_CXX names another)" >&2
  exit 77
fi
google=/usr/src/googletest
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
runs=yes
[ -n "$emulator" ] && [ -d "$google" ] || runs=

# ---- What is compiled: sources of a layer eight at a time, as cmake/precompiled.cmake does ----
mkdir -p "$out"
ninja=$out/build.ninja
launcher=$(command -v ccache || true)
google_flags="-isystem $google/googletest/include -isystem $google/googlemock/include"
{
  echo "builddir = $out"
  echo "flags = -std=c++20 -O1 -Wall -Wextra -Werror -Wnon-virtual-dtor -fno-omit-frame-pointer -fPIC -pthread -Iinclude -Isrc -I."
  printf 'rule compile\n  command = %s -MD -MF $out.d $flags $more -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n' "$launcher $compiler"
  printf 'rule archive\n  command = rm -f $out; ar rcs $out $in\n'
  printf 'rule link\n  command = %s -pthread $in -o $out -ldl\n' "$compiler"
} >"$ninja"
objects=
# object SOURCE NAME [FLAGS]
object() {
  printf 'build %s/%s.o: compile %s\n  more = %s\n' "$out" "$2" "$1" "${3:-}" >>"$ninja"
  objects+=" $out/$2.o"
}
# together NAME FLAGS SOURCE...
together() {
  local name=$1 flags=$2 part=0 source text
  shift 2
  while [ $# -gt 0 ]; do
    text=
    for source in "${@:1:8}"; do text+="#include \"$source\""$'\n'; done
    printf %s "$text" | cmp -s - "$out/$name-$part.cpp" || printf %s "$text" >"$out/$name-$part.cpp"
    object "$out/$name-$part.cpp" "$name-$part" "$flags"
    part=$((part + 1))
    shift $(($# < 8 ? $# : 8))
  done
}
layers=()
while IFS=: read -r folder included; do
  more=
  for layer in "$folder" $included; do [[ "$need_a_library" != *" $layer "* ]] || more=yes; done
  if [ -n "$more" ]; then
    need_a_library+="$folder "
    [ "${2:-}" = all ] || continue
    mkdir -p "$out/ucx"
    ln -sfn /usr/include/uc[mpst] "$out/ucx/"
    more="-isystem $out/ucx"
  fi
  mapfile -t sources < <(find "src/$folder" -name '*.cpp' | LC_ALL=C sort)
  [ ${#sources[@]} -eq 0 ] || together "${folder//\//_}" "$more" "${sources[@]}"
  layers+=("$folder")
done < <(grep '^[a-z].*:' src/layers.txt)
printf 'build %s/libquire.a: archive%s\n' "$out" "$objects" >>"$ninja"
goals=("$out/libquire.a")

# ---- The tests: one program each ----
if [ -n "$runs" ]; then
  objects=
  object "$google/googletest/src/gtest-all.cc" gtest "-O0 -w $google_flags -I$google/googletest"
  object "$google/googlemock/src/gmock-all.cc" gmock "-O0 -w $google_flags -I$google/googlemock"
  object "$google/googlemock/src/gmock_main.cc" gmock_main "-O0 -w $google_flags"
  common=$objects
  for test in "${tests[@]}"; do
    objects=
    more="-O0 $google_flags -DQUIRE_SOURCE_DIR=\\\"$PWD\\\""
    if [ "$test" = machine ]; then
      mapfile -t sources < <(find sim -maxdepth 1 -name '*.cpp' ! -name '*_main.cpp' | LC_ALL=C sort)
      together sim "" "${sources[@]}"
      for machine in "${machines[@]}"; do object "tests/machine/${machine}_test.cpp" "${machine}_test" "$more"; done
    else
      object "tests/unit/${test}_test.cpp" "${test}_test" "$more"
    fi
    printf 'build %s/%s: link%s%s %s/libquire.a\n' "$out" "${test}_test" "$objects" "$common" "$out" >>"$ninja"
    goals+=("$out/${test}_test")
  done
fi
ninja -f "$ninja" -j "${JOBS:-$(nproc)}" --quiet "${goals[@]}"
echo "aarch64: compiled: ${layers[*]}"
if [ -z "$runs" ]; then
  echo "aarch64: NOTHING WAS RUN: there is no qemu-aarch64 or no $google (Debian: apt install qemu-user-static googletest)"
  exit 0
fi

# ---- What is run: without a kernel of its own, so nothing of userfaultfd. The slowest of the tests are left out ----
libraries=$(dirname "$(dirname "$("$compiler" -print-file-name=libc.so.6)")")
ran=0
for test in "${tests[@]}"; do
  if ! timeout 120 "$emulator" -L "$libraries" "$out/${test}_test" --gtest_brief=1 \
    --gtest_filter='-*large_units*:*mutated_diffs*:*one_byte*:*every_pattern*' >"$out/$test.log" 2>&1; then
    tail -n 40 "$out/$test.log"
    echo "aarch64: the tests $test failed" >&2
    exit 1
  fi
  ran=$((ran + $(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$out/$test.log")))
done
echo "aarch64: $ran tests passed: ${tests[*]}"
