"""A target that never answers is an error in every kind of test."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench import run
from sitebench.errors import PointFailed
from sitebench.suite import suite
from tests.support.cli import in_process
from tests.support.http_server import silent_site
from tests.support.locusts import run_locust
from tests.support.relay import silent_directory

PEOPLE = ("--entries", "10", "--locales", "en_US")
BRIEF = (
    *("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "500ms"),
    *("--timeout", "2s"),
)
SCENARIO = '[[operation]]\nname = "x"\nget = "/x"\n'
NOTHING = r"no operation (finished within the window|succeeded: timeout x)"
"""A first request may be sent just before or just after the window begins."""


@contextmanager
def target(of: str, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield the options that name a silent target of a suite."""
    if of == "ils":
        directory = LdapDirectory(10, locales=("en_US",))
        with directory, silent_directory(directory.port) as url:
            yield ("--target", url, *PEOPLE)
        return
    with silent_site() as url:
        file = folder / "site.toml"
        file.write_text(SCENARIO)
        yield ("--target", url, *(("--scenario", str(file)) if of == "ps" else ()))


@pytest.mark.parametrize("of", ["ils", "ps", "web"])
def test_run_at_a_silent_target_is_an_error(of: str, tmp_path: Path) -> None:
    with target(of, tmp_path) as where:
        ran = in_process(of, "run", *where, *BRIEF, "--allow-failures", cwd=tmp_path)
    assert ran.code == 1
    said = ran.err.splitlines()
    # A site's first file is requested before any load.
    why, remedy = NOTHING, "check that the target answers"
    if of == "web":
        why, remedy = "no answer", "check host and port"
    assert re.search(why, said[-2])
    assert remedy in said[-1]


def test_sweep_at_a_silent_target_is_an_error(tmp_path: Path) -> None:
    with target("ils", tmp_path) as where:
        sweep = ("ils", "sweep", "--operations", "lookup", "--sizes", "10", *where[:2])
        ran = in_process(*sweep, *PEOPLE[2:], *BRIEF, "--junit", "run.xml", cwd=tmp_path)
    assert ran.code == 1
    assert re.search(NOTHING, ran.err)
    assert re.search(NOTHING, (tmp_path / "run.xml").read_text())


def test_python_run_at_a_silent_target_is_an_error() -> None:
    with (
        LdapDirectory(10) as directory,
        silent_directory(directory.port) as url,
        pytest.raises(PointFailed, match=NOTHING),
    ):
        run("lookup", url, entries=10, users=2, warmup_s=0.1, measure_s=0.5)


@pytest.mark.parametrize(("of", "user"), [("ils", "LookupUser"), ("ps", "FileUser")])
def test_locust_at_a_silent_target_is_an_error(of: str, user: str, tmp_path: Path) -> None:
    load = ("--headless", "-u", "2", *BRIEF[2:], user)
    with target(of, tmp_path) as where:
        file = str(suite(of).locustfile_path())
        ran = run_locust("-f", file, *where, *load, cwd=tmp_path)
    # Operations under way at the end of a test count as failures.
    assert ran.code == 1, ran.err
