from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ps_bench.operations import built_in
from ps_bench.options import PsOptions
from ps_bench.suite import SUITE
from ps_bench.targets.opening import OWN_TARGETS, open_target, spec_of
from ps_bench.targets.personalized_site import PersonalizedSite
from sitebench.http.address import parse_address
from sitebench.http.options import settle_keepalive
from sitebench.http.site import OpenSite
from sitebench.scenario.script import Script
from sitebench.seeders.pools import cache_folder
from sitebench.seeders.upd import UpdSpec, visitors
from sitebench.suite_base.points import ForEngine, Load, SuitePoints, Targets, write_config
from sitebench.targets.tls import check_tls


def _in_process(server: PersonalizedSite, entries: int | None, load: dict[str, Any]) -> PsOptions:
    load |= {"seed": server.seed, "locales": server.locales}
    return PsOptions(entries=entries or server.size, **load)


_NEWCOMERS = 1_000_000_000
"""Upper bound of the people that one process creates."""


def engine_config(load: Load[PsOptions, Script, OpenSite]) -> str:
    address, entries = load.target.address, load.options.entries
    return write_config(
        load,
        target={
            "protocol": "http",
            "base_path": address.base_path,
            "size": entries,
            "tls": load.target.trust.to_engine() if address.is_encrypted else None,
        },
        adds={"start": entries + load.slot.index * _NEWCOMERS, "keys": _NEWCOMERS},
        scenarios=[scenario.spec(load.slot) for scenario in load.programs],
    )


class PsPoints(SuitePoints[PsOptions, Script, OpenSite]):
    suite = SUITE
    options = PsOptions
    targets = Targets(
        built_in=OWN_TARGETS,
        kind=OpenSite,
        parse=parse_address,
        address=open_target,
        open=open_target,
        in_process=_in_process,
        folder=lambda options: (
            cache_folder() if options.database is None else Path(options.database)
        ),
    )

    def built_in(self, options: PsOptions, operation: str) -> Script:
        return built_in(operation, keepalive=bool(options.keepalive))

    def check(self, options: PsOptions, programs: Sequence[Script]) -> None:
        check_tls(options, options.target)
        super().check(options, programs)

    def population(self, options: PsOptions, size: int) -> Mapping[str, Any]:
        people = UpdSpec(size, options.seed, options.locales)
        return {"digest": visitors(people).digest, "seed": options.seed}

    def complete(self, options: PsOptions, file: Script | None) -> PsOptions:
        return settle_keepalive(options, file)

    def for_engine(self, load: Load[PsOptions, Script, OpenSite]) -> ForEngine:
        return engine_config(load), visitors(spec_of(load.options)), None


POINTS = PsPoints()
