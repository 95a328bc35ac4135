"""Two run files compared, and the remarks about the comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sitebench.compare.comparison import Analysis, Design, analyse
from sitebench.compare.matching import (
    Difference,
    Matching,
    check_facts,
    match,
    title,
    varying_options,
)
from sitebench.errors import BadInput
from sitebench.runs.counting import same_steps
from sitebench.runs.manifest import COMPARED, method_of
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import series
from sitebench.runs.runfile import RunFile, StoredPoint
from sitebench.units import plural

_MACHINE = {
    "cpu": "processor",
    "kernel": "kernel",
    "memory_bytes": "memory",
    "sysctls": "kernel settings",
    "clock": "clock source",
}


class Run(msgspec.Struct, frozen=True):
    path: Path
    label: str
    manifest: Mapping[str, Any]
    points: tuple[StoredPoint, ...]

    @property
    def results(self) -> list[PointResult]:
        return [p.result for p in self.points if p.status == "done" and p.result is not None]

    @property
    def unfinished(self) -> list[PointSpec]:
        return [p.spec for p in self.points if p.status != "done"]

    @property
    def span(self) -> tuple[float, float] | None:
        """The begin of the first finished point, and the end of the last."""
        points = [p for p in self.points if p.status == "done"]
        times = [(p.started, p.finished) for p in points if p.started and p.finished]
        return (min(start for start, _ in times), max(end for _, end in times)) if times else None


class Remark(msgspec.Struct, frozen=True):
    message: str
    remedy: str
    incomplete: bool = False
    """Whether some of the requested points are not compared."""


class Comparison(msgspec.Struct, frozen=True):
    a: Run
    b: Run
    matching: Matching
    options: tuple[Difference, ...]
    """The compared options: those that differ."""
    analysis: Analysis
    remarks: tuple[Remark, ...]

    @property
    def undecided(self) -> str:
        """The points that do not show whether B is slower, with reasons; empty if all do."""
        points = [(point.title, point.undecided) for point in self.analysis.points]
        lines = [f"{title}: {reason}" for title, reason in points if reason]
        return "; ".join(
            [*lines, *(remark.message for remark in self.remarks if remark.incomplete)]
        )


def read_run(path: Path) -> Run:
    with RunFile(path) as file:
        manifest = file.manifest()
        label = manifest.get(COMPARED, {}).get("value", path.stem)
        return Run(path, str(label), manifest, tuple(file.points()))


def compare_runs(a: Run, b: Run, varying: Collection[str] = ()) -> Comparison:
    """Compare two runs; raises if they measured different things.

    Interleaved runs need no `varying`: the compared options are those in which the commands differ.
    """
    if a.path.resolve() == b.path.resolve():
        raise BadInput(
            f"A and B are the same file, {a.path}",
            "to compare a target with itself, name it twice with --interleave",
        )
    for run in (a, b):
        if any(result.spec.stages is not None for result in run.results):
            raise BadInput(
                f"{run.path} has points measured with --stages, without a constant rate to compare",
                "compare runs with a --rate; the report of each run has its stages",
            )
    methods = [method_of(run.manifest) for run in (a, b)]
    if methods[0] != methods[1]:
        raise BadInput(
            "A and B were measured by different versions of the method, {} and {}".format(*methods),
            "measure both with one version of sitebench",
        )
    facts_a, facts_b = (run.manifest.get(COMPARED, {}) for run in (a, b))
    together = (
        bool(facts_a) and facts_a["id"] == facts_b.get("id") and facts_a["side"] != facts_b["side"]
    )
    differing = varying_options([r.spec for r in a.results], [r.spec for r in b.results])
    allowed = {d.name for d in differing} if together else set(varying)
    check_facts(a.manifest, b.manifest, allowed)
    matching = match(series(a.results), series(b.results), allowed)
    _check_counts(matching)
    planned = int(facts_a.get("repeats", 0)) if together else 0
    analysis = analyse(matching.common, Design.PAIRS if together else Design.APART, planned)
    allowed_options = tuple(d for d in differing if d.name in allowed)
    order = _of_instances(a, b) if together else (_of_order(a, b),)
    remarks = (*_of_runs(a, b), *order, *_of_points(a, b, matching, analysis))
    return Comparison(a, b, matching, allowed_options, analysis, remarks)


def _check_counts(matching: Matching) -> None:
    """Raise if the rates of the two runs count different steps."""
    for point in matching.common:
        first, *rest = [*point.a.results, *point.b.results]
        if not all(same_steps(first, other) for other in rest):
            kinds = [{result.counts for result in side.results} for side in (point.a, point.b)]
            a, b = (" or ".join(sorted(" and ".join(kind) for kind in side)) for side in kinds)
            raise BadInput(
                f"{title(point.a.spec)} counts {a} as operations in A, and {b} in B",
                "measure both with the same sequence, which counts one of them",
            )


def _of_runs(a: Run, b: Run) -> Iterator[Remark]:
    differences = [
        words for key, words in _MACHINE.items() if a.manifest.get(key) != b.manifest.get(key)
    ]
    if differences:
        yield Remark(
            f"THE LOAD GENERATORS RAN ON DIFFERENT MACHINES, by their {', '.join(differences)}",
            "a difference may come from the machines: measure both from one machine",
        )
    old, new = (run.manifest.get("versions", {}) for run in (a, b))
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    if names:
        different = ", ".join(f"{name} {old.get(name)} / {new.get(name)}" for name in names)
        yield Remark(
            f"the load generator is not the same: {different}",
            "measure both with one version of the load generator",
        )


def _of_order(a: Run, b: Run) -> Remark:
    """Return the remark that the machine may have changed between two runs."""
    spans = a.span, b.span
    apart = ""
    if spans[0] and spans[1] and (spans[0][1] <= spans[1][0] or spans[1][1] <= spans[0][0]):
        apart = ", one after the other"
    return Remark(
        f"the runs were not interleaved{apart}: a change of the machine between them looks "
        "like a difference between A and B",
        "measure both with `sitebench compare A B --interleave CMD`",
    )


def _of_instances(a: Run, b: Run) -> Iterator[Remark]:
    """Yield the remark that two processes of the same software differ."""
    addresses = [{r.spec.target for r in run.results if "://" in r.spec.target} for run in (a, b)]
    if addresses[0] != addresses[1] and all(addresses) and "restart" not in a.manifest[COMPARED]:
        yield Remark(
            "A and B are each one running server: two processes of the same software differ by "
            "some percent, too, because their data are at different places in memory",
            "give `--restart CMD`, or let sitebench start the servers (`--target openldap`): each "
            "repeat then has a new server",
        )


def _of_points(a: Run, b: Run, matching: Matching, analysis: Analysis) -> Iterator[Remark]:
    for name, run in (("A", a), ("B", b)):
        if run.unfinished:
            yield Remark(
                f"{name} has not finished {_titles(run.unfinished)} "
                f"({plural(len(run.unfinished), 'measurement')})",
                f"they are not compared; continue with `sitebench resume {run.path}`",
                incomplete=True,
            )
    for name, specs in (("A", matching.only_a), ("B", matching.only_b)):
        if specs:
            yield Remark(f"only {name} has {_titles(specs)}", "it is not compared", incomplete=True)
    alarmed = [
        f"{row.measure.title} of {point.title}"
        for point in analysis.points
        for row in point.rows
        if row.alarm
    ]
    if alarmed:
        yield Remark(
            f"the A/A null finds a difference: {', '.join(alarmed)}",
            "repeats of the same side disagree: discard the answer at these points, and measure "
            "longer windows on a quieter machine",
        )


def _titles(specs: Sequence[PointSpec]) -> str:
    return "; ".join(dict.fromkeys(title(spec) for spec in specs))
