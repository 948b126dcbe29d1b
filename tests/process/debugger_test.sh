#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debugger_test.sh QUIRE PROGRAM: what docs/guide/troubleshooting.md says of gdb holds: each node runs under one, with Quire's signals passed on; without that it stops at the
# first access. Skipped (77) where there is no gdb, or no process may trace another one.
quire=$1 program=$2
command -v gdb >/dev/null || { echo "there is no gdb (Debian: gdb)"; exit 77; }
gdb -q -nx -batch -ex run true 2>&1 | grep -q "exited normally" || { echo "gdb cannot run programs here"; exit 77; }
output=$("$quire" run -n 2 --peer-timeout 0 --timeout 60 gdb -q -nx -batch -ex 'handle SIGSEGV SIGBUS nostop noprint pass' -ex run --args "$program" 2>&1)
printf '%s\n' "$output"
[ "$(printf '%s\n' "$output" | grep -c 'exited normally')" -eq 2 ] || { echo "not both nodes have ended normally"; exit 1; }
output=$("$quire" run -n 1 --timeout 60 gdb -q -nx -batch -ex run --args "$program" 2>&1)
printf '%s\n' "$output" | grep -qE 'received signal SIG(BUS|SEGV)' || { printf '%s\n' "$output"; echo "gdb does not stop by itself: there is no need for that line"; exit 1; }
