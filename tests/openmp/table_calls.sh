#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# table_calls.sh QUIRE PROGRAM: calls of libraries' functions cost no page faults, whoever writes beside their tables.
quire=$1 program=$2
export OMP_NUM_THREADS=2
counts=$(mktemp) || exit 1
trap 'rm -f "$counts"' EXIT
for memory in sequential mixed; do
  "$quire" run -n 2 --timeout 60 --memory $memory "--stats=$counts" "$program" || exit 1
  python3 - "$counts" <<'CHECK' || exit 1
import json, sys
data = [r for r in json.load(open(sys.argv[1]))["regions"] if "data" in r]
faults = sum(r["faults"] for r in data)
print("page faults of static data:", faults)
sys.exit(not data or faults >= 150)  # two for each of the 200 rounds, were the tables shared
CHECK
done
