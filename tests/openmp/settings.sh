#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# settings.sh QUIRE PROGRAM: values of OMP_* that are none are named, and the program runs as without them.
quire=$1 program=$2
unset OMP_NUM_THREADS
check() {  # NAME VALUE PART: standard error has the part, and the program succeeds
  found=$(env "$1=$2" "$quire" run -n 2 --timeout 60 "$program" 999 2>&1 >/dev/null)
  status=$?
  case $found in
    *"$3"*) ;;
    *) echo "$1=$2, status $status: no \"$3\" in: $found"; exit 1 ;;
  esac
  # Places are of a node.
  [ "$1" = OMP_PLACES ] || [ "$(echo "$found" | grep -c "$1 is")" -le 1 ] || { echo "$1=$2: more than one line: $found"; exit 1; }
  [ $status = 0 ] || { echo "$1=$2: status $status: $found"; exit 1; }
}
check OMP_NUM_THREADS zero "OMP_NUM_THREADS is \"zero\""
check OMP_NUM_THREADS 0 "OMP_NUM_THREADS is \"0\""
check OMP_NUM_THREADS 4,x "OMP_NUM_THREADS is \"4,x\""
check OMP_NUM_THREADS -1 "OMP_NUM_THREADS is \"-1\""
check OMP_NUM_THREADS 2147483648 "OMP_NUM_THREADS is \"2147483648\""
check OMP_STACKSIZE 1 "OMP_STACKSIZE is \"1\""
check OMP_STACKSIZE 1152921504606846976 "OMP_STACKSIZE is \"1152921504606846976\""
check OMP_STACKSIZE lots "OMP_STACKSIZE is \"lots\""
check OMP_STACKSIZE 65G "OMP_STACKSIZE is \"65G\""
check OMP_STACKSIZE 0 "OMP_STACKSIZE is \"0\""
check OMP_STACKSIZE -5M "OMP_STACKSIZE is \"-5M\""
check OMP_STACKSIZE "8 M lines" "OMP_STACKSIZE is"
check OMP_SCHEDULE random "OMP_SCHEDULE is \"random\""
check OMP_SCHEDULE static,x "OMP_SCHEDULE is \"static,x\""
check OMP_DYNAMIC maybe "OMP_DYNAMIC is \"maybe\", which is no true or false"
check OMP_MAX_ACTIVE_LEVELS -1 "OMP_MAX_ACTIVE_LEVELS is \"-1\""
check OMP_THREAD_LIMIT none "OMP_THREAD_LIMIT is \"none\""
check OMP_PROC_BIND near "OMP_PROC_BIND is \"near\""
check OMP_PROC_BIND close,true "OMP_PROC_BIND is \"close,true\""
check OMP_PLACES "{0" "OMP_PLACES is \"{0\", which is no list of places"
check OMP_PLACES "{1023}" "of which this node may use no processor"
check OMP_DISPLAY_AFFINITY true "level 1 thread "
check OMP_DISPLAY_ENV true "OMP_NUM_THREADS = '"
