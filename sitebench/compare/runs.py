"""Two run files held against each other, and everything there is to remark about that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitebench.compare.comparison import Analysis, analyse
from sitebench.compare.effect import Design
from sitebench.compare.matching import Difference, Matching, check_facts, match, title, varied
from sitebench.errors import BadInput
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import series
from sitebench.runs.runfile import RunFile, StoredPoint

COMPARED = "compared"
"""Manifest key of a run that was interleaved with another: id, side, value, command, seed."""

MACHINE = {
    "cpu": "processor",
    "kernel": "kernel",
    "memory_bytes": "memory",
    "sysctls": "kernel settings",
    "clock": "clock source",
}
"""Facts of a manifest that say where the tester ran."""


@dataclass(frozen=True)
class Run:
    """One run file, as far as a comparison goes."""

    path: Path
    label: str
    manifest: Mapping[str, Any]
    points: tuple[StoredPoint, ...]

    @property
    def results(self) -> list[PointResult]:
        """The result of every finished point."""
        return [p.result for p in self.points if p.status == "done" and p.result is not None]

    @property
    def unfinished(self) -> list[PointSpec]:
        """Points that were planned and are not done."""
        return [p.spec for p in self.points if p.status != "done"]

    @property
    def span(self) -> tuple[float, float] | None:
        """When its first finished point began and its last one ended."""
        times = [(p.started, p.finished) for p in self.points if p.status == "done"]
        begun = [start for start, end in times if start is not None and end is not None]
        ended = [end for start, end in times if start is not None and end is not None]
        return (min(begun), max(ended)) if begun else None


@dataclass(frozen=True)
class Remark:
    """Something to know before the answer is believed, and what to do about it."""

    message: str
    remedy: str


@dataclass(frozen=True)
class Comparison:
    """Two runs, what they have in common, and the answer."""

    a: Run
    b: Run
    matching: Matching
    asked: tuple[Difference, ...]
    """What was asked for differently, and is what is compared."""
    analysis: Analysis
    remarks: tuple[Remark, ...]


def read_run(path: Path) -> Run:
    """Read a run file."""
    with RunFile(path) as file:
        manifest = file.manifest()
        label = manifest.get(COMPARED, {}).get("value", path.stem)
        return Run(path, str(label), manifest, tuple(file.points()))


def compare_runs(a: Run, b: Run, varying: Collection[str] = ()) -> Comparison:
    """Compare two runs; raises what they measured differently.

    What one command's points differ in from the other's needs no `varying` where the two were
    interleaved: it is what was compared.
    """
    if a.path.resolve() == b.path.resolve():
        raise BadInput(
            f"A and B are the same file, {a.path}",
            "to compare a target with itself, name it twice with --interleave",
        )
    together = _interleaved(a, b)
    asked = varied([r.spec for r in a.results], [r.spec for r in b.results])
    allowed = {d.name for d in asked} if together else set(varying)
    check_facts(a.manifest, b.manifest, allowed)
    matching = match(series(a.results), series(b.results), allowed)
    analysis = analyse(matching.both, Design.PAIRS if together else Design.GROUPS)
    kept = tuple(d for d in asked if d.name in allowed)
    remarks = (*_of_runs(a, b), *_of_order(a, b, together), *_of_points(a, b, matching, analysis))
    return Comparison(a, b, matching, kept, analysis, remarks)


def _interleaved(a: Run, b: Run) -> bool:
    """Whether both come from one interleaved comparison."""
    mine, theirs = (run.manifest.get(COMPARED, {}) for run in (a, b))
    return bool(mine) and mine["id"] == theirs.get("id") and mine["side"] != theirs["side"]


def _of_runs(a: Run, b: Run) -> list[Remark]:
    """Remark on another machine, and on another version of the tester."""
    found = []
    machine = [
        words for key, words in MACHINE.items() if a.manifest.get(key) != b.manifest.get(key)
    ]
    if machine:
        found.append(
            Remark(
                f"THE TESTER'S MACHINE IS NOT THE SAME, by its {', '.join(machine)}",
                "a difference may be the machine's: measure both from one machine",
            )
        )
    versions = [run.manifest.get("versions", {}) for run in (a, b)]
    names = sorted(
        n for n in {*versions[0], *versions[1]} if versions[0].get(n) != versions[1].get(n)
    )
    if names:
        said = ", ".join(f"{n} {versions[0].get(n)} / {versions[1].get(n)}" for n in names)
        found.append(
            Remark(f"the tester is not the same: {said}", "measure both with one version of it")
        )
    return found


def _of_order(a: Run, b: Run, together: bool) -> list[Remark]:
    """Remark that what happened to the machine between two runs looks like a difference."""
    if together:
        return []
    spans = a.span, b.span
    apart = ""
    if spans[0] and spans[1] and (spans[0][1] <= spans[1][0] or spans[1][1] <= spans[0][0]):
        apart = ", one after the other"
    return [
        Remark(
            f"the runs were measured apart{apart}: what changed on the machine meanwhile looks "
            "like a difference between A and B",
            "measure both with `sitebench compare A B --interleave CMD`",
        )
    ]


def _of_points(a: Run, b: Run, matching: Matching, analysis: Analysis) -> list[Remark]:
    found = []
    for name, run in (("A", a), ("B", b)):
        if run.unfinished:
            found.append(
                Remark(
                    f"{name} has not finished {_titles(run.unfinished)} "
                    f"({len(run.unfinished)} measurements)",
                    "they are not compared; the run's own command, run again, goes on with them",
                )
            )
    for name, specs in (("A", matching.only_a), ("B", matching.only_b)):
        if specs:
            found.append(Remark(f"only {name} has {_titles(specs)}", "it is compared with nothing"))
    alarmed = [
        f"{row.measure.title} of {point.title}"
        for point in analysis.points
        for row in point.rows
        if row.alarmed
    ]
    if alarmed:
        found.append(
            Remark(
                f"the A/A null finds a difference where there is none: {', '.join(alarmed)}",
                "the repeats disagree with themselves: take the answer there for nothing, and "
                "measure longer windows on a quieter machine",
            )
        )
    return found


def _titles(specs: Sequence[PointSpec]) -> str:
    return "; ".join(dict.fromkeys(title(spec) for spec in specs))
