# SPDX-License-Identifier: BSD-3-Clause
# Shared by run_argodsm.sh and run_jiajia.sh, which source it: where things are, and Quire's own figures.
set -euo pipefail
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-$bench/../build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What of measure.cpp does not depend on the system: $1 is the compiler.
compile_measure() {
  "$1" -std=c++20 -O2 -Wall -Wextra -I "$bench" -c "$bench/peers/measure.cpp" -o "$work/measure.o"
  "$1" -std=c++20 -O2 -Wall -Wextra -I "$bench" -c "$bench/common/samples.cpp" -o "$work/samples.o"
}

run_quire() {
  local run=("$build/bin/quire" run -n 2 --timeout 120)
  [ -x "$build/bin/quire" ] || { echo "peers: no Quire in $build (set BUILD)" >&2; exit 1; }
  "${run[@]}" "$build/bench/quire_fault"
  "${run[@]}" "$build/bench/quire_sweep" --mebibytes "${MEBIBYTES:-256}"
  "${run[@]}" "$build/bench/quire_sync"
}

# Runs `run_peer` and `run_quire` in turn, and prints both sides of each measurement; $1 is the peer's name.
compare() {
  for round in $(seq "${ROUNDS:-3}"); do
    echo "round $round of ${ROUNDS:-3}" >&2
    run_peer >> "$work/peer"
    run_quire >> "$work/quire"
  done
  python3 "$bench/peers/table.py" "$1" "$work/peer" "$work/quire"
}
