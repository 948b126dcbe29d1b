#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused.sh QUIRE NODES TEXT PROGRAM [ARGUMENTS]: the job ends with an error whose lines have TEXT (a basic regular expression).
# SAME_OPTIONS: of quire run.
quire=$1 nodes=$2 text=$3
shift 3
OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
export OMP_NUM_THREADS
lines=$("$quire" run -n "$nodes" --timeout 60 $SAME_OPTIONS "$@" 2>&1)
status=$?
echo "$lines"
[ $status != 0 ] && echo "$lines" | grep -q -e "$text"
