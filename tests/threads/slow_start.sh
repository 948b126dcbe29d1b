#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# slow_start.sh QUIRE NODES PROGRAM: one node, SLOW_NODE, is late at each system call of SLOW_CALLS, by a millisecond: others are further than it is
# when threads are made. The program prints what it prints with the stock runtime.
quire=$1 nodes=$2 program=$3
if ! strace -f -o /dev/null true 2>/dev/null; then
  echo "strace is not there, or not permitted"
  exit 77
fi
wanted=$("$program")
found=$(SLOW_CALLS=$SLOW_CALLS SLOW_NODE=$SLOW_NODE "$quire" run -n "$nodes" --timeout 60 sh -c '
  [ "$QUIRE_JOB_NODE" = "$SLOW_NODE" ] || exec "$0" exec "$1"
  exec strace -f -o /dev/null -e trace="$SLOW_CALLS" -e inject="$SLOW_CALLS":delay_enter=1000 "$0" exec "$1"' "$quire" "$program")
status=$?
if [ $status != 0 ] || [ "$wanted" != "$found" ]; then
  echo "stock runtime: $wanted"
  echo "$nodes nodes, status $status: $found"
  exit 1
fi
