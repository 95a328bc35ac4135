"""Behaviour of Locust that the bridge relies on, and that Locust does not promise.

If a new Locust breaks one of these tests, the bridge must be checked before the pin is raised.
"""

from functools import partial

import pytest

from tests.support import in_locust as support

CHECKS = """
import json, sys
from locust import events, runners, stats
from locust.env import Environment
from locust.stats import RequestStats, StatsEntry, StatsError
from sitebench.locust import statistics
from tests.support.drains import Drain, Step, histogram

second = 1_000_000_000
def fed(*drains):
    made = RequestStats()
    for drain in drains:
        statistics.feed(made, drain, 0.0)
    return made
"""


in_locust = partial(support.in_locust, before=CHECKS)


def test_median_below_half_a_millisecond_is_not_reported_as_minimum() -> None:
    """Locust rounds times below 0.5 ms to 0, and raises the median to the minimum: 0.0098 ms."""
    (median, least) = in_locust("""
    us = 1_000
    batch = fed(Drain(10 * second, 11 * second, (
        Step("p", "lookup", 3, {}, 0, 300, histogram(10*us, 137*us, 300*us)),)))
    entry = batch.entries["lookup", "p"]
    print(json.dumps([entry.median_response_time, entry.min_response_time]))
    """)
    assert (median, least) == (0, 0)


def test_batch_equals_its_requests_counted_one_by_one() -> None:
    found = in_locust("""
    ms = 1_000_000
    single, batch = RequestStats(), fed(
        Drain(10 * second, 11 * second, (
            Step("p", "lookup", 4, {"timeout": 1}, 0, 400, histogram(1*ms, 2*ms, 3*ms)),
        )))
    for value in (1, 2, 3):
        single.log_request("p", "lookup", value, 100)
    single.log_request("p", "lookup", None, 100)
    single.log_error("p", "lookup", "timeout")
    keys = ["num_requests", "num_none_requests", "num_failures", "total_content_length",
            "max_response_time", "min_response_time", "response_times"]
    ours, theirs = [
        {k: getattr(s.entries["lookup", "p"], k) for k in keys} for s in (batch, single)
    ]
    total, single_total = [{k: getattr(s.total, k) for k in keys} for s in (batch, single)]
    errors = [(e.method, e.name, e.error, e.occurrences) for e in batch.errors.values()]
    print(json.dumps([ours, theirs, total, single_total, errors, list(batch.errors) ==
                      list(single.errors)]))
    """)
    ours, theirs, total, single_total, errors, same_keys = found
    for mine, locusts in ((ours, theirs), (total, single_total)):
        # Locust's own minimum and maximum are exact; sitebench's come from three-digit buckets.
        for extreme in ("max_response_time", "min_response_time"):
            assert mine.pop(extreme) == pytest.approx(locusts.pop(extreme), 2e-3)
        assert mine == locusts
    assert errors == [["p", "lookup", "timeout", 1]]
    assert same_keys


def test_counts_of_batches_over_many_seconds_add_up_to_all_requests() -> None:
    found = in_locust("""
    drains = [Drain(n * second // 2, (n + 1) * second // 2,
                    (Step("p", "lookup", 1000 + n, {"reset": n}),)) for n in range(40)]
    made = fed(*drains)
    entry = made.entries["lookup", "p"]
    print(json.dumps([entry.num_requests, sum(entry.num_reqs_per_sec.values()),
                      made.total.num_requests, sum(made.total.num_fail_per_sec.values()),
                      sum(e.occurrences for e in made.errors.values())]))
    """)
    requests, failures = sum(1000 + n for n in range(40)), sum(range(40))
    assert found == [requests, requests, requests, failures, failures]


def test_passes_and_phases_are_not_counted_twice() -> None:
    found = in_locust("""
    phase = Step("p", "request", 5, overlaps=True)
    made = fed(Drain(0, second, (Step("p", "connect", 5), Step("p", "sequence", 5), phase)))
    print(json.dumps([made.total.num_requests, [name for name, _ in made.entries]]))
    """)
    assert found == [5, ["connect"]]


def test_clear_all_of_locust_replaces_the_entries() -> None:
    found = in_locust("""
    made = fed(Drain(0, second, (Step("p", "connect", 5),)))
    old = made.entries["connect", "p"]
    made.clear_all()
    statistics.feed(made, Drain(second, 2 * second, (Step("p", "connect", 7),)), 0.0)
    new = made.entries["connect", "p"]
    print(json.dumps([old is new, new.num_requests, made.total.num_requests]))
    """)
    assert found == [False, 7, 7]


