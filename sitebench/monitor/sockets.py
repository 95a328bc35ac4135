"""Counts this namespace's TCP sockets by state, asking the kernel's sock_diag as `ss` does.

Those in TIME_WAIT are left out of what is asked for: there may be 28,000, each an answer of its
own, and /proc/net/sockstat has their number. Measured with as many: see docs/monitor.md.

The messages are those of linux/netlink.h, linux/inet_diag.h and sock_diag(7).
"""

from __future__ import annotations

import socket
import struct
from collections import Counter

STATES = {
    1: "established",
    2: "syn_sent",
    3: "syn_received",
    4: "fin_wait_1",
    5: "fin_wait_2",
    6: "time_wait",
    7: "close",
    8: "close_wait",
    9: "last_ack",
    10: "listen",
    11: "closing",
    12: "new_syn_received",
}
"""enum tcp_state of include/net/tcp_states.h."""

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST_DUMP = 0x01 | 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
HEADER = struct.Struct("=IHHII")
REQUEST = struct.Struct("=BBBBI48x")
STATE_AT = HEADER.size + 1
WANTED = sum(1 << state for state, name in STATES.items() if name != "time_wait")
BUFFER = 1 << 18
TIMEOUT_S = 1.0


def by_state() -> dict[str, int]:
    """Return how many sockets are in each state; nothing where the kernel does not say."""
    found: Counter[str] = Counter()
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(TIMEOUT_S)
            for family in (socket.AF_INET, socket.AF_INET6):
                kernel.send(_request(family))
                _count(kernel, found)
    except OSError:
        return {}
    return dict(found)


def _request(family: int) -> bytes:
    body = REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, WANTED)
    length = HEADER.size + len(body)
    return HEADER.pack(length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 0, 0) + body


def _count(kernel: socket.socket, found: Counter[str]) -> None:
    while True:
        data = kernel.recv(BUFFER)
        at = 0
        while at < len(data):
            length, kind = struct.unpack_from("=IH", data, at)
            if kind == NLMSG_DONE:
                return
            if kind == NLMSG_ERROR or length < HEADER.size:
                raise OSError("the kernel has no sock_diag for TCP")
            found[STATES.get(data[at + STATE_AT], "unknown")] += 1
            at += (length + 3) & ~3
