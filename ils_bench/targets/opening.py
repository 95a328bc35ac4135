from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ils_bench.options import IlsOptions, LoadTestOptions
from ils_bench.programs import bind_themselves, need_base, send_passwords
from ils_bench.targets.address import DirectoryAddress, parse_address, scheme_of
from ils_bench.targets.groups import GroupSpec, groups_of, spec_of_groups
from ils_bench.targets.live import Progress, make_ready, open_live
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.password_schemes import assure_bounded
from ils_bench.targets.people import spec_of, suffix_of
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput
from sitebench.scenario.script import Script
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.suite_base.embedded import open_child
from sitebench.system.network import on_loopback
from sitebench.targets.limits import refuse_limits

OWN_TARGETS = ("embedded", "openldap")


def open_embedded(
    options: LoadTestOptions, people: Spec, groups: GroupSpec | None = None, **settings: Any
) -> OpenDirectory:
    scheme = scheme_of(tls=options.tls, start_tls=options.start_tls)
    config = {"suffix": suffix_of(options.base), "profile": options.profile, **settings}
    if scheme != "ldap":
        # The server's process makes the certificate, because that process chooses the address.
        config["tls"] = {"start": options.start_tls}

    def make_target(host: str, ready: Mapping[str, Any]) -> OpenDirectory:
        return OpenDirectory("embedded", DirectoryAddress(host, ready["port"], scheme), people.base)

    module, spec = "ils_bench.targets.embedded", people.to_dict()
    return open_child(make_target, module, options, config, people=spec, groups=groups)


def check(options: IlsOptions, programs: Sequence[Script]) -> None:
    if options.tls_target is not None and not parse_address(options.tls_target).is_encrypted:
        raise BadInput(f"--tls-target {options.tls_target} is without TLS", "write ldaps://")
    adding = options.target in OWN_TARGETS and any(program.adding for program in programs)
    if adding and options.profile == "ad" and not (options.start_tls or options.tls):
        raise BadInput(
            "users of the profile ad are added with their passwords, which Active Directory "
            "takes over TLS only",
            "add --start-tls",
        )
    if (groups := spec_of_groups(options)) is not None:
        if options.target not in OWN_TARGETS:
            raise BadInput(
                f"--groups is for a directory that is started here, and {options.target} runs "
                "already",
                "add them with `sitebench ils seed --groups`, and leave it out",
            )
        population = generate(spec_of(options, options.entries)).population
        groups_of(groups, population, options.profile)
    if options.target == "embedded":
        assure_bounded(options.hash, options.one_password)


def address(options: IlsOptions, programs: Sequence[Script]) -> OpenDirectory:
    from ils_bench.targets.probe import HiddenBase

    refuse_limits(options.target, options.target_limits)
    options, is_visible = _at_base(options, programs), not bind_themselves(programs)
    try:
        target = open_live(options, base=need_base(programs), seen=is_visible)
    except HiddenBase as error:
        if options.accounts is None:
            raise
        remedy = f"{error.remedy}; an account of the file will do"
        raise HiddenBase(error.message, remedy) from None
    assure_controls(target, programs)
    if target.who.password is not None or send_passwords(programs):
        say_if_clear(target.address)
    return target


def assure_controls(target: OpenDirectory, programs: Sequence[Script]) -> None:
    """Raise if a scenario needs a control that the directory does not list.

    A directory without such a list decides at each request: an unknown critical control is an error
    of the operation (RFC 4511 4.1.11).
    """
    needed = [(script, control) for script in programs for control in script.needed]
    if not needed:
        return
    from ils_bench.targets.probe import connect, read

    with connect(target.address, target.who, target.trust, brief=True) as connection:
        listed = read(connection, "", "supportedControl").get("supportedControl", ())
    oids = {oid.decode(errors="replace") for oid in listed}
    for script, control in needed:
        if oids and control.oid not in oids:
            name = f"{control.name}" + f" ({control.oid})" * (control.name != control.oid)
            raise BadInput(
                f"{script.path}:{control.line}: {name} is no control of {target.address}",
                "leave it out, or name a directory whose root DSE lists it",
            )


def say_if_clear(at: DirectoryAddress) -> None:
    if at.is_encrypted or on_loopback(at.host):
        return
    from sitebench.measure.command import say

    say(f"passwords go to {at} in the clear: use ldaps://, or add --start-tls")


def _at_base(options: IlsOptions, programs: Sequence[Script]) -> Any:
    base = next((base for program in programs if (base := program.load.get("base"))), None)
    is_unset = options.explicit_value("base") is None
    return replace(options, base=base) if base and is_unset else options


@contextlib.contextmanager
def open_target(
    options: IlsOptions,
    size: int,
    programs: Sequence[Script] = (),
    progress: Progress = lambda count, total: None,
) -> Iterator[OpenDirectory]:
    """Open the target of options, ready for programs; restore it afterwards.

    A target started here holds `size` people and their groups. A target of the user's holds at
    least the people that programs need.
    """
    options = _at_base(options, programs)
    people, groups = spec_of(options, size), spec_of_groups(options)
    if options.target in OWN_TARGETS and options.names is not None:
        raise BadInput(
            f"--names is for a directory of your own, and {options.target} is started here",
            "leave --names out, or name your directory with --target ldap://host:port",
        )
    if options.target in OWN_TARGETS:
        # The target's process reads the hashes from the cache.
        make_hashes(generate(people))
    if options.target == "embedded":
        target = open_embedded(options, people, groups)
    elif options.target == "openldap":
        target = open_openldap(options, people, groups)
    else:
        target = address(options, programs)
    with target, contextlib.ExitStack() as stack:
        if options.target in OWN_TARGETS:
            assure_controls(target, programs)
        if not target.disposable:
            stack.callback(make_ready(target, options, size, programs, progress))
        yield target