def test_displayed_rate_falls_while_no_request_ends() -> None:
    found = in_locust("""
    busy = [Drain(n * second, (n + 1) * second, (Step("p", "lookup", 100),)) for n in range(20)]
    idle = [Drain(n * second, (n + 1) * second) for n in range(20, 40)]
    print(json.dumps([fed(*busy).total.current_rps, fed(*busy, *idle).total.current_rps]))
    """)
    assert found[0] == pytest.approx(100, rel=0.15)
    assert found[1] == 0


def test_locust_entries_keep_only_the_seconds_that_the_present_rate_needs() -> None:
    found = in_locust("""
    drains = [Drain(n * second, (n + 1) * second, (Step("p", "lookup", 100, {"reset": 1}),))
              for n in range(200)]
    made = fed(*drains)
    kept = [len(seconds) for entry in (made.total, made.entries["lookup", "p"])
            for seconds in (entry.num_reqs_per_sec, entry.num_fail_per_sec)]
    print(json.dumps([kept, made.total.num_requests, made.total.current_rps,
                      made.total.current_fail_per_sec]))
    """)
    kept, requests, rate, failing = found
    assert all(12 < seconds < 30 for seconds in kept)
    assert (requests, rate, failing) == (20_000, pytest.approx(100, rel=0.15), pytest.approx(1))


def test_count_of_a_batch_is_spread_over_seconds_without_loss() -> None:
    found = in_locust("""
    print(json.dumps([sum(statistics.spread(n, a / 7, (a + b) / 7).values()) == n
                      for n in (0, 1, 3, 1000) for a in range(9) for b in (0, 1, 5, 30)]))
    """)
    assert all(found)


def test_names_and_hooks_of_locust_used_by_the_bridge_exist() -> None:
    missing, parameters, unknown, calls, states = in_locust("""
    import inspect
    from locust import dispatch, main
    environment, dispatcher = Environment(user_classes=[]), dispatch.UsersDispatcher
    names = {
        events: "test_start test_stopping test_stop spawning_complete quitting reset_stats "
                "usage_monitor init init_command_line_parser",
        environment: "dispatcher_class available_user_classes",
        runners: "CPU_WARNING_THRESHOLD",
        runners.WorkerRunner: "_send_stats",
        runners.MasterRunner: "get_worker_index send_message worker_count user_count",
        runners.WorkerNodes: "ready spawning running get",
        dispatcher: "__init__ add_worker remove_worker",
    }
    # Locust's master looks the handlers up on every use, and the bridge sets them before.
    master = inspect.getsource(runners.MasterRunner.start)
    waiting = inspect.getsource(main.main)
    print(json.dumps([
        [name for owner in names for name in names[owner].split() if not hasattr(owner, name)],
        [list(inspect.signature(function).parameters)
         for function in (runners.Runner.register_message, dispatcher.__init__)],
        [k for k in statistics.entry_dict(Step("p", "s", 0), 0.0, 0.0)
         if k not in stats.StatsEntryDict.__annotations__ and k not in ("name", "method")],
        ["self.environment.dispatcher_class(" in master,
         all(f"options.{name}" in waiting
             for name in ("expect_workers", "expect_workers_max_wait"))],
        [runners.STATE_INIT, runners.STATE_MISSING],
    ]))
    """)
    assert missing == unknown == []
    assert parameters == [
        ["self", "msg_type", "listener", "concurrent"],
        ["self", "worker_nodes", "user_classes"],
    ]
    assert calls == [True, True]
    assert states == ["ready", "missing"]


def test_master_sends_added_options_to_its_workers() -> None:
    found = in_locust("""
    from locust import argument_parser
    print(json.dumps("sitebench_shared" in argument_parser.default_args_dict()))
    """)
    assert found is False


def test_bytes_are_sent_between_masters_and_workers() -> None:
    found = in_locust("""
    from locust.rpc.protocol import Message
    sent = {"histogram": bytes(range(256)), "large": 2**63, "none": None, "nested": [[1, "a"]]}
    got = Message.unserialize(Message("kind", sent, "worker").serialize())
    print(json.dumps([got.data == sent, got.type, got.node_id]))
    """)
    assert found == [True, "kind", "worker"]
