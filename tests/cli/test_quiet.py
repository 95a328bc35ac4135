"""`--quiet` prints only the result."""

import re
from pathlib import Path

import pytest

from tests.support.cli import in_process

BRIEF = ("--entries", "50", "--locales", "en_US", "--measure", "300ms", "--warmup", "0s")
PLAIN = (*BRIEF, "--target-threads", "1", "--threads", "1")
RATE = ("--rate", "100")


@pytest.mark.parametrize(
    ("argv", "result"),
    [
        (("ils", "run", "lookup", *PLAIN, *RATE, "--users", "2"), "Operation"),
        (
            ("ils", "sweep", "--sizes", "50", "--operations", "lookup", *PLAIN[2:], *RATE),
            "Operation",
        ),
        (("ils", "peak", "lookup", "--clients", "1,2", *PLAIN), " clients"),
    ],
)
def test_quiet_option_leaves_only_result_and_errors(
    tmp_path: Path, argv: tuple[str, ...], result: str
) -> None:
    told = in_process(*argv, "--allow-failures", cwd=tmp_path) if "run" in argv else None
    ran = in_process(*argv, "-q", cwd=tmp_path).check(0)
    assert ran.err == ""
    assert result in ran.out
    assert "What to do" not in ran.out
    assert "More:" not in ran.out
    if told is not None:
        assert "/s" in told.err
        assert "More:" in told.out
    wrong = in_process(*argv, "--quiet", "--target", "ldap://127.0.0.1:1", cwd=tmp_path).check(1)
    assert wrong.err.startswith("sitebench: nothing answers at ldap://127.0.0.1:1")


def test_repeated_command_with_same_file_reports_that_nothing_was_measured(tmp_path: Path) -> None:
    argv = ("ils", "run", "lookup", *PLAIN, *RATE, "--users", "2", "--allow-failures", "-q")
    first = in_process(*argv, "--out", "run", cwd=tmp_path)
    assert (first.code, first.err) == (0, "")
    again = in_process(*argv, "--out", "run", cwd=tmp_path)
    assert re.fullmatch(
        r"run: all points were measured before, the last at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; "
        r"to measure again, name another --out\n",
        again.err,
    )
    assert again.out == first.out
