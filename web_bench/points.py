from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput
from sitebench.http.address import parse_address
from sitebench.http.options import settle_keepalive
from sitebench.scenario.script import Script
from sitebench.seeders.pools import cache_folder
from sitebench.suite_base.points import ForEngine, Load, SuitePoints, Targets, write_config
from sitebench.targets.tls import check_tls
from web_bench.docroot import with_options
from web_bench.options import WebOptions
from web_bench.suite import SUITE
from web_bench.targets.opening import OWN_TARGETS, OpenWeb, check, open_target
from web_bench.workload import PATH, Workload, find, of_path


def engine_config(load: Load[WebOptions, Workload, OpenWeb]) -> str:
    options, target, workloads = load.options, load.target, load.programs
    address, trust, secure = target.address, target.trust.to_engine(), target.secure
    sets = [workload.file_set for workload in workloads if workload.file_set is not None]
    config: dict[str, Any] = {
        "protocol": "http",
        "base_path": address.base_path,
        "files": sets[0].spec(options.seed) if sets else None,
        "tls": trust if address.is_encrypted else None,
        "phases": True,
        "addresses": [{"host": a.host, "port": a.port} for a in target.addresses],
    }
    if secure is not None and secure != address:
        config["secure"] = {"host": secure.host, "port": secure.port, "tls": trust}
    keepalive = bool(options.keepalive) and not options.scenario
    extra = {"programs": dict(target.programs), "keepalive": keepalive}
    scenarios = [workload.spec(load.slot) | extra for workload in workloads]
    return write_config(load, config, adds={"start": 0, "keys": 1}, scenarios=scenarios)


class WebPoints(SuitePoints[WebOptions, Workload, OpenWeb]):
    suite = SUITE
    options = WebOptions
    targets = Targets(
        built_in=OWN_TARGETS,
        kind=OpenWeb,
        parse=parse_address,
        address=open_target,
        open=open_target,
        in_process=lambda server, entries, load: WebOptions(programs=dict(server.programs), **load),
        folder=lambda options: cache_folder() if options.docroot is None else Path(options.docroot),
    )

    def described_by(self, options: WebOptions) -> tuple[str, str] | None:
        if options.path:
            return PATH, "--path"
        return super().described_by(options)

    def scenario_of(self, options: WebOptions) -> Workload | None:
        if options.path:
            if options.scenario:
                raise BadInput(
                    "the scenario file and --path both describe the operations of users",
                    "leave one out",
                )
            return of_path(options.path, keepalive=options.keepalive is not False)
        if not options.scenario:
            return None
        return with_options(find(options.scenario, options.data), options)

    def complete(self, options: WebOptions, file: Script | None) -> WebOptions:
        return settle_keepalive(options, file)

    def built_in(self, options: WebOptions, operation: str) -> Workload:
        return with_options(find(operation), options)

    def check(self, options: WebOptions, programs: Sequence[Workload]) -> None:
        check_tls(options, options.target, may_choose=options.scenario is not None)
        super().check(options, programs)
        check(options, programs)

    def for_engine(self, load: Load[WebOptions, Workload, OpenWeb]) -> ForEngine:
        return engine_config(load), None, None

    def notes(self, factor: str) -> Sequence[str]:
        from web_bench.paper.printed import on_processors

        return on_processors() if factor == "processors" else ()


POINTS = WebPoints()
