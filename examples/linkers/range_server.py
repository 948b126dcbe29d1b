#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""range_server.py FILE: a web server on this machine that gives parts of one file, with an ETag, as S3 does; Python's own does not. Prints its port. Standard
input is for orders: "fail N" (the next N requests end with 503), "change" (the file has another version), "count" (prints requests and bytes)."""
import http.server
import re
import sys
import threading

content = open(sys.argv[1], "rb").read()
lock = threading.Lock()
state = {"fail": 0, "version": 1, "requests": 0, "bytes": 0}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with lock:
            state["requests"] += 1
            fails, version = state["fail"] > 0, f'"{state["version"]}"'
            state["fail"] -= fails
        if fails:
            return self.answer(503)
        if self.path != "/object":
            return self.answer(404)
        if self.headers.get("If-Match", version) != version:
            return self.answer(412)
        headers = [("ETag", version), ("Accept-Ranges", "bytes")]
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None:
            return self.answer(200, content, headers)
        begin, end = int(asked[1]), min(int(asked[2]) + 1, len(content))
        if begin >= end:
            return self.answer(416, headers=headers)
        with lock:
            state["bytes"] += end - begin
        return self.answer(206, content[begin:end], [*headers, ("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")])


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    for line in sys.stdin:
        words = line.split()
        with lock:
            if words[0] == "fail":
                state["fail"] = int(words[1])
            elif words[0] == "change":
                state["version"] += 1
            print(state["requests"], state["bytes"], flush=True)
