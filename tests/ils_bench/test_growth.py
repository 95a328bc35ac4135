"""A directory that people are added to: how many entries it had while it was measured."""

from ils_bench.growth import entries_at_ends
from ils_bench.sequences import ADD
from tests.support.cli import in_process
from tests.support.points import a_tally

LOAD = ("--users", 2, "--threads", 1, "--locales", "en_US", "--rate", 500, "--arrivals", "even")
SHORT = ("--warmup", "1s", "--measure", "1s", "--json")


def test_a_point_that_adds_says_how_many_entries_there_were_at_both_ends() -> None:
    (point,) = in_process("ils", "run", "add", "--entries", 100, *LOAD, *SHORT).objects
    start, end = point["figures"]["entries_start"], point["figures"]["entries_end"]
    # What the warm-up added is there when the window begins.
    assert 100 < start < end
    assert end - start == point["operations"]
    assert ("grown-directory" in str(point["warnings"])) is (end > 2 * start)


def test_a_directory_that_more_than_doubled_is_of_no_one_size() -> None:
    window = ("--warmup", "0s", "--measure", "3s", "--json")
    (point,) = in_process("ils", "run", "add", "--entries", 100, *LOAD, *window).objects
    assert point["figures"]["entries_end"] > 2 * point["figures"]["entries_start"]
    assert "grown-directory" in str(point["warnings"])
    assert "--ring" in str(point["warnings"])


def test_a_directory_whose_oldest_are_deleted_again_does_not_grow() -> None:
    # The ring is full after 200 ms; a busy machine may add its last ones late.
    window = ("--warmup", "3s", "--measure", "600ms", "--json")
    argv = ("ils", "run", "add", "--entries", 1_000, "--ring", 100, *LOAD, *window)
    (point,) = in_process(*argv).objects
    # Each lane may be between the two.
    assert 1_100 - 2 <= point["figures"]["entries_start"] <= 1_100
    assert 1_100 - 2 <= point["figures"]["entries_end"] <= 1_100
    assert "grown-directory" not in str(point["warnings"])


def test_people_added_after_the_window_are_not_there_when_it_begins() -> None:
    added = {"ramp": 1, "warmup": 20, "measure": 300, "after": 4_000}
    tallies = {phase: a_tally("add", n) for phase, n in added.items()}
    found = entries_at_ends(100, tallies, [ADD])
    assert found == {"entries_start": 121, "entries_end": 421}
