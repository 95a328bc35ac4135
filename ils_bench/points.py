"""Points of the directory half, and the targets they are measured at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ils_bench.operations import LEFT_FOR_LAST
from ils_bench.options import IlsOptions, LoadTestOptions, LocustOptions
from ils_bench.seeding import journal
from ils_bench.suite import SUITE
from ils_bench.targets.live import Progress, assure_own
from ils_bench.targets.opening import OWN_TARGETS, open_target
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench.measure.point_process import Gathering, PointCommand
from sitebench.measure.sweep import Stage
from sitebench.options import convert
from sitebench.options.option import fields_of
from sitebench.runs.point import PointSpec


def point(options: IlsOptions, operation: str) -> PointSpec:
    """Return the specification of one point."""
    return PointSpec(
        half="ils",
        operation=operation,
        entries=options.entries,
        target=options.target,
        users=options.users,
        rate=options.rate,
        warmup_s=options.warmup,
        measure_s=options.measure or 0.0,
        client=options.client,
        settings=convert.to_texts(options),
    )


@dataclass(frozen=True)
class IlsEndpoint:
    """An open directory that points are measured at."""

    target: OpenDirectory
    options: IlsOptions
    reused: bool = field(default=False, kw_only=True)
    """Whether an operation is measured here more than once: what it added must not stay."""

    def command(self, spec: PointSpec) -> PointCommand:
        """Return how to measure a point here."""
        values = {each.name: getattr(self.options, each.name) for each, _ in fields_of(IlsOptions)}
        here = replace(
            LocustOptions(**values),
            target=str(self.target.address),
            tls=False,
            start_tls=self.target.address.start_tls,
            tls_ca=self.target.ca,
            disposable=self.target.disposable and not self.reused,
            i_own_this_target=self.options.i_own_this_target or self.target.disposable,
            rate=spec.rate,
            measure=spec.measure_s or None,
        )
        return PointCommand(
            *self.users(spec),
            convert.to_argv(here),
            self.target.pid,
            self.target.cores,
            Gathering.of(self.options),
            _removing,
        )

    def users(self, spec: PointSpec) -> tuple[Path, str]:
        """Return the locustfile, and the class in it that does the operation."""
        return SUITE.locustfile_path(), SUITE.operations[spec.operation]

    def check(self) -> None:
        """Raise when the directory is not there any more."""
        self.target.check()

    def facts(self) -> dict[str, Any]:
        """Return its name, version and configuration, as far as it tells."""
        return {"name": self.target.name, **self.target.facts}


def _removing(pid: int) -> str | None:
    """Return whom a point's process still has to remove, in words."""
    owed = journal.owed_by(pid)
    return None if owed is None else f"removing the people that were added to {owed.target}"


def stage(
    options: IlsOptions, operations: Sequence[str], progress: Progress, *, reused: bool = False
) -> Stage:
    """Return all points of one size; those that write come last, on a directory used up then."""
    ordered = sorted(operations, key=_turn)

    @contextlib.contextmanager
    def opened() -> Iterator[IlsEndpoint]:
        for each in ordered:
            if each in LEFT_FOR_LAST and options.target not in OWN_TARGETS:
                assure_own(options, f"the operation {each!r}")
        with open_target(options, options.entries, progress) as target:
            yield IlsEndpoint(target, options, reused=reused)

    title = f"making {options.target} ready with {options.entries:,} people"
    return Stage(title, [point(options, name) for name in ordered], opened)


def _turn(operation: str) -> int:
    return LEFT_FOR_LAST.index(operation) if operation in LEFT_FOR_LAST else -1


def with_size(options: LoadTestOptions, size: int) -> IlsOptions:
    """Return one size's options from those of a sweep."""
    found = {each.name: getattr(options, each.name) for each, _ in fields_of(type(options))}
    wanted = {each.name for each, _ in fields_of(IlsOptions)}
    return IlsOptions(**{k: v for k, v in found.items() if k in wanted} | {"entries": size})


def manifest(options: LoadTestOptions, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the directory half's facts about a run."""
    from seeders.people import generate

    people = generate(spec_of(options, max(sizes)))
    return {"population": people.manifest(), "target": options.target, "sizes": list(sizes)}
