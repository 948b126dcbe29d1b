#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# installed.sh QUIRE PROGRAM [ARGUMENTS]: a program of the system reads INPUT, and prints the same on 1, 2 and 3 nodes as without Quire.
quire=$1
shift
wanted=$("$@" <"$INPUT" 2>/dev/null)
[ -n "$wanted" ] || { echo "without Quire it prints nothing: $*"; exit 1; }
for nodes in 1 2 3; do
  found=$("$quire" run -n "$nodes" --timeout 60 "$quire" exec --any "$@" <"$INPUT") || { echo "$nodes nodes: status $?"; exit 1; }
  [ "$found" = "$wanted" ] || { echo "$nodes nodes: $found"; echo "without Quire: $wanted"; exit 1; }
done
echo "$wanted"
