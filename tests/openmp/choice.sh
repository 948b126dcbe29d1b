#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# choice.sh QUIRE TEXT PROGRAM: `quire run --memory auto` says that the memory is what TEXT (a regular expression) begins with, `quire info` says the same, and
# the program prints what it does with the stock runtime.
quire=$1 text=$2 program=$3
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
wanted=$("$program")
said=$(mktemp)
trap 'rm -f "$said"' EXIT
found=$("$quire" run -n 2 --timeout 60 --memory auto "$program" 2>"$said")
status=$?
info=$("$quire" info "$program" | tr -s ' \n' ' ')
if [ "$status" != 0 ] || [ "$wanted" != "$found" ]; then
  echo "status $status, and it prints: $found"
  cat "$said"
  exit 1
fi
if ! grep -Eq "memory is $text" "$said"; then
  echo "quire run does not say that the memory is $text:"
  cat "$said"
  exit 1
fi
if ! echo "$info" | grep -Eq "memory auto $text"; then
  echo "quire info does not say that the memory would be $text: $info"
  exit 1
fi
cat "$said"
