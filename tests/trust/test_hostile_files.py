"""Damaged files: a scenario or a run file is read, or refused with a sitebench error.

Real files are changed at random: by a fixed seed, or with FUZZ_MINUTES (`make fuzz`) by new seeds
for that many minutes each.
"""

import contextlib
import functools
import itertools
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitebench.cli.export import FORMATS, as_text
from sitebench.errors import SitebenchError
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.scenario.script import from_text
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_spec
from tests.support.runs import finish

FUZZ_S = 60 * float(os.environ.get("FUZZ_MINUTES", "0"))
pytestmark = pytest.mark.timeout(120 + FUZZ_S)

some = settings(
    max_examples=150,
    deadline=None,
    derandomize=not FUZZ_S,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

Property = Callable[..., None]


def damaged_by(*changes: st.SearchStrategy[Any]) -> Callable[[Property], Property]:
    """Try some changes, and further ones until the time is up; print their number."""

    def decorate(test: Property) -> Property:
        tries = itertools.count()

        @functools.wraps(test)
        def counted(*arguments: Any, **named: Any) -> None:
            next(tries)
            test(*arguments, **named)

        tried = some(given(*changes)(counted))

        @functools.wraps(tried)
        def repeated(**fixtures: Any) -> None:
            give_up = time.monotonic() + FUZZ_S
            tried(**fixtures)
            while time.monotonic() < give_up:
                tried(**fixtures)
            print(f"{test.__name__}: {next(tries):,} examples")

        return repeated

    return decorate


places = st.floats(0, 1, exclude_max=True)
PUNCTUATION = ('"', "'", '"' * 3, "[[", "]]", *"{}=.,#\n\x00é\ufeff")
WORDS = ("{visitor.id}", "{env.HOME}", "\\u0000", "operation", "get", "weight", "expect")
WHOLE = Path(__file__).parents[2] / "examples" / "flask_site" / "site.toml"
VALUES = ("-1", "1e999", "true", "[]", "{}", "9" * 20, "0x", "1979-05-27")
DEEP = ("[" * 2_000, "a." * 2_000)
tokens = st.sampled_from((*PUNCTUATION, *WORDS, *VALUES, *DEEP))
edits = st.lists(
    st.tuples(places, st.integers(0, 60), st.one_of(tokens, st.text(max_size=8))), max_size=5
)


@damaged_by(edits)
def test_damaged_scenario_is_read_or_refused(changes: list[tuple[float, int, str]]) -> None:
    text = WHOLE.read_text()
    for place, cut, put in changes:
        at = int(place * len(text))
        text = text[:at] + put + text[at + cut :]
    with contextlib.suppress(SitebenchError):
        from_text("file", text)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run file."""
    path = tmp_path_factory.mktemp("whole") / "run.sitebench"
    with RunStore(path) as store:
        store.set_manifest({"seed": 1997})
        finish(store)
        point = store.point_id(a_spec().key)
        step = Step("lookup", "lookup", 1, service=histogram(50_000))
        store.append(point, "measure", Drain(0, 10**9, (step,)))
        store.append_sample(point, 10**9, [("target", "cpu_s", 1.0)])
    return path


EXPORTS = [(name, rows) for name, kinds in FORMATS.items() for rows in kinds]


def read_everything(path: Path) -> None:
    with contextlib.suppress(SitebenchError), RunFile(path) as run:
        for read in (run.manifest, run.results):
            with contextlib.suppress(SitebenchError):
                read()
        for form, what in EXPORTS:
            with contextlib.suppress(SitebenchError):
                list(as_text(run, form, what))
        for point in run.points():
            readers: tuple[Callable[[int], object], ...]
            readers = (run.timeline, run.steps, run.samples)
            for of_point in readers:
                with contextlib.suppress(SitebenchError):
                    of_point(point.id)


@damaged_by(st.lists(st.tuples(places, st.integers(0, 255)), max_size=20), st.none() | places)
def test_run_file_with_wrong_bytes_is_read_or_refused(
    whole: Path, tmp_path: Path, flips: list[tuple[float, int]], kept: float | None
) -> None:
    damaged = bytearray(whole.read_bytes())
    for place, byte in flips:
        damaged[int(place * len(damaged))] = byte
    path = tmp_path / "damaged.sitebench"
    path.write_bytes(damaged if kept is None else damaged[: int(kept * len(damaged))])
    read_everything(path)


@damaged_by(
    st.data(),
    st.one_of(
        st.none(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.binary(max_size=40),
        st.sampled_from(["", "{", "{}", "[]", "null", "1", '"x"', "[" * 5_000, "\x00", "done"]),
    ),
)
def test_run_file_with_wrong_values_is_read_or_refused(
    whole: Path, tmp_path: Path, data: st.DataObject, value: object
) -> None:
    path = tmp_path / "damaged.sitebench"
    path.write_bytes(whole.read_bytes())
    with contextlib.closing(sqlite3.connect(path)) as database:
        tables = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        (table,) = data.draw(st.sampled_from(tables))
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        if columns:
            column = data.draw(st.sampled_from(columns))
            with contextlib.suppress(sqlite3.Error, OverflowError):
                database.execute(f'update {table} set "{column}" = ?', (value,))
                database.commit()
    read_everything(path)
