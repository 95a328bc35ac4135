from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from http.client import OK
from pathlib import Path
from typing import Any

from msgspec import structs

from sitebench.errors import BadInput, printable
from sitebench.http.address import SiteAddress, parse_address
from sitebench.http.site import OpenSite, open_live, probe
from sitebench.suite_base.embedded import open_child
from sitebench.system.machine import usable_cores
from sitebench.targets.limits import confine, forget
from sitebench.targets.tls import ServerTls, Trust, trusting
from web_bench.docroot import docroot_of
from web_bench.options import WebOptions
from web_bench.targets import apache, cgi, nginx
from web_bench.targets.embedded import PROGRAMS
from web_bench.workload import DYNAMIC, Progress, Workload, file_set

_SERVERS = {"nginx": nginx, "apache": apache}
OWN_TARGETS: Mapping[str, Mapping[str, str]] = {
    "embedded": PROGRAMS,
    **{name: module.SERVER.programs for name, module in _SERVERS.items()},
}
"""Programs of the targets that are started for a test."""


@dataclass(frozen=True)
class OpenWeb(OpenSite):
    secure: SiteAddress | None = field(default=None, kw_only=True)
    """Address of requests over TLS, if it differs from `address`."""
    programs: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    addresses: Sequence[SiteAddress] = field(default=(), kw_only=True)
    """Further addresses, which clients use in turn."""


def check(options: WebOptions, workloads: Sequence[Workload]) -> None:
    programs = OWN_TARGETS.get(options.target, options.programs or {})
    secure = options.target in OWN_TARGETS or _secure(options) is not None
    if options.addresses and options.target in OWN_TARGETS:
        raise BadInput(
            f"{options.target} has one address, which its start decides",
            "leave --addresses out, or name the server by its address",
        )
    texts = [text for w in workloads for class_ in w.classes for text in class_.asks]
    paths = [text for text in texts if text.startswith("/")]
    empty = options.docroot is None and not any(workload.file_set for workload in workloads)
    if paths and empty and options.target in OWN_TARGETS:
        raise BadInput(
            f"{options.target} has no files to serve for {paths[0]}",
            "name the server with --target http://HOST:PORT, or its files with --docroot FOLDER",
        )
    if options.cgi_program is not None:
        _check_program(options, workloads)
    for workload in workloads:
        for kind in sorted(workload.kinds - programs.keys()):
            raise BadInput(
                f"{options.target} has no program of the kind {kind!r} ({DYNAMIC[kind]}), which "
                f"{workload.name} asks for",
                f"use another --target, or say where it has one: --programs {kind}=/PATH",
            )
        if workload.uses_tls and not secure:
            raise BadInput(
                f"{workload.name} asks for some pages over TLS, and {options.target} has one "
                "address",
                "give the other with --tls-target https://HOST:PORT",
            )
    sets = {workload.file_set for workload in workloads if workload.file_set is not None}
    versions = {options.keepalive or (load.http, load.keeps_alive) for load in workloads}
    if len(sets) > 1 or len(versions) > 1:
        names = " and ".join(workload.name for workload in workloads)
        raise BadInput(
            f"{names} cannot run at the same time: their "
            f"{'files' if len(sets) > 1 else 'versions of HTTP'} differ",
            "choose one of them, or write both into one scenario file",
        )


def _check_program(options: WebOptions, workloads: Sequence[Workload]) -> None:
    """Raise if the program is not executable, or if a workload runs it by FastCGI."""
    assert options.cgi_program is not None
    if options.target not in OWN_TARGETS:
        raise BadInput(
            f"{options.target} runs its own programs", "say where they are with --programs"
        )
    cgi.check(options.cgi_program)
    if any("fastcgi" in workload.kinds for workload in workloads):
        raise BadInput(
            "your own program is run for each request, and FastCGI keeps its program",
            "choose a workload with CGI, such as spice-cgi, or leave --cgi-program out",
        )


def open_target(
    options: WebOptions,
    workloads: Sequence[Workload],
    progress: Progress = lambda written, total: None,
) -> OpenWeb:
    """Open the server of options; a server started here serves the files of the workloads."""
    check(options, workloads)
    if options.target not in OWN_TARGETS:
        target = _open_live(options)
        _assure_pages(options, target, workloads)
        return target
    docroot = docroot_of(options, workloads, progress)
    limits = options.target_limits
    if docroot is not None and limits is not None and (limits.memory or limits.disk):
        forget(docroot)
    with_tls = options.tls or any(workload.uses_tls for workload in workloads)
    kinds = {kind for workload in workloads for kind in workload.kinds}
    opening = _open_embedded if options.target == "embedded" else _open_started
    target = opening(options, docroot, with_tls, kinds)
    if cgi.KINDS.isdisjoint(kinds):
        return target
    return replace(target, facts={**target.facts, "cgi_program": cgi.digest(options.cgi_program)})


