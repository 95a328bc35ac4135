"""The workers of a test: the workers that are connected when the test begins.

People and rates are divided once, so a worker that connects later waits for the next test.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import gevent  # type: ignore[import-untyped]
from locust.dispatch import UsersDispatcher
from locust.runners import MasterRunner

from sitebench.errors import WorkersMissing
from sitebench.units import plural

_POLL_S = 0.1


def slots(runner: MasterRunner) -> dict[str, int]:
    """Return the slot (the index) of every connected worker, by the worker's id in Locust."""
    clients = runner.clients.ready + runner.clients.spawning + runner.clients.running
    ids = sorted((client.id for client in clients), key=runner.get_worker_index)
    return {id_: index for index, id_ in enumerate(ids)}


def dispatcher(takes_part: Callable[[str], bool]) -> type[UsersDispatcher]:
    """Return a dispatcher of users for Locust that ignores workers without a part in the test."""

    class Dispatcher(UsersDispatcher):
        def __init__(self, worker_nodes: list[Any], user_classes: list[Any]) -> None:
            super().__init__([node for node in worker_nodes if takes_part(node.id)], user_classes)

        def add_worker(self, worker_node: Any) -> None:
            if takes_part(worker_node.id):
                super().add_worker(worker_node)

        def remove_worker(self, worker_node: Any) -> None:
            if any(node.id == worker_node.id for node in self._worker_nodes):
                super().remove_worker(worker_node)

    return Dispatcher


def expect(runner: MasterRunner, parsed: Namespace, least: int) -> None:
    """Wait for the workers of a point; raises WorkersMissing if fewer than `least` connect."""
    expected = int(parsed.expect_workers)
    give_up = time.monotonic() + parsed.expect_workers_max_wait
    while len(runner.clients.ready) < expected and time.monotonic() < give_up:
        gevent.sleep(_POLL_S)
    if (connected := len(runner.clients.ready)) < least:
        host, port = parsed.master_bind_host, parsed.master_bind_port
        raise WorkersMissing(
            f"{connected or 'none'} of {plural(expected, 'worker')} connected to {host}:{port} in "
            "time",
            f"start `sitebench worker --master {host}:{port}` on the machines that make the load",
        )
