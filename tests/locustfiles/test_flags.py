"""Locust's flags, each compared with the directory's own counters, exactly."""

import csv
import functools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sitebench.counts.source import SEQUENCE
from sitebench.runs.runfile import RunFile
from sitebench.system.network import free_port
from tests.locustfiles.conftest import (
    LOCUSTFILE,
    Counting,
    Finished,
    Headless,
    arguments,
    counting_directory,
    run_headless,
)
from tests.support.locusts import Locust, run_locust

ROOT = Path(__file__).parents[2]
USERS = ("-u", "8", "-r", "8")
RATE = ("--rate", "200")
SHORT = (*USERS, *RATE, "--warmup", "0s", "--measure", "1s")
RUN_TIMES_S = (1, 4, 16, 64)
"""A run time begins with the start, and a busy machine may need all of it to begin."""


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def of_csv(path: Path) -> dict[tuple[str, str], int]:
    rows = [row for row in rows_of(path) if row["Type"]]
    return {(row["Type"], row["Name"]): int(row["Request Count"]) for row in rows}


def of_html(path: Path) -> dict[tuple[str, str], int]:
    """Read the figures from which the page draws its tables."""
    found = re.search(r"window\.templateArgs = (\{.*\})$", path.read_text(), re.MULTILINE)
    assert found is not None
    rows: list[dict[str, Any]] = json.loads(found[1])["requests_statistics"]
    return {(row["method"], row["name"]): row["num_requests"] for row in rows if row["method"]}


@pytest.mark.parametrize("ended_by", ["run time", "Ctrl-C"])
def test_csv_html_and_json_have_the_same_counts(tmp_path: Path, ended_by: str) -> None:
    asked = ("LookupUser", *USERS, "--csv", "run", "--html", "run.html")
    for seconds in RUN_TIMES_S:
        with counting_directory() as counting:
            run = functools.partial(run_headless, tmp_path, counting, *asked)
            if ended_by == "run time":
                ran = run(*RATE, "-t", f"{seconds}s")
            else:
                ran = run(interrupt_after=("searches",))
            if ran.code == 0 or ended_by == "Ctrl-C":
                ran.agree()
                break
        ran.check(1, "the test ended")
    assert ran.code == 0, ran.err
    assert ran.counts["lookup", "lookup"] > 0
    assert of_csv(tmp_path / "run_stats.csv") == ran.counts
    assert of_html(tmp_path / "run.html") == ran.counts
    *_, last = rows_of(tmp_path / "run_stats_history.csv")
    assert int(last["Total Request Count"]) == sum(ran.counts.values())


def test_requests_of_the_ramp_are_counted_from_the_first_user(headless: Headless) -> None:
    headless(*SHORT, "-u", "6", "-r", "3", "ConnectUser").check(0).agree()


def test_reset_stats_drops_the_requests_of_the_ramp(
    headless: Headless, tmp_path: Path, counting: Counting
) -> None:
    """The remaining counts begin with a drain; the run file has all drains."""
    recorded = ("--out", "run")
    ramp = ("-u", "4", "-r", "2", "--reset-stats")
    ran = headless(*SHORT, *ramp, *recorded, "LookupUser").check(0, "run file: run")
    # The run file is closed: there are no files beside it.
    assert [each.name for each in tmp_path.glob("run*")] == ["run"]
    since, whole = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    reset = False
    with RunFile(tmp_path / "run") as run:
        (point,) = run.points()
        assert point.status == "done"
        rows = [row for row in run.timeline(point.id) if row.step != SEQUENCE]
    for t_ns in sorted({row.t_ns for row in rows}, reverse=True):
        for row in rows:
            if row.t_ns == t_ns:  # one row of a step, or two if some operations ended late
                whole[row.program, row.step] += row.count
        if whole == ran.counts:
            since, reset = whole.copy(), True
    assert reset, (ran.counts, whole)
    assert whole["lookup", "lookup"] > since["lookup", "lookup"] > 100
    (before, done) = whole["lookup", "lookup"], counting.since()["searches"]
    assert done - before < 10  # probes of the target before and after the test


TAGGED = """
from locust import tag
from ils_bench import locustfile as ils

@tag("read")
class Looking(ils.LookupUser): ...

@tag("write")
class Adding(ils.AddUser): ...
"""


