"""Ctrl-C at any moment, even during imports, ends a command quietly with exit code 130."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import in_process
from tests.support.programs import run_program
from tests.support.waiting import left_s

ROOT = Path(__file__).parents[2]
IGNORING = "click sitebench.__main__:main --version"
INTERRUPTED_AT = """
import os, signal, sys
interrupted, entry = sys.argv.pop(1), sys.argv.pop(1)
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
module, _, function = entry.partition(":")
getattr(__import__(module, fromlist=[function]), function)()
"""


def interrupted_at(module: str, entry: str, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run an entry point, and send Ctrl-C when it begins to import a module."""
    whole = [sys.executable, "-c", INTERRUPTED_AT, module, entry, *argv]
    return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=left_s())


def console_script() -> str:
    """Return the entry point of the command in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    return text.partition('\nsitebench = "')[2].partition('"')[0]


@pytest.mark.parametrize("module", ["click", "sitebench.cli.report", "sitebench.options.help"])
def test_ctrl_c_during_an_import_ends_quietly_with_130(module: str) -> None:
    ran = interrupted_at(module, console_script(), "--help")
    assert (ran.returncode, ran.stderr) == (130, "")


def test_ctrl_c_during_the_import_of_locust_ends_quietly() -> None:
    ran = interrupted_at("locust", "sitebench.locust.process:main")
    assert (ran.returncode, ran.stderr) == (130, "")


def test_few_modules_are_imported_before_the_signal_handler_is_set() -> None:
    code = (
        "import sys; before = set(sys.modules); import sitebench.__main__;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = run_program(
        [sys.executable, "-S", "-P", "-c", f"import sys; sys.path.append({str(ROOT)!r}); {code}"],
        check=True,
    )
    assert {"enum", "typing", "re"}.isdisjoint(done.stdout.split())


def test_signal_ignored_at_the_start_stays_ignored() -> None:
    """A shell ignores the signal for background commands."""
    ran = run_program(
        ["sh", "-c", f"trap '' INT; exec {sys.executable} -c \"$0\" $1", INTERRUPTED_AT, IGNORING]
    )
    assert ran.returncode == 0


def test_command_under_nohup_outlives_its_terminal() -> None:
    code = "from sitebench.system.interrupt import ending; print(*map(int, ending()))"
    shell = f"trap '' HUP; exec {sys.executable} -c \"$0\""
    ran = subprocess.run(["sh", "-c", shell, code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["2", "15"]


def test_keyboard_interrupt_as_cause_of_an_error_counts_as_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrapped(*_: object, **__: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("sitebench.cli.main.invoke", wrapped)
    ran = in_process("report", "any")
    assert (ran.code, ran.err) == (130, "")
