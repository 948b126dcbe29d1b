#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# same.sh QUIRE NODES PROGRAM [ARGUMENTS]: the program prints the same, and ends with the same status, on so many nodes as with the stock runtime.
# SAME_OPTIONS: of quire run. UNDER: a command that starts it. SORTED=1: in whatever order, as threads print.
# What nodes say on standard error is there if the test fails. WANTED: what it prints, where the stock runtime fails. INPUT: a file that it reads.
quire=$1 nodes=$2
shift 2
OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
export OMP_NUM_THREADS
if [ -n "$WANTED" ]; then
  wanted=$WANTED
  wanted_status=0
else
  wanted=$("$@" 2>/dev/null <"${INPUT:-/dev/null}")
  wanted_status=$?
fi
if [ -z "$wanted" ]; then
  echo "with the stock runtime it prints nothing: status $wanted_status"
  exit 1
fi
found=$($UNDER "$quire" run -n "$nodes" --timeout 120 $SAME_OPTIONS "$@" <"${INPUT:-/dev/null}")
found_status=$?
if [ -n "$SORTED" ]; then
  wanted=$(echo "$wanted" | sort)
  found=$(echo "$found" | sort)
fi
if [ "$wanted" != "$found" ] || [ $wanted_status != $found_status ]; then
  echo "stock runtime, status $wanted_status: $wanted"
  echo "$nodes nodes, status $found_status: $found"
  exit 1
fi
echo "$found"
