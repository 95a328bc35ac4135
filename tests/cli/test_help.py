"""The output of `-h` and `--help` for every command, in a terminal of any width."""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sitebench.cli.usage import REMOVED
from sitebench.options.help import default, examples
from sitebench.options.option import PANELS
from tests.docs.cli_page import commands
from tests.support.cli import in_process, sitebench

COMMANDS: dict[str, Any] = {" ".join(path): command for path, command in commands()}
LONG = [name for name, command in COMMANDS.items() if len(command.params) > 30]


@cache
def help_of(name: str, columns: int = 80, flag: str = "--help") -> str:
    ran = in_process(*name.split(), flag, COLUMNS=str(columns))
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.fullmatch(r"[A-Z][A-Za-z ]*", line)]


def listed(text: str) -> list[str]:
    """Return the long names of the listed options."""
    return re.findall(r"^  (?:-\w, |    )(--[\w-]+)", text, re.MULTILINE)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_options_defaults_and_choices_untruncated(name: str, columns: int) -> None:
    text = help_of(name, columns)
    shown = words(text)
    assert "…" not in shown
    for each in COMMANDS[name].params:
        if not each.hidden:
            assert each.param_type_name == "argument" or each.opts[0] in listed(text)
            assert all(name in shown for name in (*each.opts, *each.secondary_opts) if "-" in name)
            assert words(default(each)) in shown
            assert words(each.help) in shown
            assert (each.metavar or "") in shown
    assert max(map(len, text.splitlines())) <= columns


@pytest.mark.parametrize("name", COMMANDS)
def test_help_texts_have_consistent_punctuation(name: str) -> None:
    shown = help_of(name)
    assert not re.search(r"[.,;:]{2}|\.\)| [.,;:)] |\( ", shown.replace("...", ""))
    assert not re.search(r"\de\+\d", shown)
    assert "[name]" not in shown
    for each in COMMANDS[name].params:
        if not each.hidden:
            assert each.help.endswith(".")
            assert each.help.startswith("Folder") == (each.metavar == "FOLDER"), each.opts
            assert not (default(each) and "(default: " in each.help), each.opts


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_in_help_have_a_heading_and_can_be_copied(name: str) -> None:
    before, found = examples(COMMANDS[name].help)
    block = help_of(name).partition("\nExamples\n")[2].partition("\n\n")[0]
    whole = block.replace("\\\n", " ")
    shown = [shlex.split(line) for line in whole.splitlines() if line.startswith("  sitebench")]
    assert shown == [shlex.split(each) for each in found if each.startswith("sitebench ")]
    assert "sitebench " not in "".join(before[:1])
    assert not re.search("sitebench (ils|ps) ", block)


def test_panels_of_options_have_the_same_order_in_every_command() -> None:
    for name in COMMANDS:
        found = headings(help_of(name))
        order = ["Examples", "Arguments", *PANELS]
        assert found == [each for each in order if each in found], name
    whole = headings(help_of("ils run"))
    groups = "Load Target Entries Output TLS Workers Advanced"
    assert whole == ["Examples", "Arguments", *groups.split()]


@pytest.mark.parametrize("name", LONG)
def test_short_help_has_8_to_15_options_and_the_total_number(name: str) -> None:
    short, whole = help_of(name, flag="-h"), help_of(name)
    some, every = listed(short), listed(whole)
    assert 8 <= len(some) <= 15
    assert [each for each in every if each in some] == some
    assert f"--help shows all {len(every)} options." in short
    assert "-h shows the commonest options." in whole
    assert short.startswith("Usage: sitebench ")
    shown = short.partition("\nExamples\n")[2].partition("\n\n")[0].splitlines()
    assert 1 <= sum(line.startswith("  sitebench ") for line in shown) <= 3
    assert not shown[-1].startswith("  #")


def test_short_help_of_command_with_few_options_is_complete() -> None:
    assert help_of("export", flag="-h") == help_of("export")


def test_required_arguments_are_in_the_usage_line() -> None:
    assert help_of("compare").startswith("Usage: sitebench compare [OPTIONS] A B\n")
    assert help_of("report").startswith("Usage: sitebench report [OPTIONS] RUN...\n")


def test_choices_of_an_option_are_listed_instead_of_the_word_choice() -> None:
    shown = help_of("ils run")
    assert "--arrivals poisson|even\n" in shown
    assert "--keys uniform|zipfian|hotspot|latest\n" in shown
    assert not any(word in shown for word in ("CHOICE", "<str>", "<bool>"))


def test_help_without_a_terminal_is_complete_and_has_no_colour() -> None:
    ran = sitebench("directory", "run", "-h", COLUMNS="80")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: sitebench directory run [OPTIONS] [OPERATION]\n")
    assert "  -u, --users N  " in ran.out
    assert "[default: 10s; also --duration]" in words(ran.out)
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_root_help_lists_each_suite_by_its_short_and_its_long_name(flag: str) -> None:
    shown = sitebench(flag, COLUMNS="80").out
    assert "\n  directory, ils  " in shown
    assert "\n  site, ps  " in shown
    assert "\n  web  " in shown
    assert headings(shown) == [
        *("Examples", "Measure", "Results", "This machine", "Help", "Options")
    ]


def test_group_without_arguments_prints_its_help() -> None:
    ran = sitebench("site", COLUMNS="80").check(2)
    assert "Usage: sitebench site [OPTIONS] COMMAND [ARGS]..." in ran.out + ran.err
    assert "\n  run " in ran.out + ran.err


# The options of all commands: a new option is a decision, and a removed option names a remedy.

LIST = Path(__file__).parent / "options.txt"


def test_every_option_is_listed_in_options_txt() -> None:
    """`options.txt` has a line for each command; a new option needs its entry and a reason."""
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
def test_removed_option_names_its_replacement(argv: tuple[str, ...], removed: str) -> None:
    ran = in_process(*argv, f"--{removed}", "1").check(2)
    assert ran.err == f"sitebench: no such option '--{removed}'\n  {REMOVED[removed]}\n"
