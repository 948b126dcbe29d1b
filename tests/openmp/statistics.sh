#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# statistics.sh QUIRE PROGRAM LARGE OBJECT...: --stats names these static objects, LARGE are two that lie beside each other; and the file of --stats says
# where they lie.
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
# A page that two large objects share has release consistency as they have.
told=$(OMP_NUM_THREADS=4 "$quire" run -n 2 --timeout 60 --memory mixed --stats "$program" 2>&1 >/dev/null)
echo "$told" | grep -q "release.*$1" || { echo "$1 have no page with release consistency in: $told"; exit 1; }
echo "$told" | grep -q "sequential.*$1" && { echo "$1 have a page with sequential consistency in: $told"; exit 1; }
OMP_NUM_THREADS=4 "$quire" run -n 2 --timeout 60 "--stats=$file" "$program" >/dev/null
grep -q '"data": ".*'"$(basename "$program")"'+0x' "$file" || { echo "no place of static data in: $(cat "$file")"; exit 1; }
