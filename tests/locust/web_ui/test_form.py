"""An invalid form is refused with a message for its user."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from ils_bench.points import POINTS
from ps_bench.points import POINTS as SITE
from sitebench.locust.web_ui import form
from sitebench.options.convert import add_arguments, from_namespace
from web_bench.points import POINTS as WEB

LocustOptions = POINTS.locust_options
SiteOptions, WebOptions = SITE.locust_options, WEB.locust_options


@pytest.fixture
def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser, LocustOptions, "Directory options")
    return parser.parse_args([])


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("entries", "many", "Entries: unknown size 'many'"),
        ("think", "long", "Think: unknown duration 'long'"),
        ("keys", "random", "Keys: unknown choice 'random'"),
        ("profile", "mine", "Profile: unknown choice 'mine'"),
        ("threads", "0", "Threads: '0' is not a whole number of at least 1"),
    ],
)
def test_invalid_value_is_named_by_its_field(field: str, text: str, message: str) -> None:
    assert (form.find_unreadable(LocustOptions, {field: text}) or "").startswith(message)


def test_valid_values_are_accepted() -> None:
    posted = {"entries": "100k", "rate": "", "start_tls": "false", "unknown": "x"}
    assert form.find_unreadable(LocustOptions, posted) is None


@pytest.mark.parametrize(
    "name", ["password_file", "tls_key", "login_file", "out", "disposable", "html_file"]
)
def test_field_outside_the_form_is_refused(parsed: argparse.Namespace, name: str) -> None:
    parsed.html_file = parsed.user_count = None  # Locust's own.
    shown, offered = {"entries", "target"}, {"entries": "10", "user_count": "4", "unknown": "x"}
    refusal = form.find_withheld(shown, {**offered, name: "/etc/shadow"}, parsed)
    assert "cannot be set by the page" in (refusal or "")
    assert form.find_withheld(shown, {**offered, "target": "embedded"}, parsed) is None


def test_form_with_changed_values_is_refused_while_a_test_runs(parsed: argparse.Namespace) -> None:
    same = {name: str(value) for name, value in vars(parsed).items()}
    same["start_tls"] = "false"
    assert form.find_unchangeable(LocustOptions, same, parsed) is None
    refusal = form.find_unchangeable(LocustOptions, {**same, "entries": "1m"}, parsed)
    assert (refusal or "").startswith("Entries cannot change while a test runs")


def test_form_lists_the_choices_of_an_option() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, LocustOptions, "Directory options")
    actions = {action.dest: action for action in parser._actions}
    assert actions["keys"].choices == ("uniform", "zipfian", "hotspot", "latest")
    assert not actions["out"].include_in_web_ui  # type: ignore[attr-defined]
    fields = [a.dest for a in parser._actions if getattr(a, "include_in_web_ui", False)]
    assert fields[:6] == ["target", "entries", "rate", "arrivals", "think", "keys"]


def test_options_without_secrets_leave_the_target_changeable(
    parsed: argparse.Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = from_namespace(LocustOptions, parsed)
    assert form.pinned_fields(LocustOptions, given) == {}
    monkeypatch.setenv("SITEBENCH_BIND_PASSWORD", "sesame")
    assert form.pinned_fields(LocustOptions, given)["target"] == "embedded"


@pytest.mark.parametrize("name", ["password_file", "tls_key", "i_own_this_target"])
def test_password_or_key_or_permission_makes_the_target_unchangeable(
    parsed: argparse.Namespace, name: str
) -> None:
    setattr(parsed, name, "true")
    assert {"target", "bind_dn", "tls_ca", "start_tls"} <= form.pinned_fields(
        LocustOptions, from_namespace(LocustOptions, parsed)
    ).keys()


HOME = '[[operation]]\nname = "home"\n'


@pytest.mark.parametrize("only", ["", ":home"])
@pytest.mark.parametrize(
    ("text", "pins"),
    [
        (HOME + 'get = "/{env.TOKEN}"', True),
        (HOME + 'get = "/{user}"', False),
        # Otherwise a user of the page could have every password sent to a host of their choice.
        ('data.one.file = "accounts.csv"\n' + HOME + 'post = "/{one.password}"', True),
        (HOME + 'gte = "/"', True),
    ],
    ids=["variable", "neither", "column", "unreadable"],
)
def test_scenario_with_secrets_makes_the_target_unchangeable(
    tmp_path: Path, text: str, pins: bool, only: str
) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(text)
    found = form.pinned_fields(SiteOptions, SiteOptions(scenario=f"{scenario}{only}"))
    assert ("target" in found) == pins


@pytest.mark.parametrize(
    ("options", "withheld"),
    [
        (
            WebOptions,
            {
                *("docroot", "files_per_class", "scenario", "data", "directives", "cgi_program"),
                "i_own_this_target",
            },
        ),
        (SiteOptions, {"scenario", "data", "database", "i_own_this_target"}),
        (LocustOptions, {"scenario", "data", "password_file", "i_own_this_target"}),
    ],
)
def test_form_cannot_change_paths_and_programs(options: type[Any], withheld: set[str]) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, options, "Options")
    parsed = parser.parse_args([])
    shown = {a.dest for a in parser._actions if getattr(a, "include_in_web_ui", False)}
    assert "target" in shown
    assert not withheld & shown
    for name in withheld:
        refusal = form.find_withheld(shown, {name: "/home/anna"}, parsed)
        assert (refusal or "").endswith("set by the page: give it when Locust is started")


def test_list_of_names_can_only_be_chosen_on_the_command_line(parsed: argparse.Namespace) -> None:
    shown = {"names"}
    refusal = form.find_withheld(shown, {"names": "@/etc/passwd"}, parsed)
    assert refusal == "Names: the page cannot name a file; name it when you start Locust"
    assert form.find_withheld(shown, {"names": "uid=user.{i}"}, parsed) is None
    parsed.names = "@people.txt"
    assert form.find_withheld(shown, {"names": "@people.txt"}, parsed) is None
    assert form.find_withheld(shown, {"names": "@other.txt"}, parsed) == refusal
