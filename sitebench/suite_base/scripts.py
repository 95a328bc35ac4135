"""Scenario files in a test: their objectives, remaining entries and data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from sitebench.errors import BadFile, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.runs.identity import SCENARIO_DIGEST
from sitebench.scenario.script import Script


def objective_of(script: Script, objective: Objective | None) -> Objective | None:
    """Return an objective extended by the objectives of operations in a scenario file."""
    for row, text, share in script.objectives:
        try:
            row_objective = Objective.parse(text).about_operation(row, share)
        except UnknownValue as error:
            raise BadFile(
                f"{script.path}: operation {row!r}: {error.message}", error.remedy
            ) from None
        objective = row_objective if objective is None else objective + row_objective
    return objective


def say_kept(script: Script, target: str) -> None:
    from sitebench.measure.command import say

    for name in script.keeps:
        say(f"entries that {script.path} added to {target} stay there: {name}")


def text_of(path: str | None, programs: Iterable[Script]) -> tuple[str, str] | None:
    """Return the name and text of the scenario file of programs."""
    texts = (program.text for program in programs if program.path == path)
    return next(((path, text) for text in texts if path is not None), None)


def scenarios_of(path: str | None, programs: Iterable[Script]) -> dict[str, str]:
    """Return the text of the scenario file of programs, by its digest."""
    file = text_of(path, programs)
    return {} if file is None else {hashlib.sha256(file[1].encode()).hexdigest(): file[1]}


def settings_of(path: str | None, programs: Iterable[Script]) -> dict[str, str]:
    programs = list(programs)
    settings = {
        f"data_{name}": digest for program in programs for name, digest in program.digests.items()
    }
    for digest in scenarios_of(path, programs):
        settings[SCENARIO_DIGEST] = digest
    return settings


def assure_planned(
    planned: Mapping[str, str], path: str | None, programs: Iterable[Script]
) -> None:
    """Raise if a scenario file or its data changed after the point was planned."""
    for name, digest in settings_of(path, programs).items():
        if planned.get(name) != digest:
            part = "text" if name == SCENARIO_DIGEST else f"data {name[len('data_') :]!r}"
            of_file = "" if path is None else f" of {path}"
            raise BadFile(
                f"the {part}{of_file} changed after this point was planned",
                "do not change it while points are measured; run the command again",
            )


def digests_of(programs: Iterable[Script]) -> dict[str, str]:
    return {
        f"the data {name!r} of {program.path}": digest
        for program in programs
        for name, digest in program.digests.items()
    }


def assure_same(here: Mapping[str, str], at_start: Mapping[str, str]) -> None:
    """Raise if a user's file differs between this machine and the machine that started the test."""
    for name, digest in here.items():
        if at_start.get(name) != digest:
            raise BadFile(
                f"{name}: its content differs from that on the machine that started the test",
                "give each machine the same file, at the same path",
            )
