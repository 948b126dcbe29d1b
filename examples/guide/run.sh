#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh EXPECTED COMMAND...: runs the command, shows its output, and fails unless the command ends well and a line of the output
# matches EXPECTED, an extended regular expression.
expected=$1
shift
output=$("$@" 2>&1) && status=0 || status=$?
printf '%s\n' "$output"
[ "$status" -eq 0 ] || { echo "exit status $status"; exit 1; }
printf '%s\n' "$output" | grep -qE "$expected" || { echo "no line matches: $expected"; exit 1; }
