"""A password given in every way there is leaves no trace: everything is searched for it."""

import base64
import contextlib
import os
import secrets
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from ps_bench.errors import BadScenarioFile
from ps_bench.scenario_file import parse
from seeders.pools import cache_folder
from tests.support.cli import SITEBENCH, Ran, sitebench

ADMIN = "cn=admin,o=Intranet"
PEOPLE = ("--entries", "20", "--locales", "en_US")
BRIEF = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "500ms")

SCENARIO = """\
[headers]
Authorization = "Bearer {env.SITE_TOKEN}"
Cookie = "user={id}"
[[operation]]
name = "page"
[[operation.request]]
path = "/"
"""


@dataclass
class Searched:
    """A folder in which everything happens, and what was heard and seen of it."""

    folder: Path
    secret: str = field(default_factory=lambda: f"Geheim-{secrets.token_hex(8)}")
    heard: list[str] = field(default_factory=list, repr=False)
    titles: set[str] = field(default_factory=set, repr=False)

    def environment(self, **more: str) -> dict[str, str]:
        """Return an environment whose every folder lies in ours."""
        places = ("HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
        found = {name: str(self.folder / name) for name in places}
        for place in found.values():
            Path(place).mkdir(exist_ok=True)
        # Pools of names are what it holds, and take a minute to make.
        return {**found, "XDG_CACHE_HOME": str(cache_folder().parent), **more}

    def run(self, *argv: str, **env: str) -> Ran:
        """Run a command and keep what it said."""
        ran = sitebench(*argv, cwd=self.folder, timeout_s=110, **self.environment(**env))
        self.heard += [ran.out, ran.err]
        return ran

    def done(self, *argv: str, **env: str) -> None:
        """Run a command that has to work."""
        ran = self.run(*argv, **env)
        assert ran.code == 0, (argv, ran.err)

    @contextlib.contextmanager
    def titles_watched(self) -> Iterator[None]:
        """Note the command line of every process there is, over and over."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.2):
                for each in psutil.process_iter():
                    with contextlib.suppress(psutil.Error):
                        self.titles.update((" ".join(each.cmdline()), each.name()))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def traces(self) -> list[str]:
        """Return everything that holds the secret, as it is or in base64."""
        plain = self.secret.encode()
        needles = (plain, base64.b64encode(plain).rstrip(b"=")[:-1])
        found = [f"said: {text}" for text in self.heard if self.secret in text]
        found += [f"process: {title}" for title in self.titles if self.secret in title]
        for path in self.folder.rglob("*"):
            if not path.is_file():
                continue
            content = path.read_bytes()
            if content.startswith(b"SQLite format 3"):
                # A long text is cut over pages, which a search of the bytes may miss.
                with contextlib.closing(sqlite3.connect(path)) as database:
                    content += "\n".join(database.iterdump()).encode()
            found += [f"file: {path}" for needle in needles if needle in content]
        return found


@pytest.fixture
def searched(tmp_path: Path) -> Iterator[Searched]:
    folder = tmp_path / "searched"
    folder.mkdir()
    found = Searched(folder)
    with found.titles_watched():
        yield found


@pytest.fixture
def password_file(searched: Searched, tmp_path: Path) -> str:
    """Where the password may stand: nobody searches here."""
    path = tmp_path / "password"
    path.write_text(f"{searched.secret}\n")
    return str(path)


@contextlib.contextmanager
def administered(searched: Searched, *options: str, **env: str) -> Iterator[str]:
    """Serve a directory with an administrator; all it says is searched too."""
    argv = ("ils", "serve", "--entries", "0", "--port", "0", "--admin-dn", ADMIN, *options)
    log = searched.folder / "serve.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [*SITEBENCH, *argv],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            cwd=searched.folder,
            env={**os.environ, **searched.environment(**env)},
        ) as process,
    ):
        assert process.stdout is not None
        try:
            greeting = process.stdout.readline()
            searched.heard.append(greeting)
            yield greeting.split(" at ")[1].split(",")[0]
        finally:
            process.terminate()
            searched.heard.append(process.communicate(timeout=30)[0])


def test_a_search_finds_what_is_there(searched: Searched) -> None:
    assert searched.traces() == []
    (searched.folder / "log").write_text(f"bind with {searched.secret}\n")
    with contextlib.closing(sqlite3.connect(searched.folder / "run")) as database:
        database.execute("create table t (x)")
        database.execute("insert into t values (?)", ("x" * 20_000 + searched.secret,))
        database.commit()
    searched.heard.append(f"refused: {searched.secret}")
    kinds = {each.partition(":")[0] for each in searched.traces()}
    assert kinds == {"file", "said"}
    assert sum(each.startswith("file") for each in searched.traces()) >= 2


def test_a_password_from_a_file_leaves_no_trace(searched: Searched, password_file: str) -> None:
    known = ("--bind-dn", ADMIN, "--password-file", password_file)
    with administered(searched, "--admin-password-file", password_file) as url:
        target = ("--target", url, *known, *PEOPLE)
        searched.done("ils", "seed", *target)
        measured = (*target, *BRIEF, "--out", "run.sitebench", "--junit", "junit.xml")
        searched.done("ils", "run", "lookup", *measured, "--objective", "failures<1%")
        searched.done("ils", "run", "connect", *target, *BRIEF, "--client", "ldap3", "--json")
        searched.done("ils", "run", "add", *target, *BRIEF)
        searched.done("ils", "clean", "--seeded", *target)
    searched.done("report", "run.sitebench", "--out", "report.html")
    searched.done("export", "run.sitebench", "--format", "jsonl", "--out", "run.jsonl")
    assert (searched.folder / "report.html").stat().st_size > 10_000
    assert searched.traces() == []


def test_a_password_from_the_environment_leaves_no_trace(searched: Searched) -> None:
    env = {"SITEBENCH_BIND_PASSWORD": searched.secret}
    with administered(searched, **env) as url:
        target = ("--target", url, "--bind-dn", ADMIN, *PEOPLE)
        searched.done("ils", "seed", *target, **env)
        sweep = ("ils", "sweep", "--sizes", "20", "--operations", "lookup,add", *target[:4])
        searched.done(*sweep, *PEOPLE[2:], *BRIEF, "--out", "sweep.sitebench", **env)
        # A failure says more than a success: somebody else's name with our password.
        wrong = ("--target", url, "--bind-dn", "cn=nobody,o=Intranet", *PEOPLE, *BRIEF)
        assert searched.run("ils", "run", "lookup", *wrong, **env).code == 2
        assert searched.run("ils", "seed", *wrong[:6], **env).code == 2
    # And a target that is gone.
    assert searched.run("ils", "run", "lookup", *target, *BRIEF, **env).code == 1
    searched.done("report", "sweep.sitebench", "--out", "report.html")
    assert searched.traces() == []


def test_a_token_of_a_scenario_leaves_no_trace(searched: Searched) -> None:
    (searched.folder / "site.toml").write_text(SCENARIO)
    from ps_bench.personalized_site import PersonalizedSite

    with PersonalizedSite(20, locales=("en_US",)) as site:
        run = ("ps", "run", "--target", site.url, "--scenario", "site.toml", *PEOPLE, *BRIEF)
        missing = searched.run(*run)
        assert (missing.code, "SITE_TOKEN" in missing.err) == (2, True)
        for client in ("native", "fasthttp"):
            out = f"{client}.sitebench"
            searched.done(*run, "--client", client, "--out", out, SITE_TOKEN=searched.secret)
            searched.done("report", out, "--out", f"{client}.html")
    assert searched.traces() == []


def test_a_token_in_a_scenario_is_sent() -> None:
    os.environ["SITEBENCH_TEST_TOKEN"] = "s3cret"
    try:
        scenario = parse(SCENARIO.replace("SITE_TOKEN", "SITEBENCH_TEST_TOKEN"), "file")
    finally:
        del os.environ["SITEBENCH_TEST_TOKEN"]
    assert ("Authorization", "Bearer s3cret") in scenario.operations[0].requests[0].headers


def test_credentials_in_a_scenario_file_are_refused() -> None:
    literal = SCENARIO.replace("{env.SITE_TOKEN}", "s3cret")
    with pytest.raises(BadScenarioFile, match=r"line 2, column .*credentials") as refused:
        parse(literal, "file")
    assert "s3cret" not in str(refused.value)
