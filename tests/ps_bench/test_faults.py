"""A faulty site: each planted fault is detected under its own name."""

import itertools
import re
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sitebench.http.site import OpenSite
from tests.ps_bench.conftest import SHORT, SIZE
from tests.support.cli import Ran, in_process
from tests.support.faulty_site import Answer, Ask, Asked, Fault, faulty
from tests.tls.certificates import self_signed


def on_pages(change: Callable[[Asked, Answer], Answer], every: int = 3) -> Fault:
    """Change every third page."""
    seen = 0

    def fault(asked: Asked, ask: Ask) -> Answer:
        nonlocal seen
        answer = ask(asked)
        if not asked.is_page:
            return answer
        seen += 1
        return change(asked, answer) if seen % every == 0 else answer

    return fault


def another_persons_page(asked: Asked, ask: Ask) -> Answer:
    """Show another user's page, as a cache without the cookie in its key does."""
    if asked.is_page and asked.user is not None and asked.user % 3 == 0:
        return ask(replace(asked, headers={"Cookie": f"user={asked.user + 1}"}))
    return ask(asked)


def forgets_updates(asked: Asked, ask: Ask) -> Answer:
    """Answer updates without storing them."""
    if asked.path == "/preferences":
        return Answer(204, (), b"")
    return ask(asked)


def _without_a_byte(asked: Asked, answer: Answer) -> Answer:
    return replace(answer, body=answer.body[:-1])


def _for_another_name(asked: Asked, answer: Answer) -> Answer:
    """Greet another person on the right person's page, with the same length."""
    found = re.search(rb"Hello, (.*?)</h1>", answer.body)
    assert found is not None
    return replace(answer, body=answer.body.replace(found[1], b"?" * len(found[1])))


def _error(asked: Asked, answer: Answer) -> Answer:
    return Answer(500, (), b"out of order")


def _mid_body(asked: Asked, answer: Answer) -> Answer:
    return replace(answer, body=answer.body[:4000], says=len(answer.body), cut=True)


WRONG_PAGES = (_without_a_byte, _for_another_name, _error)
"""They occur in turns: a page counted under the name of another fault would be one too many there.
"""


ALLOWED = "--allow-failures"
TAKES_S = 0.03
"""A delay of answers: faults do not depend on speed, and immediate answers would take a core."""


def in_time(fault: Fault) -> Fault:
    """Delay the answers of a fault to those of a working site."""

    def slower(asked: Asked, ask: Ask) -> Answer | None:
        time.sleep(TAKES_S)
        return fault(asked, ask)

    return slower


def measured(
    site: OpenSite, fault: Fault, *more: str, allowed: Sequence[str] = (ALLOWED,)
) -> tuple[Ran, dict[str, Any]]:
    """Run the scenario against a faulty site; return its output and the point."""
    with faulty(site.address, fault) as address:
        ran = in_process(
            *("ps", "run", "--target", str(address), *SIZE, *SHORT), *(*more, *allowed)
        )
    assert "Traceback" not in ran.err
    assert len(ran.objects) == 1, ran.err
    return ran, ran.objects[0]


def updates(point: dict[str, Any]) -> int:
    """Return the number of updates in the window."""
    return sum(step["count"] for step in point["steps"] if step["step"] == "update")


def test_fast_refusals_do_not_make_a_site_faster(site: OpenSite) -> None:
    takes_s, seen = 0.03, itertools.count()

    def refuses_every_second_page(asked: Asked, ask: Ask) -> Answer:
        if asked.is_page and next(seen) % 2:
            return Answer(503, (), b"later")
        time.sleep(takes_s)
        return ask(asked)

    _, point = measured(site, refuses_every_second_page, "--measure", "2s")
    (page,) = [step for step in point["steps"] if step["step"] == "page"]
    assert page["failures"] == page["wrong"]["n"] > 0
    assert page["service"]["n"] == page["count"] - page["failures"]
    # In microseconds; on a busy machine all take longer.
    assert page["service"]["p50"] is None
    assert page["service"]["mean"] > takes_s * 1e6
    assert page["wrong"]["mean"] < page["service"]["mean"] - takes_s * 0.5e6
    assert point["latency_us"]["mean"] > takes_s * 1e6
    assert point["wrong_us"]["n"] == point["failures"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("kind", "fault"), [("leak", another_persons_page), ("stale", forgets_updates)]
)
def test_planted_fault_is_detected_by_its_kind(site: OpenSite, kind: str, fault: Fault) -> None:
    # Updates are 4 of a hundred, so on a busy machine the fault needs a longer window.
    for window in ("2s", "8s", "30s"):
        ran, point = measured(site, in_time(fault), "--measure", window)
        chances = updates(point) if kind == "stale" else point["operations"] / 4
        if ran.code != 0 or chances >= 3:
            break
    assert set(point["failures_by_kind"]) == {kind}
    assert point["operations"] > 0
    if kind == "leak":
        assert ran.code == 1
        assert (point["verdict"], point["valid"]) == ("leak", False)
        assert "another user's data" in ran.err
    else:
        assert ran.code == 0, ran.err


