#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# checkpoint.sh FOLDER QUIRE PROGRAM: two jobs, the second of which goes on where the first ended; FOLDER is made anew.
set -e
run=$(dirname "$(realpath "$0")")/run.sh
rm -rf "$1"
mkdir -p "$1"
cd "$1"
"$run" "steps 0 to 2 on 2 nodes" "$2" run -n 2 --timeout 40 "$3" 2
"$run" "steps 2 to 5 on 3 nodes" "$2" run -n 3 --timeout 40 "$3" 5
