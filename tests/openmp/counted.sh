#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# counted.sh QUIRE PROGRAM: what is counted in becomes sequential, and other large blocks of the heap keep release consistency.
quire=$1 program=$2
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
wanted=$("$program")
told=$("$quire" run -n 2 --timeout 60 --memory auto --stats "$program" 2>&1) || { echo "$told"; exit 1; }
echo "$told"
echo "$told" | grep -qx "$wanted" || { echo "wanted: $wanted"; exit 1; }
echo "$told" | grep -q '^region .* GiB .* release ' || exit 1
echo "$told" | grep -q '^region .* GiB .* sequential '
