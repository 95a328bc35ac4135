"""`sitebench ils serve`, started by a user and stopped by another program."""

import os
import re
import shlex
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ldap3
import pytest

from sitebench import LdapDirectory
from tests.support.cli import in_process
from tests.support.programs import run_program
from tests.support.serving import serving

LOCALES = ("--locales", "en_US,ja_JP")


def address(lines: list[str]) -> str:
    found = re.search(r"ldap://[\d.:]+", lines[0])
    assert found is not None, lines
    return found[0]


@contextmanager
def bound(server: Any) -> Iterator[Any]:
    """Yield a connection that is closed afterwards; ldap3's own context leaves it open."""
    connection: Any = ldap3.Connection(server, auto_bind=True)
    try:
        yield connection
    finally:
        connection.unbind()


def test_suggested_search_finds_a_person_and_totals_are_printed_at_the_end(
    ldapsearch: Path,
) -> None:
    # The first person's name is Russian; the suggestion must also work in an ASCII terminal.
    with serving("ils", "--locales", "ru_RU,en_US", "--entries", "20") as (process, lines):
        assert "serving 20 people" in lines[0]
        assert lines[1].isascii()
        command = lines[1].strip().replace("ldapsearch", str(ldapsearch), 1)
        for _ in range(3):
            searched = run_program(command, shell=True)
            assert "numEntries: 1" in searched.stdout, searched
        process.terminate()
        assert process.stdout is not None
        (totals,) = process.stdout.read().splitlines()
    assert totals.startswith("served: connections 3, ")
    assert "searches 3, entries sent 3" in totals


@pytest.mark.parametrize("own", [False, True])
def test_suggested_run_command_works(own: bool, tmp_path: Path) -> None:
    ldif = tmp_path / "tree.ldif"
    ldif.write_text("dn: dc=example,dc=com\nobjectClass: domain\ndc: example\n\n")
    (tmp_path / "password").write_text("secret\n")
    admin = ("--admin-dn", "cn=admin", "--admin-password-file", str(tmp_path / "password"))
    asked = ("--suffix", "dc=example,dc=com", "--ldif", str(ldif), *admin)
    people = (*LOCALES, "--profile", "small", "--entries", "20")
    with serving("ils", *(asked if own else people)) as (_, lines):
        program, *argv = shlex.split(lines[2])
        load = ("--users", "2", "--rate", "200", "--warmup", "0s", "--measure", "500ms")
        ran = in_process(*argv, *load)
    assert program == "sitebench"
    assert ran.code == 0, (lines, ran.err)


def test_ldif_file_is_served_below_its_suffix(tmp_path: Path) -> None:
    ldif = tmp_path / "tree.ldif"
    ldif.write_text("dn: o=A\nobjectClass: organization\no: A\n")
    with serving("ils", "--ldif", str(ldif)) as (_, lines):
        assert lines[0].endswith(", suffix o=A (Ctrl-C to stop)\n")
        assert f"serving the entries of {ldif} at" in lines[0]
        server = ldap3.Server(address(lines), get_info=ldap3.ALL)
        with bound(server) as connection:
            assert server.info.naming_contexts == ["o=A"]
            assert connection.search("o=A", "(o=A)")


def test_ldif_from_a_pipe_is_served_completely(tmp_path: Path) -> None:
    """Only its first entry was served, and a pipe from Python hung."""
    pipe = tmp_path / "pipe.ldif"
    os.mkfifo(pipe)
    text = "dn: o=A\nobjectClass: organization\no: A\n\ndn: ou=b,o=A\n"
    text += "objectClass: organizationalUnit\nou: b\n"
    writing = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writing.start()
    with LdapDirectory(entries=0, ldif=pipe) as directory, bound(directory.url) as connection:
        connection.search("o=A", "(objectClass=*)")
        assert [entry.entry_dn for entry in connection.entries] == ["o=A", "ou=b,o=A"]


@pytest.mark.parametrize(
    "begins",
    [
        *("\ufeffdn: o=A", "version: 1\r\n\r\nDN:: bz1B\r", "# dn: o=B\n dn: o=C\ndn:o=A"),
        "version: 1\n\n# Folded.\ndn: o\n =A",
    ],
)
def test_first_dn_of_an_ldif_file_is_the_suffix(tmp_path: Path, begins: str) -> None:
    ldif = tmp_path / "a.ldif"
    ldif.write_text(f"{begins}\nobjectClass: organization\no: A\n", encoding="utf-8", newline="")
    with LdapDirectory(entries=0, ldif=ldif) as directory:
        assert directory.base == "o=A"


def test_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = in_process("ils", "serve", "--entries", "5", "--port", str(port), *LOCALES)
    ran.refuse(2, str(port), "port")
