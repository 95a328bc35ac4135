"""A suite's use of a scenario file: its load, its objectives, and its targets."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS as ILS
from ils_bench.sequences import built_in
from ps_bench.options import PsOptions
from ps_bench.points import POINTS as PS
from sitebench._engine import Scenario
from sitebench.errors import BadFile, BadInput
from sitebench.measure.objective import Objective
from sitebench.measure.options import MeasureOptions, PeakOptions
from sitebench.measure.peak.command import check_options
from sitebench.options import option
from sitebench.options.option import combine, names_by_setting
from sitebench.scenario.script import from_text, read
from sitebench.suite_base.scripts import assure_planned, assure_same, digests_of, objective_of

RUN, PEAK = combine(MeasureOptions, IlsOptions), combine(PeakOptions, IlsOptions)
MIX = """
load.users = 7
load.warmup = "3s"
load.objective = "p99<1s"
load.clients = [1, 2]

[data.who]
file = "who.csv"

[[operation]]
name = "find"
weight = 3
search = "(uid={who.uid})"
objective = "p99<5ms"

[[operation]]
name = "all"
search = "(uid=*)"
"""


@pytest.fixture
def mix(tmp_path: Path) -> str:
    (tmp_path / "who.csv").write_text("uid\na\nb\n")
    (tmp_path / "mix.toml").write_text(MIX)
    return str(tmp_path / "mix.toml")


def test_scenario_file_is_accepted_in_place_of_an_operation(mix: str) -> None:
    options, name = ILS.choose(IlsOptions(), f"{mix}:find")
    assert (options.scenario, name) == (f"{mix}:find", "find")
    assert ILS.choose(options, "find") == (options, "find")
    assert ILS.choose(options, f"{mix}:find") == (options, "find")
    assert options.scenario_path == mix
    assert ILS.described_by(options) == ("find", "the scenario file")
    assert ILS.described_by(IlsOptions()) is None
    assert IlsOptions().scenario_path is None
    for taken in (options, IlsOptions(filter="(uid=a)")):
        with pytest.raises(BadInput, match="both describe the operations of users"):
            ILS.choose(taken, mix)


def test_load_of_a_file_applies_unless_the_command_overrides_it(mix: str) -> None:
    asked = ILS.apply_scenario(RUN(scenario=mix))
    assert (asked.users, asked.warmup) == (7, 3.0)
    given = ILS.apply_scenario(RUN(scenario=mix).assign(users=9))
    assert (given.users, given.warmup) == (9, 3.0)
    plain = RUN()
    assert ILS.apply_scenario(plain) is plain
    with pytest.raises(BadInput, match="--data replaces files of a scenario file"):
        ILS.apply_scenario(RUN(data={"who": "other.csv"}))


@dataclass(frozen=True)
class RenamedOptions(IlsOptions):
    pause: float = option.duration(0.0, "Mean think time.", setting="think")


def test_load_key_of_a_scenario_file_may_set_an_option_of_another_name(mix: str) -> None:
    Path(mix).write_text('load.think = "3s"\n[[operation]]\nsearch = "(uid=*)"\n')
    options = RenamedOptions(scenario=mix)
    for asked, pause in ((options, 3.0), (options.assign(pause=1.0), 1.0)):
        completed: Any = ILS.apply_scenario(asked)
        assert completed.pause == pause


def test_every_key_of_load_is_an_option_of_a_command() -> None:
    keys = json.loads(Scenario('[[operation]]\nsearch = "(uid=*)"\n').facts)["load"]
    assert set(keys) <= names_by_setting(PEAK).keys()


def conditions(options: Any) -> list[str]:
    return [] if options.objective is None else str(options.objective).split(",")


def test_objective_of_the_command_replaces_only_the_files_objective(mix: str) -> None:
    assert conditions(ILS.apply_scenario(RUN(scenario=mix))) == ["p99<1s", "find: p99<5ms"]
    given = RUN(scenario=mix, objective=Objective.parse("max<1h"))
    assert conditions(ILS.apply_scenario(given)) == ["max<1h", "find: p99<5ms"]
    assert conditions(ILS.apply_scenario(RUN(scenario=f"{mix}:all"))) == ["p99<1s"]


def test_peak_searches_for_an_objective_unless_loads_are_named(mix: str) -> None:
    searched: Any = ILS.apply_scenario(PEAK(scenario=mix))
    assert conditions(searched) == ["p99<1s", "find: p99<5ms"]
    assert not searched.is_set("clients")
    assert searched.clients == PEAK().clients
    # Clients of the command override users of the file, too.
    named: Any = ILS.apply_scenario(PEAK(scenario=mix).assign(clients=(4, 8)))
    assert (conditions(named), named.users, named.clients) == ([], 0, (4, 8))
    check_options(replace(named, objective=Objective.parse("p95<1s")))


def test_peak_without_an_objective_measures_the_loads_of_the_file(mix: str) -> None:
    lines = (line for line in MIX.splitlines() if "objective" not in line)
    Path(mix).write_text("\n".join(lines))
    found: Any = ILS.apply_scenario(PEAK(scenario=mix))
    assert (found.objective, list(found.clients)) == (None, [1, 2])


def test_objective_of_an_operation_uses_only_its_own_metrics() -> None:
    wrong = from_text("wrong", '[[operation]]\nsearch = "(u=a)"\nobjective = "cpu<9%"\n')
    with pytest.raises(BadFile, match="wrong: operation 'search': cpu is known for all"):
        objective_of(wrong, None)
    none = from_text("none", '[[operation]]\nsearch = "(u=a)"\n')
    assert objective_of(none, None) is None


def test_sent_values_and_changes_of_a_file_are_announced(
    mix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(text: str, **more: Any) -> str:
        Path(mix).write_text(text)
        capsys.readouterr()
        ILS.apply_scenario(RUN(scenario=mix, **{"target": "ldap://a.example", **more}))
        return capsys.readouterr().err

    monkeypatch.setenv("SITEBENCH_A", "1")
    changes = 'base = "dc=x"\n[data.who]\nfile = "who.csv"\n[[operation]]\n'
    changes += 'modify = "uid={who.uid},dc=x"\nchange.replace.sn = "{env.SITEBENCH_A}"\n'
    assert "sends $SITEBENCH_A of this environment to ldap://a.example" in said(changes)
    owned = {"i_own_this_target": True}
    assert "changes up to 2 entries of ldap://a.example" in said(changes, **owned)
    assert "changes up to" not in said(changes), "it is refused, which says so"
    assert "changes up to" not in said(changes, check=True, **owned)
    assert "changes up to" not in said(changes, target="embedded", **owned)
    lone = changes.replace("{who.uid}", "a").replace('[data.who]\nfile = "who.csv"\n', "")
    assert "changes entries of ldap://a.example" in said(lone, **owned)
    assert said('[[operation]]\nsearch = "(u=a)"\n') == ""


def test_file_for_another_suite_is_refused() -> None:
    site = from_text("site", '[[operation]]\nget = "/"\n')
    directory = from_text("directory", '[[operation]]\nsearch = "(u=a)"\n')
    files = '[[operation]]\nfile = "page"\n[files.own]\npage = { sizes = [300, 4000] }\n'
    ILS.check(IlsOptions(), [directory])
    PS.check(PsOptions(), [site])
    with pytest.raises(BadInput, match="is for no directory"):
        ILS.check(IlsOptions(), [site])
    for script, command in ((directory, "directory"), (from_text("files", files), "web")):
        with pytest.raises(BadInput, match="is for no personalized site") as refused:
            PS.check(PsOptions(), [script])
        assert f"sitebench {command} run" in refused.value.remedy


def test_process_refuses_data_that_differ_from_those_of_the_first_process(mix: str) -> None:
    programs = [built_in("lookup"), read(mix)]
    digests = digests_of(programs)
    assert list(digests) == [f"the data 'who' of {mix}"]
    assure_same(digests_of(programs), digests)
    Path(mix).with_name("who.csv").write_text("uid\na\nc\n")
    with pytest.raises(BadFile, match=r"the data 'who' of .*: its content differs"):
        assure_same(digests_of([built_in("lookup"), read(mix)]), digests)
    with pytest.raises(BadFile, match="its content differs"):
        assure_same(digests_of([read(mix)]), {})


def test_point_is_refused_if_its_file_or_data_differ_from_the_plan(mix: str) -> None:
    planned = ILS.point(RUN(scenario=mix), "mix").settings
    assure_planned(planned, mix, [read(mix)])
    Path(mix).with_name("who.csv").write_text("uid\na\nc\n")
    with pytest.raises(BadFile, match=r"^the data 'who' of .*mix\.toml changed after"):
        assure_planned(planned, mix, [read(mix)])
    Path(mix).with_name("who.csv").write_text("uid\na\nb\n")
    Path(mix).write_text(f"{MIX} ")
    with pytest.raises(BadFile, match=r"mix\.toml changed after this point was planned"):
        assure_planned(planned, mix, [read(mix)])


def test_entries_that_stay_at_a_target_are_announced(
    mix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keeps = (
        '[[operation]]\nadd = "cn=u{iteration},dc=x"\nkeep = true\nentry.objectClass = "person"\n'
    )
    Path(mix).write_text(keeps)
    ILS.leftovers(IlsOptions(scenario=mix))()
    ILS.leftovers(IlsOptions(target="ldap://a.example"))()
    assert capsys.readouterr().err == ""
    ILS.leftovers(IlsOptions(scenario=mix, target="ldap://a.example"))()
    assert "added to ldap://a.example stay there: " in capsys.readouterr().err
