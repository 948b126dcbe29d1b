#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# goes_on.sh QUIRE PROGRAM HOW [NAME=VALUE]: a job of three nodes leaves its state in a folder, as `PROGRAM HOW FOLDER` (HOW: save, or die, and it
# must); one of two, with the setting, goes on from there, as `PROGRAM go-on FOLDER`.
quire=$1 program=$2 how=$3 setting=${4:-QUIRE_LOG=warning}
folder=$(mktemp -d "$PWD/goes-on-XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
"$quire" run -n 3 --timeout 50 "$program" "$how" "$folder/state"
status=$?
case $how in
die) [ $status -ne 0 ] || { echo "FAILED: the first job has ended well"; exit 3; } ;;
*) [ $status -eq 0 ] || exit $status ;;
esac
env "$setting" "$quire" run -n 2 --timeout 50 "$program" go-on "$folder/state"
