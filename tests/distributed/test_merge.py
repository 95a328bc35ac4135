"""Merging the drains of workers: nothing twice, nothing dropped, in order."""

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from sitebench.counts import metrics, source
from sitebench.locust.workers.merge import Merger, Round
from sitebench.locust.workers.messages import pack, unpack
from tests.support.drains import Drain, Step, histogram

MS = 1_000_000


def part(
    t0_ms: int, t1_ms: int, count: int, cpu_ns: int = 0, *, lanes: int = 1, underway_ns: int = 0
) -> source.Drain:
    step = Step("lookup", "lookup", count, service=histogram(*[50_000] * count))
    steps = (step, Step("lookup", "sequence", 1))
    drained = Drain(t0_ms * MS, t1_ms * MS, steps, lanes, underway_ns=underway_ns)
    return unpack(pack(drained, [cpu_ns]))


def merger(*workers: str) -> Merger:
    return Merger(dict.fromkeys(workers, (0,)), "ramp")


def ask(made: Merger, begins: str | None = None, /, **drains: source.Drain) -> Round:
    """Ask all workers for a drain, and answer for some of them."""
    asked = made.ask(begins)
    for worker, drained in drains.items():
        made.answer(worker, asked.number, drained)
    return asked


def lookups(merged: source.Drain) -> int:
    return sum(step.count for step in merged.steps if step.step == "lookup")


def test_drain_survives_the_message_format() -> None:
    step = Step("p", "s", 4, {"timeout": 1}, 10, 20, processing_ns=30, overlaps=True)
    service, given_up = histogram(1, 2, 3_000_000), histogram(9)
    step.clocks |= {"service": service, "latency": service, "censored": given_up}
    step.clocks |= {"lag": histogram(7), "abandoned": histogram(8)}
    step.examples = {"timeout": 'look up "cn=a"'}
    steps = {"late": [Step("p", "t", 2)], "older": [Step("p", "u", 3)], "spans": []}
    drained = Drain(1, 2, [step], 3, (4, 5), 6, 7, 8, lane_counts=[9, 1], log=[], **steps)
    received = unpack(pack(drained, [4, 5]))
    assert received == drained
    assert [each.step for each in source.ended(received)] == ["s", "t", "u"]


def test_drain_of_portable_lanes_survives_the_message_format() -> None:
    step = source.StepTotals.closed("p", "s")
    step.count = 3
    (read,) = unpack(pack(Drain(0, MS, (step,)), [0])).steps
    assert (read.count, read.counters) == (3, dict.fromkeys(metrics.COUNTERS, 0))


def test_spans_survive_the_message_format_and_are_summed_over_workers() -> None:
    """The spans of one worker alone had too few arrivals by a factor of the number of workers."""
    made = merger("a", "b")
    asked = made.ask()
    for worker, count in (("a", 3), ("b", 5)):
        spans = [(0, Step("p", "s", count)), (7, Step("p", "s", 1))]
        drained = Drain(0, 500 * MS, spans=spans)
        made.answer(worker, asked.number, unpack(pack(drained, [0])))
    ((_, merged),) = made.settle(0)
    found = Counter[int]()
    for span, step in merged.spans:
        found[span] += step.count
    assert found == {0: 8, 7: 2}


def test_round_waits_for_all_workers() -> None:
    made = merger("a", "b")
    asked = ask(made, a=part(0, 500, 10))
    assert not list(made.settle(0))
    made.answer("b", asked.number, part(0, 510, 7, lanes=3))
    ((settled, merged),) = made.settle(0)
    assert settled is asked
    assert lookups(merged) == 17
    assert (merged.t1_ns, merged.lanes) == (505 * MS, 4)


def test_answer_that_arrives_while_a_round_is_written_is_in_the_next_round() -> None:
    made = merger("a", "b")
    first, second = made.ask(), made.ask()
    for worker in ("a", "b"):
        made.answer(worker, first.number, part(0, 500, 10))
    settling = made.settle(0)
    assert next(settling)[0] is first
    for worker in ("a", "b"):
        made.answer(worker, second.number, part(500, 1_000, 5))
    # Another greenlet settles meanwhile.
    assert [asked for asked, _ in made.settle(0)] == [second]
    assert list(settling) == []


