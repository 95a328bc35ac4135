"""The options of all commands: a new one is a decision, and one that went says what to do."""

from pathlib import Path

import pytest

from sitebench.cli.usage import REMOVED
from tests.docs.cli_page import commands
from tests.support.cli import in_process

LIST = Path(__file__).parent / "options.txt"


def test_no_command_has_an_option_that_nobody_decided_on() -> None:
    """`options.txt` has a line for each command: to add one, add it there, and say why."""
    lines = []
    for path, command in commands():
        shown = (each for each in command.params if not getattr(each, "hidden", False))
        names = sorted(name for each in shown for name in each.opts if name.startswith("--"))
        lines.append(f"{' '.join(path)}: {' '.join(names)}".rstrip())
    assert "\n".join(lines) == LIST.read_text().rstrip("\n")


@pytest.mark.parametrize(
    ("argv", "removed"),
    [
        (("ils", "run"), "ring"),
        (("ils", "run"), "hash-pool"),
        (("ils", "seed"), "one-password"),
        (("ils", "peak"), "hold"),
        (("ils", "peak"), "holds"),
        (("ils", "peak"), "precision"),
        (("ils", "peak"), "foresee"),
        (("ps", "run"), "client"),
        (("ils", "ui"), "discard"),
        (("web", "verify"), "connections"),
        (("calibrate",), "window"),
    ],
)
def test_an_option_that_went_says_what_to_do_instead(argv: tuple[str, ...], removed: str) -> None:
    ran = in_process(*argv, f"--{removed}", "1")
    assert ran.code == 2
    assert ran.err == f"sitebench: no such option '--{removed}'\n  {REMOVED[removed]}\n"
