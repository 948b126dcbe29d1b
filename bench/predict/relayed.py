# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts (tests/launch/namespaces.py) with a wire that has a latency: predict_relay holds each packet. And a ping that shows it."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/launch"))
from namespaces import NETWORK, Hosts  # noqa: E402
from support import quietly, require, skip  # noqa: E402

# The kernel of the other host answers: nobody has to be woken there.
PING = """
import socket, struct, sys, time
address, number = sys.argv[1], int(sys.argv[2])
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
s.setblocking(False)
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff
times = []
for i in range(number):
    packet = struct.pack("!BBHHH", 8, 0, 0, 77, i) + bytes(48)
    packet = packet[:2] + struct.pack("!H", checksum(packet)) + packet[4:]
    begin = time.perf_counter()
    s.sendto(packet, (address, 0))
    while True:
        try:
            answer = s.recv(256)[20:]
        except BlockingIOError:
            if time.perf_counter() - begin > 1: sys.exit("no answer")
            continue
        if answer[0] == 0 and struct.unpack("!HH", answer[4:8]) == (77, i): break
    times.append(time.perf_counter() - begin)
    time.sleep(0.001)
times.sort()
print(*(t * 1e6 for t in times))
"""


class RelayedHosts(Hosts):
    """Two, between which a packet takes `hold_us`, and what its bytes take at `megabits` a second (0: nothing)."""

    def __init__(self, build, hold_us, megabits=0, own_cores=False):
        super().__init__(2, own_cores=own_cores)
        self.relay_words = [f"{build}/bench/predict_relay", "--hold-us", str(hold_us), "--megabits", str(megabits), "--from", self.namespace(1),
                            "--to", self.namespace(2)]
        self.relay = None

    def make_links(self):
        if not os.path.exists("/dev/net/tun"):
            skip("there are no TUN devices here (/dev/net/tun)")
        for i in (1, 2):
            quietly("ip", "netns", "add", self.namespace(i))
        self.relay = subprocess.Popen(self.relay_words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        require(self.relay.stdout.readline() == "ready\n", "the relay has not begun")
        for i in (1, 2):
            name = self.namespace(i)
            quietly("ip", "-n", name, "addr", "add", f"{NETWORK}.{i}/24", "dev", "eth0")
            quietly("ip", "-n", name, "link", "set", "eth0", "up", "txqueuelen", "1000")
            quietly("ip", "-n", name, "link", "set", "lo", "up")

    def __exit__(self, *why):
        if self.relay is not None:
            self.relay.kill()
            self.relay.communicate()
        super().__exit__(*why)


def ping(hosts, number=300):
    """Round trips from host 1 to host 2, in us, the least first."""
    told = subprocess.run(hosts.inside(1, [sys.executable, "-c", PING, hosts.addresses[1], str(number)]), capture_output=True, text=True,
                          timeout=60, check=True)
    return [float(word) for word in told.stdout.split()]
