#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mapped_files.sh QUIRE NODES PROGRAM: what the program has written to a shared mapping of a file is there when it has ended.
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
"$1" run -n "$2" --timeout 60 "$3" leave "$file" && "$3" look "$file"
