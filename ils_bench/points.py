"""Points of the directory suite: the order they are measured in, and what they leave behind."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ils_bench.options import IlsOptions, LoadTestOptions, LocustOptions
from ils_bench.seeding import journal
from ils_bench.sequences import Sequence as Program
from ils_bench.suite import SUITE
from ils_bench.targets.address import parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.live import Progress, assure_own
from ils_bench.targets.opening import OWN_TARGETS, open_target
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench.measure.sweep import Stage
from sitebench.runs.point import PointSpec
from sitebench.suite_base import points
from sitebench.targets.in_process import known

_LEFT_FOR_LAST = ("register", "add")
"""Operations that change the directory, measured after the others at each size; adding, which
leaves the most behind, at the very end."""


def point(options: IlsOptions, operation: str, **settings: str) -> PointSpec:
    return points.point(SUITE, options, operation, **settings)


def endpoint(
    target: OpenDirectory,
    options: IlsOptions,
    own: tuple[Path, str] | None = None,
    *,
    reused: bool = False,
) -> points.Endpoint:
    """Return where points are measured.

    `reused`: an operation is measured there more than once, so that what it added must not stay.
    """
    arguments = {
        "start_tls": target.address.start_tls,
        "disposable": target.disposable and not reused,
    }
    return points.Endpoint(SUITE, target, options, LocustOptions, arguments, own, _pending_cleanup)


def _pending_cleanup(pid: int) -> str | None:
    found = journal.unfinished_reservation(pid)
    return None if found is None else f"removing the people that were added to {found.target}"


def stage(
    options: IlsOptions, operations: Sequence[str], progress: Progress, *, reused: bool = False
) -> Stage:
    """Return all points of one size; those that write come last, on a directory used up then."""
    ordered = sorted(
        operations,
        key=lambda name: _LEFT_FOR_LAST.index(name) if name in _LEFT_FOR_LAST else -1,
    )

    @contextlib.contextmanager
    def opened() -> Iterator[points.Endpoint]:
        _assure_own(options, [name for name in ordered if name in _LEFT_FOR_LAST])
        with open_target(options, options.entries, progress) as target:
            yield endpoint(target, options, reused=reused)

    title = f"making {options.target} ready with {options.entries:,} people"
    return Stage(title, [point(options, name) for name in ordered], opened)


def _assure_own(options: IlsOptions, writing: Sequence[str]) -> None:
    """Raise NotYours unless these operations may write to the directory that options name."""
    if options.target not in OWN_TARGETS:
        for name in writing:
            assure_own(options, f"the operation {name!r}")


def api_stage(
    operation: str | Program,
    target: str | LdapDirectory,
    entries: int | None,
    load: dict[str, Any],
) -> Stage:
    """Return the one point that `sitebench.run` measures."""
    own = None
    if isinstance(operation, str):
        name, writes, settings = operation, operation in _LEFT_FOR_LAST, {}
    else:
        name, writes, settings = operation.name, operation.writes, {"sequence": repr(operation)}
        own = points.Own("ils_bench.users", "SequenceUser", "sequence", operation)
    if isinstance(target, str):
        options = IlsOptions(target=target, entries=entries or 10_000, **load)
        writing = [name] if writes else []
    else:
        options, writing = _options_at(target, entries, load), []

    @contextlib.contextmanager
    def opened() -> Iterator[points.Endpoint]:
        _assure_own(options, writing)
        with _open(options, target) as there, points.own_locustfile(own) as made:
            yield endpoint(there, options, made)

    return Stage(options.target, [point(options, name, **settings)], opened)


def _options_at(target: LdapDirectory, entries: int | None, load: dict[str, Any]) -> IlsOptions:
    """Return the options of a test at a directory in this process: its people are those asked."""
    load = {**load, "target": target.url, "start_tls": target.start_tls}
    if target.ca is not None:
        load["tls_ca"] = target.ca
    if target.people is None:
        return IlsOptions(entries=entries or 1, base=target.base, **load)
    people = json.loads(target.people.spec_json)
    load |= {name: people[name] for name in ("base", "profile", "seed")}
    return IlsOptions(entries=entries or people["size"], locales=tuple(people["locales"]), **load)


def _open(
    options: IlsOptions, target: str | LdapDirectory
) -> contextlib.AbstractContextManager[OpenDirectory]:
    if isinstance(target, str):
        return open_target(options, options.entries)
    address = parse_address(target.url, start_tls=target.start_tls)
    return OpenDirectory("the directory", address, options.base, **known(target, options))


def manifest(options: LoadTestOptions, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the suite's facts about a run."""
    from seeders.people import generate

    people = generate(spec_of(options, max(sizes)))
    return points.manifest(options, sizes, people.manifest())
