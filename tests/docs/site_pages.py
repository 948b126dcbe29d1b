#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""site_pages.py CHROMIUM SITE PICTURES DRAWINGS: a browser draws pages of the site on a desk and on a phone: nothing is wider than the window, every picture
is there, the styles apply, and nothing but the site itself is asked for. Leaves pictures of them in PICTURES. DRAWINGS is `pictures`, or `text` where nothing
was there to draw them."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = ("index.html", "guide/python.html", "guide/regions.html", "design/page-update.html", "reference/c.html", "reference/python.html",
         "reference/options.html")
PHONE = 390
# Of a page in a frame of the width that is asked for: headless windows are 500 wide at least.
FRAME = """<!doctype html><body style="margin:0"><iframe id="page" src="{page}" style="border:0;width:{width}px;height:{height}px"></iframe>
<pre id="told"></pre><script>
const frame = document.getElementById("page");
frame.onload = () => {{
  const inner = frame.contentDocument, pictures = [...inner.images].filter(p => !p.complete || p.naturalWidth == 0).map(p => p.src);
  document.getElementById("told").textContent = JSON.stringify({{wide: inner.documentElement.scrollWidth, missing: pictures, pictures: inner.images.length,
    title: inner.querySelector("h1").textContent, family: getComputedStyle(inner.body).fontFamily, drawings: inner.querySelectorAll("img[src$=svg]").length}});
}};
</script>"""


def look(browser, page, width, picture, folder):
    log, holder = Path(folder, "net.json"), Path(folder, "holder.html")
    holder.write_text(FRAME.format(page=page.as_uri(), width=width, height=1600))
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
               "--allow-file-access-from-files", "--disable-web-security", f"--user-data-dir={folder}/profile", f"--window-size={max(width, 500)},1600",
               f"--log-net-log={log}", "--virtual-time-budget=5000"]
    dom = subprocess.run([*command, "--dump-dom", holder.as_uri()], check=True, capture_output=True, text=True, timeout=60).stdout
    told = json.loads(re.search(r'<pre id="told">(\{.*?\})</pre>', dom, flags=re.S).group(1).replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    asked = {e["params"]["url"] for e in json.loads(log.read_text())["events"] if "url" in e.get("params", {})}
    told["strange"] = sorted(url for url in asked if re.match("https?:", url) and "google" not in url and "gvt1" not in url)
    subprocess.run([*command, f"--screenshot={picture}", holder.as_uri()], check=True, capture_output=True, timeout=60)
    return told


def wrong_with(page, width, told, picture):
    if told["strange"]:
        yield f"asks for {told['strange']}"
    if told["missing"]:
        yield f"lacks the pictures {told['missing']}"
    if told["wide"] > width:
        yield f"is {told['wide']} wide in a window of {width}"
    if "sans-serif" not in told["family"]:
        yield f"has no styles, but the font {told['family']}"
    if picture.stat().st_size < 20_000:
        yield "is drawn empty"
    if page == "design/page-update.html" and told["drawings"] == 0 and sys.argv[4] == "pictures":
        yield "has no drawing"


def main():
    browser, site, pictures = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    pictures.mkdir(parents=True, exist_ok=True)
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for page in PAGES:
            for width in (1280, PHONE):
                picture = pictures / f"{page.replace('/', '-').removesuffix('.html')}-{width}.png"
                told = look(browser, site / page, width, picture, folder)
                errors += [f"{page} on {width} pixels {error}" for error in wrong_with(page, width, told, picture)]
    if errors:
        sys.exit("\n".join(errors))
    print(f"site: {len(PAGES)} pages were drawn, on a desk and on a phone: {pictures}")


main()
