"""Facts of a scenario file before the first request."""

from pathlib import Path

import pytest

from ils_bench.sequences import text_of
from ps_bench.operations import text_of as page_text_of
from sitebench.errors import BadFile, BadInput, UnknownValue
from sitebench.scenario import script

MIX = """
base = "dc=example"
load.users = 7

[[operation]]
name = "find"
weight = 3
search = "(uid=a)"
objective = "p99<5ms"

[[operation]]
name = "write"
step = [
  { name = "new", add = "cn=u{iteration},{base}", keep = true, entry.objectClass = "person" },
  { name = "change", modify = "cn=b,{base}", change.replace.sn = "c" },
]
"""
TABLE = """
[data.who]
file = "who.csv"
per = "user"

[[operation]]
search = "(uid={who.uid})"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mix.toml").write_text(MIX)
    (tmp_path / "table.toml").write_text(TABLE)
    (tmp_path / "who.csv").write_text("uid,password\na,1\nb,2\nc,3\n")
    return tmp_path


@pytest.mark.parametrize(
    ("named", "path", "only", "name"),
    [
        ("dir/mix.toml", "dir/mix.toml", None, "mix"),
        ("dir/mix.toml:find", "dir/mix.toml", "find", "find"),
        ("a.toml:b.toml", "a.toml:b.toml", None, "a.toml:b"),
        ("mix.toml:", "mix.toml:", None, "mix"),
        ("lookup", "lookup", None, "lookup"),
    ],
)
def test_name_after_a_colon_selects_one_operation_of_a_file(
    named: str, path: str, only: str | None, name: str
) -> None:
    assert (script.split(named), script.name_of(named)) == ((path, only), name)
    assert script.is_script(named) is path.endswith(".toml")


def test_unknown_scenario_file_or_operation_is_refused(folder: Path) -> None:
    with pytest.raises(UnknownValue, match="is not the name of a TOML file"):
        script.read("lookup")
    with pytest.raises(UnknownValue, match="has no operation 'delete'") as refused:
        script.read(f"{folder}/mix.toml:delete")
    assert refused.value.remedy == "use one of find, write"


def test_mix_combines_rows_objectives_and_writes_of_its_operations(folder: Path) -> None:
    mix = script.read(f"{folder}/mix.toml")
    assert mix.counted_rows == [("mix", "not begun"), ("find", "search"), ("write", "sequence")]
    assert list(mix.objectives) == [("find", "p99<5ms", 0.75)]
    assert (mix.writes, mix.overwrites, mix.load["users"]) == (True, True, 7)
    assert mix.verbs == {"search", "add", "modify"}
    find, write = mix.operations
    assert (find.writes, find.overwrites, find.keeps) == (False, False, ())
    assert write.keeps == tuple(mix.keeps) != ()
    assert (mix.needs_people, mix.by_dn, mix.removes) == (False, False, False)
    assert mix.needs_base, "its own has to be there, as one of a command"


def test_chosen_operation_has_no_writes_or_objectives_of_other_operations(folder: Path) -> None:
    one = script.read(f"{folder}/mix.toml:find")
    assert (one.name, one.only) == ("find", "find")
    assert [operation.name for operation in one.operations] == ["find"]
    assert (one.writes, one.overwrites, one.keeps) == (False, False, [])
    assert list(one.objectives) == [("find", "p99<5ms", 1.0)]
    mix = script.read(f"{folder}/mix.toml")
    assert script.alone(mix, mix.operations[0]).operations == mix.operations[:1]


def test_data_files_default_to_the_folder_of_the_scenario(folder: Path, tmp_path: Path) -> None:
    named = f"{folder}/table.toml"
    table = script.read(named)
    assert (table.tables["who"].rows, table.per_user) == (3, {"who": 3})
    other = tmp_path / "other.csv"
    other.write_text("uid\nz\n")
    given = script.read(named, {"who": str(other)})
    assert given.tables["who"].rows == 1
    with pytest.raises(UnknownValue, match="no data 'whom' in a file") as refused:
        script.read(named, {"whom": "a.csv"})
    assert refused.value.remedy == "use one of who"
    with pytest.raises(UnknownValue) as refused:
        script.read(f"{folder}/mix.toml", {"who": str(other)})
    assert refused.value.remedy == "leave --data out"


def test_overwritten_rows_are_counted_once_per_file(folder: Path) -> None:
    """A thousand searched rows and one modify were reported as "changes up to 2,000 entries"."""
    (folder / "whom.csv").write_text("uid\nx\ny\n")
    data = "".join(
        f'[data.{name}]\nfile = "{file}"\n'
        for name, file in (("who", "who.csv"), ("again", "who.csv"), ("whom", "whom.csv"))
    )
    every = "(|(uid={whom.uid})(uid={who.uid})(uid={again.uid}))"
    find = f'[[operation]]\nname = "find"\nsearch = "{every}"\n'

    def changed(step: str, only: str = "") -> int:
        change = f'[[operation]]\nname = "change"\nstep = [{step}]\n'
        (folder / "changes.toml").write_text(f'base = "dc=e"\n{data}{find}{change}')
        return script.read(f"{folder}/changes.toml{only}").changed_rows

    def modify(name: str) -> str:
        return f'{{ modify = "uid={{{name}.uid}},{{base}}", change.replace.sn = "{{who.uid}}" }}'

    assert changed(modify("who")) == 3
    assert changed(f"{modify('who')}, {modify('again').replace('modify', 'modify', 1)}") == 3
    assert changed(f"{{ repeat = 2, step = [{modify('whom')}] }}") == 2
    assert changed(f"{modify('who')}, {modify('whom')}") == 5
    assert changed(modify("who"), only=":find") == 0
    own = '{ name = "new", add = "uid={who.uid},{base}", entry.objectClass = "person" }'
    assert changed(f'{own}, {{ delete = "uid={{who.uid}},{{base}}" }}') == 0
    # A file of one column is referred to without the column, and a value may contain rows.
    assert changed('{ delete = "uid={whom},{base}" }') == 2
    data += '[values]\nsomebody = "{whom.uid}"\n'
    assert changed('{ delete = "uid={somebody},{base}" }') == 2


def test_scenario_with_data_files_is_recognised_as_confidential(folder: Path) -> None:
    assert script.entrusts(f"{folder}/table.toml")
    assert not script.entrusts(f"{folder}/mix.toml")
    (folder / "bad.toml").write_text("[[operation")
    assert script.entrusts(f"{folder}/bad.toml")


PHOTO = """
[[operation]]
modify = "cn=b,dc=x"
change.replace.jpegPhoto = { file = "photo" }
"""
FILES = {"who": ("who.csv", TABLE), "photo": ("photo", PHOTO)}


PLACES = {
    "beside": "{file}",
    "by ..": "../{file}",
    "by its whole path": "{outside}",
    "by a link": "{file}",
    "by a folder": "more/{file}",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", PLACES)
def test_file_outside_the_scenarios_folder_must_be_named_in_the_command(
    name: str, how: str, folder: Path
) -> None:
    file, text = FILES[name]
    inside, outside = folder / "sub", folder / file
    inside.mkdir()
    for place in (folder, inside):
        (place / "who.csv").write_text("uid\na\n")
        (place / "photo").write_text("b")
    (inside / "more").symlink_to("..")
    if how == "by a link":
        (inside / file).unlink()
        (inside / file).symlink_to(outside)
    written = PLACES[how].format(file=file, outside=outside)
    where = inside / "table.toml"
    where.write_text(text.replace(f'"{file}"', f'"{written}"'))
    if how == "beside":
        script.read(str(where))
        return
    known = name if name == "who" else written
    with pytest.raises(BadFile) as refused:
        script.read(str(where))
    assert f"{where}: {known!r} is in {outside}, outside the folder" in refused.value.message
    assert refused.value.remedy.endswith(f"add --data {known}={outside}")
    script.read(str(where), {known: str(outside)})


def test_digest_covers_rows_and_values_except_secret_columns(folder: Path) -> None:
    def digest(text: str) -> str:
        (folder / "who.csv").write_text(text)
        return script.read(f"{folder}/table.toml").digests["who"]

    first = digest("uid,password\na,1\nb,2\n")
    assert digest("uid,password\na,1\nb,3\n") == first
    assert digest("uid,password\na,1\nc,2\n") != first
    assert digest("uid,password\na,1\nb,2\nb,2\n") != first


@pytest.mark.parametrize(
    ("column", "hidden"), [("Password", True), ("pin", True), ("spin", False), ("uid", False)]
)
def test_names_of_secret_columns_are_recognised(column: str, hidden: bool) -> None:
    assert bool(script.SECRET.search(column)) is hidden


def test_missing_environment_variables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asks = script.from_text(
        "asks", '[[operation]]\nsearch = "(uid={env.SITEBENCH_A}{env.SITEBENCH_B})"\n'
    )
    monkeypatch.setenv("SITEBENCH_A", "1")
    with pytest.raises(BadInput, match=r"takes \$SITEBENCH_B from the environment"):
        _ = asks.secrets
    monkeypatch.setenv("SITEBENCH_B", "2")
    assert asks.secrets == {"SITEBENCH_A": "1", "SITEBENCH_B": "2"}


def test_value_may_be_a_file_of_less_than_16_mib(folder: Path) -> None:
    (folder / "photo.toml").write_text(PHOTO)
    with pytest.raises(BadFile, match="cannot read"):
        script.read(f"{folder}/photo.toml")
    held = folder / "photo"
    held.write_bytes(b"x" * 1_000)
    found = script.read(f"{folder}/photo.toml")
    assert len(found.contents["photo"]) == 1_000
    assert list(found.digests) == ["file photo"]
    assert script.entrusts(f"{folder}/photo.toml")
    with held.open("wb") as made_large:
        made_large.truncate(script.MOST_BYTES)
    with pytest.raises(BadFile, match="16 MiB or more"):
        script.read(f"{folder}/photo.toml")


def test_protocol_of_an_invalid_file_is_known(folder: Path) -> None:
    assert script.asked_by(f"{folder}/mix.toml") == ("ldap", frozenset(("search", "add", "modify")))
    (folder / "who.csv").unlink()
    assert script.asked_by(f"{folder}/table.toml") == ("ldap", frozenset(("search",)))


def test_requests_with_methods_other_than_get_and_head_are_writes() -> None:
    site = script.from_text(
        "site",
        '[[operation]]\nname = "all"\nstep = [\n'
        '{ name = "page", get = "/" }, { name = "top", head = "/" }, '
        '{ name = "order", post = "/" } ]\n',
    )
    (operation,) = site.operations
    assert operation.changing == ("order",)
    assert site.keeps_alive is True
    assert site.connects[0][0] == "site"


def test_think_times_are_handed_to_the_engine_in_ms() -> None:
    from sitebench.counts.worker_slot import WorkerSlot

    lone = script.from_text("lone", '[[operation]]\nsearch = "(uid=a)"\n').thinking(0.25)
    spec = lone.spec(WorkerSlot())
    assert (spec["think_ms"], spec["worker"], spec["of"]) == (250.0, 0, 1)


def test_adds_of_the_paper_use_people_added_and_removed_by_the_run() -> None:
    add = script.from_text("add", text_of("add"))
    assert list(add.counted_rows) == [("add", "add")]
    assert add.adding == frozenset([("add", "add")])
    assert add.removing == frozenset([("add", "remove")])
    assert not add.removes
    register = script.from_text("register", text_of("register"))
    assert register.removing == frozenset([("register", "leave"), ("register", "remove")])
    assert register.removes
    # One removing operation of several suffices.
    both = script.from_text(
        "both", f'{text_of("register")}\n[[operation]]\nname = "look"\nsearch = "(cn=a)"\n'
    )
    assert (both.counts, both.removes) == (None, True)


def test_built_in_operations_declare_whether_they_need_people() -> None:
    for name in ("lookup", "retrieve", "ils-user"):
        assert script.from_text(name, text_of(name)).needs_people, name
    for name in ("connect", "add", "register"):
        assert not script.from_text(name, text_of(name)).needs_people, name
    # A site's new users are not looked for before they are created.
    for name in ("create", "page"):
        assert script.from_text(name, page_text_of(name)).needs_people, name


def test_connection_is_persistent_unless_opened_per_step() -> None:
    each = """
