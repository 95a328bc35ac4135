"""TLS on the command line: served, measured, and refused in one line."""

import re
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.runs.runfile import RunFile
from tests.support.cli import in_process
from tests.support.programs import run_program
from tests.support.serving import serving
from tests.support.waiting import eventually
from tests.tls.certificates import PASSWORD, Authority, Certificate

PEOPLE = ("--entries", "50", "--locales", "en_US")
SHORT = (
    *("--users", "4", "--threads", "1", "--think", "10ms"),
    *("--warmup", "0s", "--measure", "500ms", "--json"),
)


@pytest.mark.parametrize(("options", "scheme"), [((), "ldaps"), (("--start-tls",), "ldap")])
def test_commands_suggested_by_serve_work_and_leave_no_file(
    options: tuple[str, ...], scheme: str
) -> None:
    with serving("ils", *PEOPLE, "--tls", "self-signed", *options) as (_, lines):
        assert f"{scheme}://127.0.0.1:" in lines[0]
        searched = run_program(lines[1].strip(), shell=True)
        assert "numEntries: 1" in searched.stdout, searched
        assert in_process(*lines[2].split()[1:], *PEOPLE, *SHORT).point["failures"] == 0
        ca = re.search(r"--tls-ca (\S+)", lines[2])
        assert ca is not None
        assert Path(ca[1]).exists()
    assert eventually(lambda: not Path(ca[1]).exists())


@pytest.mark.parametrize(("asked", "client"), [("--tls", "ldap3"), ("--start-tls", "native")])
def test_slapd_target_uses_tls_on_request(asked: str, client: str, tmp_path: Path) -> None:
    out = tmp_path / "run.sitebench"
    run = ("ils", "run", "lookup", "--target", "openldap", asked, "--client", client)
    assert in_process(*run, *PEOPLE, *SHORT, "--out", out).point["failures"] == 0
    with RunFile(out) as run_file:
        assert "TLSCertificateFile" in str(run_file.manifest())


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_lanes_trust_authorities_with_shared_names(client: str, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    with LdapDirectory(50, start_tls=True, locales=("en_US",)) as serving_it:
        where = ("--target", serving_it.url, "--start-tls", "--tls-ca", str(bundle))
        argv = ("ils", "run", "lookup", "--client", client, *where, *PEOPLE, *SHORT)
        bundle.write_text("Name;Főtanúsítvány\n", encoding="utf-8")
        assert "no certificate" in in_process(*argv).err
        names = f"# Főtanúsítvány\n{Path(str(serving_it.ca)).read_text()}"
        bundle.write_text(names, encoding="utf-8")
        assert in_process(*argv).point["failures"] == 0
        done = serving_it.stats()
        # A connection without a bind only checks whether there is a server.
        assert done["tls_handshakes"] == done["binds"] > 4


def test_report_separates_resumed_sessions_from_full_handshakes(tmp_path: Path) -> None:
    out, page = tmp_path / "run.sitebench", tmp_path / "report.html"
    for asked in ("--tls-resume", "--no-tls-resume"):
        measured = ("ils", "run", "connect", "--tls", asked, *PEOPLE, *SHORT, "--out", str(out))
        in_process(*measured).check(0)
    with RunFile(out) as run_file:
        settings = [point.spec.settings["tls_resume"] for point in run_file.points()]
        (directory,) = run_file.manifest()["targets"]
    assert directory["configuration"]["tls"] == {"start": False}
    assert settings == ["true", "false"]
    assert in_process("report", str(out), "--out", str(page)).code == 0
    said = page.read_text(encoding="utf-8")
    assert "tls_resume=true" in said
    assert "tls_resume=false" in said


def test_unverified_certificate_is_marked_in_every_output(tmp_path: Path) -> None:
    out = tmp_path / "run.sitebench"
    with LdapDirectory(50, tls=True, locales=("en_US",)) as serving_it:
        asked = ("ils", "run", "lookup", "--target", serving_it.url, *PEOPLE)
        in_process(*asked, *SHORT).refuse(1, "not signed by a trusted authority", "--tls-ca")
        point = in_process(*asked, *SHORT, "--tls-insecure", "--out", str(out)).point
        table = in_process(*asked, *SHORT[:-1], "--tls-insecure", "--out", str(out))
        for command in ("seed", "clean"):
            filled = in_process("ils", command, *asked[3:], "--tls-insecure")
            assert "any server may have answered" in filled.err
    assert "tls-unverified" in [warning["kind"] for warning in point["warnings"]]
    assert "any server may have answered" in table.out + table.err
    page = tmp_path / "report.html"
    assert in_process("report", str(out), "--out", str(page)).code == 0
    assert "any server may have answered" in page.read_text(encoding="utf-8")
    with RunFile(out) as run_file:
        (result,) = (point.result for point in run_file.points())
    assert result is not None
    assert "tls-unverified" in [warning.kind for warning in result.verdict.warnings]


def test_each_invalid_tls_option_is_refused_in_one_line_with_a_remedy(
    authority: Authority, server: Certificate, ann: Certificate, tmp_path: Path
) -> None:
    locked = authority.locked(server)
    wrong = tmp_path / "password"
    wrong.write_text(f"not {PASSWORD}\n")
    pair = ("--tls-cert", server.cert, "--tls-key", ann.key)
    closed = ("--tls-cert", locked.cert, "--tls-key", locked.key)
    serve = ("ils", "serve", "--port", "0", "--entries", "0")
    for argv, *said in (
        ((*serve, *pair), "is not that of the certificate"),
        ((*serve, *closed), "is encrypted\n  put its password into a file", "--tls-key-password"),
        ((*serve, *closed, "--tls-key-password-file", str(wrong)), "does not open the key"),
        ((*serve, "--tls-client-ca", authority.ca), "--tls-client-ca without TLS"),
        (("ils", "run", "--target", "ldaps://127.0.0.1:1", "--start-tls"), "asks for it later"),
        (("ils", "run", "--target", "ldaps://127.0.0.1:1", "--tls-ca", "/none"), "cannot read"),
        (("ils", "run", "--tls", "--tls-resume", "--client", "ldap3"), "does not resume TLS"),
    ):
        ran = in_process(*argv)
        ran.refuse(ran.code, *said)
        assert ran.code in (1, 2)
        assert PASSWORD not in ran.err
