"""A password given in any way leaves no trace: all files and outputs are searched for it."""

import base64
import contextlib
import os
import secrets
import sqlite3
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ils_bench.suite import SUITE
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import EXIT_MISSED, BadFile, UnknownValue
from sitebench.scenario.script import from_text, read
from sitebench.system.secret import address
from tests.support.cli import in_process
from tests.support.locusts import run_locust
from tests.support.screen import Screen
from tests.support.waiting import eventually
from tests.support.web_page import web_ui
from tests.system.test_child import gone
from tests.trust.searching import ADMIN, SERVE, Searched, administered

PEOPLE = ("--entries", "20", "--locales", "en_US")
WINDOW = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "500ms")
BRIEF = ("--rate", "50", *WINDOW)
SLOW = ("--think", "20ms", *WINDOW)
"""A think time for ldap3 and Locust's client, which have no rate."""

SCENARIO = """\
[headers]
Authorization = "Bearer {env.SITE_TOKEN}"
Cookie = "user={visitor.id}"
[data.visitor]
people = "seeded"
[[operation]]
name = "page"
get = "/"
"""


def test_secret_scan_finds_a_planted_secret(searched: Searched) -> None:
    assert searched.traces() == []
    (searched.folder / "log").write_text(f"bind with {searched.secret}\n")
    with contextlib.closing(sqlite3.connect(searched.folder / "run")) as database:
        database.execute("create table t (x)")
        database.execute("insert into t values (?)", ("x" * 20_000 + searched.secret,))
        database.commit()
    searched.heard.append(f"refused: {searched.secret}")
    kinds = {each.partition(":")[0] for each in searched.traces()}
    # The observer may have read the files already.
    assert kinds - {"file, for a while"} == {"file", "said"}
    assert sum(each.startswith("file:") for each in searched.traces()) == 2
    assert eventually(lambda: str(searched.folder / "log") in searched.passing)
    shows = [sys.executable, "-c", "import sys; sys.stdin.read()", searched.secret]
    told = {**os.environ, "TOLD": searched.secret}
    with subprocess.Popen(shows, env=told, stdin=subprocess.PIPE):
        assert eventually(lambda: any(searched.secret in title for title in list(searched.titles)))
        assert eventually(lambda: bool(searched.told))


def test_secret_scan_finds_every_encoding_of_a_secret(tmp_path: Path) -> None:
    searched = Searched(tmp_path)
    word = searched.secret.encode()
    planted = {f"base64 {n}": base64.b64encode(b"x" * n + word + b"yz") for n in range(5)}
    planted |= {"hex": word.hex().encode(), "HEX": word.hex().upper().encode(), "plain": word}
    for name, written in planted.items():
        (tmp_path / name).write_bytes(b"before " + written + b" behind")
    (tmp_path / "another").write_bytes(base64.b64encode(b"x" + word[:-1]))
    # A search of the bytes misses it, because a page ends within it (an overflow page holds 508
    # bytes).
    blob = tmp_path / "blob"
    with contextlib.closing(sqlite3.connect(blob)) as database:
        database.execute("pragma page_size = 512")
        database.execute("create table t (x)")
        database.execute("insert into t values (?)", (bytes(800) + word + bytes(500),))
        database.commit()
    assert word not in blob.read_bytes()
    assert set(searched.traces()) == {f"file: {tmp_path / name}" for name in (*planted, "blob")}


def test_password_from_a_file_leaves_no_trace(searched: Searched, password_file: str) -> None:
    known = ("--bind-dn", ADMIN, "--password-file", password_file)
    with administered(searched, "--admin-password-file", password_file) as url:
        target = ("--target", url, *known, *PEOPLE)
        searched.done("ils", "seed", *target)
        measured = (*target, *BRIEF, "--out", "run.sitebench", "--junit", "junit.xml")
        ran = searched.run("ils", "run", "lookup", *measured, "--objective", "failures<1%")
        # If other programs keep the cores busy the point is invalid, and therefore misses its
        # objective.
        assert ran.code in {0, EXIT_MISSED}, ran.err
        assert (searched.folder / "junit.xml").exists()
        searched.done("ils", "run", "add", *target, *SLOW, "--client", "ldap3", "--json")
        searched.done("ils", "clean", "--seeded", *target)
    searched.shown("report", "run.sitebench", "--out", "report.html")
    searched.shown("export", "run.sitebench", "--format", "hlog", "--out", "run.hlog")
    assert (searched.folder / "report.html").stat().st_size > 10_000
    assert searched.traces() == []


