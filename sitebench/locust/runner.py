"""A process that runs one test after another, with Locust as a library (run by `python -P -m`).

Its standard input is a socket: a test is its Locust arguments and the variables with passwords, as
JSON, and is answered when it is over, its clean-up included. The process ends when the other side
is closed.
"""

from __future__ import annotations

from sitebench.locust.process import isolate  # First: Locust patches what it imports.

# isort: split
import contextlib
import gc
import json
import os
import signal
import socket
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import gevent  # type: ignore[import-untyped]
import locust
from locust.argument_parser import get_parser
from locust.env import Environment
from locust.event import Events
from locust.log import setup_logging
from locust.runners import MasterRunner, Runner
from locust.util.load_locustfile import load_locustfile

from sitebench.locust.bridge import Bridge
from sitebench.locust.workers import gathering
from sitebench.system.child import orphaned

# Locust's are untyped.
_new_events: Any = Events
_init: Any = locust.events.init
_set_up_logging: Any = setup_logging

_MOST_BYTES = 1 << 20
_LOOKS_EVERY_S = 1.0
"""How often an idle process looks for its parent: a child of that may hold the socket open."""
_SENT_WITHIN_MS = 1_000


class _Tests:
    """What tests of this process share: the user classes of a locustfile, and its options."""

    def __init__(self, locustfile: str) -> None:
        self._locustfile = locustfile
        self._user_classes: dict[str, Any] = load_locustfile(locustfile)[0]
        self._parser = get_parser()
        # What is imported stays: collections would look at it again after each test.
        gc.collect()
        gc.freeze()

    def run(self, argv: Sequence[str]) -> None:
        """Run a test to its end."""
        parsed, events = self._parser.parse_args(argv), _new_events()
        environment = Environment(
            user_classes=[self._user_classes[name] for name in parsed.user_classes],
            # Its own: listeners of a test are gone with it.
            events=events,
            host=parsed.host,
            reset_stats=parsed.reset_stats,
            parsed_options=parsed,
            parsed_locustfiles=[self._locustfile],
            available_user_classes={**self._user_classes},
        )
        runner: Runner
        if parsed.master:
            host, port = parsed.master_bind_host, parsed.master_bind_port
            runner = environment.create_master_runner(host, port)
        else:
            runner = environment.create_local_runner()
        _init.fire(environment=environment, runner=runner, web_ui=None)
        bridge = Bridge.of(environment)
        terminated = gevent.signal_handler(signal.SIGTERM, bridge.interrupt)
        starting = bridge.role.spawn(lambda: _start(runner, parsed))
        try:
            with contextlib.suppress(KeyboardInterrupt):
                runner.greenlet.join()
            starting.kill()
            events.quitting.fire(environment=environment, reverse=True)
            if isinstance(runner, MasterRunner):
                # Its own listener has it quit; the port is free when this returns.
                runner.server.socket.context.destroy(_SENT_WITHIN_MS)
                MasterRunner._wait_for_workers_report_after_ramp_up.cache_clear()
            else:
                runner.quit()
            events.quit.fire(exit_code=environment.process_exit_code or 0)
        finally:
            terminated.cancel()
            bridge.release_signals()


def _start(runner: Runner, parsed: Namespace) -> None:
    if isinstance(runner, MasterRunner):
        gathering.expect(runner, parsed)
    runner.start(parsed.num_users, parsed.spawn_rate)


def main() -> None:
    """Run tests until the other side of standard input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    isolate()
    _set_up_logging("WARNING", None)
    line = socket.socket(fileno=os.dup(0))
    line.settimeout(_LOOKS_EVERY_S)
    tests: _Tests | None = None
    while not orphaned():
        try:
            request = line.recv(_MOST_BYTES)
        except TimeoutError:
            continue
        if not request:
            break
        argv: list[str]
        argv, passwords = json.loads(request)
        os.environ.update(passwords)
        if tests is None:
            tests = _Tests(argv[argv.index("-f") + 1])
        tests.run(argv)
        with contextlib.suppress(BrokenPipeError):
            line.send(b".")
        gc.collect()
    # All is put back: the interpreter's own end would take half a test's CPU.
    os._exit(0)


if __name__ == "__main__":
    main()
