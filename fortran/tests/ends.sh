#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ends.sh QUIRE PROGRAM: an error without `ierror` on one node ends the job on all, with status 1 and a sentence that says what was wrong.
output=$("$1" run -n 2 --timeout 30 "$2" fail 2>&1) && status=0 || status=$?
printf '%s\n' "$output"
[ "$status" -eq 1 ] || { echo "exit status $status, not 1"; exit 1; }
printf '%s\n' "$output" | grep -q '^node 1: quire_mutex_lock(): .*zero' || { echo "it does not say what was wrong"; exit 1; }
