"""The outcomes of a suite's tests, from the JUnit file of pytest or vitest."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

_ENDINGS = {"failure": "failed", "error": "failed", "skipped": "skipped"}


def read_outcomes(path: Path) -> dict[str, str]:
    """Return passed, failed or skipped by the name of the test."""
    outcomes: dict[str, str] = {}
    for case in ET.parse(path).iter("testcase"):
        name = f"{case.get('classname')} {case.get('name')}"
        told = [_ENDINGS[child.tag] for child in case if child.tag in _ENDINGS]
        outcomes[name] = told[0] if told else "passed"
    return outcomes


def complaints(
    outcomes: Mapping[str, str], left_out: Mapping[str, str], passed_at_least: int
) -> list[str]:
    """Return deviations from the table of left-out tests."""
    passed = [name for name, outcome in outcomes.items() if outcome == "passed"]
    found = [
        f"{outcome}: {name}"
        for name, outcome in outcomes.items()
        if outcome != "passed" and name not in left_out
    ]
    found += [f"passes, and is left out: {name}" for name in passed if name in left_out]
    found += [
        f"does not exist, and is left out: {name}" for name in left_out if name not in outcomes
    ]
    if len(passed) < passed_at_least:
        found.append(f"only {len(passed)} tests passed, of {passed_at_least}")
    return found
