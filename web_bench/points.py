"""What the web suite measures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput
from sitebench.http.address import SiteAddress, parse_address
from sitebench.http.options import settle_keepalive
from sitebench.scenario.script import is_script
from sitebench.seeders.pools import cache_folder
from sitebench.suite_base.points import ForEngine, Load, Progress, SuitePoints
from sitebench.targets.in_process import facts_of
from web_bench.docroot import with_options
from web_bench.engine_config import engine_config
from web_bench.options import WebOptions
from web_bench.suite import SUITE
from web_bench.targets.open_web import OpenWeb
from web_bench.targets.opening import OWN_TARGETS, check, open_target
from web_bench.targets.web_server import WebServer
from web_bench.workload import PATH, Workload, find, of_path

_BOTH = BadInput("the scenario file says what users do, and so does --path", "leave one out")


class WebPoints(SuitePoints[WebOptions, Workload, OpenWeb]):
    suite = SUITE
    options = WebOptions
    opened = OpenWeb
    own_targets = OWN_TARGETS

    def described_by(self, options: WebOptions) -> tuple[str, str] | None:
        if options.path:
            return PATH, "--path"
        return super().described_by(options)

    def scenario_of(self, options: WebOptions) -> Workload | None:
        if options.path:
            if options.scenario:
                raise _BOTH
            return of_path(options.path, keepalive=options.keepalive is not False)
        if not options.scenario:
            return None
        return with_options(find(options.scenario, options.data), options)

    def asked(self, options: WebOptions) -> WebOptions:
        return super().asked(settle_keepalive(options, self.scenario_of(options)))

    def named(self, options: WebOptions, text: str) -> tuple[WebOptions, str]:
        if options.path and is_script(text):
            raise _BOTH
        return super().named(options, text)

    def built_in(self, options: WebOptions, operation: str) -> Workload:
        return with_options(find(operation), options)

    def may_choose_tls(self, options: WebOptions) -> bool:
        return options.scenario is not None

    def check(self, options: WebOptions, programs: Sequence[Workload]) -> None:
        super().check(options, programs)
        check(options, programs)

    def open(
        self, options: WebOptions, programs: Sequence[Workload], progress: Progress
    ) -> AbstractContextManager[OpenWeb]:
        return open_target(options, programs, progress)

    def address(self, options: WebOptions, programs: Sequence[Workload]) -> OpenWeb:
        return open_target(options, programs)

    def parse_address(self, text: str) -> SiteAddress:
        return parse_address(text)

    def for_engine(self, load: Load[WebOptions, Workload, OpenWeb]) -> ForEngine:
        config = engine_config(load.options, load.target, load.programs, slot=load.slot)
        return config, None, None

    def here(
        self, server: WebServer, entries: int | None, load: dict[str, Any]
    ) -> tuple[WebOptions, OpenWeb]:
        options = WebOptions(programs=dict(server.programs), **load)
        address = parse_address(server.url)
        secure = address if address.is_encrypted else None
        there = OpenWeb("the server", address, secure=secure, **facts_of(server, options))
        return options, replace(there, programs=server.programs)

    def data(self, options: WebOptions) -> Path:
        return cache_folder() if options.docroot is None else Path(options.docroot)

    def notes(self, factor: str) -> Sequence[str]:
        from web_bench.paper.printed import on_processors

        return on_processors() if factor == "processors" else ()


POINTS = WebPoints()
