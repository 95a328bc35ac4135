"""Networks, memory and a day's pages in the planner, by the rules of the papers."""

import json
from typing import Any

import pytest

from tests.support.cli import in_process


def calculated(*argv: str) -> dict[str, dict[str, float]]:
    """Return the values of a plan's other laws, by their titles."""
    ran = in_process("plan", *argv, "--json").check(0)
    found: list[dict[str, Any]] = json.loads(ran.out)["calculations"]
    return {each["title"]: each["values"] for each in found}


@pytest.mark.parametrize(
    ("line", "networks"), [("10m", 2), ("100m", 1)], ids=["10 Mbit/s", "100 Mbit/s"]
)
@pytest.mark.parametrize("preset", ["paper-2500", "paper-7000"])
def test_highest_rate_needs_the_papers_number_of_networks(
    preset: str, line: str, networks: int
) -> None:
    """Two of 10 Mbit/s for either machine and both features, or one of 100 (page 20)."""
    directory = calculated("ils", "--preset", preset, "--line", line)["Networks and a day: lookups"]
    site = calculated("ps", "--preset", preset, "--line", line)["Networks and a day: pages"]
    assert (directory["networks"], site["networks"]) == (networks, networks)


@pytest.mark.parametrize(("rate", "millions"), [("50", 4.32), ("60", 5.184), ("68", 5.8752)])
def test_daily_pages_match_the_summary_of_the_paper(rate: str, millions: float) -> None:
    site = calculated("ps", "--pages-per-s", rate)["Networks and a day: pages"]
    assert site["per_day"] == pytest.approx(millions * 1e6)
    assert site["traffic_bits_per_s"] == pytest.approx(8 * 30_210 * float(rate))


def test_plan_states_the_memory_of_the_people_online() -> None:
    rates = ("--rates", "connect=500,add=850,lookup=900", "--mix", "lookup=6", "--session", "20m")
    memory = calculated("ils", *rates)["Memory of a directory"]
    assert memory["people"] == pytest.approx(180_000)
    assert memory["memory_mb"] == pytest.approx(180_000 * 1_283 / 1e6)


def test_plan_prints_the_rules_of_the_paper() -> None:
    said = " ".join(in_process("plan", "ps").out.split())
    for words in ("RAID (1 or 5)", "128 MB of memory", "of a million 2.8 and 4.1", "measure it"):
        assert words in said


def test_memory_is_calculated_for_the_people_in_the_plan() -> None:
    """With an objective it was the memory of a fully used machine, 2.8 times as much."""
    rates = ("--rates", "connect=2k,add=1k,lookup=15k", "--objective", "p99<5ms")
    ran = in_process("plan", "ils", *rates, "--json")
    answer = json.loads(ran.out)["answers"]["simultaneous"]
    memory = calculated("ils", *rates)["Memory of a directory"]
    assert memory["people"] == pytest.approx(answer, abs=1)
