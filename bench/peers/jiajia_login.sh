#!/usr/bin/env bash
# What JIAJIA calls as ssh and scp to start its other node: does it on this machine, without logging in. run_jiajia.sh puts it
# first into PATH under both names. JIAJIA_HOME is the home of the other node.
set -eu
case $(basename "$0") in
  scp)  # scp FILE... USER@ADDRESS:~/FOLDER/
    cp "${@:1:$#-1}" "$JIAJIA_HOME/${!##*:\~/}" ;;
  ssh)  # ssh USER@ADDRESS [ARGUMENT...] COMMAND
    export JIAJIA_ADDRESS=${1#*@} HOME=$JIAJIA_HOME
    cd "$HOME"
    command=${!#}
    if [[ $command != *" -P "* ]]; then eval "$command"; exit; fi
    # The start of the node, in the background. JIAJIA puts the arguments of the program before its name.
    eval "${command%% -P *} ${*:2:$#-2} -P ${command##* -P }"
    echo $! > pid ;;
esac
