"""A directory that refuses to add people: what is said of it, and that nobody is left."""

from pathlib import Path

import pytest

from ils_bench.seeding import journal
from ils_bench.targets.ldap_directory import LdapDirectory
from tests.support.cli import in_process
from tests.support.refusing_directory import refusing

BASE = "ou=people,dc=example,dc=com"
WORDS = "\x1b[2J\x1b]0;pwned\x07line1\nline2\r\x85\u202eend " + "x" * 5_000
FEW = ("--base", BASE, "--entries", "10", "--locales", "en_US")


@pytest.mark.parametrize("command", ["seed", "run"])
def test_its_words_are_one_line_without_controls(command: str, tmp_path: Path) -> None:
    with refusing(BASE, WORDS) as url:
        where = ("--to", url) if command == "seed" else ("lookup", "--target", url)
        ran = in_process("ils", command, *where, *FEW, cwd=tmp_path)
    assert ran.code in (1, 2)
    assert r"insufficientAccessRights (50), \x1b[2J\x1b]0;pwned\x07line1\nline2\r" in ran.err
    assert all(each.isprintable() for each in ran.err.splitlines())
    assert len(ran.err) < 2_500
    (said,) = [each for each in ran.err.splitlines() if "insufficient" in each]
    assert said.startswith("sitebench: ")


def test_nobody_is_left_where_the_first_add_was_refused(tmp_path: Path) -> None:
    with refusing(BASE, "no") as url:
        ran = in_process("ils", "run", "lookup", "--target", url, *FEW, cwd=tmp_path)
    assert ran.code == 2
    assert "sitebench ils clean" not in ran.err
    assert not list(journal.entries())


@pytest.mark.parametrize("command", ["run", "verify"])
def test_a_directory_that_shows_nothing_is_not_said_to_have_nothing(command: str) -> None:
    with LdapDirectory(10, locales=("en_US",), require_bind=True) as directory:
        where = ("lookup", "--target", directory.url) if command == "run" else (directory.url,)
        ran = in_process("ils", command, *where, "--entries", "10", "--locales", "en_US")
    assert ran.code == 2
    assert "does not show 'ou=Dynamic,o=Intranet': insufficientAccessRights" in ran.err
    assert "--bind-dn" in ran.err
