"""A project with folders of its own that Locust users have too: both sides find their modules."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    """Run Python there, with the folder on its path; return what it said."""
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


def test_the_users_modules_are_found(project: Path) -> None:
    python(project, "-c", "import locustfiles.site, seeders.users, sitebench")


@pytest.mark.parametrize("command", [("-h",), ("lookup", *RUN)])
def test_the_command_line_finds_ours(project: Path, command: tuple[str, ...]) -> None:
    python(project, "-m", "sitebench", "ils", "run", *command)


def test_the_fixtures_of_pytest_find_ours(project: Path) -> None:
    assert "1 passed" in python(project, "-m", "pytest", "-q", "-p", "no:cacheprovider")
