"""What the directory suite measures."""

from __future__ import annotations

import contextlib
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ils_bench import logins, quick, sequences
from ils_bench.engine_config import for_engine
from ils_bench.options import IlsOptions, LocustOptions
from ils_bench.programs import Program, bind_themselves, need_base
from ils_bench.seeding import journal
from ils_bench.seeding.destinations import LiveDirectory, parse_destination
from ils_bench.suite import SUITE
from ils_bench.targets.address import DirectoryAddress, parse_address
from ils_bench.targets.controls import assure_controls
from ils_bench.targets.groups import GroupSpec, spec_of_groups
from ils_bench.targets.identity import check_sasl, identity_of, password_asked
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.live import open_live, removing
from ils_bench.targets.names import is_list, names_of
from ils_bench.targets.opening import OWN_TARGETS, open_target
from ils_bench.targets.password_schemes import assure_bounded
from ils_bench.targets.people import spec_of
from ils_bench.targets.profile import suited
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.scenario import script
from sitebench.scenario.script import Script
from sitebench.seeders import DEFAULT_BASE
from sitebench.seeders.people import Spec, generate
from sitebench.suite_base.endpoint import OwnUser
from sitebench.suite_base.points import ForEngine, Load, Progress, SuitePoints
from sitebench.targets.in_process import known
from sitebench.targets.tls import Trust
from sitebench.units import format_duration, format_rate, format_size, plural