def test_password_from_the_environment_leaves_no_trace(searched: Searched) -> None:
    env = {"SITEBENCH_BIND_PASSWORD": searched.secret}
    with administered(searched, **env) as url:
        target = ("--target", url, "--bind-dn", ADMIN, *PEOPLE)
        searched.done("ils", "seed", *target, **env)
        sweep = ("ils", "sweep", "--sizes", "20", "--operations", "lookup,add", *target[:4])
        searched.done(*sweep, *PEOPLE[2:], *BRIEF, "--out", "sweep.sitebench", **env)
        # A failure prints more than a success: another person's name with this password.
        wrong = ("--target", url, "--bind-dn", "cn=nobody,o=Intranet", *PEOPLE, *BRIEF)
        assert searched.run("ils", "run", "lookup", *wrong, **env).code == 2
        assert searched.run("ils", "seed", *wrong[:6], **env).code == 2
    # The target has ended.
    assert searched.run("ils", "run", "lookup", *target, *BRIEF, **env).code == 1
    searched.shown("report", "sweep.sitebench", "--out", "report.html")
    assert searched.traces() == []


def test_passwords_are_not_in_the_environment_of_other_processes(searched: Searched) -> None:
    env = {
        "SITEBENCH_BIND_PASSWORD": searched.secret,
        "SITEBENCH_TLS_KEY_PASSWORD": searched.secret,
        "SITEBENCH_UI_LOGIN": searched.secret,
        "SITEBENCH_WEB_TOKEN": searched.secret,
    }
    run = ("run", *PEOPLE, *BRIEF)
    for target in ("embedded", "openldap"):
        searched.done("ils", *run, "--target", target, **env)
    assert searched.traces() == []
    # Only the command itself: a point does not get the secret in its environment.
    assert searched.told == {"-m sitebench.cli.main ils"}


def test_debug_output_has_no_password(searched: Searched, password_file: str) -> None:
    known = ("--bind-dn", ADMIN, "--password-file", password_file)
    log = ("--loglevel", "DEBUG", "--logfile", "locust.log", "--csv", "said", "--html", "said.html")
    with administered(searched, *PEOPLE, "--admin-password-file", password_file) as url:
        for more in ((), ("--client", "ldap3"), ("--base", "o=Nowhere")):
            ran = run_locust(
                "--headless",
                *("-f", str(SUITE.locustfile_path())),
                *("-u", "2", "--think", "20ms", "--warmup", "0s", "--measure", "1s"),
                *("--target", url, *known, *PEOPLE, *log, *more),
                *("--out", "run.sitebench", "LookupUser"),
                cwd=searched.folder,
                env=searched.environment(),
                # Other users see the start arguments of the first process; all later steps are the
                # same.
                forked=bool(more),
            )
            searched.heard += [ran.out, ran.err]
            assert (ran.code == 0) is ("o=Nowhere" not in more), ran.err
    assert (searched.folder / "locust.log").stat().st_size > 0
    assert searched.traces() == []


TYPED_WITHOUT_SIZE = ("--bind-dn", ADMIN, *PEOPLE[2:])
TYPED = (*TYPED_WITHOUT_SIZE, *PEOPLE[:2])


def test_password_typed_at_a_terminal_leaves_no_trace(searched: Searched) -> None:
    with searched.terminal(*SERVE) as serving:
        shown = serving.until("Ctrl-C to stop")
        assert shown.count("Password of the administrator") == 1
        url = shown.split(" at ")[1].split(",")[0]
        adds = ("ils", "sweep", "--sizes", "20", "--operations", "add", "--client", "ldap3")
        for argv in (
            ("ils", "seed", "--to", url, *TYPED),
            ("ils", "run", "lookup", "--target", url, *TYPED, *BRIEF, "--out", "run.sitebench"),
            (*adds, "--target", url, *TYPED_WITHOUT_SIZE, *SLOW, "--out", "sweep.sitebench"),
            ("ils", "clean", "--seeded", "--target", url, *TYPED),
        ):
            code, shown = searched.typing(*argv)
            assert (code, shown.count("Password of")) == (0, 1), shown
    assert searched.traces() == []
    assert searched.told == set()


