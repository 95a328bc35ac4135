"""The engine's configuration for a test of a directory."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import Any

from ils_bench.names import names_of
from ils_bench.options import IlsOptions
from ils_bench.targets.address import DirectoryAddress, parse_address
from ils_bench.targets.identity import ANONYMOUS, Identity
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Population
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.scenario.script import Script
from sitebench.seeders.people import generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.suite_base.points import ForEngine, Load
from sitebench.targets import engine_config as shared
from sitebench.targets.tls import SYSTEM, Trust


def for_engine(load: Load[IlsOptions, Script, OpenDirectory]) -> ForEngine:
    """Return the configuration, the people if programs need any, and the column of names."""
    options, target, programs = load.options, load.target, load.programs
    config = engine_config(
        options,
        target.address,
        programs,
        slot=load.slot,
        first_added=load.first_added,
        identity=target.who,
        trust=target.trust,
    )
    population: Population | None = None
    adding = any(program.adding for program in programs)
    if adding or any(program.needs_people for program in programs):
        people = generate(spec_of(options, options.entries))
        if adding:
            # Before the load: hashing takes CPU time of the engine.
            make_hashes(people)
        population = people.population
    listed = None if options.names is None else names_of(options.names).listed
    return config, population, None if listed is None else (listed.table, listed.column)


def engine_config(
    options: IlsOptions,
    address: DirectoryAddress,
    programs: Many[Script],
    *,
    slot: WorkerSlot,
    first_added: int,
    identity: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> str:
    # Connections that choose TLS themselves have the trust, and the address of ldaps.
    choices: dict[str, Any] = {"trust": trust.to_engine()}
    if options.tls_target is not None:
        secure = parse_address(options.tls_target)
        choices["ldaps"] = [secure.host, secure.port]
    names = None
    if options.names is not None:
        names = {"template": names_of(options.names).template, "count": options.entries}
    return shared.engine_config(
        options,
        address,
        slot,
        target={
            "base": options.base,
            "profile": options.profile,
            "names": names,
            "tls": address.engine_tls(trust),
            "choices": choices,
        },
        adds={"start": first_added, "keys": options.ring},
        scenarios=[_scenario(program, options, identity, slot) for program in programs],
    )


def _scenario(
    program: Script, options: IlsOptions, user: Identity, slot: WorkerSlot
) -> dict[str, Any]:
    spec = {
        **program.spec(slot),
        "base": options.base_or_file,
        "bind": {"dn": user.dn or "", "password": user.password or "", "sasl": user.sasl},
    }
    if program.pauses and (session := options.session_or_file) is not None:
        spec["session_ms"] = session * 1e3
    return spec
