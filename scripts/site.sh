#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the documentation (BUILD/site/html/index.html) by Sphinx; a warning is an error. Exit status 77: Sphinx cannot be fetched, or there is no groff.
# With chromium the pages are looked at (BUILD/site/pictures), and with npm as well drawings become pictures.
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
# Mermaid draws while the site is built; what is built needs nothing of it.
mermaid=11.4.1
script=$out/mermaid-$mermaid/package/dist/mermaid.min.js
if command -v chromium >/dev/null && command -v npm >/dev/null && [ ! -s "$script" ]; then
  mkdir -p "$out/mermaid-$mermaid"
  (cd "$out/mermaid-$mermaid" && npm pack --silent "mermaid@$mermaid" >/dev/null && tar -xzf "mermaid-$mermaid.tgz" package/dist/mermaid.min.js) || true
fi
if [ -s "$script" ] && command -v chromium >/dev/null; then drawn=("$script"); else
  drawn=()
  echo "site: there is no chromium, or Mermaid cannot be fetched by npm: drawings stay text" >&2
fi
python3 -B docs/site.py "$build/bin/quire" "$out/source" "${drawn[@]}"
"$out/environment/bin/sphinx-build" -W --keep-going -q -b html "$out/source" "$out/html"
if command -v chromium >/dev/null; then
  [ ${#drawn[@]} -gt 0 ] && drawings=pictures || drawings=text
  python3 -B tests/docs/site_pages.py "$(command -v chromium)" "$out/html" "$out/pictures" "$drawings"
fi
echo "site: $(find "$out/html" -name '*.html' | wc -l) pages in $out/html"
