#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mount.sh QUIRE PROGRAM: runs it on two nodes with a mounted directory. 77 (skipped) where there is no FUSE.
[ -w /dev/fuse ] || { echo "/dev/fuse cannot be opened"; exit 77; }
directory=$(mktemp -d)
"$(dirname "$0")/run.sh" "the lines are sorted" "$1" run -n 2 --timeout 40 --mount "$directory" "$2"
status=$?
rmdir "$directory" || exit 1
exit $status
