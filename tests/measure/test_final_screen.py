"""The end of `run` and `sweep`, on a terminal of 80 columns and in a pipe."""

import os
import re
from pathlib import Path

import pytest

from tests.support.cli import SITEBENCH, in_process
from tests.support.programs import run_program
from tests.support.terminal import at_terminal

LOAD = ("--users", "4", "--threads", "1", "--warmup", "200ms", "--measure", "1s")
RUN = ("ils", "run", "lookup", "--entries", "100", "--locales", "en_US", "--rate", "200", *LOAD)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def test_result_of_a_point_fits_in_fifteen_lines_of_eighty_columns(tmp_path: Path) -> None:
    lines = _COLOURS.sub("", at_terminal(*RUN, columns=80, cwd=tmp_path)).splitlines()
    assert max(map(len, lines)) <= 80
    to_do = lines.index("What to do") if "What to do" in lines else len(lines) - 1
    # On any machine the table comes before the causes and their remedies.
    assert to_do <= 5
    remedies = [line for line in lines[to_do:] if line.startswith("- ")]
    assert len(set(remedies)) == len(remedies)
    assert len(lines) <= 15 or len(remedies) > 2
    title, head, row, *_ = lines
    assert title == "embedded, 4 clients, 200/s asked for, 200ms warm-up, 1s measured"
    # The p95 is printed if the figures leave space.
    heads = [word for word in head.split() if word != "p95"]
    assert heads == ["Operation", "Size", "Rate/s", "p50", "p99", "Fails", "Limit"]
    assert row.split()[:2] == ["lookup", "100"]
    assert lines[-1] == "More: add --out FILE for a report; --paper-tables adds the papers' tables"


@pytest.fixture
def piped(tmp_path: Path) -> list[str]:
    """The output of a sweep of three points in a pipe, with the papers' tables."""
    sweep = ("ils", "sweep", "--sizes", "100,200,300", "--operations", "lookup", "--rate", "200")
    argv = (*sweep, "--locales", "en_US", *LOAD, "--out", "run", "--paper-tables")
    ran = run_program(
        [*SITEBENCH, *argv],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_piped_output_is_neither_wrapped_nor_truncated(piped: list[str]) -> None:
    assert "…" not in "".join(piped)
    more = piped.index("More: sitebench report run")
    table = [line.split() for line in piped[2:5]]
    assert [row[:2] for row in table] == [["lookup", "100"], ["lookup", "200"], ["lookup", "300"]]
    to_do = piped[piped.index("What to do") + 1 : more]
    # A remedy and its reason, each on one line.
    assert [line[:2] for line in to_do] == ["- ", "  "] * (len(to_do) // 2)
    assert max(map(len, to_do)) > 80
    remedies = to_do[::2]
    # All three points are too short for the same reason, each with its own figures.
    assert len([line for line in remedies if "measure longer: --measure" in line]) == 1
    assert len(set(remedies)) == len(remedies)
    after = "\n".join(piped[more:])
    for words in ("Direct Lookup Operation", "Latency", "Bottlenecks: lookup"):
        assert words in after
        assert words not in "\n".join(piped[:more])


def test_paper_tables_do_not_change_json(tmp_path: Path) -> None:
    (point,) = in_process(*RUN, "--json", "--paper-tables", cwd=tmp_path).check(0).objects
    assert point["operation"] == "lookup"
