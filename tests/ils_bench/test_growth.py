"""A directory that grows during a measurement: its number of entries at both ends."""

from pathlib import Path

from ils_bench.growth import entries_at_ends, warn_of_growth
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.sequences import ADD
from sitebench.measure.options import MeasureOptions
from sitebench.measure.point_process import Runner
from sitebench.options.option import combine
from sitebench.runs.store import RunStore
from sitebench.suite_base.options import Part
from sitebench.suite_base.points import untold
from tests.support.cli import in_process
from tests.support.points import a_tally

LOAD = ("--users", 2, "--threads", 1, "--locales", "en_US", "--rate", 500, "--arrivals", "even")


def test_warning_is_given_if_a_directory_more_than_doubles() -> None:
    window = ("--warmup", "500ms", "--measure", "3s", "--json")
    (point,) = in_process("ils", "run", "add", "--entries", 100, *LOAD, *window).objects
    start, end = point["figures"]["entries_start"], point["figures"]["entries_end"]
    # People added in the warm-up exist when the window begins.
    assert 100 < start < 2 * start < end
    assert end - start == point["operations"]
    assert "grown-directory" in str(point["warnings"])
    # A directory that doubles has no warning.
    assert not warn_of_growth({"entries_start": start, "entries_end": 2 * start})


def test_directory_with_deletes_of_the_oldest_does_not_grow(tmp_path: Path) -> None:
    # The ring is full after 200 ms; a busy machine may add its last people late.
    options = combine(MeasureOptions, IlsOptions)(
        entries=1_000,
        ring=100,
        users=2,
        threads=1,
        locales=("en_US",),
        rate=500.0,
        warmup=3.0,
        measure=0.6,
    )
    stage = POINTS.stage(Part(options, ["add"]), untold)
    with RunStore(tmp_path / "run") as store, stage.open() as target, Runner() as runner:
        (test,) = stage.tests
        point = runner.run(test.at(target), store)
    # Each lane may be between add and delete.
    assert 1_100 - 2 <= point.figures["entries_start"] <= 1_100
    assert 1_100 - 2 <= point.figures["entries_end"] <= 1_100
    assert "grown-directory" not in str(point.verdict.warnings)


def test_entry_count_at_the_end_of_the_window_excludes_later_adds() -> None:
    added = {"ramp": 1, "warmup": 20, "measure": 300, "after": 4_000}
    tallies = {phase: a_tally("add", n) for phase, n in added.items()}
    found = entries_at_ends(100, tallies, [ADD])
    assert found == {"entries_start": 121, "entries_end": 421}