class IlsPoints(SuitePoints[Program, OpenDirectory]):
    suite = SUITE
    options = IlsOptions
    locust_options = LocustOptions
    own_targets = OWN_TARGETS
    user = OwnUser("ils_bench.users", "SequenceUser", "sequence")
    # Adding leaves the most behind.
    left_for_last = ("register", "add")

    def described_by(self, options: Any) -> tuple[str, str] | None:
        return super().described_by(options) or quick.described_by(options)

    def scenario_of(self, options: Any) -> Script | None:
        return super().scenario_of(options) or quick.script_of(options)

    def built_in(self, options: Any, operation: str) -> Program:
        if operation == logins.LOGIN:
            return logins.script_of(options)
        return sequences.built_in(operation, options.profile, options.session)

    @contextlib.contextmanager
    def open(
        self,
        options: Any,
        programs: Sequence[Program],
        progress: Progress = lambda done, total: None,
    ) -> Iterator[OpenDirectory]:
        options = _at_base(options, programs)
        with open_target(options, options.entries, programs, progress) as target:
            assure_controls(target, programs)
            yield target

    def address(self, options: Any, programs: Sequence[Program]) -> OpenDirectory:
        if not options.embedded:
            options = _at_base(options, programs)
            seen = not bind_themselves(programs)
            target = open_live(options, base=need_base(programs), seen=seen)
            assure_controls(target, programs)
            return target
        # What started it knows it: all there is to see is whether it still answers.
        address = parse_address(options.target, start_tls=options.start_tls)
        who, trust = identity_of(options), Trust.of(options)
        target = OpenDirectory("embedded", address, options.base, who, trust=trust)
        target.probe()
        return target

    def parse_address(self, text: str) -> DirectoryAddress:
        return parse_address(text)

    def api_stage(
        self, operation: str | Program, target: Any, entries: int | None, load: Any
    ) -> Stage:
        """Read a base in the target's address: `sitebench.run` has no other place for it.

        People whom a directory in this process cannot have are refused; it knows its own.
        """
        if isinstance(target, LdapDirectory) and target.people is None and entries is None:
            program = operation
            if isinstance(program, str) and not script.is_script(program):
                program = sequences.built_in(program, "paper", 0.0)
            if not isinstance(program, str) and program.needs_people:
                raise BadInput(
                    f"{program.name!r} asks for people of sitebench, and {target} has none",
                    "measure a Sequence with Search(filter=..., expect_entries=1); where there "
                    "are people of sitebench below its suffix, say how many with entries=",
                )
        if isinstance(target, str) and (found := _named_base(target)) is not None:
            target, load = found[0], {**load, "base": found[1], "base_given": True}
        stage = super().api_stage(operation, target, entries, load)

        @contextlib.contextmanager
        def opened() -> Iterator[Any]:
            from ils_bench.targets.probe import WrongBase

            try:
                with stage.open() as endpoint:
                    yield endpoint
            except WrongBase as error:
                raise WrongBase(
                    error.message,
                    "name the DN that holds the people in the address: ldap://HOST/DN",
                ) from error

        return replace(stage, open=opened)

    def here(
        self, server: LdapDirectory, entries: int | None, load: dict[str, Any]
    ) -> tuple[IlsOptions, OpenDirectory]:
        """Address a directory in this process; its people are those of the test."""
        load = {**load, "target": server.url, "start_tls": server.start_tls}
        if server.ca is not None:
            load["tls_ca"] = server.ca
        if server.people is None:
            load |= {"entries": entries or 1, "base": server.base}
        else:
            people = Spec.from_dict(json.loads(server.people.spec_json))
            if entries is not None and entries > people.size:
                raise BadInput(
                    f"entries: {entries:,} people are asked for, and {server} has {people.size:,}",
                    "leave entries out, or make the directory with as many",
                )
            load |= {name: getattr(people, name) for name in ("base", "profile", "seed", "locales")}
            load |= {name: getattr(people, name) for name in ("hash", "hash_pool", "one_password")}
            load["entries"] = entries or people.size
        options = IlsOptions(**load)
        address = parse_address(server.url, start_tls=server.start_tls)
        target = OpenDirectory("the directory", address, options.base, **known(server, options))
        return options, target

    def check(self, options: Any, programs: Sequence[Program]) -> None:
        super().check(options, programs)
        logins.check(options, programs, self.own_targets)
        check_sasl(options)
        if options.tls_target is not None and not parse_address(options.tls_target).encrypted:
            raise BadInput(f"--tls-target {options.tls_target} is without TLS", "write ldaps://")
        adding = options.target in self.own_targets and any(each.adding for each in programs)
        if adding and options.profile == "ad" and not (options.start_tls or options.tls):
            raise BadInput(
                "users of the profile ad are added with their passwords, which Active Directory "
                "takes over TLS only",
                "add --start-tls",
            )
        if (groups := spec_of_groups(options)) is not None:
            if options.target not in self.own_targets:
                raise BadInput(
                    f"--groups is for a directory that is started here, and {options.target} runs "
                    "already",
                    "add them with `sitebench ils seed --groups`, and leave it out",
                )
            groups.of(generate(spec_of(options, options.entries)).population, options.profile)
        if options.target == "embedded":
            assure_bounded(options.hash, options.one_password)
        own = [each for each in programs if isinstance(each, sequences.Sequence)]
        thinking = [each for each in own if each.counts == "sequence" and each.least_s]
        if thinking and len(thinking) == len(programs):
            _check_passes(options, min(thinking, key=lambda each: each.least_s))
        if options.names is not None:
            names_of(options.names).check(options.entries)

    def check_several(self, options: Any) -> None:
        logins.refuse_several(options)

    def people(self, options: Any, programs: Sequence[Program]) -> int:
        """Those who log in, too: they are there, whosever they are."""
        found: int = options.entries
        return found if options.accounts else super().people(options, programs)

    def population(self, options: Any, size: int) -> Mapping[str, Any] | None:
        if options.accounts is not None:
            return None
        if is_list(options.names):
            return {"digest": names_of(options.names).digest, "names": options.names}
        return generate(spec_of(options, size)).manifest()

    def point(
        self,
        options: Any,
        operation: str,
        programs: Sequence[Program] | None = None,
        **settings: str,
    ) -> PointSpec:
        """Say how many people log in differently, also where no option did."""
        if (pool := spec_of(options, options.entries).pool) is not None:
            settings["hash_pool"] = format_size(pool)
        spec = super().point(options, operation, programs, **settings)
        if options.groups is not None:
            return spec
        # Not named: points measured before there were groups keep their keys.
        unnamed = {each.name for each in fields(GroupSpec)}
        kept = {name: text for name, text in spec.settings.items() if name not in unnamed}
        return replace(spec, settings=kept)

    def needs_people(self, program: Program) -> bool:
        """Those that a program adds come after those that are there."""
        return program.needs_people or bool(program.adding)

    def data(self, options: Any) -> Path | None:
        return Path(tempfile.gettempdir()) if options.target == "openldap" else None

    def arguments(self, target: OpenDirectory, *, reused: bool) -> Mapping[str, Any]:
        return {
            "start_tls": target.address.start_tls,
            "disposable": target.disposable and not reused,
            "embedded": target.name == "embedded",
            # Those of the target, which is open.
            **{each.name: getattr(IlsOptions, each.name) for each in fields(GroupSpec)},
        }

    def pending_cleanup(self, pid: int) -> str | None:
        found = journal.unfinished_reservation(pid)
        return None if found is None else removing(found.target)

    def asked(self, options: Any) -> Any:
        options = with_base(options)
        found = self.scenario_of(options)
        for name in ("base", "session"):
            if found is not None and (own := found.load.get(name)) is not None:
                _assure_distinct(options, name, own, found.path)
        options = super().asked(options)
        options = logins.asked(options)
        listed = is_list(options.names) and names_of(options.names).listed
        if listed and not getattr(options, "entries_given", True):
            options = replace(options, entries=len(listed))
        return password_asked(options)

    def settled(self, options: Any, programs: Sequence[Program], *, named: bool = True) -> Any:
        """Take the people that go with the directory, where programs are about people of ours."""
        if getattr(options, "paper", False) or not any(map(self.needs_people, programs)):
            return options
        self.assure_allowed(options, programs, named=named)
        options = suited(options)
        if not any(map(logins.is_login, programs)):
            return options
        return logins.with_passwords(options)

    def for_engine(self, load: Load[Program, OpenDirectory]) -> ForEngine:
        return for_engine(load)

    def leftovers(self, options: Any) -> Callable[[], None]:
        if options.target in self.own_targets or self.described_by(options) is not None:
            return super().leftovers(options)
        from ils_bench.seeding.commands import leftovers

        return leftovers(options.target)


