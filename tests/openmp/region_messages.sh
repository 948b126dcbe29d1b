#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# region_messages.sh QUIRE PROGRAM [MESSAGES [ARGUMENT]]: a region that only reads what it gets, or adds to it, costs two messages (at most
# MESSAGES) for each other node, and moves no page of the master's frame.
quire=$1 program=$2 most=${3:-2.5} argument=$4 regions=2000
export OMP_NUM_THREADS=2
counts=$(mktemp) || exit 1
trap 'rm -f "$counts"' EXIT
for memory in sequential mixed; do
  "$quire" run -n 2 --timeout 60 --memory $memory "--stats=$counts" "$program" $regions $argument || exit 1
  python3 - "$counts" $regions $most <<'CHECK' || exit 1
import json, sys
total, regions = json.load(open(sys.argv[1]))["total"], int(sys.argv[2])
messages = total["messages_sent"] / regions
faults = (total["read_faults"] + total["write_faults"] + total["upgrade_faults"]) / regions
print(f"a region: {messages:.3f} messages, {faults:.3f} page faults")
sys.exit(messages > float(sys.argv[3]) or faults > 0.25)
CHECK
done
