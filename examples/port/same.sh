#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# same.sh BEFORE AFTER: two command lines of a shell, which end well and print the same line.
before=$(eval "$1") || { echo "failed: $1"; exit 1; }
after=$(eval "$2") || { echo "failed: $2"; exit 1; }
printf '%s\n%s\n' "$before" "$after"
[ -n "$before" ] && [ "$before" = "$after" ] || { echo "they differ"; exit 1; }
