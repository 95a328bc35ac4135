"""The final table of a run: one row per point."""

import pytest
from msgspec.structs import replace
from rich.console import Console

from sitebench.counts.metrics import THINKING
from sitebench.runs.point import PointResult, PointSpec, StepResult
from sitebench.tables.screen import PointsTable
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import PointWarning, WarningKind
from tests.support.points import a_result, a_spec, judged


def shown(*results: PointResult, width: int = 80) -> list[str]:
    console = Console(width=width, record=True, force_terminal=False)
    console.print(PointsTable(results), crop=False)
    return console.export_text().splitlines()


def a_point(
    spec: PointSpec | None = None,
    count: int = 20_000,
    bound: str = Bound.TARGET_CPU,
    at_most: float | None = None,
) -> PointResult:
    found = a_result(spec, count)
    valid = bound == Bound.TARGET_CPU
    return judged(found, bound=bound, valid=valid, at_most_per_s=at_most)


def test_valid_point_is_printed_as_a_title_a_head_and_a_row() -> None:
    assert shown(a_point()) == [
        "embedded, 64 clients, 500ms warm-up, 2s measured",
        "Operation  Size  Rate/s    p50    p95    p99  Fails  Limit",
        "lookup       1k  10,000  50 us  50 us  50 us      0  target-cpu",
    ]


@pytest.mark.parametrize(
    ("bound", "at_most", "rate", "limit"),
    [
        (Bound.GENERATOR, 37_000.0, "10,000..37,000", "generator"),
        (Bound.GENERATOR, None, ">= 10,000", "generator"),
        (Bound.OTHERS, None, ">= 10,000", "others"),
        (Bound.UNSETTLED, None, "10,000", "unsettled (not usable)"),
    ],
)
def test_limit_outside_the_target_is_named(
    bound: str, at_most: float | None, rate: str, limit: str
) -> None:
    _, _, row, *notes = shown(a_point(bound=bound, at_most=at_most), a_point(a_spec("add")))
    assert f"  {rate}  " in row
    assert "50 us *" in row
    assert row.endswith(limit)
    about = " ".join(" ".join(notes[1:]).split())
    assert ("a..b: the true rate is between a and b" in about) == (at_most is not None)
    meaning = {
        Bound.GENERATOR: "includes delays of the load generator; the server was faster",
        Bound.OTHERS: "includes delays of other programs; the server was faster",
    }
    assert about.endswith(f"*: {meaning.get(Bound(bound), 'not usable')}.")


def test_one_sentence_names_both_causes_of_too_high_latencies() -> None:
    points = (a_point(bound=Bound.GENERATOR), a_point(a_spec("add"), bound=Bound.OTHERS))
    both = "includes delays of the load generator or other programs; the server was faster."
    assert " ".join(" ".join(shown(*points)).split()).endswith(f"*: {both}")


def test_star_is_explained_only_if_a_figure_has_one() -> None:
    _, _, row, *notes = shown(a_point(bound=Bound.OTHERS, count=50))
    assert "n/a" in row
    assert "*" not in " ".join([row, *notes])


def test_marked_and_unmarked_figures_are_aligned() -> None:
    _, _, one, other, *_ = shown(a_point(bound=Bound.GENERATOR), a_point(a_spec("add")))
    assert one.index("us *") == other.index("us")


def test_repeats_are_shown_with_their_interval_and_number() -> None:
    few = [a_point(a_spec(repeat=n), 20_000 + 2_000 * n) for n in range(3)]
    _, head, row, note = shown(*few)
    assert "least..most" in head
    assert "11,000  10,000..12,000" in row
    assert note == "Medians over 3 repeats; a 95% interval needs 6."
    enough = [a_point(a_spec(repeat=n), 20_000 + 2_000 * n) for n in range(6)]
    _, head, row, note = shown(*enough)
    assert "95% interval" in head
    assert "12,500  10,000..15,000" in row
    assert note == "Medians over 6 repeats."


def test_sizes_and_clients_are_columns_if_they_distinguish_points() -> None:
    heads = {
        "Size": shown(a_point(), a_point(a_spec(entries=10_000))),
        "Clients": shown(a_point(a_spec(entries=0)), a_point(a_spec(entries=0, users=2))),
        "Size  Clients": shown(a_point(), a_point(a_spec(users=2))),
    }
    for head, lines in heads.items():
        assert f"Operation  {head}  Rate/s" in lines[1]
        assert ("64 clients" in lines[0]) == (head == "Size")


def test_lengthened_window_is_printed_with_its_length() -> None:
    longer = replace(a_point(), seconds=9.7)
    title, *_ = shown(longer)
    assert title.endswith("500ms warm-up, 10s measured")
    title, *_ = shown(longer, a_point(a_spec("add")))
    assert title.endswith("500ms warm-up, 2s to 10s measured")


def test_narrow_terminal_has_fewer_columns_and_untruncated_figures() -> None:
    spec = a_spec("a-workload-with-a-long-name", 0)
    point = a_point(spec, 2_000_000, Bound.GENERATOR, 12_345_678.0)
    title, head, row, *_ = shown(point)
    assert title.startswith("a-workload-with-a-long-name, embedded, 64 clients")
    assert head.split() == ["Clients", "Rate/s", "p50", "p95", "p99", "Fails", "Limit"]
    assert max(map(len, (head, row))) <= 80
    (head,) = [line for line in shown(point, width=72) if "Rate/s" in line]
    assert "p95" not in head
    assert "p50" in head
    head, row = shown(point, width=20)[4:6]
    assert "p50" not in head
    assert "1,000,000..12,345,678  " in row
    assert row.endswith("generator")


def test_left_out_operations_have_a_footnote() -> None:
    point = replace(a_point(), counters={THINKING: 2})
    assert shown(point)[-1] == (
        "2 operations were in a think time of their own when the test ended: left out."
    )


def test_rates_of_arrivals_and_counted_steps_are_shown_if_they_differ() -> None:
    point = a_point(a_spec("mix", rate=100))
    whole = StepResult("b", "sequence", 200, 0, 100.0, counted=False)
    asked = StepResult("b", "ask", 800, 0, 400.0, counted=True)
    assert shown(replace(point, steps=(whole, asked)))[-1] == (
        "b: 100/s arrived, with 400/s of its step ask in all."
    )
    once = replace(asked, per_s=101.0)
    assert len(shown(replace(point, steps=(whole, once)))) == len(shown(point))


@pytest.mark.parametrize(("count", "is_explained"), [(20_000, True), (20, False)])
def test_upper_bound_of_latency_is_explained_only_where_a_figure_has_it(
    count: int, is_explained: bool
) -> None:
    result = a_point(count=count)
    waits = PointWarning(WarningKind.OTHERS_IN_LATENCY, "an operation waited", "end others")
    result = judged(result, warnings=(waits,))
    lines = " ".join(shown(result, width=120))
    assert ("<= 50 us" in lines) == is_explained
    assert ("<=: waits for other programs are in it" in lines) == is_explained
