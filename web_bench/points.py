"""Points of the web suite: a curve over clients for each workload, at one target."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput
from sitebench.http.site import parse_address
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.suite_base import points
from sitebench.targets.in_process import known
from web_bench.docroot import Progress, with_options
from web_bench.options import LocustOptions, TestOptions, WebOptions
from web_bench.suite import SUITE
from web_bench.targets.open_web import OpenWeb
from web_bench.targets.opening import open_target
from web_bench.targets.web_server import WebServer
from web_bench.workload import Workload, find

OWN = "workload"
"""The operation that a TOML file of the user's describes."""


def workload_of(options: TestOptions, operation: str) -> Workload:
    """Return what an operation asks for."""
    if operation != OWN:
        return with_options(find(operation), options)
    if options.workload is None:
        raise BadInput(f"the operation {OWN!r} needs a file", "name it with --workload FILE.toml")
    return with_options(replace(find(_toml(options.workload)), name=OWN), options)


def _toml(path: str) -> str:
    if not path.endswith(".toml"):
        raise BadInput(f"{path!r} is not the name of a TOML file", "name a file ending in .toml")
    return path


def point(options: TestOptions, operation: str, **settings: str) -> PointSpec:
    """Return the specification of one point; the content of a workload file is part of it."""
    if options.workload is not None:
        if operation != OWN:
            raise BadInput(
                f"a workload file says what clients ask for, and so does {operation!r}",
                "leave one of them out",
            )
        content = Path(options.workload).read_bytes()
        settings["workload_digest"] = hashlib.sha256(content).hexdigest()
    workload_of(options, operation)
    return points.point(SUITE, options, operation, **settings)


def stage(
    options: WebOptions, operation: str, progress: Progress, clients: Sequence[int] = ()
) -> Stage:
    """Return a workload's points, one for each number of clients, all at one target."""
    workload = workload_of(options, operation)

    @contextlib.contextmanager
    def opened() -> Iterator[points.Endpoint]:
        with open_target(options, [workload], progress) as target:
            yield _endpoint(target, options)

    each = [replace(options, users=users) for users in clients or (options.users,)]
    title = f"making {options.target} ready for {operation}"
    return Stage(title, [point(one, operation) for one in each], opened)


def _endpoint(target: OpenWeb, options: WebOptions) -> points.Endpoint:
    arguments = {
        "tls_target": None if target.secure is None else str(target.secure),
        "programs": dict(target.programs) or None,
        "docroot": None,
        "directives": None,
    }
    return points.Endpoint(SUITE, target, options, LocustOptions, arguments=arguments)


def api_stage(
    operation: str | Workload,
    target: str | WebServer,
    entries: int | None,
    load: dict[str, Any],
) -> Stage:
    """Return the one point that `sitebench.run` measures."""
    if not isinstance(operation, str):
        raise BadInput(
            "a workload is measured by its name", "write it into a TOML file and name that"
        )
    if entries is not None:
        raise BadInput("a web server holds no people", "leave entries out")
    given = {name: value for name, value in load.items() if name != "keys"}
    if isinstance(target, str):
        return stage(WebOptions(target=target, **given), operation, lambda done, total: None)
    given |= {"target": target.url, "tls_ca": target.ca or load["tls_ca"]}
    options = WebOptions(programs=dict(target.programs), **given)
    address = parse_address(target.url)

    @contextlib.contextmanager
    def opened() -> Iterator[points.Endpoint]:
        secure = address if address.encrypted else None
        there = OpenWeb("the server", address, secure=secure, **known(target, options))
        yield _endpoint(replace(there, programs=target.programs), options)

    return Stage(options.target, [point(options, operation)], opened)


def manifest(options: TestOptions, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the suite's facts about a run; those of a workload file are its text."""
    more: dict[str, Any] = {}
    if options.workload is not None:
        more["workload"] = Path(options.workload).read_text(encoding="utf-8")
    return points.manifest(options, sizes, None, **more)
