"""Metrics are declared once: every output after the recorders follows the tables."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from sitebench import _engine
from sitebench._engine import Histogram
from sitebench.cli.export import as_text
from sitebench.counts import metrics
from sitebench.counts.metrics import Clock, Counter
from sitebench.counts.source import Drain as PlainDrain
from sitebench.counts.tally import Tally
from sitebench.locust.workers.merge import Merger
from sitebench.locust.workers.messages import pack, unpack
from sitebench.report import build
from sitebench.report.model import load
from sitebench.runs.point import PointResult
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_spec, summarised
from tests.support.programs import run_program

ROOT = Path(__file__).parents[2]
SECOND = 10**9
QUEUED = Clock("queued", "time in the queue", "how long a right answer lay in the target's queue")
RETRIES = Counter("retries", "bytes", "bytes that were sent again")


def test_engine_records_the_metrics_of_the_table() -> None:
    clocks = [("clock", each, each.unit) for each in metrics.CLOCKS]
    counters = [("counter", each, each.unit) for each in metrics.COUNTERS]
    assert [each[:3] for each in _engine.metrics()] == clocks + counters
    assert all(each[3] for each in _engine.metrics())


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a clock and a counter that only the tables of this test contain."""
    monkeypatch.setattr(metrics, "CLOCKS", (*metrics.CLOCKS, QUEUED))
    monkeypatch.setattr(metrics, "COUNTERS", (*metrics.COUNTERS, RETRIES))


def of_worker(ns: int) -> PlainDrain:
    step = Step("lookup", "lookup", 20_000, {}, 0, 0, Histogram(), queued=Histogram())
    step.clocks["service"].record(50_000, 20_000)
    step.clocks["queued"].record(ns, 20_000)
    step.counters[RETRIES] = 7
    return unpack(pack(Drain(10, 10 + 2 * SECOND, (step,)), [SECOND]))


@pytest.mark.usefixtures("more")
def test_clocks_and_counters_of_the_table_are_in_every_output(tmp_path: Path) -> None:
    merger = Merger({"a": (0,), "b": (0,)}, "measure")
    asked = merger.ask()
    merger.answer("a", asked.number, of_worker(8_000_000))
    merger.answer("b", asked.number, of_worker(9_000_000))
    ((_, merged),) = merger.settle(0)
    tally = Tally.starting(Drain(0, 10, cpu_ns=(0, 0)))
    tally.add(merged)
    spec = a_spec()
    result = summarised(tally, spec)
    found = result.to_json()
    assert found["queued_us"]["p50"] == pytest.approx(8_000, rel=0.001)
    assert found["queued_us"]["max"] == pytest.approx(9_000, rel=0.001)
    assert (found["retries"], found["retries_per_s"]) == (14, pytest.approx(7.0))
    assert found["steps"][0]["queued"]["n"] == 40_000
    assert PointResult.read(found) == result

    path = tmp_path / "run.sitebench"
    with RunStore(path) as store:
        store.begin(spec)
        store.complete(store.point_id(spec.key), {"measure": tally}, result)
        store.confirm(spec)
    with RunFile(path) as run:
        (step,) = run.steps(1)
        assert (step.clocks["queued"].count, step.counters["retries"]) == (40_000, 14)
        head, row = as_text(run, "csv", "steps")
        columns = dict(zip(head.split(","), row.split(","), strict=True))
    assert columns["retries"] == "14"
    assert float(columns["queued_us.max"]) == pytest.approx(9_000, rel=0.001)
    report = load([path])
    assert "time in the queue" in build.html(report, build.sections(report))


def literals(file: Path) -> set[str]:
    """Return the texts and the names of attributes of a Python file."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return texts | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


@pytest.mark.parametrize("clock", ["lag", "unread", "censored"])
def test_names_of_clocks_occur_in_only_a_few_files(clock: str) -> None:
    """The names of other metrics have other meanings too, such as the latency of a drain."""
    listed = run_program(["git", "ls-files", "*.py", "*.rs"], cwd=ROOT, check=True).stdout
    names = [Path(name) for name in listed.splitlines()]
    product = [name for name in names if not {"tests", "benches", "examples"} & {*name.parts}]
    forms = {clock, f"{clock}_us", f"{clock}_ns"}
    as_word = re.compile(rf'"{clock}(_us|_ns)?"|\.{clock}(_us|_ns)?\b')
    naming = [
        str(name)
        for name in product
        if (name.suffix == ".py" and literals(ROOT / name) & forms)
        or (name.suffix == ".rs" and as_word.search((ROOT / name).read_text()))
    ]
    assert len(naming) <= 4, naming


def test_unrecorded_clock_is_empty() -> None:
    step = Step("p", "s", 2, {}, 0, 0, histogram(1, 2))
    assert step.clocks["unread"].count == 0
    assert isinstance(step.clocks, defaultdict)
