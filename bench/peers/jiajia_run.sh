#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program that uses JIAJIA on nodes of this machine, node i at 127.0.0.(i+1), with UDP ports from 10000 on. No
# ssh is needed. Usage: jiajia_run.sh FOLDER NODES PROGRAM [ARGUMENT...], where JIAJIA is installed in FOLDER
# (run_jiajia.sh says what is expected there). Prints what the nodes print, that of node 0 first. Variables: LIMIT_S
# (300).
set -euo pipefail
usage="usage: jiajia_run.sh FOLDER NODES PROGRAM [ARGUMENT...]"
installed=$(realpath "${1:?$usage}") nodes=${2:?$usage} program=$(realpath "${3:?$usage}")
peers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$(basename "$program")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir login homes
for tool in ssh scp; do ln -s "$peers/jiajia_login.sh" "login/$tool"; done
for node in $(seq "$nodes"); do echo "127.0.0.$node user password"; done > .jiahosts
cp "$installed/apps/.jiaconf" "$program" .

# Other nodes write to files. When a node dies, the others wait for ever. All stay in the process group of the script
# (--foreground), so that what ends the group ends them.
status=0
PATH=$work/login:$PATH JIAJIA_HOMES=$work/homes JIAJIA_ADDRESS=127.0.0.1 \
  timeout --foreground -k 5 "${LIMIT_S:-300}" "./$name" "${@:4}" || status=$?
for pid in homes/*/pid; do
  [ -f "$pid" ] || continue  # one node
  timeout 10 tail -s 0.1 --pid="$(cat "$pid")" -f /dev/null || kill -KILL "$(cat "$pid")" || true
  cat "${pid%/*}/jianode/$name/$name.log"
  [ "$status" -eq 0 ] || tail "${pid%/*}/jianode/$name/$name.err" >&2
done
exit "$status"
