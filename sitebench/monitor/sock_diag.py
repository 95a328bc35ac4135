"""Sockets of this network namespace, from the kernel's sock_diag as `ss` reads them.

The messages are defined in linux/netlink.h, linux/inet_diag.h, linux/unix_diag.h and sock_diag(7).
Sockets in TIME_WAIT are not requested, because 28,000 are possible.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import msgspec

LISTEN = 10

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST_DUMP = 0x01 | 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_TCP_REQUEST = struct.Struct("=BBBBI48x")
_TCP = struct.Struct("=xBxx")
_TCP_ADDRESSES = struct.Struct("!HH16s16s")
_TCP_INODE = struct.Struct("=68xI")
_TIME_WAIT = 6
_STATES = ((1 << 13) - 1) & ~(1 << _TIME_WAIT) & ~1
_UNIX_REQUEST = struct.Struct("=BBxxIIIII")
_UNIX = struct.Struct("=BBBxIII")
_SHOW_NAME, _SHOW_PEER = 1, 4
_NAME, _PEER = 0, 2
_ATTRIBUTE = struct.Struct("=HH")
_BUFFER = 1 << 18
_TIMEOUT_S = 1.0


class TcpSocket(msgspec.Struct, frozen=True):
    """A TCP socket; its inode is 0 after its program has closed it."""

    state: int
    inode: int
    address: str
    port: int
    peer_address: str
    peer_port: int


class UnixSocket(msgspec.Struct, frozen=True):
    """A Unix socket; `peer` is the inode of the other end of its connection."""

    state: int
    inode: int
    name: bytes
    peer: int


def tcp_sockets() -> Iterator[TcpSocket]:
    """Yield TCP sockets, except in TIME_WAIT; raise OSError if sock_diag is missing."""
    for family, length in ((socket.AF_INET, 4), (socket.AF_INET6, 16)):
        for message in _dump(_TCP_REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _STATES)):
            (state,) = _TCP.unpack_from(message)
            port, peer_port, own_bytes, peer_bytes = _TCP_ADDRESSES.unpack_from(message, _TCP.size)
            (inode,) = _TCP_INODE.unpack_from(message)
            address, peer = (
                socket.inet_ntop(family, packed[:length]) for packed in (own_bytes, peer_bytes)
            )
            yield TcpSocket(state, inode, address, port, peer, peer_port)


def unix_sockets() -> Iterator[UnixSocket]:
    """Yield sockets of the Unix domain; raise OSError if sock_diag is missing."""
    attributes = _SHOW_NAME | _SHOW_PEER
    for message in _dump(_UNIX_REQUEST.pack(socket.AF_UNIX, 0, 0xFFFFFFFF, 0, attributes, 0, 0)):
        _, _, state, inode, _, _ = _UNIX.unpack_from(message)
        name, peer, offset = b"", 0, _UNIX.size
        while offset + _ATTRIBUTE.size <= len(message):
            length, kind = _ATTRIBUTE.unpack_from(message, offset)
            value = message[offset + _ATTRIBUTE.size : offset + length]
            if kind == _NAME:
                name = value
            elif kind == _PEER:
                peer = int.from_bytes(value, "little")
            offset += max(_ATTRIBUTE.size, (length + 3) & ~3)
        yield UnixSocket(state, inode, name, peer)


def _dump(request: bytes) -> Iterator[bytes]:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT_S)
        length = _HEADER.size + len(request)
        header = _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST_DUMP, 0, 0)
        kernel.send(header + request)
        while True:
            data, offset = kernel.recv(_BUFFER), 0
            while offset < len(data):
                length, kind, *_ = _HEADER.unpack_from(data, offset)
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR or length < _HEADER.size:
                    raise OSError("the kernel has no sock_diag")
                yield data[offset + _HEADER.size : offset + length]
                offset += (length + 3) & ~3
