#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What JIAJIA calls as ssh and scp to start its other nodes: does it on this machine, without logging in. jiajia_run.sh
# puts it first into PATH under both names. The node at an address has the home JIAJIA_HOMES/ADDRESS.
set -eu
case $(basename "$0") in
  scp)  # scp FILE... USER@ADDRESS:~/FOLDER/
    target=${!#}
    target=${target#*@}
    cp "${@:1:$#-1}" "$JIAJIA_HOMES/${target%%:*}/${target##*:\~/}" ;;
  ssh)  # ssh USER@ADDRESS [ARGUMENT...] COMMAND
    export JIAJIA_ADDRESS=${1#*@}
    export HOME=$JIAJIA_HOMES/$JIAJIA_ADDRESS
    mkdir -p "$HOME"
    cd "$HOME"
    command=${!#}
    if [[ $command != *" -P "* ]]; then eval "$command"; exit; fi
    # The start of the node, in the background. JIAJIA puts the arguments of the program before its name.
    eval "${command%% -P *} ${*:2:$#-2} -P ${command##* -P }"
    echo $! > pid ;;
esac