def _check_passes(options: Any, program: sequences.Sequence) -> None:
    """Raise where no pass of a program that thinks could be counted: with the way to have some."""
    least, name = program.least_s, program.name
    long, session = format_duration(least), "give its users a shorter one, such as --session 5s"
    measure = options.measure
    if measure is not None and least > measure:
        raise BadInput(
            f"a pass of {name!r} takes {long} (--session), and the measured window is "
            f"{format_duration(measure)} long: none would be counted",
            f"{session}, or measure longer: --measure {format_duration(2 * least)}",
        )
    if options.rate is None:
        return
    # By when they were due, those of stages are counted from the first on.
    if options.stages is None and least > options.warmup:
        raise BadInput(
            f"a pass of {name!r} takes {long} (--session), and the warm-up is "
            f"{format_duration(options.warmup)}: in the window's beginning none would end",
            f"{session}, or warm up longer: --warmup {long}",
        )
    if least > options.timeout:
        raise BadInput(
            f"a pass of {name!r} takes {long} (--session), and is waited for for "
            f"{format_duration(options.timeout)} (--timeout): those that begin late would fail",
            f"{session}, or wait longer: --timeout {format_duration(2 * least)}",
        )
    rate = options.rate if options.stages is None else options.stages.highest
    if 0 < options.users < (needed := math.ceil(rate * least)):
        raise BadInput(
            f"{plural(options.users, 'user')} cannot begin {format_rate(rate)} passes of {name!r} "
            f"a second: each takes {long} (--session), so {needed:,} are under way at once",
            f"have --users {math.ceil(1.5 * needed)}, or a lower --rate",
        )


def _at_base(options: Any, programs: Sequence[Program]) -> Any:
    """Return options with the base of a scenario file, where nothing else names one."""
    own = next((each.load.get("base") for each in programs if isinstance(each, Script)), None)
    return replace(options, base=own) if own and options.said("base") is None else options


def _assure_distinct(options: Any, name: str, own: Any, path: str) -> None:
    """Refuse a default that was given beside another value of a file: later it looks not given."""
    value = getattr(options, name)
    given = getattr(options, f"{name}_given", False)
    if given and value == getattr(IlsOptions, name) != own:
        raise BadInput(
            f"the {name} that is asked for is the default of --{name}, and {path} says another",
            f"take {name} out of the file",
        )


def _named_base(target: str) -> tuple[str, str] | None:
    """Return a target's address without the base that it names, and the base; None without one."""
    if "://" not in target:
        return None
    found = parse_destination(target)
    if not isinstance(found, LiveDirectory) or found.base is None:
        return None
    return str(found.address), found.base


def with_base(options: Any) -> Any:
    """Take a base from the target's address, as `ils seed` does."""
    if (found := _named_base(options.target)) is None:
        return options
    address, base = found
    if options.base not in (DEFAULT_BASE, base):
        raise BadInput(
            f"--target names the base {base!r}, and --base {options.base!r}",
            "leave one of them out",
        )
    given = {"base_given": True} if hasattr(options, "base_given") else {}
    return replace(options, target=address, base=base, **given)


POINTS = IlsPoints()
