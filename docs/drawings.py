# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of Mermaid as pictures (SVG), for docs/site.py: drawn when the site is built, by Mermaid in a browser without a network. What the site shows needs
neither."""
import html
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

PAGE = """<!doctype html><meta charset="utf-8"><script src="{script}"></script>{sources}<div id="all"></div><script>
(async () => {{
  mermaid.initialize({{startOnLoad: false, theme: "neutral", htmlLabels: false, flowchart: {{htmlLabels: false}}, fontFamily: "sans-serif"}});
  for (const [i, source] of [...document.querySelectorAll("pre")].entries()) {{
    const drawn = await mermaid.render("drawing" + i, source.textContent);
    const holder = document.createElement("div");
    holder.className = "drawing";
    holder.textContent = drawn.svg;
    document.getElementById("all").append(holder);
  }}
}})();
</script>"""


def browser():
    """The command of a browser; None: there is none here."""
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


def draw(sources, script):
    """SVG for each text of Mermaid. `script`: mermaid.min.js. RuntimeError: one cannot be drawn."""
    if not sources:
        return []
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        page.write_text(PAGE.format(script=Path(script).resolve().as_uri(), sources="".join(f"<pre>{html.escape(source)}</pre>" for source in sources)))
        command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                   f"--user-data-dir={folder}/profile", "--allow-file-access-from-files", "--virtual-time-budget=20000", "--dump-dom", page.as_uri()]
        shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    drawn = [html.unescape(found) for found in re.findall(r'<div class="drawing">(.*?)</div>', shown, flags=re.S)]
    if len(drawn) != len(sources):
        raise RuntimeError(f"Mermaid drew {len(drawn)} of {len(sources)} drawings: {shown[-2000:]}")
    return [with_background(svg) for svg in drawn]


def with_background(svg):
    """A picture in a page gets a size and a ground of its own: the page may be dark."""
    width, height = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', svg).groups()
    svg = re.sub(r'<svg ([^>]*?)width="100%"', rf'<svg \1width="{width}" height="{height}"', svg, count=1)
    return re.sub(r'style="([^"]*)"', r'style="\1 background-color: white;"', svg, count=1)
