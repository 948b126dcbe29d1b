#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# first_calls.sh QUIRE LIBRARY PROGRAM: the library's constructor makes calls, another one first of all each time (first_calls.c); and once while the
# dynamic linker tells what it does.
quire=$1 library=$2 program=$3
count=$(FIRST_CALL=count LD_PRELOAD=$library "$program" quick | head -1)
[ "$count" -gt 1 ] || { echo "the library has no calls: $count"; exit 1; }
failed=0 number=0
while [ "$number" -lt "$count" ]; do
  told=$(FIRST_CALL=$number LD_PRELOAD=$library "$quire" run -n 1 --timeout 20 "$program" quick 2>&1) || { failed=1; echo "call $number first: $told"; }
  number=$((number + 1))
done
FIRST_CALL=0 LD_PRELOAD=$library LD_DEBUG=all "$quire" run -n 2 --timeout 20 "$program" quick >/dev/null 2>&1 ||
  { failed=1; echo "with LD_DEBUG"; }
exit $failed
