"""Warnings: every kind has its sign, figures and remedy; a quiet window has none."""

import pytest

from sitebench.counts.littles_law import LittlesLaw
from sitebench.counts.steady import Settled, Steadiness
from sitebench.monitor.use import BehindUse, Gap
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.warning import WarningKind
from sitebench.verdict.warnings import find_warnings
from tests.support.evidence import (
    changed,
    durations,
    evidence,
    with_generator,
    with_machine,
    with_target,
    with_use,
)

QUIET = evidence()
REMOTE = with_use(QUIET, target=None, target_is_local=False)
PORTS = changed(QUIET, local_ports=28_232)
FULL = with_machine(QUIET, busy_per_core=(1.0, 1.0))
BUSY = with_machine(changed(QUIET, rate=10_000.0), busy_per_core=(0.8, 0.2))
KINDS = {"wrong-answer": 2, "status:404": 1, "timeout": 1}
EXAMPLES = {"status:404": "page: GET /a: 404", "wrong-answer": "page: GET /b: 200 OK"}


def kinds(seen: Evidence) -> set[str]:
    return {warning.kind for warning in find_warnings(seen)}


SIGNS: dict[str, tuple[Evidence, str]] = {
    WarningKind.PROXIED: (
        with_use(QUIET, behind=(BehindUse("gunicorn", 4.0), BehindUse("redis", 0.5))),
        "used CPU: gunicorn 0.40 cores, redis 0.05 cores",
    ),
    WarningKind.GENERATOR_NEAR_CEILING: (
        changed(QUIET, generator_cpu_s=(7.5, 1.0)),
        "on a core 75% of the time",
    ),
    WarningKind.GENERATOR_STARVED: (with_generator(QUIET, waited_s=4.0), "waited 15% of the time"),
    WarningKind.SHARED_CORES: (
        with_generator(with_target(FULL, cpu_s=9.0), cpu_s=9.0),
        "100% busy: target 0.90, load generator 0.90, everything else 0.20",
    ),
    WarningKind.OTHERS_IN_LATENCY: (
        with_generator(with_target(BUSY, waited_s=30.0), waited_s=0.0),
        "waited 90 us on average for cores that other programs had, 15% of its latency",
    ),
    WarningKind.NOISY_MACHINE: (FULL, "everything else 1.30"),
    WarningKind.TOO_SHORT: (
        changed(QUIET, settled=Settled(Steadiness.TOO_SHORT, "4 half seconds are too few")),
        "4 half seconds",
    ),
    WarningKind.TOO_FEW_SAMPLES: (
        changed(QUIET, latency=durations(600.0, n=500)),
        "500 samples are too few for a p99, which needs 10,000",
    ),
    WarningKind.UNSETTLED: (
        changed(QUIET, settled=Settled(Steadiness.UNSETTLED, "it rose by 30%", 30.0)),
        "rose by 30%",
    ),
    WarningKind.ANSWERS_UNREAD: (
        changed(QUIET, service=durations(600.0), unread=durations(90.0)),
        "read answers up to 90 us late (p99): 15% of the p99 of the service time is its own",
    ),
    WarningKind.LITTLES_LAW: (
        changed(QUIET, little=LittlesLaw(64, 60, -0.0625, False, "64 lanes ran")),
        "64 lanes ran",
    ),
    WarningKind.SCHEDULE_LAG: (
        changed(QUIET, rate=12_000.0, lag=durations(300.0)),
        "300 us late on average, 50% of their latency, and 12,000/s were not reached",
    ),
    WarningKind.TIMEOUTS: (
        changed(QUIET, failures_by_kind={"timeout": 3}),
        "3 operations timed out",
    ),
    WarningKind.FAILURES: (
        changed(QUIET, failures_by_kind=KINDS, examples=EXAMPLES),
        "3 operations failed: status:404 x 1, wrong-answer x 2; "
        "the first wrong-answer: page: GET /b: 200 OK",
    ),
    WarningKind.PORTS: (
        with_use(with_machine(PORTS, sockets={"time_wait": 26_000}), interface="eth0"),
        "26,000 sockets of this machine are in TIME_WAIT, and it has 28,232 local ports",
    ),
    WarningKind.STOLEN_TIME: (with_machine(QUIET, stolen_s=1.0), "gave 5% of this machine's cores"),
    WarningKind.SWAP: (with_machine(QUIET, swapped_in=4), "swapped 4 pages"),
    WarningKind.MONITOR_GAPS: (
        with_use(QUIET, gaps=(Gap("node_exporter at x", 9, 3, "timed out"),)),
        "3 of 9 answers are missing from node_exporter at x (timed out)",
    ),
    WarningKind.UNWATCHED: (REMOTE, "cannot be monitored from here"),
}


def test_quiet_window_has_no_warning() -> None:
    assert find_warnings(QUIET) == ()


@pytest.mark.parametrize("kind", SIGNS)
def test_each_warning_has_its_sign_figures_and_remedy(kind: str) -> None:
    seen, words = SIGNS[kind]
    (warning,) = [each for each in find_warnings(seen) if each.kind == kind]
    assert words in warning.message
    assert warning.remedy


def test_every_kind_of_window_warning_is_tested_here() -> None:
    elsewhere = {
        *("tls-unverified", "worker-lost", "workers-missing", "clock-skew", "other-files"),
        *("not-known", "data-used-up", "rows-held", "rows-lost", "target-died", "entries-left"),
        *("grown-directory", "relaxed-durability", "login-writes", "login-rehashes"),
    }
    assert {*SIGNS} == {*WarningKind} - elsewhere