@pytest.mark.timeout(300)
def test_wrong_pages_are_named_by_kind_and_fail_the_run(site: OpenSite) -> None:
    turns = itertools.cycle(WRONG_PAGES)

    def in_turn(asked: Asked, answer: Answer) -> Answer:
        return next(turns)(asked, answer)

    fault = in_time(on_pages(in_turn, every=1))
    for window in ("1s", "4s", "30s"):  # A busy machine needs longer for ten of each.
        load = ("--warmup", "0s", "--measure", window)
        ran, point = measured(site, fault, *load, allowed=())
        if point["failures"] >= 30:
            break
    told = point["failures_by_kind"]
    assert set(told) == {"wrong-length", "wrong-answer", "status:500"}
    # The last pages of the eight users may be missing.
    assert max(told.values()) - min(told.values()) <= 8 + 1
    assert point["failures"] > 0.01 * point["operations"]
    ran.check(1, "more than 1% of the operations failed at 1 of 1 point;")
    assert re.search(r"point; the first: scenario at 300: [a-z]+[a-z:0-9-]* x [\d,]+", ran.err), (
        ran.err
    )
    assert ALLOWED in ran.err


@pytest.mark.parametrize("keepalive", ["--keepalive", "--no-keepalive"])
def test_truncated_bodies_have_their_failure_kind(site: OpenSite, keepalive: str) -> None:
    _, point = measured(site, in_time(on_pages(_mid_body)), keepalive)
    assert set(point["failures_by_kind"]) <= {"truncated"}
    assert sum(point["failures_by_kind"].values()) > 0


def test_bodies_longer_than_announced_have_their_failure_kind(site: OpenSite) -> None:
    def fault(asked: Asked, answer: Answer) -> Answer:
        return replace(answer, says=len(answer.body) - 90)

    _, point = measured(site, in_time(on_pages(fault)), "--keepalive", "--measure", "2s")
    assert set(point["failures_by_kind"]) <= {"wrong-length", "malformed", "closed", "reset"}
    assert point["failures_by_kind"]["wrong-length"] > 0


def test_unanswered_page_requests_are_timeouts(site: OpenSite) -> None:
    seen = 0

    def fault(asked: Asked, ask: Ask) -> Answer | None:
        nonlocal seen
        seen += asked.is_page
        return None if asked.is_page and seen % 5 == 0 else ask(asked)

    ran, point = measured(site, in_time(fault), "--timeout", "300ms", "--measure", "2s")
    assert set(point["failures_by_kind"]) == {"timeout"}
    assert ran.code == 0, ran.err
    # Unanswered operations are censored at their waiting time, and in no other clock.
    steps = [step for step in point["steps"] if step["step"] != "sequence"]
    assert sum(step["censored"]["n"] for step in steps) == point["failures"] > 0
    for step in steps:
        # They are ranked by their waiting time.
        assert step["service"]["n"] == step["count"]
        assert step["step"] != "page" or step["count"] > step["censored"]["n"]
        assert step["censored"]["n"] == 0 or step["censored"]["mean"] >= 290_000
    assert point["little"]["holds"], point["little"]


def test_untrusted_certificate_of_a_site_has_its_failure_kind(
    site: OpenSite, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path, "site")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.cert, certificate.key)
    with faulty(site.address, in_time(lambda asked, ask: ask(asked)), context) as address:
        assert str(address).startswith("https://")
        command = ("ps", "run", "--target", str(address), "--keepalive", *SIZE)
        in_process(*command, *SHORT).check(
            1, "its certificate is not signed by a trusted authority", "--tls-insecure"
        )
        ran = in_process(*command, *SHORT, "--tls-insecure").check(0)
    assert "tls-unverified" in [warning["kind"] for warning in ran.objects[0]["warnings"]]
    assert ran.objects[0]["failures_by_kind"] == {}
    assert ran.objects[0]["figures"]["web_pages_per_s"] > 0