@pytest.mark.parametrize(
    ("asked", "program"),
    [
        (("Looking", "--tags", "read"), "lookup"),
        (("Adding", "--exclude-tags", "read", "other"), "add"),
    ],
)
def test_tags_select_the_tasks_that_run(
    headless: Headless, asked: tuple[str, ...], program: str
) -> None:
    ran = headless(*asked, *SHORT, code=TAGGED).check(0).agree()
    assert {each for each, _ in ran.counts} == {program}


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        (("--tags", "read"), "name the other classes before --tags: Looking"),
        (("Adding", "--exclude-tags", "write"), "mark user classes with Locust's @tag"),
    ],
)
def test_tags_that_exclude_all_tasks_of_a_user_are_refused(
    headless: Headless, counting: Counting, asked: tuple[str, ...], remedy: str
) -> None:
    ran = headless(*asked, *SHORT, code=TAGGED).check(2)
    (said,) = [line for line in ran.err.splitlines() if "sitebench:" in line]
    assert "Adding would have nothing to do" in said
    assert remedy in said
    assert not ran.counts
    assert counting.since()["binds"] == 0


# None of these people exists: the names belong to another seed.
STRANGERS = ("--seed", "5", "LookupUser")


@pytest.mark.parametrize(("asked", "code"), [((), 1), (("--exit-code-on-error", "0"), 0)])
def test_failures_set_the_exit_code_and_are_named_by_kind(
    headless: Headless, tmp_path: Path, asked: tuple[str, ...], code: int
) -> None:
    load = (*USERS, "--csv", "run", *asked, *STRANGERS)
    ran = headless(*load, interrupt_after=("searches",)).check(code).agree()
    failed = ran.failures["lookup", "lookup"]
    assert failed == ran.counts["lookup", "lookup"] > 0
    (row,) = rows_of(tmp_path / "run_failures.csv")
    told = (row["Method"], row["Name"], row["Error"], int(row["Occurrences"]))
    assert told == ("lookup", "lookup", "wrong-answer", failed)


def test_each_error_of_a_headless_test_has_its_exit_code(headless: Headless) -> None:
    ran = headless(*SHORT, "--base", "ou=Nobody,o=Intranet", "LookupUser")
    assert ran.code not in (0, 1)
    assert not ran.counts
    assert finished_with_one_line(ran), ran.err


@pytest.mark.parametrize(("base", "finds"), [("ou=Dynamic", True), ("ou=Nobody", False)])
def test_base_in_the_address_is_used(
    headless: Headless, counting: Counting, base: str, finds: bool
) -> None:
    where = ("--target", f"{counting.url}/{base},o=Intranet", "LookupUser")
    ran = headless(*SHORT, *where)
    assert (ran.code == 0) is bool(ran.counts) is finds, ran.err
    assert finds or finished_with_one_line(ran), ran.err


def finished_with_one_line(ran: Finished) -> bool:
    """Return whether the error is printed in one line without a traceback."""
    said = [line for line in ran.err.splitlines() if "/ERROR/" in line]
    return len(said) == 1 and "Traceback" not in ran.err


NOT_READY = "the target was still being prepared"
ANSWERS = "check that the target answers"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        # No machine can add that many people within -t.
        (("--target", "openldap", "--entries", "300k"), NOT_READY),
        (("--rate", "0.00001"), ANSWERS),
    ],
)
def test_test_without_an_operation_fails(tmp_path: Path, asked: tuple[str, ...], why: str) -> None:
    for seconds in RUN_TIMES_S:
        said = without_one_operation(tmp_path, *asked, "-t", f"{seconds}s")
        if why == NOT_READY or NOT_READY not in said:
            break
    assert why in said


def test_end_before_all_users_started_is_a_failure(tmp_path: Path) -> None:
    """Two processes on a busy machine did seven operations in -t 8s, with exit code 0."""
    argv = arguments(LOCUSTFILE, None, "--headless", "-u", "500", "-r", "2", "--think", "1h")
    ran = run_locust(*argv, "-t", "4s", "LookupUser", cwd=tmp_path).check(1)
    (line,) = [line for line in ran.err.splitlines() if "/ERROR/" in line]
    assert re.search(r"the test ended .* of its 500 users|without an operation", line), line


def without_one_operation(tmp_path: Path, *asked: str) -> str:
    """Run Locust until it fails without an operation; return the line of the error."""
    argv = arguments(LOCUSTFILE, None, "--headless", *USERS)
    ran = run_locust(*argv, *asked, "LookupUser", cwd=tmp_path).check(1)
    (said,) = [line for line in ran.err.splitlines() if "/ERROR/" in line]
    assert "the test ended without an operation" in said
    return said


def test_worker_with_another_locustfile_is_refused(headless: Headless) -> None:
    port = str(free_port())
    other = ["-f", "examples/own_sequence.py", "--worker", "--master-port", port]
    here = ("--master", "--master-bind-port", port, "--expect-workers", "1")
    with Locust(*other, cwd=ROOT):
        ran = headless(*here, *USERS, "LookupUser")
    ran.check(2, "the locustfile of this worker has no LookupUser")
    assert finished_with_one_line(ran), ran.err
