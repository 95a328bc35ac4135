"""The Python code of the package page runs: its fixture finds a person, its rate is positive."""

import sys
from pathlib import Path

from tests.docs.shown import blocks
from tests.support.programs import run_program

ROOT = Path(__file__).parents[2]
PHONE_BOOK = """
import ldap3

def lookup(url, name):
    with ldap3.Connection(url, auto_bind=True) as connection:
        return connection.search("ou=Dynamic,o=Intranet", f"(cn={name})")
"""


def test_python_code_of_the_package_page_runs(tmp_path: Path) -> None:
    sample = next(blocks((ROOT / "PACKAGE.md").read_text(), "python"))
    (tmp_path / "phone_book.py").write_text(PHONE_BOOK)
    (tmp_path / "test_sample.py").write_text(
        f"import phone_book\nimport sitebench\n\n{sample}\n\n"
        "def test_it_measured():\n    assert result.ops_per_s > 0\n"
    )
    ran = run_program(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sample.py"],
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout
