"""A key, its password and a bind password, with workers: none leaves a trace."""

import secrets
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.system.network import free_port
from sitebench.targets.tls import ServerTls
from tests.distributed.masters import worker
from tests.tls.certificates import Authority
from tests.trust.searching import ADMIN, Searched

PEOPLE = ("--entries", "20", "--locales", "en_US")
LOAD = ("--users", "2", "--threads", "1", "--think", "20ms")
BRIEF = (*LOAD, "--warmup", "0s", "--measure", "500ms")


def test_neither_keys_nor_their_passwords_leave_a_trace(
    searched: Searched, password_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, opens = Authority(tmp_path / "authority"), f"Opens-{secrets.token_hex(8)}"
    server, ann = authority.sign("server"), authority.sign("ann")
    keys = [Path(each.key).read_text().splitlines()[1] for each in (server, ann)]
    searched.more += [opens, *keys]
    locked = authority.locked(ann, opens)
    opens_file = tmp_path / "opens"
    opens_file.write_text(f"{opens}\n")
    given = ("--password-file", password_file, "--tls-key-password-file", str(opens_file))
    told = {"SITEBENCH_BIND_PASSWORD": searched.secret, "SITEBENCH_TLS_KEY_PASSWORD": opens}
    tls = ServerTls(server.cert, server.key, client_ca=authority.ca)
    rules = {"admin_dn": ADMIN, "admin_password": searched.secret}
    master = f"127.0.0.1:{free_port()}"
    with LdapDirectory(20, tls=tls, locales=("en_US",), **rules) as serving:  # type: ignore[arg-type]
        shown = ("--tls-ca", authority.ca, "--tls-cert", locked.cert, "--tls-key", locked.key)
        target = ("--target", serving.url, *shown, "--sasl", "plain", "--bind-dn", ADMIN)
        run = ("ils", "run", "add", *target, *PEOPLE, *BRIEF)
        searched.done(*run, *given, "--client", "ldap3")
        for name, value in searched.environment(**told).items():
            # The worker gets the variable, too.
            monkeypatch.setenv(name, value)
        with worker(searched.folder, master, None) as helper:
            searched.done(*run, "--workers", "1", "--bind", master, "--out", "run.sitebench")
            searched.heard.append(helper.end())
    searched.shown("report", "run.sitebench", "--out", "report.html")
    assert searched.traces() == []
