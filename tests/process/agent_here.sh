#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# agent_here.sh HOST COMMAND...: "hosts" that are this one, for --agent.
shift
exec sh -c "exec $*"
