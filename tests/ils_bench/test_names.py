"""`--names`: people that the directory already contains, under any names."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.names import Names, names_of
from ils_bench.suite import SUITE
from ils_bench.targets import probe
from ils_bench.targets.address import parse_address
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.probe import connect
from sitebench.errors import BadFile
from tests.support.cli import in_process
from tests.support.locusts import run_locust

SHORT = (
    *("--users", "2", "--threads", "1", "--think", "10ms"),
    *("--warmup", "0s", "--measure", "500ms"),
)
PEOPLE = ("jsmith", "Müller, Ann", "x*(y)", " padded ", "a+b=c")
BASE = "ou=Dynamic,o=Intranet"


@pytest.fixture(scope="module")
def theirs() -> Iterator[LdapDirectory]:
    """A directory with foreign people, whose uids contain characters that need escaping."""
    from ldap3.utils.dn import escape_rdn

    with LdapDirectory(1, locales=("en_US",)) as directory:
        with connect(parse_address(directory.url)) as connection:
            for n, uid in enumerate(PEOPLE):
                who = {"sn": "S", "cn": "C", "mail": f"person{n}@example.com", "uid": uid}
                dn = f"uid={escape_rdn(uid)},{directory.base}"
                assert connection.add(dn, "inetOrgPerson", who), connection.result
        yield directory


def csv_of(folder: Path) -> Path:
    lines = ["uid,mail,note"]
    for n, uid in enumerate(PEOPLE):
        lines.append(f'"{uid}",PERSON{n}@example.com,"a, b"')
    path = folder / "accounts.csv"
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8")
    return path


def lookup(directory: LdapDirectory, names: str, *more: str) -> tuple[str, ...]:
    where = ("--target", directory.url, "--names", names, "--locales", "en_US")
    return ("ils", "run", "lookup", *where, *SHORT, *more)


@pytest.mark.parametrize(("column", "client"), [("", "native"), (":mail", "native"), ("", "ldap3")])
def test_all_names_of_a_file_are_looked_up(
    theirs: LdapDirectory, tmp_path: Path, column: str, client: str
) -> None:
    before = theirs.stats()["searches"]
    names = f"@{csv_of(tmp_path)}{column}"
    point = in_process(*lookup(theirs, names, "--client", client, "--json")).point
    assert (point["entries"], point["failures"]) == (len(PEOPLE), 0)
    assert 0 < point["operations"] <= theirs.stats()["searches"] - before


def test_missing_person_counts_as_a_wrong_answer(theirs: LdapDirectory, tmp_path: Path) -> None:
    listed = tmp_path / "people.txt"
    listed.write_text("jsmith\nwho\n\njsmith\n")
    point = in_process(*lookup(theirs, f"@{listed}", "--allow-failures", "--json")).point
    share = point["failures"] / (point["failures"] + point["operations"])
    assert point["entries"] == 3
    assert point["failures_by_kind"].keys() == {"wrong-answer"}
    # Each lookup draws one of the three names.
    assert 0.2 < share < 0.5


def test_last_name_of_the_list_is_checked_before_the_load(
    theirs: LdapDirectory, tmp_path: Path
) -> None:
    listed = tmp_path / "people.txt"
    listed.write_text("jsmith\nx*\n")
    before = theirs.stats()["searches"]
    in_process(*lookup(theirs, f"@{listed}")).check(
        2, f"has no 'uid=x*' below '{BASE}'", "name 2 of"
    )
    assert theirs.stats()["searches"] - before <= 3
    in_process(*lookup(theirs, f"@{listed}", "--entries", "1")).check(0)
    in_process(*lookup(theirs, f"@{listed}", "--entries", "3")).check(
        2, "has 2 names, and 3 people"
    )


def test_peak_sweep_and_locust_accept_a_list_of_names(
    theirs: LdapDirectory, tmp_path: Path
) -> None:
    at = ("--target", theirs.url, "--names", f"@{csv_of(tmp_path)}", "--locales", "en_US")
    short = ("--warmup", "0s", "--measure", "300ms", "--threads", "1", "--think", "5ms")
    out = ("--out", str(tmp_path / "p.sitebench"))
    in_process("ils", "peak", "lookup", *at, *short, "--clients", "1,2", *out).check(0)
    only = ("--sizes", "2,5", "--operations", "lookup", "--out", str(tmp_path / "s.sitebench"))
    sweep = in_process("ils", "sweep", *at, *short, *only).check(0)
    assert "5" in sweep.out
    load = ("--headless", "-u", "1", *short[:4], "--rate", "200")
    file = ("-f", str(SUITE.locustfile_path()))
    ran = run_locust(*file, *load, *at, "LookupUser", cwd=tmp_path).check(0)
    assert re.search(r"lookup +\d{2,} +0\(0.00%\)", ran.out + ran.err)


def test_different_lists_of_names_are_different_people(
    theirs: LdapDirectory, tmp_path: Path
) -> None:
    listed = tmp_path / "people.txt"
    for n, second in enumerate(("jsmith", "JSMITH")):
        listed.write_text(f"jsmith\n{second}\njsmith\n")
        out = ("--out", str(tmp_path / f"{n}.sitebench"), "--allow-failures")
        in_process(*lookup(theirs, f"@{listed}", *out)).check(0)
    in_process("compare", tmp_path / "0.sitebench", tmp_path / "1.sitebench").check(
        2, "the runs measured different people: their lists of names were"
    )


def test_attribute_that_can_be_searched_but_not_read_is_refused_for_verification(
    theirs: LdapDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Access control may let clients search an attribute without reading it."""
    monkeypatch.setattr(probe, "find_entry", lambda *_: (f"uid=jsmith,{BASE}", False))
    listed = tmp_path / "people.txt"
    listed.write_text("person0@example.com\n")
    asked = lookup(theirs, f"@{listed}:mail")
    in_process(*asked).check(2, "does not show its mail", "--bind-dn")
    assert in_process(*asked, "--verify", "none").code == 0