def test_missing_password_without_terminal_is_a_one_line_error(searched: Searched) -> None:
    asked = ("ils", "run", "lookup", "--target", "ldap://127.0.0.1:1", "--bind-dn", ADMIN)
    for ran in (searched.run(*asked), searched.run("ils", "serve", "--admin-dn", ADMIN)):
        assert ran.code == 2
        assert "password" in ran.err.splitlines()[0]
        assert "type it at a terminal" in ran.err
    code, shown = searched.typing(*asked, "--workers", "2")
    assert code == 2
    assert "workers cannot use a password" in shown


@pytest.mark.parametrize(
    "shown",
    [
        *("ldap://ann:{}@127.0.0.1:1", "ldaps://ann:{}/more@127.0.0.1:1", "ann:{}@127.0.0.1"),
        *("ldap://ann:{}@127.0.0.1:1/o=Intranet", "https://{}@127.0.0.1:nowhere"),
    ],
)
def test_password_in_an_address_is_recognised(shown: str) -> None:
    with pytest.raises(UnknownValue, match="an address contains credentials") as refused:
        address(shown.format("s3cret"))
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "command",
    [
        ("ils", "run", "lookup", "--out", "run.sitebench", "--target", "ldap://ann:{}@127.0.0.1:1"),
        ("ils", "seed", "--to", "ldap://ann:{}@127.0.0.1:1/o=Intranet"),
        ("ps", "run", "--out", "run.sitebench", "--target", "http://ann:{}@127.0.0.1:1"),
        ("ps", "run", "--out", "run.sitebench", "--monitor", "ann:{}@127.0.0.1"),
    ],
)
def test_password_in_an_address_is_refused(command: tuple[str, ...], searched: Searched) -> None:
    ran = searched.run(*command[:-1], command[-1].format(searched.secret)).check(
        2, "an address contains credentials"
    )
    assert searched.secret not in ran.out + ran.err
    assert searched.passing == set()
    assert not list(searched.folder.glob("*.sitebench"))


def test_token_of_a_scenario_leaves_no_trace(searched: Searched) -> None:
    (searched.folder / "site.toml").write_text(SCENARIO)
    from ps_bench.targets.personalized_site import PersonalizedSite

    with PersonalizedSite(20, locales=("en_US",)) as site:
        run = ("ps", "run", "--target", site.url, "--scenario", "site.toml", *PEOPLE, *SLOW)
        searched.run(*run).check(2, "SITE_TOKEN")
        searched.done(*run, "--out", "run.sitebench", SITE_TOKEN=searched.secret)
        searched.shown("report", "run.sitebench", "--out", "run.html")
    assert searched.traces() == []


def test_token_of_the_environment_is_sent_by_a_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_TOKEN", "s3cret")
    assert from_text("file", SCENARIO).spec(WorkerSlot())["env"] == {"SITE_TOKEN": "s3cret"}


def test_environment_variables_of_a_scenario_are_announced(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO.replace("{visitor.id}", "{visitor.id}{env.HOME}"))
    ran = in_process(
        "ps", "run", "--target", "http://127.0.0.1:9", "--scenario", str(file), SITE_TOKEN="x"
    )
    assert f"{file} sends $HOME, $SITE_TOKEN of this environment to http://127.0.0.1:9" in ran.err


@pytest.mark.parametrize("end", ["\\n", "\\r", "\\u0000", "\\u0085"])
def test_header_with_a_control_character_is_refused(end: str) -> None:
    with pytest.raises(BadFile, match="no header can hold"):
        from_text(
            "file",
            SCENARIO.replace("{env.SITE_TOKEN}", "x")
            .replace("{visitor.id}", f"{end}X: y")
            .replace("Authorization", "X-Token"),
        )


