#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# on_other_nodes.sh NAME=VALUE PROGRAM...: a node whose settings are others than those of node 0.
[ "$QUIRE_JOB_NODE" = 0 ] || export "$1"
shift
exec "$@"
