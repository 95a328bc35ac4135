"""A target that is stopped, or killed and restarted, while lanes continue."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.served import LANES, LOCALES, PEOPLE, RATE, Served
from tests.support.aftermath import Ground
from tests.support.mortal import Mortal, mortal
from tests.support.waiting import eventually

GONE = {"connect-refused", "closed", "reset", "truncated"}
NO_PERSON = {"directory": "wrong-answer", "slapd": "result:noSuchObject", "site": "status:404"}

any_kind = pytest.mark.parametrize("kind", list(NO_PERSON))
both_lanes = pytest.mark.parametrize("kind", ["directory", "site"])
"""With slapd, lanes behave as with the embedded directory."""


@pytest.fixture
def target(kind: str, tmp_path: Path) -> Iterator[Mortal]:
    with mortal(kind, tmp_path / "target", PEOPLE, LOCALES) as made:
        yield made


def measured(
    ground: Ground, target: Mortal, befalls: Callable[[], object], *how: str
) -> dict[str, Any]:
    """Return a point in whose window a fault hits its target, once lanes were running."""
    load = (*Served(target.scheme, target.port).run(), *RATE, "--warmup", "0s", *how)
    return ground.befallen(lambda _: befalls(), *load)


def lost(point: dict[str, Any]) -> int:
    """Count how often a lane lost its connection, or could not connect."""
    return sum(n for kind, n in point["failures_by_kind"].items() if kind in GONE)


@both_lanes
def test_stopped_target_causes_timeouts(ground: Ground, target: Mortal) -> None:
    def stop() -> None:
        with target.stopped():
            assert eventually(lambda: ground.failures() >= 4 * LANES)

    point = measured(ground, target, stop, "--measure", "8s", "--timeout", "500ms")
    assert set(point["failures_by_kind"]) == {"timeout"}
    assert point["failures"] >= LANES
    assert ground.right_again()


@both_lanes
def test_lanes_reconnect_to_a_restarted_target(ground: Ground, target: Mortal) -> None:
    def restart() -> None:
        target.kill()
        target.start(empty=False)

    point = measured(ground, target, restart, "--measure", "10s")
    assert set(point["failures_by_kind"]) <= GONE
    assert lost(point) >= 1
    assert ground.right_again()


@any_kind
def test_target_that_restarts_without_its_people_is_named(
    ground: Ground, target: Mortal, kind: str
) -> None:
    def restart() -> None:
        target.kill()
        target.start(empty=True)

    point = measured(ground, target, restart, "--measure", "12s")
    kinds = set(point["failures_by_kind"])
    assert NO_PERSON[kind] in kinds <= GONE | {NO_PERSON[kind]}
    # With a rate, lanes that were idle meanwhile reconnect without a failure.
    assert lost(point) >= 1, point["failures_by_kind"]
    assert point["operations"] > LANES
    page = ground.folder / "page.html"
    assert ground.here("report", str(ground.run), "--out", str(page)).code == 0
    assert NO_PERSON[kind] in page.read_text()
