#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stays.sh QUIRE WANTED LINE PROGRAM [ARGUMENTS]: on 2 nodes the program prints WANTED (\n: a new line) and ends well, and just one line of standard error has
# "stays on node 0"; it has LINE, too. UNDER: a command that starts it. SAME_OPTIONS: of quire run.
quire=$1 wanted=$(printf '%b' "$2") line=$3
shift 3
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
lines=$(mktemp) || exit 1
trap 'rm -f "$lines"' EXIT
found=$($UNDER "$quire" run -n 2 --timeout 60 $SAME_OPTIONS "$@" 2>"$lines")
status=$?
cat "$lines"
echo "status $status: $found"
[ $status = 77 ] && exit 77
[ $status = 0 ] && [ "$found" = "$wanted" ] && [ "$(grep -c "stays on node 0" "$lines")" = 1 ] && grep "stays on node 0" "$lines" | grep -q -e "$line"
