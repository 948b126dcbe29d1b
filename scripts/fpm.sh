#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds an example of the Fortran module by the Fortran Package Manager, as a project of its own, and runs it. Exit status 77: fpm cannot be fetched, or there
# is no gfortran.
#   scripts/fpm.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
out=$build/fpm
command -v gfortran >/dev/null || { echo "fpm: there is no gfortran" >&2; exit 77; }
mkdir -p "$out/project/app"
[ -x "$out/environment/bin/python" ] || python3 -m venv "$out/environment"
"$out/environment/bin/pip" install --quiet --disable-pip-version-check fpm==0.12.0 || { echo "fpm: nothing can be fetched" >&2; exit 77; }
cp examples/fortran/workers.f90 "$out/project/app/main.f90"
printf 'name = "job"\n[dependencies]\nquire.path = "%s"\n' "$(realpath --relative-to "$out/project" fortran)" >"$out/project/fpm.toml"
cd "$out/project"
"$out/environment/bin/fpm" install --prefix "$out/installed" --link-flag "$("$build/bin/quire" config --libs)" >"$out/log" 2>&1 || { tail "$out/log"; exit 1; }
[ "$("$build/bin/quire" run -n 2 "$out/installed/bin/job")" = "threads ran on 2 nodes" ]
echo "fpm: a project was built and run"
