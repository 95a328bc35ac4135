"""A process that runs tests one after another, with Locust as a library (`python -P -m`).

Its standard input is a socket to the command. Each `Request` arrives as a pickle, and is answered
after its test and the clean-up. The process ends when the other side closes the socket.
"""

from __future__ import annotations

# This import comes first, because an import of Locust patches modules.
from sitebench.locust.process import isolate

# isort: split
import contextlib
import gc
import os
import pickle
import select
import signal
import socket
from argparse import Namespace
from pathlib import Path
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
from sitebench.locust.user import own_user
from sitebench.locust.workers import gathering
from sitebench.measure.point_process import Request
from sitebench.measure.test import OWN_USER
from sitebench.system.child import is_orphaned

# These parts of Locust are untyped.
_new_events: Any = Events
_init: Any = locust.events.init
_set_up_logging: Any = setup_logging

_LOOKS_EVERY_S = 1.0
"""Interval at which an idle process checks that its parent lives. The socket may stay open after
the parent's end, as other children of the parent may have it open too."""
_SENT_WITHIN_MS = 1_000


class _Tests:
    """The common parts of tests of this process: a locustfile's user classes, and its options."""

    def __init__(self, locustfile: Path) -> None:
        self._locustfile = str(locustfile)
        self._user_classes: dict[str, Any] = load_locustfile(self._locustfile)[0]
        self._parser = get_parser()
        # Imported modules stay in memory, so later garbage collections skip them.
        gc.collect()
        gc.freeze()

    def run(self, request: Request) -> None:
        test, events = request.test, _new_events()
        parsed = self._parser.parse_args(_argv(request))
        available = {**self._user_classes}
        if test.program is not None:
            available[OWN_USER] = own_user(test.program)
        environment = Environment(
            user_classes=[available[name] for name in test.user_classes],
            # Each test has events of its own, so that its listeners end with the test.
            events=events,
            host=parsed.host,
            reset_stats=parsed.reset_stats,
            parsed_options=parsed,
            parsed_locustfiles=[self._locustfile],
            available_user_classes=available,
        )
        environment.sitebench_request = request  # type: ignore[attr-defined]
        runner: Runner
        if parsed.master:
            host, port = parsed.master_bind_host, parsed.master_bind_port
            runner = environment.create_master_runner(host, port)
        else:
            runner = environment.create_local_runner()
        _init.fire(environment=environment, runner=runner, web_ui=None)
        bridge = Bridge.of(environment)
        terminated = gevent.signal_handler(signal.SIGTERM, bridge.interrupt)
        starting = bridge.role.spawn(lambda: _start(runner, parsed, request.least_workers))
        try:
            with contextlib.suppress(KeyboardInterrupt):
                runner.greenlet.join()
            starting.kill()
            events.quitting.fire(environment=environment, reverse=True)
            if isinstance(runner, MasterRunner):
                # A listener of Locust has made the runner quit; this call frees the runner's port.
                runner.server.socket.context.destroy(_SENT_WITHIN_MS)
                MasterRunner._wait_for_workers_report_after_ramp_up.cache_clear()
            else:
                runner.quit()
            events.quit.fire(exit_code=environment.process_exit_code or 0)
        finally:
            terminated.cancel()
            bridge.release_signals()


def _argv(request: Request) -> list[str]:
    test = request.test
    users, stages = test.spec.users, test.spec.stages
    if stages is not None and stages.of_users:
        users = stages.users_at(0.0)  # `locust.role_local` starts more users.
    return [
        *("-f", str(test.locustfile), "--headless", "--only-summary", "--loglevel", "WARNING"),
        *("--users", str(users), "--spawn-rate", str(users)),
        *test.options.master_argv(),
        *test.user_classes,
    ]


def _start(runner: Runner, parsed: Namespace, least_workers: int) -> None:
    if isinstance(runner, MasterRunner):
        gathering.expect(runner, parsed, least_workers)
    runner.start(parsed.num_users, parsed.spawn_rate)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    isolate()
    _set_up_logging("WARNING", None)
    line = socket.socket(fileno=os.dup(0))
    requests = line.makefile("rb")
    tests: _Tests | None = None
    while not is_orphaned():
        if not select.select([line], [], [], _LOOKS_EVERY_S)[0]:
            continue
        try:
            request: Request = pickle.load(requests)
        except (EOFError, pickle.UnpicklingError):
            break
        os.environ.update(request.passwords)
        if tests is None:
            tests = _Tests(request.test.locustfile)
        tests.run(request)
        with contextlib.suppress(BrokenPipeError):
            line.send(b".")
        gc.collect()
    # Nothing is left to clean up. The interpreter's own end would take half as much CPU as a test.
    os._exit(0)


if __name__ == "__main__":
    main()
