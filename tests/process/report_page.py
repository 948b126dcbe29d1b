#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report_page.py CHROMIUM QUIRE PROGRAM: the page of a report is drawn by a browser to its end, canvases included, and asks for nothing but itself. Exit status 77:
there is no browser here."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    browser, quire, program = sys.argv[1:]
    if not Path(browser).exists():
        print("no chromium here: install it to have the page of the report looked at")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        page, log, picture = Path(folder, "page.html"), Path(folder, "net.json"), Path(folder, "page.png")
        subprocess.run([quire, "run", "-n", "2", "--timeout", "40", "--report", page, program], check=True)
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
                   f"--user-data-dir={folder}/profile", f"--log-net-log={log}", "--window-size=1280,2000", "--virtual-time-budget=3000"]
        dom = subprocess.run([*command, "--dump-dom", page.as_uri()], check=True, capture_output=True, text=True, timeout=60).stdout
        assert 'data-drawn="yes"' in dom, "the script of the page has not come to its end"
        for part in ('id="timeline"', 'id="heat0"', "planted &lt;words&gt;", "report_program.cpp:", "Who talks to whom"):
            assert part in dom, f"the page has no {part}"
        asked = {e["params"]["url"] for e in json.loads(log.read_text())["events"] if "url" in e.get("params", {})}
        strange = {url for url in asked if re.match("https?:", url) and "google" not in url and "gvt1" not in url}
        assert not strange, f"the page asks for {strange}"
        subprocess.run([*command, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True, timeout=60)
        assert picture.stat().st_size > 20_000, "the picture is empty"
        # A drawn canvas is not all of one colour: the same page without its canvases makes a smaller picture.
        bare = Path(folder, "bare.html")
        bare.write_text(page.read_text().replace("canvas {", "canvas { visibility: hidden;"))
        other = Path(folder, "bare.png")
        subprocess.run([*command, f"--screenshot={other}", bare.as_uri()], check=True, capture_output=True, timeout=60)
        assert picture.read_bytes() != other.read_bytes(), "canvases are empty"
    print("the page is drawn")
    return 0


sys.exit(main())
