"""What the web suite measures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput
from sitebench.http.address import parse_address
from sitebench.measure.sweep import Stage
from sitebench.seeders.pools import cache_folder
from sitebench.suite_base.points import OwnUser, Progress, SuitePoints
from sitebench.targets.in_process import known
from web_bench.docroot import with_options
from web_bench.options import OWN, PATH, LocustOptions, WebOptions
from web_bench.suite import SUITE
from web_bench.targets.open_web import OpenWeb
from web_bench.targets.opening import OWN_TARGETS, check, open_target
from web_bench.targets.web_server import WebServer
from web_bench.workload import Workload, find, of_path

_ON_PROCESSORS = ("second processor", "second Pentium", "two processors")
"""Words of the papers' claims about processors."""

_SAID = {True: "", False: " (by its own figures that does not hold)", None: ""}


class WebPoints(SuitePoints[Workload, OpenWeb]):
    suite = SUITE
    options = WebOptions
    locust_options = LocustOptions
    own_targets = OWN_TARGETS
    user = OwnUser("web_bench.users", "WebUser", "workload")
    by_file = OWN

    def program(self, options: Any, operation: str) -> Workload:
        if operation == PATH:
            if options.path is None:
                needs = f"the operation {PATH!r} needs a path"
                raise BadInput(needs, "name one, such as --path /")
            return of_path(PATH, options.path)
        if operation != OWN:
            return with_options(find(operation), options)
        path = options.workload
        if path is None:
            needs = f"the operation {OWN!r} needs a file"
            raise BadInput(needs, "name it with --workload FILE.toml")
        if not path.endswith(".toml"):
            raise BadInput(
                f"{path!r} is not the name of a TOML file", "name a file ending in .toml"
            )
        return with_options(replace(find(path), name=OWN), options)

    def described_by(self, options: Any) -> tuple[str, str] | None:
        """Return also the operation of --path."""
        by_file = super().described_by(options)
        if options.path is None:
            return by_file
        if by_file is not None:
            raise BadInput(f"{by_file[1]} says what users do, and so does --path", "leave one out")
        return PATH, "--path"

    def check(self, options: Any, programs: Sequence[Workload]) -> None:
        check(options, programs)

    def open(
        self,
        options: Any,
        programs: Sequence[Workload],
        progress: Progress = lambda done, total: None,
    ) -> AbstractContextManager[OpenWeb]:
        return open_target(options, programs, progress)

    def address(self, options: Any, programs: Sequence[Workload]) -> OpenWeb:
        return open_target(options, programs)

    def assure_own(self, options: Any, what: str, *, named: bool) -> None:
        """Do nothing: no workload writes."""

    def here(
        self, server: WebServer, entries: int | None, load: dict[str, Any]
    ) -> tuple[WebOptions, OpenWeb]:
        load = {**load, "target": server.url, "tls_ca": server.ca or load["tls_ca"]}
        options = WebOptions(programs=dict(server.programs), **load)
        address = parse_address(server.url)
        secure = address if address.encrypted else None
        there = OpenWeb("the server", address, secure=secure, **known(server, options))
        return options, replace(there, programs=server.programs)

    def data(self, options: Any) -> Path:
        return cache_folder() if options.docroot is None else Path(options.docroot)

    def notes(self, factor: str) -> Sequence[str]:
        from web_bench.paper.printed import PAPERS

        if factor != "processors":
            return ()
        return [
            f"{paper.tool}, {paper.date}: {each.text}{_SAID[each.holds]}."
            for paper in PAPERS.values()
            for each in paper.statements
            if any(words in each.text for words in _ON_PROCESSORS)
        ]

    def arguments(self, target: OpenWeb, *, reused: bool) -> dict[str, Any]:
        return {
            "tls_target": None if target.secure is None else str(target.secure),
            "programs": dict(target.programs) or None,
            "docroot": None,
            "directives": None,
        }

    def named(self, options: Any, text: str) -> tuple[Any, str]:
        """Return the operation of a workload: a name, or a TOML file."""
        if not text.endswith(".toml"):
            return super().named(options, text)
        if options.workload not in (None, text):
            raise BadInput("one command takes one workload file", "measure them one after another")
        return replace(options, workload=text), OWN

    def api_stage(
        self,
        operation: str | Workload,
        target: Any,
        entries: int | None,
        load: dict[str, Any],
    ) -> Stage:
        if not isinstance(operation, str):
            raise BadInput(
                "a workload is measured by its name", "write it into a TOML file and name that"
            )
        if entries is not None:
            raise BadInput("a web server holds no people", "leave entries out")
        given = {name: value for name, value in load.items() if name != "keys"}
        return super().api_stage(operation, target, None, given)


POINTS = WebPoints()
