"""Reading a recording: the order, the times, and skipped requests."""

from typing import Any

import pytest

from sitebench.scenario.recording import Exchange, read
from tests.scenario.recording import archive, entry

SHOP = "http://shop.example.com"


def timed(path: str, at: str) -> dict[str, Any]:
    return entry("GET", f"{SHOP}/{path}") | {"startedDateTime": at}


def paths(*entries: dict[str, Any]) -> list[str]:
    return [each.url.rpartition("/")[2] for each in read(archive(*entries), "session.har")]


def test_exchanges_are_sorted_by_start_and_keep_order_without_times() -> None:
    late, early = timed("late", "2026-05-01T10:00:09Z"), timed("early", "2026-05-01T10:00:01Z")
    assert paths(late, early) == ["early", "late"]
    assert paths(late, early, timed("unknown", "soon")) == ["late", "early", "unknown"]
    # A time without a zone is UTC; half past eleven in Berlin is before ten in UTC.
    there = timed("there", "2026-05-01T11:30:00+02:00")
    assert paths(timed("here", "2026-05-01T10:00:00"), there) == ["there", "here"]
    # The epoch is a valid begin too, before all others.
    assert paths(late, timed("epoch", "1970-01-01T00:00:00Z")) == ["epoch", "late"]


@pytest.mark.parametrize(
    ("time", "took_s"),
    [(100, 0.1), (2_500.0, 2.5), (-1, 0.0), (1e12, 1e6), ("100", 0.0), (None, 0.0)],
)
def test_time_of_an_exchange_is_read_in_ms_and_never_negative(time: Any, took_s: float) -> None:
    assert Exchange(entry("GET", SHOP) | {"time": time}).took_s == took_s


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example:80/x", "a.example"),
        ("https://a.example:443", "a.example"),
        ("http://user:secret@a.example:81/", "a.example:81"),
        ("http://a.example:port/", ""),
        ("about:blank", ""),
    ],
)
def test_host_of_a_recording_keeps_its_port_and_loses_the_password(url: str, host: str) -> None:
    assert Exchange(entry("GET", url)).host == host


@pytest.mark.parametrize(
    ("url", "status", "why"),
    [
        (SHOP, 200, ""),
        (SHOP, 599, ""),
        (SHOP, 199, "not answered"),
        (SHOP, 600, "not answered"),
        (SHOP, None, "not answered"),
        (SHOP, 101, "websockets"),
        ("ws://shop.example.com/", 200, "websockets"),
        ("ftp://shop.example.com/", 200, "addresses that are not http or https"),
        ("http:///path", 200, "addresses that are not http or https"),
    ],
)
def test_skipped_exchange_has_a_reason(url: str, status: Any, why: str) -> None:
    assert Exchange(entry("GET", url, status)).unusable(pages_only=False) == why


def test_invalid_method_is_shown_truncated() -> None:
    assert Exchange(entry("", SHOP)).unusable(pages_only=False) == "no method"
    named = Exchange(entry("X" * 30, SHOP)).unusable(pages_only=False)
    assert named == "X" * 20 + "..."