[connection.a]
per = "step"
[connection.b]
per = {}
[[operation]]
name = "both"
step = [{{ name = "x", get = "/", on = "a" }}, {{ name = "y", get = "/", on = "b" }}]
"""
    assert script.from_text("both", each.format('"step"')).keeps_alive is False
    assert script.from_text("both", each.format('"iteration"')).keeps_alive is True
    assert script.from_text("connect", text_of("connect")).keeps_alive is False


def test_pool_contains_only_the_steps_that_use_its_connections() -> None:
    connections = "[connection.main]\npool = 3\noutstanding = 4\n[connection.own]\n"
    steps = '[{ search = "(uid=a)" }, { name = "b", search = "(uid=b)", on = "own" }]'
    text = f'base = "dc=e"\n{connections}[[operation]]\nname = "find"\nstep = {steps}\n'
    (pool,) = script.from_text("mix", text).pools
    assert (pool.name, pool.places, pool.rows) == ("main", 12, (("find", "search"),))
    assert script.from_text("mix", text.replace("pool = 3", "")).pools == []


def test_control_is_required_only_by_the_operation_that_has_the_control(folder: Path) -> None:
    (folder / "sorted.toml").write_text(
        'base = "dc=x"\n[[operation]]\nname = "a"\nsearch = "(uid=a)"\ncontrol.sort = "sn"\n'
        '[[operation]]\nname = "b"\nsearch = "(uid=b)"\n'
    )
    assert [each.name for each in script.read(f"{folder}/sorted.toml").needed] == ["sort"]
    assert [each.line for each in script.read(f"{folder}/sorted.toml:a").needed] == [5]
    assert script.read(f"{folder}/sorted.toml:b").needed == ()


def test_every_problem_of_a_file_has_its_position() -> None:
    wrong = '[[operation]]\nserach = "(uid=a)"\n[[operation]]\nname = 1\nsearch = "(uid=a)"\n'
    with pytest.raises(BadFile, match=r"wrong:2:1: .*; and at 4:\d+"):
        script.from_text("wrong", wrong)
    with pytest.raises(BadFile) as one:
        script.from_text("wrong", wrong[: wrong.index("[[operation]]\nname")])
    assert "and at" not in one.value.message


def test_rows_per_user_are_counted_for_tables_but_not_for_people() -> None:
    def of_data(data: str) -> script.Script:
        return script.from_text("own", f'{data}\n[[operation]]\nsearch = "(cn={{n}})"\n')

    assert dict(of_data('[data.n]\nrange = [1, 5]\nper = "user"').per_user) == {"n": 5}
    assert dict(of_data("[data.n]\nrange = [1, 5]").per_user) == {}
    people = 'data.who = { people = "seeded", per = "user" }\n'
    kept = script.from_text("kept", f'{people}[[operation]]\nsearch = "(cn={{who.cn}})"\n')
    assert (dict(kept.per_user), kept.needs_people) == ({}, True)


def test_columns_are_named_by_the_header_or_the_scenario(folder: Path) -> None:
    text = TABLE.replace('per = "user"', 'columns = ["uid", "pin"]\nseparator = ";"')
    (folder / "named.toml").write_text(text)
    (folder / "who.csv").write_text("a;1\nb;2\n")
    first = script.read(f"{folder}/named.toml")
    assert (first.tables["who"].rows, first.tables["who"].columns) == (2, ["uid", "pin"])
    (folder / "who.csv").write_text("a;1\nb;3\n")
    assert script.read(f"{folder}/named.toml").digests == first.digests
