"""A project and a user outside the repository, with only the wheel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from sitebench.suite import SUITES

ROOT = Path(__file__).resolve().parents[2]
UV, MATURIN = (Path(sys.executable).with_name(name) for name in ("uv", "maturin"))

PYPROJECT = """\
[project]
name = "phone-book"
version = "1"

[tool.pytest.ini_options]
addopts = "--strict-markers -p no:cacheprovider"
"""

TESTS = """\
import ldap3
import pytest
import sitebench


def telephone(url, base, name):
    with ldap3.Connection(url) as connection:
        connection.search(base, f"(cn={name})", attributes=["telephoneNumber"])
        return [str(entry.telephoneNumber) for entry in connection.entries]


def test_somebody_is_found(ldap_directory):
    name = ldap_directory.people.name(17)
    _, entry = ldap_directory.people.entry(17)
    wanted = [value.decode() for value in entry["telephoneNumber"]]
    assert telephone(ldap_directory.url, ldap_directory.base, name) == wanted


@pytest.mark.ldap_directory(entries=0, suffix="dc=example,dc=com")
def test_nobody_is_found(ldap_directory):
    assert telephone(ldap_directory.url, ldap_directory.base, "Nobody") == []


@pytest.mark.personalized_site(entries=10)
def test_a_site_is_measured(personalized_site):
    result = sitebench.run("page", personalized_site, users=2, warmup_s=0.1, measure_s=0.5)
    assert result.failures == 0
    assert result.ops_per_s > 0
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel that would be published, as `make wheel` does.

    Its engine has symbols, as with `make build`, because linking without them takes minutes.
    """
    out = tmp_path_factory.mktemp("wheel")
    argv = ("build", "--release", "--locked", "--quiet", "--out", out)
    built(MATURIN, *argv, MATURIN_STRIP="false")
    (found,) = out.glob("sitebench-*.whl")
    return found


def built(*argv: str | Path, cwd: Path = ROOT, **more: str) -> str:
    """Run a command that must succeed; return its output."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["VIRTUAL_ENV"] = str(Path(sys.executable).parents[1]) if cwd == ROOT else ""
    environment |= more
    ran = subprocess.run(
        list(map(str, argv)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{argv}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout + ran.stderr


@pytest.mark.timeout(600)
def test_project_with_the_wheel_alone_uses_fixtures_and_api(wheel: Path, tmp_path: Path) -> None:
    project = tmp_path / "phone-book"
    project.mkdir()
    (project / "pyproject.toml").write_text(PYPROJECT)
    (project / "test_phone_book.py").write_text(TESTS)
    python = project / ".venv/bin/python"
    built(UV, "venv", "--quiet", "--python", sys.executable, project / ".venv")
    built(UV, "pip", "install", "--quiet", "--python", python, wheel, "pytest")
    said = built(python, "-m", "pytest", "-q", cwd=project)
    assert "3 passed" in said
    where = built(python, "-c", "import sitebench; print(sitebench.__file__)", cwd=project)
    assert where.startswith(str(project))


@pytest.mark.timeout(600)
def test_wheel_measures_and_reports_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    assert "-cp311-abi3-manylinux_" in wheel.name
    locked, empty = tmp_path / "locked", tmp_path / "empty"
    what = ("--no-dev", "--no-emit-project", "--no-hashes", "--output-file", locked)
    built(UV, "export", "--frozen", "--quiet", *what)
    built(UV, "venv", "--quiet", "--python", sys.executable, empty)
    path = str(empty / "bin")
    assert [shutil.which(tool, path=path) for tool in ("cargo", "rustc", "cc")] == [None] * 3
    install = ("--quiet", "--only-binary", ":all:", "--python", empty / "bin/python")
    # As in pyproject.toml, which is not read there.
    pip = (UV, "pip", "--system-certs", "install")
    built(*pip, *install, "--requirement", locked, wheel, cwd=tmp_path, PATH=path)
    sitebench, version = empty / "bin/sitebench", wheel.name.split("-")[1]
    assert built(sitebench, "--version", cwd=tmp_path, PATH=path) == f"sitebench {version}\n"
    assert built(sitebench, "docs", "limits", cwd=tmp_path).startswith("# Limits")
    load = ("--rate", "50", "--users", "2", "--warmup", "0s", "--measure", "300ms")
    sweep = ("ps", "sweep", "--sizes", "20", "--locales", "en_US", *load, "--out", "site.sitebench")
    said = built(sitebench, *sweep, cwd=tmp_path, PATH=path)
    assert "embedded, 2 clients" in said
    built(sitebench, "report", "site.sitebench", "--out", "page.html", cwd=tmp_path, PATH=path)
    assert (tmp_path / "page.html").stat().st_size > 100_000


def test_wheel_installs_only_sitebenchs_top_level_names(wheel: Path) -> None:
    with ZipFile(wheel) as packed:
        names = {name.partition("/")[0] for name in packed.namelist()}
    assert names == {"sitebench", *SUITES, f"{wheel.name.split('-cp')[0]}.dist-info"}


def test_source_distribution_suffices_for_a_locked_build(tmp_path: Path) -> None:
    built(MATURIN, "sdist", "--out", tmp_path)
    (packed,) = tmp_path.glob("sitebench-*.tar.gz")
    built("tar", "-xf", packed, "-C", tmp_path)
    source = tmp_path / packed.name.removesuffix(".tar.gz")
    manifest = ("--manifest-path", source / "native/Cargo.toml")
    built("cargo", "metadata", "--locked", "--quiet", "--format-version", "1", *manifest)
    assert (source / "native/servers/cgi/src/main.rs").exists(), "the engine compiles it itself"


# A project whose folders have the names of Locust users' folders: both sides find their modules.

OWN = {
    "locustfiles/common.py": "X = 1\n",
    "locustfiles/site.py": "from locustfiles.common import X\n",
    "seeders/__init__.py": "",
    "seeders/users.py": "Y = 2\n",
    "test_own.py": """\
from locustfiles.common import X
from seeders.users import Y


def test_a_person_is_in_the_database(user_property_db):
    assert (X, Y) == (1, 2)
    assert user_property_db.stat().st_size > 0
""",
}
LOAD = ("--users", "1", "--rate", "100", "--warmup", "0s", "--measure", "500ms")
RUN = ("--entries", "10", "--locales", "en_US", *LOAD)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, content in OWN.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def python(project: Path, *argv: str) -> str:
    """Run Python there, with the folder on its path; return its output."""
    ran = subprocess.run(
        [sys.executable, *argv],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(project)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def test_modules_of_the_users_project_are_found(project: Path) -> None:
    python(project, "-c", "import locustfiles.site, seeders.users, sitebench")


@pytest.mark.parametrize("command", [("-h",), ("lookup", *RUN)])
def test_command_line_finds_sitebenchs_modules_beside_modules_of_equal_name(
    project: Path, command: tuple[str, ...]
) -> None:
    python(project, "-m", "sitebench", "ils", "run", *command)


def test_pytest_fixtures_find_sitebenchs_modules_beside_modules_of_equal_name(
    project: Path,
) -> None:
    assert "1 passed" in python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider")
