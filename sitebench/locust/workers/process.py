"""A Locust worker that ends with the process that started it (run by `python -m`)."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import gevent  # type: ignore[import-untyped]

from sitebench.errors import BadInput
from sitebench.locust.process import main
from sitebench.locust.workers import messages
from sitebench.system.child import dump, is_orphaned

_POLL_S = 1.0
_SENT_MS = 1_000


def _end_with_parent() -> None:
    while not is_orphaned():
        gevent.sleep(_POLL_S)
    os.kill(os.getpid(), signal.SIGTERM)


def _report_refusal(error: ImportError) -> None:
    """Report that the master's locustfile cannot be imported: here once, and to each master."""
    from locust.argument_parser import parse_locustfile_option
    from locust.rpc import zmqrpc

    refusal = BadInput(
        f"the master's locustfile cannot be imported here: {error}",
        "start this worker in a folder with its modules, or install them",
    )
    # The process is restarted again and again. A note in its own folder prevents repeated messages.
    note = Path(tempfile.gettempdir()) / "refused"
    if not note.exists() or note.read_text() != str(refusal):
        print(f"sitebench: {refusal}", file=sys.stderr)
        note.write_text(str(refusal))
    parsed: Any = parse_locustfile_option()
    name = f"{socket.gethostname()}_refused_{os.getpid()}"
    rpc: Any = zmqrpc
    client = rpc.Client(parsed.master_host, parsed.master_port, name)
    client.send(rpc.Message(messages.Failed.TYPE, {"error": dump(refusal)}, name))
    client.close(linger=_SENT_MS)


if __name__ == "__main__":
    gevent.spawn(_end_with_parent)
    try:
        # The master sends only its locustfile. Modules that the locustfile imports must be
        # installed here.
        main(folder_last=True)
    except ImportError as error:
        _report_refusal(error)
        sys.exit(BadInput.exit_code)