def test_phase_begins_in_the_same_round_for_all_workers() -> None:
    made = merger("a", "b")
    boundary, after = made.ask("measure"), made.ask()
    made.answer("a", boundary.number, part(0, 500, 1))
    made.answer("a", after.number, part(500, 1_000, 10))
    assert not list(made.settle(0)), "the other one is not there yet"
    made.answer("b", boundary.number, part(0, 520, 2))
    made.answer("b", after.number, part(520, 1_000, 20))
    (_, before), (_, measured) = made.settle(0)
    assert (lookups(before), lookups(measured)) == (3, 30)
    shares = made.shares["measure"]
    assert {worker: share.operations for worker, share in shares.items()} == {"a": 10, "b": 20}


def test_last_batch_of_a_leaving_worker_is_counted_once() -> None:
    made = merger("a", "b")
    first, second = made.ask(), made.ask()
    made.answer("a", None, part(0, 700, 5))
    made.remove("a")
    for asked in (first, second):
        made.answer("b", asked.number, part(0, 500, 1))
    assert [lookups(merged) for _, merged in made.settle(0)] == [6, 1]
    assert made.ask().waiting == {"b"}


def test_lanes_of_processes_are_concatenated_in_fixed_order() -> None:
    def counted(*lane_counts: int) -> source.Drain:
        return unpack(pack(Drain(0, MS, lane_counts=lane_counts), [0]))

    made = merger("a", "b")
    for answers in (
        {"b": counted(1, 2), "a": counted(10, 20, 30)},
        {"a": counted(1, 1, 1)},
        {"b": counted(3, 0), "a": counted(0, 0, 7)},
    ):
        asked = ask(made, **answers)
        if "b" not in answers:
            asked.waiting.discard("b")
    found = [merged.lane_counts for _, merged in made.settle(0)]
    assert found == [[10, 20, 30, 1, 2], [1, 1, 1, 0, 0], [0, 0, 7, 3, 0]]


def test_late_answer_of_a_removed_worker_is_counted() -> None:
    made = merger("a", "b")
    asked = ask(made, a=part(0, 500, 1))
    made.remove("b")
    assert [lookups(merged) for _, merged in made.settle(0)] == [1]
    made.answer("b", asked.number, part(0, 500, 9))
    ask(made, a=part(500, 600, 1))
    assert [lookups(merged) for _, merged in made.settle(0)] == [10]


def test_answers_in_any_order_lose_no_operation() -> None:
    chance = Random(1)
    for _ in range(50):
        made, sent, found = merger("a", "b", "c"), Counter[str](), 0
        open_: dict[str, list[int]] = {"a": [], "b": [], "c": []}
        for _ in range(60):
            if chance.random() < 0.4:
                asked = made.ask()
                for worker in asked.waiting:
                    open_[worker].append(asked.number)
            worker = chance.choice("abc")
            if worker in made.present and open_[worker]:
                count = chance.randrange(5)
                sent[worker] += count
                made.answer(worker, open_[worker].pop(0), part(0, 1, count))
            if chance.random() < 0.01:
                made.remove(worker)
            found += sum(lookups(merged) for _, merged in made.settle(0))
        for worker in made.present:
            made.answer(worker, None, part(0, 1, 1))
            sent[worker] += 1
            made.remove(worker)
        made.ask()
        found += sum(lookups(merged) for _, merged in made.settle(0))
        assert found == sent.total()


def test_rate_is_the_sum_of_the_workers_rates() -> None:
    made = merger("a", "b")
    ask(made, "measure", a=part(0, 0, 0), b=part(0, 0, 0))
    ask(made, "after", a=part(0, 1_000, 100), b=part(0, 1_250, 1_000))
    assert 1_100 / (made.window_s("measure") or 0) == pytest.approx(100 / 1.0 + 1_000 / 1.25)


def test_cpu_is_counted_per_phase_and_outstanding_operations_per_round() -> None:
    made = merger("a", "b")
    begin = {"a": part(0, 500, 1, 100, underway_ns=4), "b": part(0, 500, 1, 10, underway_ns=5)}
    ask(made, "measure", **begin)
    ask(made, "after", a=part(500, 900, 1, 160, underway_ns=6))
    made.remove("b")
    (_, first), (_, second) = made.settle(0)
    assert made.shares["measure"]["a"].cpu_ns == (60,)
    # The values of each round's end, although both rounds were settled together.
    assert (first.cpu_ns, second.cpu_ns) == ((100, 10), (160, 10))
    assert (first.underway_ns, second.underway_ns) == (9, 11)


