from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ils_bench import quick, sequences
from ils_bench.login import logins
from ils_bench.login.lockout import binds_of
from ils_bench.names import is_list, named_by, names_of
from ils_bench.options import IlsOptions, LocustOptions, SweepOptions
from ils_bench.programs import LOGIN, assure_bound, is_login
from ils_bench.seeding.destinations import with_base
from ils_bench.suite import SUITE
from ils_bench.targets import opening
from ils_bench.targets.address import parse_address
from ils_bench.targets.identity import ask_password, check_sasl
from ils_bench.targets.ldap_directory import LdapDirectory, options_of
from ils_bench.targets.people import spec_of
from ils_bench.targets.profile import apply_profile
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Population
from sitebench.counts.source import SEQUENCE
from sitebench.errors import BadInput
from sitebench.measure.sweep import Stage
from sitebench.options.option import group_of
from sitebench.runs.point import PointSpec
from sitebench.scenario import script
from sitebench.scenario.script import Script
from sitebench.seeders.people import generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.suite_base.options import EntriesOption
from sitebench.suite_base.points import ForEngine, Load, SuitePoints, Targets, write_config
from sitebench.targets.tls import check_tls
from sitebench.units import format_duration, format_rate, format_size, plural


def engine_config(load: Load[IlsOptions, Script, OpenDirectory]) -> str:
    options, target, trust = load.options, load.target, load.target.trust
    # Connections of a scenario can use TLS: the engine needs their settings, and the address for
    # ldaps.
    choices: dict[str, Any] = {"trust": trust.to_engine()}
    if options.tls_target is not None:
        secure = parse_address(options.tls_target)
        choices["ldaps"] = [secure.host, secure.port]
    names = None
    if options.names is not None:
        names = {"template": names_of(options.names).template, "count": options.entries}
    user, session = target.who, options.explicit_value("session")
    bind = {"dn": user.dn or "", "password": user.password or "", "sasl": user.sasl}
    scenarios = []
    for program in load.programs:
        scenario = {**program.spec(load.slot), "base": options.explicit_value("base"), "bind": bind}
        if program.pauses and session is not None:
            scenario["session_ms"] = session * 1e3
        scenarios.append(scenario)
    return write_config(
        load,
        target={
            "base": options.base,
            "profile": options.profile,
            "names": names,
            "tls": target.address.engine_tls(trust),
            "choices": choices,
        },
        adds={"start": load.first_added, "keys": options.ring},
        scenarios=scenarios,
    )


def _check_passes(options: IlsOptions, programs: Sequence[Script]) -> None:
    """Raise if think times are so long that no sequence of steps would be counted."""
    thinking = [program for program in programs if program.counts == SEQUENCE and program.least_s]
    if not thinking or len(thinking) < len(programs):
        return
    program = min(thinking, key=lambda program: program.least_s)
    least_s, name = program.least_s, program.name
    lasts, session = format_duration(least_s), "give its users a shorter one, such as --session 5s"
    measure = options.measure
    if measure is not None and least_s > measure:
        raise BadInput(
            f"a pass of {name!r} takes {lasts} (--session), and the measured window is "
            f"{format_duration(measure)} long: none would be counted",
            f"{session}, or measure longer: --measure {format_duration(2 * least_s)}",
        )
    if options.rate is None:
        return
    # A test in stages has no warm-up, and counts every sequence of steps.
    if options.stages is None and least_s > options.warmup:
        raise BadInput(
            f"a pass of {name!r} takes {lasts} (--session), and the warm-up is "
            f"{format_duration(options.warmup)}: in the window's beginning none would end",
            f"{session}, or warm up longer: --warmup {lasts}",
        )
    if least_s > options.timeout:
        raise BadInput(
            f"a pass of {name!r} takes {lasts} (--session), and is waited for for "
            f"{format_duration(options.timeout)} (--timeout): those that begin late would fail",
            f"{session}, or wait longer: --timeout {format_duration(2 * least_s)}",
        )
    rate = options.rate if options.stages is None else options.stages.highest
    if 0 < options.users < (needed := math.ceil(rate * least_s)):
        raise BadInput(
            f"{plural(options.users, 'user')} cannot begin {format_rate(rate)} passes of {name!r} "
            f"a second: each takes {lasts} (--session), so {needed:,} are under way at once",
            f"have --users {math.ceil(1.5 * needed)}, or a lower --rate",
        )


