"""A relay in front of a server, which holds every answer back for as long as it is told."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def relayed(port: int, delay_s: Callable[[float], float]) -> Iterator[int]:
    """Yield a port that leads to `port`; `delay_s` is asked with the seconds since the start."""
    began = time.monotonic()
    listener = socket.create_server(("127.0.0.1", 0))
    open_sockets: list[socket.socket] = [listener]

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", port))
                open_sockets.extend((near, far))
                threading.Thread(target=carry, args=(near, far, False), daemon=True).start()
                threading.Thread(target=carry, args=(far, near, True), daemon=True).start()

    def carry(source: socket.socket, sink: socket.socket, late: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if late:
                    time.sleep(delay_s(time.monotonic() - began))
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        for each in open_sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
