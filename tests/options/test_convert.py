import argparse
from dataclasses import dataclass, replace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from sitebench import units
from sitebench.errors import UnknownValue
from sitebench.measure.options import LoadOptions
from sitebench.options import convert, option
from sitebench.options.command import command
from sitebench.options.option import PANELS, OneOf, fields_of
from sitebench.options.spelling import long_option
from sitebench.suite_base.options import PeopleOptions


@dataclass(frozen=True)
class Example(PeopleOptions, LoadOptions):
    quiet: bool = option.flag("No output.")
    where: str | None = option.text(None, "A place.", local=True)
    how: str | None = option.choice(None, "A way.", "by land", "by sea")


def through_locust(*argv: str, options: type[Any] = Example, seed: str | None = None) -> Any:
    """Parse a command line of Locust, which may have an option `--seed` of its own."""
    parser = argparse.ArgumentParser()
    if seed is not None:
        parser.add_argument("--seed", default=seed)
    convert.add_arguments(parser, options, "Example options")
    return convert.from_namespace(options, parser.parse_args(argv))


def through_click(*argv: str, options: type[Any] = Example) -> Any:
    chosen = []

    @command(options, panel="Load")
    def app(options: Any) -> None:
        chosen.append(options)

    result = CliRunner().invoke(app, list(argv), env={"COLUMNS": "200"}, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return chosen[0] if chosen else result.output


def test_command_line_has_the_defaults_of_the_definition() -> None:
    assert through_click() == Example()


def test_explicitly_set_default_is_recorded_as_set() -> None:
    for argv, measure_s, explicit in (
        ((), 10.0, False),
        (("--measure", "10s"), 10.0, True),
        (("-d", "2s"), 2.0, True),
    ):
        chosen = through_click(*argv)
        assert (chosen.measure, chosen.is_set("measure")) == (measure_s, explicit)


def test_command_line_and_locust_parse_values_alike() -> None:
    argv = ["--rate", "2k", "--warmup", "500ms", "--measure", "1m", "--keys", "zipfian"]
    argv += ["--verify", "full", "--quiet", "--locales", "de_DE,ja_JP", "--threads", "2"]
    words = ("rate", "warmup", "measure", "keys", "verify", "quiet", "locales", "threads")
    # Only a command records explicitly set options: in Locust there is no default length.
    assert through_click(*argv) == replace(through_locust(*argv), explicit=frozenset(words))


def test_web_ui_test_runs_until_stopped() -> None:
    chosen = through_locust()
    assert chosen.measure is None
    assert chosen.warmup == 0.0


def test_locust_stores_values_as_text_because_its_web_form_posts_text() -> None:
    parser = argparse.ArgumentParser()
    convert.add_arguments(parser, Example, "Example options")
    namespace = parser.parse_args([])
    assert namespace.think == "0s"
    namespace.think = "250ms"
    assert convert.from_namespace(Example, namespace).think == 0.25


def test_list_in_the_web_form_starts_with_its_default() -> None:
    parser = argparse.ArgumentParser()
    convert.add_arguments(parser, Example, "Example options")
    first = {each.dest: next(iter(each.choices)) for each in parser._actions if each.choices}
    assert first == {"arrivals": "poisson", "keys": "uniform", "verify": "digest", "how": ""}
    for dest, chosen in first.items():
        namespace = argparse.Namespace(**{**vars(parser.parse_args([])), dest: chosen})
        assert convert.from_namespace(Example, namespace) == through_locust()


def test_locust_refuses_unreadable_values(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        through_locust("--think", "long")
    assert "unknown duration 'long'" in capsys.readouterr().err


def test_existing_options_of_locust_are_not_redefined() -> None:
    assert through_locust(seed="7").seed == 7


@given(
    st.builds(
        Example,
        rate=st.none() | st.integers(1, 10**6).map(float),
        warmup=st.integers(0, 10**4).map(lambda ms: ms / 1e3),
        measure=st.none() | st.integers(1, 10**4).map(float),
        think=st.integers(0, 10**4).map(lambda ms: ms / 1e3),
        keys=st.sampled_from(["uniform", "zipfian", "hotspot", "latest"]),
        threads=st.none() | st.integers(1, 64),
        verify=st.sampled_from(["digest", "full", "none"]),
        seed=st.integers(0, 10**9),
        quiet=st.booleans(),
        explicit=st.frozensets(st.sampled_from(["rate", "measure"])),
    )
)
def test_options_survive_a_locust_command_line(chosen: Example) -> None:
    assert through_locust(*convert.to_argv(chosen)) == chosen


@given(
    st.builds(
        Example,
        seed=st.integers(0, 99),
        verify=st.sampled_from(["digest", "full", "none"]),
        rate=st.none(),
    )
)
def test_options_survive_serialisation_as_texts(chosen: Example) -> None:
    assert convert.from_texts(Example, convert.to_texts(chosen)) == chosen


def test_texts_omit_options_that_do_not_identify_a_point() -> None:
    assert "where" not in convert.to_texts(Example(where="here"))


def test_message_for_an_invalid_choice_lists_the_choices() -> None:
    with pytest.raises(UnknownValue, match="use one of a, b"):
        OneOf("a", "b")("c")


def test_help_shows_each_option_in_its_panel_and_no_type_for_a_flag() -> None:
    lines = through_click("--help").splitlines()
    shown = "\n".join(lines)
    for each, spec in fields_of(Example):
        assert (long_option(each.name) in shown) == spec.command
    assert units.format_duration(10.0) in shown
    assert [line for line in lines if line in PANELS] == ["Load", "Output", "Workers", "Advanced"]
    (quiet,) = (line for line in lines if "--quiet" in line)
    assert "bool" not in quiet


@dataclass(frozen=True)
class Switched(Example):
    kept: bool = option.flag("Something kept.", paired=True)


def test_option_with_prefix_no_turns_a_paired_switch_off() -> None:
    for argv, kept in (((), False), (("--kept",), True), (("--no-kept",), False)):
        assert through_click(*argv, options=Switched).kept is kept


def test_locust_accepts_both_forms_of_a_flag() -> None:
    for argv, kept in (((), False), (("--kept",), True), (("--kept", "--no-kept"), False)):
        assert through_locust(*argv, options=Switched).kept is kept
    assert not through_locust("--quiet", "--no-quiet").quiet
