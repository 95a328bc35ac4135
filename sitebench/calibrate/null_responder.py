"""The server loop of `floor`, in a process of its own."""

from __future__ import annotations

from typing import Any

from sitebench._engine import NullResponder
from sitebench.system.child import Service, serve
from sitebench.system.native_errors import translated


def start(request: dict[str, Any]) -> Service:
    with translated():
        responder = NullResponder(**request)
    return Service({"port": responder.port}, responder.stop)


if __name__ == "__main__":
    serve(start)
