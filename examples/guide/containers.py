# SPDX-License-Identifier: BSD-3-Clause
# Containers as files of Python, of docs/guide/python.md: quire run -n 2 python3 containers.py
import os
import tempfile

import numpy as np

import quire as q

folder = q.broadcast(tempfile.mkdtemp() if q.node == 0 else None)
path = os.path.join(folder, "table.values")
if q.node == 0:
    q.open("table", "x", path, size=8 * 1000).close()  # makes the container, and the file
q.barrier()
table = q.open("table", "r+")               # a file object of Python; all nodes use one content
numbers = table.array(float)                # the same content as a numpy array
numbers[q.block(1000)] = q.node + 1
q.barrier()
last = np.frombuffer(table.pread(8, 8 * 999))[0]  # a call sees what stores have written
table.sync()                                # and now the file has it
log = q.open("log", "a")                    # no path: it lives in the memory of the job
log.append(b"node %d was here\n" % q.node)  # one after the other, each as a whole
assert last == q.nodes and np.fromfile(path)[999] == q.nodes
q.barrier()
for file in (table, log):
    file.close()
q.barrier()
if q.node == 0:
    q.remove("table", content=True)         # the file as well
    os.rmdir(folder)
    with q.open("log") as lines:
        print("lines of the log:", len(lines.readall().splitlines()))
