"""Reads the text format in which Prometheus' exporters answer.

As the format's page has it (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4):
a line is a name, labels in braces, a value and perhaps a timestamp; `#` begins a comment. Only the
metrics asked for are looked at any closer: an exporter has a thousand lines, and we want eighty.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n"}


class NotPrometheus(ValueError):  # noqa: N818 (an answer, which becomes a gap, not a user's error)
    """The text is not of this format."""


@dataclass(frozen=True)
class Metric:
    """One value, and which one it is."""

    labels: Mapping[str, str]
    value: float


def metrics(text: str, wanted: Collection[str]) -> dict[str, list[Metric]]:
    """Return the wanted metrics by name."""
    found: dict[str, list[Metric]] = {}
    # Not splitlines(): a label may hold what only Unicode takes for the end of a line.
    for each in text.split("\n"):
        line = each.strip(" \t\r")
        if not line or line[0] == "#":
            continue
        end = _end_of_name(line)
        name = line[:end]
        if name in wanted:
            found.setdefault(name, []).append(_metric(line, end))
    return found


def _end_of_name(line: str) -> int:
    brace, space = line.find("{"), line.find(" ")
    ends = [each for each in (brace, space) if each >= 0]
    if not ends or min(ends) == 0:
        raise NotPrometheus(f"it does not answer in Prometheus' format: no metric in {line[:60]!r}")
    return min(ends)


def _metric(line: str, end: int) -> Metric:
    labels: dict[str, str] = {}
    rest = line[end:]
    if rest.startswith("{"):
        close = rest.rindex("}") if "}" in rest else -1
        labels = _labels(rest[1:close], line)
        rest = rest[close + 1 :]
    try:
        return Metric(labels, float(rest.split()[0]))
    except (IndexError, ValueError):
        raise NotPrometheus(
            f"it does not answer in Prometheus' format: no value in {line[:60]!r}"
        ) from None


def _labels(text: str, line: str) -> dict[str, str]:
    found = {}
    at = 0
    while at < len(text):
        label = _LABEL.match(text, at)
        if label is None:
            raise NotPrometheus(
                f"it does not answer in Prometheus' format: bad labels in {line[:60]!r}"
            )
        found[label[1]] = _ESCAPE.sub(lambda each: _ESCAPES.get(each[1], each[1]), label[2])
        at = label.end()
    return found
