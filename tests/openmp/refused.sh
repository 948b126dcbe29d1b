#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused.sh QUIRE NODES TEXT PROGRAM [ARGUMENTS]: the job ends with an error whose lines have TEXT (a basic regular expression).
# No process of it is left. SAME_OPTIONS: of quire run. UNDER: a command that starts it. STATUS: the job's; any but 0 and 124 otherwise (124: its time limit).
quire=$1 nodes=$2 text=$3
shift 3
OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
export OMP_NUM_THREADS
# A session of its own, so that what it leaves can be found.
session=$(mktemp) || exit 1
lines=$(setsid -w sh -c 'echo $$ > "$0"; exec "$@"' "$session" $UNDER "$quire" run -n "$nodes" --timeout 120 $SAME_OPTIONS "$@" 2>&1)
status=$?
left=$(ps -o pid=,stat=,args= -s "$(cat "$session")" 2>/dev/null | grep -v ' Z')
rm -f "$session"
echo "$lines"
[ -z "$left" ] || { echo "left: $left"; exit 1; }
if [ -n "$STATUS" ]; then
  [ $status = "$STATUS" ] || { echo "status $status instead of $STATUS"; exit 1; }
fi
[ $status != 0 ] && [ $status != 124 ] && echo "$lines" | grep -q -e "$text"
