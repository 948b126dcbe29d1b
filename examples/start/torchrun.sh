#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# torchrun.sh PROCESSES PROGRAM.py...: torchrun starts the nodes of a job. On several machines each gets the same secret, and torchrun its
# --nnodes, --node-rank and --master-addr. MASTER_PORT is of torch's own store: Quire meets on another port of the same host.
processes=$1
shift
: "${QUIRE_SECRET:=$(openssl rand -hex 16)}" "${QUIRE_RENDEZVOUS:=:29600}"
export QUIRE_SECRET QUIRE_RENDEZVOUS
exec torchrun --standalone --nproc_per_node "$processes" "$@"
