"""JUnit XML of a run, for pipelines: a suite per operation, a case per point.

The XML is valid against the strictest schema in use, Jenkins' junit-10.xsd. In that schema a case
has no properties, so a case's figures are properties of its suite, under the case's name, and lines
of its `system-out`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from sitebench.counts.metrics import LATENCY
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import Judged, Outcome
from sitebench.runs.point import PointResult
from sitebench.tables.tables import point_name
from sitebench.verdict.verdict import Quoted

_TAGS = {
    Outcome.MISSED: "failure",
    Outcome.UNKNOWN: "error",
    Outcome.INVALID: "error",
    Outcome.FAILED: "error",
    Outcome.SKIPPED: "skipped",
}

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow, even if escaped (section 2.2). A target can send them."""


def junit(judged: Sequence[Judged], objective: Objective | None) -> str:
    root = ET.Element("testsuites", {"name": "sitebench", **_counts(judged)})
    for operation in dict.fromkeys(_suite(point) for point in judged):
        members = [point for point in judged if _suite(point) == operation]
        suite = ET.SubElement(root, "testsuite", {"name": operation, **_counts(members)})
        suite.set("skipped", str(_count(members, Outcome.SKIPPED)))
        facts = [("target", target) for target in dict.fromkeys(p.spec.target for p in members)]
        facts += [] if objective is None else [("objective", str(objective))]
        for point in members:
            title = point_name(point.spec)
            facts += [(f"{title}: {name}", value) for name, value in _figures(point)]
        properties = ET.SubElement(suite, "properties")
        for name, value in facts:
            ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
        for point in members:
            _case(suite, point)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(point: Judged) -> str:
    return f"{point.spec.suite}.{point.spec.operation}"


def _counts(judged: Sequence[Judged]) -> dict[str, str]:
    seconds = sum(point.result.seconds for point in judged if point.result is not None)
    return {
        "tests": str(len(judged)),
        "failures": str(_count(judged, Outcome.MISSED)),
        "errors": str(_count(judged, Outcome.UNKNOWN, Outcome.INVALID, Outcome.FAILED)),
        "time": f"{seconds:.3f}",
    }


def _count(judged: Iterable[Judged], *outcomes: Outcome) -> int:
    return sum(point.outcome in outcomes for point in judged)


def _case(suite: ET.Element, point: Judged) -> None:
    seconds = 0.0 if point.result is None else point.result.seconds
    case = ET.SubElement(
        suite,
        "testcase",
        {"name": point_name(point.spec), "classname": _suite(point), "time": f"{seconds:.3f}"},
    )
    if tag := _TAGS.get(point.outcome):
        message = _clean(point.message)
        attributes = {"message": message} | ({"type": point.kind} if point.kind else {})
        ET.SubElement(case, tag, attributes).text = message
    if figures := _figures(point):
        lines = (f"{name} = {_clean(value)}" for name, value in figures)
        ET.SubElement(case, "system-out").text = "\n".join(lines)


def _figures(point: Judged) -> list[tuple[str, str]]:
    """Return the measured figures in the units of the run file."""
    if (result := point.result) is None:
        return []
    latency, verdict = result.clocks[LATENCY], result.verdict
    micros = {**latency.percentiles, "mean": latency.mean, "max": latency.max}
    maximum, lower = verdict.at_most_per_s, verdict.grade == Quoted.AT_LEAST
    return [
        ("ops_per_s", _number(result.ops_per_s, ">= " if lower else "")),
        *([] if maximum is None else [("at_most_per_s", _number(maximum))]),
        ("operations", str(result.operations)),
        ("failures", str(result.failures)),
        *(
            (f"latency_{name}_us", _number(value, result.latency_sign(name), n=latency.n))
            for name, value in micros.items()
        ),
        *(
            (f"failed {kind}", _describe_failure(result, kind))
            for kind in sorted(result.failures_by_kind)
        ),
        ("grade", verdict.grade),
        ("verdict", verdict.bound),
        ("evidence", verdict.evidence),
        ("outcome", point.outcome),
    ]


def _describe_failure(result: PointResult, kind: str) -> str:
    example = result.examples.get(kind)
    number = str(result.failures_by_kind[kind])
    return number if example is None else f"{number}, the first: {example}"


def _number(value: float | None, sign: str = "", *, n: int = 0) -> str:
    """Write a figure as tables do; `n` is the number of samples of an unknown figure."""
    return f"n/a (n={n})" if value is None else f"{sign}{value:.6g}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
