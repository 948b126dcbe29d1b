#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# race_told.sh FUNCTION COMMAND...: the command, `quire run --check` of a program with a data race in FUNCTION, ends with status 66 and says both lines,
# in one of sixty runs at least. On a busy machine threads may come one after the other in all rounds of a run, and hear of each other: that hides a race.
function=$1
shift
for run in $(seq 60); do
  said=$("$@" 2>&1)
  status=$?
  if [ $status = 66 ]; then
    line="\.c(pp)?:[0-9]+ in .{0,60}$function"
    printf '%s\n' "$said" | tr '\n' ' ' | grep -Eq "data race: nodes 0 and 1 wrote.*$line.*$line" && exit 0
    break
  fi
  [ $status = 0 ] || break
done
printf 'run %s, status %s:\n%s\n' "$run" "$status" "$said"
exit 1