@pytest.mark.parametrize(
    ("content", "column", "words"),
    [
        ("", "", "has no names"),
        ("\n\n", "", "has no names"),
        ("uid\n", "", "line 2, column 1: the file ends without a row"),
        ("mail,b\n1,2\n", "", "line 1 has 2 columns, and none is called uid: 'mail', 'b'"),
        ("a,b\n1,2\n", ":c", "none is called c"),
        ("\na,User Name\n1,2\n", "", "line 2 has 2 columns, and none is called uid: 'a', 'User"),
        ("uid,b\n1\n", "", "line 2, column 2: the line ends after 1 of 2 fields"),
        ("b, UID \n2,\n", "", "line 2, column 3: no name"),
        # A file without a header, whose rows are not shown.
        ("jo;Jo Smith;swordfish\nb;B;Pw\n", "", "line 1 has 3 columns, and none is called uid"),
        ('uid\n"a\nb"\n', "", "line 2, column 1: no name that one line could hold"),
        ('uid\n"a\n', "", "line 2, column 1: a quote without an end"),
        ('uid\n"a"b\n', "", "line 2, column 4: text behind a closing quote"),
        ("ann\nSmith, Ben\n", "", "line 2, column 7: a field more than the 1 expected"),
        ("uid\n" + "x" * 20_000 + "\n", "", "no name that one line could hold"),
        ("uid,b,b\nann,1,2\n", "", 'line 1, column 7: a second column "b"'),
        ("uid\nM\xfcller\n", "", "line 2, column 2: not UTF-8"),
    ],
)
def test_error_in_a_list_of_names_is_reported_with_its_line(
    tmp_path: Path, content: str, column: str, words: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(BadFile) as caught:
        names_of(f"@{path}{column}")
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in caught.value.message
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_column_and_delimiter_of_a_list_of_names_can_be_chosen(
    theirs: LdapDirectory, tmp_path: Path, separator: str
) -> None:
    rows = [["Full Name", "Login", "Password"], *([f"P {n}", n, f"Pw-{n}"] for n in PEOPLE)]
    path = tmp_path / "hr.csv"
    quoted = (separator.join(f'"{cell}"' for cell in row) for row in rows)
    path.write_text("".join(f"{line}\r\n" for line in quoted), encoding="utf-8")
    names = names_of(f"@{path}:Login=uid")
    usual = csv_of(tmp_path)
    assert names.digest == names_of(f"@{usual}").digest == names_of(f"@{usual}:uid").digest
    # The engine itself reads the names for a filter.
    argv = lookup(theirs, f"@{path}:Login=uid", "--filter", "(uid={name})", "--json")
    (point,) = in_process(*argv[:2], *argv[3:]).check(0).objects
    assert (point["failures"], point["operations"] > 0) == (0, True)


def test_filter_without_matches_is_refused(theirs: LdapDirectory, tmp_path: Path) -> None:
    argv = lookup(theirs, f"@{csv_of(tmp_path)}", "--filter", "(cn={name})", "--json")
    argv = (*argv[:2], *argv[3:])
    ran = in_process(*argv)
    assert ran.code != 0
    assert "wrong-answer" in ran.out + ran.err
    assert in_process(*argv, "--verify", "none").code == 0


def test_changed_list_of_names_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "people.txt"
    path.write_text("\ufeff\nann\n")
    first = names_of(f"@{path}")
    assert first.table is not None
    assert (first.table.rows, first.fill(0)) == (1, "uid=ann")
    path.write_text("ann\nben\n")
    second = names_of(f"@{path}")
    assert second.table is not None
    assert [second.fill(i) for i in range(second.table.rows)] == ["uid=ann", "uid=ben"]
    assert first.digest != names_of(f"@{path}").digest != names_of(f"@{path}:cn").digest


def test_pipe_is_refused_as_list_of_names(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadFile, match="no regular file"):
        names_of(f"@{tmp_path / 'pipe'}")


def test_numbered_names_are_a_template_without_a_digest() -> None:
    numbered = names_of("uid=user.{i}")
    assert numbered == Names("uid=user.{i}")
    assert numbered.fill(7) == "uid=user.7"
    assert json.dumps(numbered.digest) == "null"
