"""From a target's name to an open target that holds the people."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ils_bench.options import LoadTestOptions
from ils_bench.programs import Program, bind_themselves, need_base
from ils_bench.targets.address import START_TLS, DirectoryAddress
from ils_bench.targets.groups import GroupSpec, spec_of_groups
from ils_bench.targets.live import Progress, make_ready, open_live
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.people import spec_of, suffix_of
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.targets.embedded import open_child
from sitebench.targets.limits import Limits, refuse_limits
from sitebench.targets.tls import SYSTEM, Trust

OWN_TARGETS = ("embedded", "openldap")
"""Targets that are started for a test; any other is the user's."""


def directory_config(options: LoadTestOptions) -> dict[str, Any]:
    """Return the configuration of an embedded directory that a test starts."""
    config: dict[str, Any] = {
        "host": options.target_host or "127.0.0.1",
        "port": 0,
        "threads": options.target_threads,
        "suffix": suffix_of(options.base),
        "profile": options.profile,
    }
    if options.tls or options.start_tls:
        # Its process adds the certificate, which is for the address that it listens on.
        config["tls"] = {"start": options.start_tls}
    return config


def open_embedded(
    people: Spec,
    config: Mapping[str, Any],
    trust: Trust = SYSTEM,
    limits: Limits | None = None,
    groups: GroupSpec | None = None,
) -> OpenDirectory:
    """Start a directory in a process of its own, and return when it listens."""
    module = "ils_bench.targets.embedded"
    host, ready, known = open_child(
        module,
        config,
        trust,
        limits=limits,
        people=people.to_dict(),
        groups=None if groups is None else asdict(groups),
    )
    scheme = "ldap"
    if "tls" in config:
        scheme = START_TLS if config["tls"]["start"] else "ldaps"
    return OpenDirectory(
        "embedded", DirectoryAddress(host, ready["port"], scheme), people.base, **known
    )


@contextlib.contextmanager
def open_target(
    options: Any,
    size: int,
    programs: Sequence[Program] = (),
    progress: Progress = lambda done, total: None,
) -> Iterator[OpenDirectory]:
    """Open the target that options name, ready for programs; put everything back after.

    One that is started here holds `size` people and their groups; one of the user's, the people
    that programs need.
    """
    people, groups = spec_of(options, size), spec_of_groups(options)
    if options.target in OWN_TARGETS and options.names is not None:
        raise BadInput(
            f"--names is for a directory of your own, and {options.target} is started here",
            "leave --names out, or name your directory with --target ldap://host:port",
        )
    if options.target in OWN_TARGETS:
        # Here, where it can be seen; the target's process finds them.
        make_hashes(generate(people))
    if options.target == "embedded":
        config = directory_config(options)
        target = open_embedded(people, config, Trust.of(options), options.target_limits, groups)
    elif options.target == "openldap":
        scheme = START_TLS if options.start_tls else "ldaps" if options.tls else "ldap"
        target = open_openldap(people, scheme, Trust.of(options), options.target_limits, groups)
    else:
        refuse_limits(options)
        target = open_live(options, base=need_base(programs), seen=not bind_themselves(programs))
    with target, contextlib.ExitStack() as after:
        if not target.disposable:
            after.callback(make_ready(target, options, size, programs, progress))
        yield target
