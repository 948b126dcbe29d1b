#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# statistics.sh QUIRE PROGRAM OBJECT...: --stats names these static objects, and the file of --stats says where they lie.
quire=$1 program=$2
shift 2
file=$(mktemp)
trap 'rm -f "$file"' EXIT
told=$(OMP_NUM_THREADS=4 "$quire" run -n 2 --timeout 60 --stats "$program" 2>&1 >/dev/null)
for object in "static objects" "$@"; do
  case $told in
    *"$object"*) ;;
    *) echo "no $object in: $told"; exit 1 ;;
  esac
done
OMP_NUM_THREADS=4 "$quire" run -n 2 --timeout 60 "--stats=$file" "$program" >/dev/null
grep -q '"data": ".*'"$(basename "$program")"'+0x' "$file" || { echo "no place of static data in: $(cat "$file")"; exit 1; }