def _open_live(options: WebOptions) -> OpenWeb:
    target = open_live(options)
    secure = _secure(options)
    if secure is not None and secure != target.address:
        probe(secure, target.trust)
    for address in options.addresses:
        probe(address, target.trust)
    return OpenWeb(
        **vars(target),
        secure=secure,
        programs=options.programs or {},
        addresses=options.addresses,
    )


def _assure_pages(options: WebOptions, target: OpenWeb, workloads: Sequence[Workload]) -> None:
    for workload in workloads:
        if workload.file_set is not None:
            path = file_set(workload.file_set.spec(options.seed)).path(0)
            remedy = (
                "measure a path of its own with --path /, or a scenario file of your own "
                f"(`sitebench docs scenarios`); or have it serve the files of {workload.name}, "
                "which `sitebench web seed` writes"
            )
            _assure(target, path, f"the first file of {workload.name}", remedy)
        elif options.path is not None:
            _assure(target, options.path, "--path", "name a path that it answers with 200")


def _assure(target: OpenWeb, path: str, label: str, remedy: str) -> None:
    answer = probe(target.address, target.trust, path)
    if answer.status != OK:
        text = printable(f"{answer.status} {answer.reason}", 100)
        if answer.location is not None:
            text += f", to {printable(answer.location, 200)}"
        raise BadInput(f"{target.address}{path} ({label}) is answered with {text}", remedy)


def _secure(options: WebOptions) -> SiteAddress | None:
    """Return the address for TLS at a server of the user's."""
    if options.tls_target is not None:
        return parse_address(options.tls_target)
    address = parse_address(options.target)
    return address if address.is_encrypted else None


def _open_started(
    options: WebOptions, docroot: Path | None, with_tls: bool, kinds: Collection[str]
) -> OpenWeb:
    limits = options.target_limits
    server = _SERVERS[options.target]
    logged = server.SERVER.logged if options.access_log else {}
    directives = {**logged, **(options.directives or {})}
    with ExitStack() as opening:
        confinement = opening.enter_context(confine(limits, docroot))
        if confinement.host is None and options.target_host is not None:
            confinement = structs.replace(confinement, host=options.target_host)
        started = opening.enter_context(
            server.serving(
                docroot,
                tls=ServerTls() if with_tls else None,
                threads=options.target_threads,
                directives=directives,
                kinds=kinds,
                cgi_program=options.cgi_program,
                confinement=confinement,
            )
        )
        opened = opening.pop_all()
    address = started.address
    if options.tls and started.secure is not None:
        address = started.secure
    trust = Trust.from_options(options)
    return OpenWeb(
        options.target,
        address,
        secure=started.secure,
        programs=started.programs,
        pid=started.pid,
        cores=(limits and limits.processors) or usable_cores(),
        disposable=True,
        alive=started.alive,
        stop=opened.close,
        facts={**started.facts, **({} if limits is None else {"limits": str(limits)})},
        trust=trust if started.ca is None else trusting(trust, started.ca),
        ca=started.ca,
    )


def _open_embedded(
    options: WebOptions, docroot: Path | None, with_tls: bool, kinds: Collection[str]
) -> OpenWeb:
    def make_target(host: str, ready: Mapping[str, Any]) -> OpenWeb:
        address = SiteAddress(host, ready["port"])
        secure = SiteAddress(host, ready["secure_port"], scheme="https") if with_tls else None
        if secure is not None and options.tls:
            address = secure
        return OpenWeb("embedded", address, secure=secure, programs=PROGRAMS)

    target = open_child(
        make_target,
        "web_bench.targets.embedded",
        options,
        {"docroot": None if docroot is None else str(docroot)},
        data=docroot,
        secure=with_tls,
        access_log=options.access_log,
        cgi_program=options.cgi_program,
    )
    limits = options.target_limits
    processors = (limits and limits.processors) or usable_cores()
    # Programs run on any core. With some requests over TLS there are two servers.
    runs_programs = not cgi.KINDS.isdisjoint(kinds)
    threads = options.target_threads * (2 if with_tls and not options.tls else 1)
    return replace(target, cores=processors if runs_programs else min(threads, processors))
