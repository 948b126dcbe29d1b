#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# report.sh QUIRE PROGRAM SOURCE: the report of an OpenMP program names the static array that two nodes share falsely, the line that writes it,
# and what such a program can do.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" run -n 2 --timeout 60 --memory sequential --report "$folder/page.html" "$2"
line=$(grep -n '// planted' "$3" | cut -d: -f1)
data=$(grep -o '"sharing":\[.*\],"names"' "$folder/page.html")
for part in '"name":"tallies' '"kind":"false"' "report.c:$line in" '"advice":"align and pad'; do
  printf '%s\n' "$data" | grep -qF "$part" || { echo "the report does not have $part: $data"; exit 1; }
done
