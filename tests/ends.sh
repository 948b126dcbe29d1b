#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command and says how it has ended: one regular expression of ctest is then for what it has printed and for its status.
"$@"
status=$?
echo "ends with status $status"
exit $status
