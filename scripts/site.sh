#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the documentation (BUILD/site/html/index.html) by Sphinx; a warning is an error. Exit status 77: Sphinx cannot be fetched, or there is no groff.
#   scripts/site.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
out=$build/site
mkdir -p "$out"
command -v groff >/dev/null || { echo "site: there is no groff (Debian: groff-base)" >&2; exit 77; }
if ! cmp -s docs/requirements.txt "$out/requirements.txt"; then
  rm -rf "$out/environment"
  { python3 -m venv "$out/environment" && "$out/environment/bin/pip" install --quiet --disable-pip-version-check -r docs/requirements.txt; } ||
    { echo "site: nothing can be fetched" >&2; exit 77; }
  cp docs/requirements.txt "$out/"
fi
python3 docs/site.py "$build/bin/quire" "$out/source"
"$out/environment/bin/sphinx-build" -W --keep-going -q -b html "$out/source" "$out/html"
echo "site: $(find "$out/html" -name '*.html' | wc -l) pages in $out/html"