def test_restarted_phase_discards_earlier_shares() -> None:
    made = merger("a", "b")
    for n, begins in enumerate(("measure", None, "measure", None)):
        drained = part(500 * n, 500 * (n + 1), 10 ** (n + 1))
        ask(made, begins, a=drained, b=drained)
    assert [lookups(merged) for _, merged in made.settle(0)] == [20, 200, 2_000, 20_000]
    shares = made.shares["measure"]
    assert {worker: shares[worker].operations for worker in shares} == {"a": 10_000, "b": 10_000}
    assert made.window_s("measure") == 0.5


def test_worker_lost_before_the_first_round_has_no_operations() -> None:
    made = merger("a")
    made.remove("lost")
    assert made.operations_of("lost") == 0
    assert not made.knows("lost")
    assert made.knows("a")


def test_cpu_of_a_phase_is_summed_over_its_drains() -> None:
    made = merger("a")
    for n, (begins, cpu_ns) in enumerate((("measure", 100), (None, 130), ("after", 190))):
        ask(made, begins, a=part(500 * n, 500 * (n + 1), 1, cpu_ns))
    assert made.shares["measure"]["a"].cpu_ns == (90,)


def test_phase_continues_until_another_phase_begins() -> None:
    made = merger("a")
    for n, begins in enumerate(("measure", None)):
        ask(made, begins, a=part(n, n + 1, 1))
    list(made.settle(0))
    ask(made, a=part(2, 3, 5))
    assert made.shares["measure"]["a"].operations == 6


def test_merged_drain_begins_at_the_end_of_the_previous_one() -> None:
    made = merger("a", "b")
    for begins, ends in ((20, 500), (490, 1_000)):
        ask(made, a=part(begins, ends, 1), b=part(begins + 10, ends + 20, 1))
    first, second = (merged for _, merged in made.settle(0))
    assert (first.t0_ns, first.t1_ns) == (20 * MS, 510 * MS)
    assert (second.t0_ns, second.t1_ns) == (510 * MS, 1_010 * MS)


def test_no_operations_are_outstanding_before_the_first_answer() -> None:
    made = merger("a", "b")
    drained = Drain(0, MS, lanes=2, underway_ns=7, backlog=3, in_flight=4, owed=5)
    ask(made, a=unpack(pack(drained, [0]))).waiting.discard("b")
    ((_, merged),) = made.settle(0)
    assert (merged.lanes, merged.underway_ns) == (2, 7)
    assert (merged.backlog, merged.in_flight, merged.owed) == (3, 4, 5)


def test_departed_worker_has_no_outstanding_operations_after_its_departure() -> None:
    made = merger("a", "b", "c")
    ask(made, "measure", **dict.fromkeys("abc", part(0, 0, 0)))
    owing = Drain(0, 250 * MS, (Step("lookup", "lookup", 100),), owed=9)
    end = ask(made, "after", a=unpack(pack(owing, [0])))
    made.remove("a")
    made.answer("b", end.number, part(0, 1_000, 100))
    made.answer("c", end.number, part(0, 500, 100))
    *_, (_, merged) = made.settle(0)
    assert merged.owed == 0
    length = made.window_s("measure")
    assert length is not None
    # The departed worker did its 100 operations in a quarter of a second, and none later.
    steps = {worker: share.operations for worker, share in made.shares["measure"].items()}
    assert sum(steps.values()) / length == pytest.approx(
        steps["a"] / 1.0 + steps["b"] / 1.0 + steps["c"] / 0.5
    )
    assert made.window_s("never") is None


def test_worker_with_exhausted_data_has_the_window_of_the_other_workers() -> None:
    made = merger("a", "b")
    ask(made, "measure", a=part(0, 10, 0), b=part(0, 10, 0))
    [*made.settle(0)]
    used_up = replace(part(10, 1_010, 100, lanes=0), without_row=1)
    ask(made, "after", a=used_up, b=part(10, 2_010, 100))
    ((_, merged),) = made.settle(0)
    assert (merged.without_row, merged.lanes) == (1, 1)
    # 100 operations each, in two seconds; with separate lengths the rate would be 150 a second.
    assert made.window_s("measure") == pytest.approx(2.0)
