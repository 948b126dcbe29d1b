#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds our SOR and CG for another system: FOLDER/sor and FOLDER/cg, with the flags of Quire's own
# (apps/CMakeLists.txt). Usage: build_apps.sh argodsm|jiajia|mpi INSTALLED FOLDER, where INSTALLED is the folder in which
# a person has installed the system (run_argodsm.sh and run_jiajia.sh say what is expected there); nothing is read there
# for mpi, which is plain messages. Variables: BUILD (Quire's build folder, with the targets sor and cg), MPICXX
# (mpic++), JIAJIA_LIBS (what its library needs).
set -euo pipefail
usage="usage: build_apps.sh argodsm|jiajia|mpi INSTALLED FOLDER"
system=${1:?$usage} installed=${2:?$usage} folder=${3:?$usage}
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-$bench/../build}
mkdir -p "$folder"

flags=(-O3 -ffp-contract=off -Wall -Wextra -I "$bench" -I "$bench/../apps")
[ "$(uname -m)" != x86_64 ] || flags+=(-march=x86-64-v2)
case $system in
  argodsm)
    link=("${MPICXX:-mpic++}")
    libraries=(-L "$installed/lib" -Wl,-rpath,"$(realpath "$installed/lib")" -largo -largobackend-mpi)
    "${link[@]}" -std=c++17 -O2 -I "$bench" -I "$installed/include" -I "$installed/include/argo" \
      -c "$bench/peers/argodsm.cpp" -o "$folder/system.o" ;;
  jiajia)
    link=(c++ -no-pie -Wl,--wrap=bind,--wrap=getifaddrs)
    read -ra libraries <<< "$installed/lib/linux/libjia.a ${JIAJIA_LIBS:--lrdmacm -libverbs -lpthread}"
    cc -O2 -DLINUX -I "$bench" -I "$installed/src/include" -c "$bench/peers/jiajia.c" -o "$folder/system.o" ;;
  mpi)
    for app in sor cg; do
      "${MPICXX:-mpic++}" -std=c++20 "${flags[@]}" -DOMPI_SKIP_MPICXX "$bench/peers/mpi_$app.cpp" \
        "$build/apps/libquire_app_$app.a" "$build/apps/libquire_app_common.a" -lfmt -o "$folder/$app"
    done
    exit ;;
  *) echo "$usage" >&2; exit 1 ;;
esac
for app in sor cg; do
  c++ -std=c++20 "${flags[@]}" -c "$bench/peers/$app.cpp" -o "$folder/$app.o"
  "${link[@]}" "$folder/$app.o" "$folder/system.o" "$build/apps/libquire_app_$app.a" \
    "$build/apps/libquire_app_common.a" -lfmt "${libraries[@]}" -o "$folder/$app"
done
