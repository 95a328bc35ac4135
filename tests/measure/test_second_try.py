"""Second tries of a point with another thread, and the choice between the two tries."""

from pathlib import Path
from typing import Any, Never

import pytest
from msgspec import structs

from sitebench.measure.progress import LiveProgress, counting
from sitebench.measure.sweep import Stage, second_try, sweep
from sitebench.runs.manifest import COMPARED
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import best_tries, series
from sitebench.runs.store import RunStore
from sitebench.system.machine import usable_cores
from sitebench.verdict.verdict import Bound, Quoted
from tests.support.points import a_result, a_spec, a_tally, a_test, judged


class OpenedError(Exception):
    """The target was opened to measure it."""


def limited(spec: PointSpec | None = None, count: int = 20_000, **other: Any) -> PointResult:
    """Return a result limited by the load generator, on a machine with CPU left."""
    made = a_result(spec, count)
    verdict = structs.replace(made.verdict, bound=Bound.GENERATOR, valid=False)
    return structs.replace(made, verdict=verdict, **other)


@pytest.fixture(autouse=True)
def _two_cores() -> None:
    if usable_cores() < 2:
        pytest.skip("a second thread needs a second core")


def test_point_limited_by_the_generator_is_tried_with_one_more_thread() -> None:
    wanted = second_try(limited())
    assert wanted == structs.replace(a_spec(), threads=2)
    assert wanted.key != a_spec().key
    assert PointSpec.read(wanted.stored()) == wanted


def test_specification_of_a_first_try_has_no_number_of_threads() -> None:
    assert a_spec().threads is None


@pytest.mark.parametrize(
    "result",
    [
        a_result(),
        limited(a_spec(threads=2)),
        judged(limited(), bound=Bound.OTHERS),
        limited(a_spec(settings={"threads": "1"})),
        limited(a_spec(client="ldap3")),
        limited(generator_cpu_s=(1.0,) * usable_cores()),
        limited(
            use=structs.replace(
                a_result().use,
                machine=structs.replace(a_result().use.machine, busy_per_core=(1, 1)),
            )
        ),
    ],
    ids=["measured", "tried", "others", "chosen", "portable", "no core left", "busy"],
)
def test_valid_or_unimprovable_point_has_no_second_try(result: PointResult) -> None:
    assert second_try(result) is None


def test_higher_rate_of_two_tries_counts_and_a_valid_try_wins_at_equal_rates() -> None:
    first, again = limited(), a_spec(threads=2)
    assert best_tries([first, a_result(again, 30_000)]) == [a_result(again, 30_000)]
    assert best_tries([first, a_result(again, 19_500)]) == [a_result(again, 19_500)]
    # The target's rate was higher at the first try: the additional thread took its core.
    assert best_tries([first, a_result(again, 15_000)]) == [first]
    spoilt = a_result(again, 30_000)
    spoilt = judged(spoilt, bound=Bound.UNSETTLED, valid=False)
    assert best_tries([first, spoilt]) == [first]


def test_both_tries_of_a_point_count_as_one_result() -> None:
    tried = [limited(), a_result(a_spec(threads=2), 30_000), limited(a_spec(repeat=1))]
    (found,) = series(tried)
    assert found.spec == a_spec()
    assert [result.operations for result in found.results] == [30_000, 20_000]
    assert found.grade == Quoted.AT_LEAST


@pytest.mark.parametrize("compared", [False, True])
def test_interleaved_comparison_has_no_second_tries(tmp_path: Path, compared: bool) -> None:
    # Second tries of one side would leave pairs with different threads.
    with LiveProgress(counting(1)) as live, RunStore(tmp_path / "run.sitebench") as store:
        if compared:
            store.set_manifest({COMPARED: {"id": "1"}})
        store.begin(a_spec())
        store.complete(store.point_id(a_spec().key), {"measure": a_tally()}, limited())
        store.confirm(a_spec())

        def opened() -> Never:
            raise OpenedError

        stage = Stage("stage", [a_test()], opened)
        if compared:
            assert sweep([stage], store, live) == [limited()]
        else:
            with pytest.raises(OpenedError):
                sweep([stage], store, live)