class IlsPoints(SuitePoints[IlsOptions, Script, OpenDirectory]):
    suite = SUITE
    options = IlsOptions
    session_options = LocustOptions
    targets = Targets(
        built_in=opening.OWN_TARGETS,
        kind=OpenDirectory,
        parse=parse_address,
        address=opening.address,
        open=lambda options, *ready: opening.open_target(options, options.entries, *ready),
        in_process=lambda server, entries, load: IlsOptions(
            start_tls=server.start_tls, **load | options_of(server, entries)
        ),
        folder=lambda options: (
            Path(tempfile.gettempdir()) if options.target == "openldap" else None
        ),
    )
    word = "sequence"
    left_for_last = ("register", "add")

    def for_engine(self, load: Load[IlsOptions, Script, OpenDirectory]) -> ForEngine:
        options, programs = load.options, load.programs
        population: Population | None = None
        adding = any(program.adding for program in programs)
        if adding or any(program.needs_people for program in programs):
            people = generate(spec_of(options, options.entries))
            if adding:
                # Hashing before the load takes no CPU time from the engine.
                make_hashes(people)
            population = people.population
        source = None if options.names is None else names_of(options.names)
        column = None if source is None or source.table is None else (source.table, source.column)
        return engine_config(load), population, column

    def described_by(self, options: IlsOptions) -> tuple[str, str] | None:
        return super().described_by(options) or quick.described_by(options)

    def scenario_of(self, options: IlsOptions) -> Script | None:
        return super().scenario_of(options) or quick.script_of(options)

    def built_in(self, options: IlsOptions, operation: str) -> Script:
        if operation == LOGIN:
            return logins.script_of(options)
        return sequences.built_in(
            operation, options.profile, options.session, named_by(options.names)
        )

    def script_of(self, program: Any, options: IlsOptions) -> Script:
        if isinstance(program, sequences.Sequence):
            return program.script(options.profile, named_by(options.names))
        return super().script_of(program, options)

    def api_stage(self, operation: Any, target: Any, entries: int | None, load: Any) -> Stage:
        """Return the point of `sitebench.run`; raise if the directory here lacks people."""
        names = load.get("names")
        if entries is None and names is not None and (table := names_of(names).table):
            entries = table.rows
        is_empty = isinstance(target, LdapDirectory) and target.people is None
        if is_empty and entries is None and names is None and not script.is_script(str(operation)):
            program = (
                sequences.built_in(operation, "paper", 0.0)
                if isinstance(operation, str)
                else operation.script("ils")
            )
            if program.needs_people:
                raise BadInput(
                    f"{program.name!r} asks for people of sitebench, and {target} has none",
                    "measure a Sequence with Search(filter=..., expect_entries=1); where there "
                    "are people of sitebench below its suffix, say how many with entries=",
                )
        return super().api_stage(operation, target, entries, load)

    def check(self, options: IlsOptions, programs: Sequence[Script]) -> None:
        may_choose = options.scenario is not None
        check_tls(options, options.target, start_tls=options.start_tls, may_choose=may_choose)
        super().check(options, programs)
        logins.check(options, programs, self.targets.built_in)
        is_foreign = options.target not in self.targets.built_in
        if is_foreign and options.wrong_passwords is None and not options.check:
            binds_of(programs)
        check_sasl(options)
        if options.bind_dn is not None or options.sasl is not None:
            assure_bound(programs)
        opening.check(options, programs)
        _check_passes(options, programs)
        if options.names is not None:
            names_of(options.names).check(options.entries)

    def remedy(self, options: IlsOptions, tried: Script) -> str:
        return logins.to_check(options) if is_login(tried) else super().remedy(options, tried)

    def check_several(self, options: IlsOptions) -> None:
        logins.refuse_several(options)

    def people(self, options: IlsOptions, programs: Sequence[Script]) -> int:
        return options.entries if options.accounts else super().people(options, programs)

    def population(self, options: IlsOptions, size: int) -> Mapping[str, Any] | None:
        if options.accounts is not None:
            return None
        if options.names is not None and is_list(options.names):
            return {"digest": names_of(options.names).digest, "names": options.names}
        return generate(spec_of(options, size)).manifest()

    def point(
        self,
        options: IlsOptions,
        operation: str,
        programs: Sequence[Script] | None = None,
        **settings: str,
    ) -> PointSpec:
        """Add the number of different hashes to the settings; slow hashes have a default number."""
        if (pool := spec_of(options, options.entries).pool) is not None:
            settings["hash_pool"] = format_size(pool)
        return super().point(options, operation, programs, **settings)

    def needs_people(self, program: Script) -> bool:
        return program.needs_people or bool(program.adding)

    def apply_address(self, options: IlsOptions) -> IlsOptions:
        """Return options with the base in the address, and as many people as --names lists."""
        options = with_base(options)
        if options.names is None or not is_list(options.names) or options.is_set("entries"):
            return options
        table = names_of(options.names).table
        if table is None or not isinstance(options, EntriesOption):
            return options
        is_default = options.entries == EntriesOption.entries
        return replace(options, entries=table.rows) if is_default else options

    def complete(self, options: IlsOptions, file: Script | None) -> IlsOptions:
        return ask_password(logins.apply_accounts(options))

    def settle(self, options: IlsOptions, programs: Sequence[Script], *, named: bool = True) -> Any:
        """Choose the profile by the directory's schema, if programs need generated people."""
        if (sweep := group_of(options, SweepOptions)) is not None and sweep.paper:
            return options
        if not any(map(self.needs_people, programs)):
            return options
        self.assure_allowed(options, programs, named=named)
        options = apply_profile(options)
        if not any(map(is_login, programs)):
            return options
        return logins.with_passwords(options)

    def leftovers(self, options: IlsOptions) -> Callable[[], None]:
        if options.target in self.targets.built_in or self.described_by(options) is not None:
            return super().leftovers(options)
        from ils_bench.seeding.commands import leftovers

        return leftovers(options.target)


POINTS = IlsPoints()
