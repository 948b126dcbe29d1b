#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lints the recipes for Spack and conda (packaging/lint.py); conda's is rendered by rattler-build's package for Python, which is fetched. Nothing is built.
# Exit status 77: it cannot be fetched.
#   scripts/recipes.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:-build}")/recipes
mkdir -p "$out"
[ -x "$out/environment/bin/python" ] || python3 -m venv "$out/environment"
"$out/environment/bin/pip" install --quiet --disable-pip-version-check py-rattler-build==0.73.0 || { echo "recipes: nothing can be fetched" >&2; exit 77; }
"$out/environment/bin/python" -B packaging/lint.py --render