def test_rate_beyond_the_target_is_not_advised_to_be_measured_longer() -> None:
    """The advice was to lower the rate, and to measure longer."""
    growing = Settled(Steadiness.GROWING, "what was due and not answered became more")
    seen = changed(QUIET, latency=durations(600.0, n=500), settled=growing)
    assert kinds(seen) == {WarningKind.UNSETTLED}


def test_quota_is_named_as_the_limit_of_the_generator() -> None:
    (warning,) = find_warnings(with_generator(QUIET, throttled_s=2.0))
    assert warning.kind == WarningKind.GENERATOR_STARVED
    assert "0.20 s per second" in warning.message
    assert "cpu.max" in warning.remedy


@pytest.mark.parametrize(("seconds", "longer"), [(4.0, "30s"), (10.0, "30s"), (30.1, "1m")])
def test_proposed_window_is_longer_than_the_measured_one(seconds: float, longer: str) -> None:
    """For a window of 10 s that was extended to 30 s, the advice was 30 s."""
    settled = Settled(Steadiness.TOO_SHORT, "too few half seconds")
    seen = find_warnings(changed(QUIET, settled=settled, seconds=seconds))
    (warning,) = [each for each in seen if each.kind == WarningKind.TOO_SHORT]
    assert warning.remedy == f"measure longer: --measure {longer}"


def test_windows_proposed_by_two_warnings_are_merged() -> None:
    """A p99 of 50 samples a second takes 200 s; steadiness alone would take 30 s."""
    settled = Settled(Steadiness.TOO_SHORT, "too few half seconds")
    few = changed(QUIET, settled=settled, latency=durations(600.0, n=500))
    assert [warning.remedy for warning in find_warnings(few)] == [
        "measure longer: --measure 200s"
    ] * 2


@pytest.mark.parametrize(("interface", "remedy"), [("lo", "as root"), ("eth0", "node_exporter")])
def test_local_target_is_not_advised_to_move_to_this_machine(interface: str, remedy: str) -> None:
    seen = with_use(QUIET, target=None, target_is_local=False, interface=interface)
    (warning,) = [each for each in find_warnings(seen) if each.kind == WarningKind.UNWATCHED]
    assert remedy in warning.remedy


def test_ports_suffice_on_loopback_if_each_lane_has_its_own_address() -> None:
    seen = with_machine(PORTS, sockets={"time_wait": 131_072})
    assert kinds(seen) == set()
    # The target need not be monitored.
    assert kinds(with_use(seen, target=None, target_is_local=False)) == {WarningKind.UNWATCHED}


def test_connecting_and_binding_do_not_count_as_waiting_for_a_lane() -> None:
    # 10,000/s with 600 us for each operation, and 300 us to connect.
    connecting = changed(QUIET, rate=10_000.0, lag=durations(310.0), latency=durations(910.0))
    assert kinds(connecting) == {WarningKind.SCHEDULE_LAG}
    assert kinds(changed(connecting, busy_lanes=9.0)) == set()


def test_more_users_are_advised_if_all_lanes_were_busy() -> None:
    late = changed(QUIET, rate=10_000.0, lag=durations(3_000.0), service=durations(6_000.0))
    late = changed(late, busy_lanes=60.0)
    # The mean hides that all lanes were busy while the target stalled for one stage of many.
    stages = Settled(Steadiness.STAGED, "its load changed by stages")
    for seen, remedy in (
        (changed(late, users=60), "more users"),
        (changed(late, users=600), "cores of its own"),
        (changed(late, users=600, settled=stages), "in which spans"),
    ):
        (warning,) = find_warnings(seen)
        assert remedy in warning.remedy


def test_stopped_monitor_is_reported_as_a_gap() -> None:
    assert kinds(changed(QUIET, longest_drain_s=1.9)) == set()
    assert kinds(changed(QUIET, longest_drain_s=2.5)) == {WarningKind.MONITOR_GAPS}


def test_timeouts_of_the_recorder_are_counted() -> None:
    assert kinds(changed(QUIET, censored=durations(5e6, n=2))) == {WarningKind.TIMEOUTS}


@pytest.mark.parametrize(
    ("kinds_", "unanswered", "said", "remedy"),
    [
        ({"timeout": 2}, 2, "2 operations timed out", "--timeout"),
        ({"truncated": 15}, 15, "15 operations had no whole answer", "connections"),
        ({"closed": 4, "timeout": 1}, 5, "5 operations had no whole answer", "--timeout"),
        # Arrivals without a lane are no failures; wrong answers are answers.
        ({"status:503": 9}, 3, "3 operations timed out", "--timeout"),
        ({"status:503": 3, "timeout": 1}, 2, "2 operations timed out", "--timeout"),
        # On refused connections no request had begun.
        ({"refused": 5, "timeout": 2}, 2, "2 operations timed out", "--timeout"),
    ],
)
def test_lost_connections_are_not_reported_as_timeouts(
    kinds_: dict[str, int], unanswered: int, said: str, remedy: str
) -> None:
    wrong = durations(100.0, n=kinds_.get("status:503", 0))
    censored = durations(5e6, n=unanswered)
    seen = changed(QUIET, failures_by_kind=kinds_, censored=censored, wrong=wrong)
    (warning,) = [each for each in find_warnings(seen) if each.kind == WarningKind.TIMEOUTS]
    assert warning.message.startswith(f"{said}; they count as the time")
    assert remedy in warning.remedy