@pytest.mark.parametrize("column", ["pw", "user_pw", "pin", "password"])
def test_digest_does_not_depend_on_secret_columns(column: str, tmp_path: Path) -> None:
    """Otherwise a secret could be guessed from the digest."""
    file, accounts = tmp_path / "scenario.toml", tmp_path / "accounts.csv"
    file.write_text(
        '[data.account]\nfile = "accounts.csv"\n[[operation]]\nname = "a"\n'
        f'[[operation.step]]\nname = "b"\nget = "/?{{account.uid}}={{account.{column}}}"\n'
    )
    found: list[str] = []
    for row in ("ann,s3cret", "ann,other!", "bob,s3cret"):
        accounts.write_text(f"uid,{column}\n{row}\n")
        found += read(str(file)).digests.values()
    assert found[0] == found[1] != found[2]


def test_credentials_in_a_scenario_file_are_refused() -> None:
    literal = SCENARIO.replace("{env.SITE_TOKEN}", "s3cret")
    with pytest.raises(BadFile, match=r"file:2:.*is a secret in the file") as refused:
        from_text("file", literal)
    assert "s3cret" not in str(refused.value)


# A password in a program's own sequence leaves no trace, even if the program is killed.

PROGRAM = """
import sys
import threading
import time

import sitebench

dn, password = sys.argv[1], sys.stdin.readline().strip()
bind = sitebench.Bind(dn=dn, password=password)
sequence = sitebench.Sequence("bound", (sitebench.Connect(), bind, sitebench.Unbind()))
load = {"users": 2, "threads": 1, "warmup_s": 0.0}
with sitebench.LdapDirectory(10, locales=("en_US",), admin_dn=dn, admin_password=password) as there:
    done = sitebench.run(sequence, there, measure_s=0.5, out="run.sitebench", **load)
    print(done.failures, done.point.operations > 0, done, flush=True)
    binds = there.stats()["binds"]

    def tell():
        while there.stats()["binds"] < binds + 100:
            time.sleep(0.05)
        print("bound", flush=True)

    threading.Thread(target=tell, daemon=True).start()
    sitebench.run(sequence, there, measure_s=60.0, **load)
"""


def test_password_in_a_user_defined_sequence_leaves_no_trace(searched: Searched) -> None:
    with (
        (searched.folder / "errors").open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, ADMIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=searched.folder,
            env={**os.environ, **searched.environment()},
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{searched.secret}\n")
            process.stdin.flush()
            searched.heard += [process.stdout.readline(), process.stdout.readline()]
            load = [each.pid for each in psutil.Process(process.pid).children(recursive=True)]
        finally:
            process.kill()
    assert searched.heard[0].startswith("0 True <bound, 2 clients: ")
    assert searched.heard[1] == "bound\n"
    assert searched.traces() == []
    searched.done("report", "run.sitebench", "--out", "report.html")
    assert load
    assert all(gone(pid) for pid in load)
    assert searched.traces() == []
    assert searched.told == set()


# The web UI's pages and downloads contain no password, for any logged-in user.

PAGES = (
    *("/", "/stats/requests", "/stats/requests/csv", "/stats/failures/csv", "/stats/report"),
    *("/exceptions", "/exceptions/csv", "/tasks", "/logs", "/sitebench/live"),
    *("/sitebench/live.json", "/sitebench/report", "/sitebench/run"),
)


def test_web_pages_contain_no_password(
    searched: Searched, password_file: str, tmp_path: Path
) -> None:
    word = f"Sesam-{secrets.token_hex(8)}"
    searched.more.append(word)
    login = tmp_path / "login"
    login.write_text(f"ann:{word}\n")
    with administered(searched, *PEOPLE, "--admin-password-file", password_file) as url:
        known = ("--target", url, "--bind-dn", ADMIN, *PEOPLE, "--web-login")
        # One login for each way.
        given = ("--login-file", str(login))
        told = searched.environment(SITEBENCH_BIND_PASSWORD=searched.secret)
        words = [*known, *given]
        opened = web_ui(searched.folder, "ils", *words, output=searched.heard, forked=False, **told)
        with opened as (_, root):
            screen = Screen(root)
            screen.read("/sitebench/login", {"username": "ann", "password": word})
            screen.start("LookupUser", 2)
            screen.until_done("lookup", 1)
            screen.post("/stop")
            assert eventually(lambda: not screen.live()["busy"])
            for page in PAGES:
                (searched.folder / f"page{page.replace('/', '_')}").write_bytes(screen.read(page))
    assert searched.traces() == []
