"""The points of two runs that may be compared: those with equal options.

Targets are compared, so the options of the target may differ. All other options of a point must be
equal, except the compared ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from sitebench import units
from sitebench.errors import BadInput
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Series
from sitebench.suite import suites

_UNSET = "not set"


class Difference(msgspec.Struct, frozen=True):
    name: str
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.name} ({self.a} / {self.b})"


class Matched(msgspec.Struct, frozen=True):
    a: Series
    b: Series
    operation: str = ""
    """Name of the compared operation; empty if the whole point is compared."""

    @property
    def title(self) -> str:
        """The name of the point; for one of its several operations, also the operation's name."""
        point = title(self.a.results[0].spec)
        return f"{self.operation} of {point}" if self.operation else point

    @property
    def operations(self) -> Iterator[Matched]:
        """Pairs of the operations of a mix; none if there is one operation."""
        names = dict.fromkeys([*self.a.operations, *self.b.operations])
        if len(names) > 1:
            for name in names:
                yield Matched(self.a.of_operation(name), self.b.of_operation(name), name)


class Matching(msgspec.Struct, frozen=True):
    common: tuple[Matched, ...]
    only_a: tuple[PointSpec, ...]
    only_b: tuple[PointSpec, ...]


Identity = Mapping[str, str]


def identity(spec: PointSpec) -> Identity:
    """Return the options that must be equal in a comparison."""
    options = {
        "suite": spec.suite,
        "operation": spec.operation,
        "entries": units.format_size(spec.entries),
        "users": units.format_size(spec.users),
        "rate": _UNSET if spec.rate is None else f"{spec.rate:g}",
        "warmup": units.format_duration(spec.warmup_s),
        "measure": units.format_duration(spec.measure_s),
        "client": spec.client,
    }
    of_the_target = {
        k for suite in suites() if suite.name == spec.suite for k in suite.target_options
    }
    settings = {k: v for k, v in spec.settings.items() if k not in of_the_target}
    return {**settings, **options}


def differences(a: Identity, b: Identity) -> list[Difference]:
    names = [*a, *(name for name in b if name not in a)]
    options = [Difference(name, a.get(name, _UNSET), b.get(name, _UNSET)) for name in names]
    return [option for option in options if option.a != option.b]


def varying_options(a: Sequence[PointSpec], b: Sequence[PointSpec]) -> list[Difference]:
    """Return the options whose values differ between the two commands.

    If one side has all values of the other side, points are missing, and nothing was varied.
    """
    sides = [[identity(spec) for spec in side] for side in (a, b)]
    names = dict.fromkeys(name for side in sides for options in side for name in options)
    differing = []
    for name in names:
        values_a, values_b = (
            dict.fromkeys(options.get(name, _UNSET) for options in side) for side in sides
        )
        if values_a.keys() - values_b.keys() and values_b.keys() - values_a.keys():
            differing.append(Difference(name, ", ".join(values_a), ", ".join(values_b)))
    return differing


def match(a: Sequence[Series], b: Sequence[Series], varying: Collection[str] = ()) -> Matching:
    """Match the points of two runs; if no points match, raises with the runs' differences."""
    points_a, points_b = _by_identity(a, varying, "A"), _by_identity(b, varying, "B")
    common = tuple(Matched(points_a[key], points_b[key]) for key in points_a if key in points_b)
    only_a = tuple(point.spec for key, point in points_a.items() if key not in points_b)
    only_b = tuple(point.spec for key, point in points_b.items() if key not in points_a)
    if not common:
        raise _nothing_in_common(only_a, only_b, varying)
    return Matching(common, only_a, only_b)


def _by_identity(
    side: Sequence[Series], varying: Collection[str], name: str
) -> dict[tuple[tuple[str, str], ...], Series]:
    points: dict[tuple[tuple[str, str], ...], Series] = {}
    for point in side:
        options = {k: v for k, v in identity(point.spec).items() if k not in varying}
        key = tuple(sorted(options.items()))
        if key in points:
            raise BadInput(
                f"{name} has {title(point.spec)} with more than one value of {', '.join(varying)}",
                "compare runs that have one value each",
            )
        points[key] = point
    return points


def title(spec: PointSpec) -> str:
    has_load = spec.rate is not None or spec.entries
    return f"{spec.what}, {spec.load}" if has_load else spec.title


def _nothing_in_common(
    a: Sequence[PointSpec], b: Sequence[PointSpec], varying: Collection[str]
) -> BadInput:
    """Return an error with the differences of the two most similar points."""
    for side, specs in (("A", a), ("B", b)):
        if not specs:
            return BadInput(f"{side} has no finished point", "let it finish: run it again")
    suites_of = [{spec.suite for spec in specs} for specs in (a, b)]
    if not set.intersection(*suites_of):
        one, other = ("/".join(sorted(suite_names)) for suite_names in suites_of)
        return BadInput(
            f"A is a run of `sitebench {one}` and B one of `sitebench {other}`",
            "name two runs of one suite",
        )
    pairs = [differences(identity(x), identity(y)) for x in a for y in b]
    fewest = min(([d for d in options if d.name not in varying] for options in pairs), key=len)
    different = ", ".join(str(option) for option in fewest)
    names = ",".join(option.name for option in fewest)
    return BadInput(
        f"the runs measured with different options: {different}",
        f"measure both with equal options; or, if that is what you compare, add --varying {names}",
    )


def check_facts(a: Mapping[str, Any], b: Mapping[str, Any], varying: Collection[str] = ()) -> None:
    """Raise if the manifests show different people, pages or programs despite equal options."""
    if "locales" not in varying and "seed" not in varying:
        for name, digests in zip(("pools_digest", "digest"), _people(a, b), strict=True):
            if None not in digests and digests[0] != digests[1]:
                if "names" in b.get("population", {}):
                    raise BadInput(
                        "the runs measured different people: their lists of names were not equal",
                        "measure both with the same file",
                    )
                raise BadInput(
                    f"the runs measured different people: {name} {_short(digests[0])} / "
                    f"{_short(digests[1])}",
                    "their names come from different versions of sitebench, or of Faker where "
                    "--locales is given: measure both with one",
                )
    scenarios = [side.get("scenarios", {}).keys() for side in (a, b)]
    if "scenario" not in varying and all(scenarios) and scenarios[0].isdisjoint(scenarios[1]):
        raise BadInput(
            "the runs measured different scenarios: their scenario files were not the same",
            "measure both with the same file; or, if that is what you compare, "
            "add --varying scenario",
        )
    programs = [
        {target["cgi_program"] for target in side.get("targets", []) if "cgi_program" in target}
        for side in (a, b)
    ]
    if "cgi_program" not in varying and all(programs) and programs[0] != programs[1]:
        raise BadInput(
            "the runs measured different CGI programs, with different output",
            "measure both with one version of sitebench; or, if that is what you compare, "
            "add --varying cgi_program",
        )


def _people(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[list[str | None]]:
    """Return both sides' digests of name pools, and of all people if these must be equal.

    The digest of people depends on their number and base DN, the digest of pools does not.
    """
    people = [side.get("population", {}) for side in (a, b)]
    pools = [population.get("pools_digest") for population in people]
    sizes = [max(side.get("sizes") or [0]) for side in (a, b)]
    comparable = pools == [None, None] and sizes[0] == sizes[1]
    return [pools, [population.get("digest") if comparable else None for population in people]]


def _short(digest: str | None) -> str:
    return (digest or "")[:12]
