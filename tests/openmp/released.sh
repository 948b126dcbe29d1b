#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# released.sh QUIRE NODES PROGRAM: threads wait for memory with release consistency where memory is mixed, and else for none.
quire=$1 nodes=$2 program=$3
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
mixed=$("$quire" run -n "$nodes" --timeout 60 --memory mixed --stats "$program" 2>&1) || exit 1
plain=$("$quire" run -n "$nodes" --timeout 60 --stats "$program" 2>&1) || exit 1
echo "$mixed"
echo "$mixed" | grep -q '^region .* release ' || exit 1
! echo "$plain" | grep -q '^region .* release '
