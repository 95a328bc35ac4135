"""What the page of scenario files calls "not run yet" is refused, and said by that name."""

import re
from pathlib import Path

import pytest

from ils_bench.engine_config import engine_config
from ils_bench.options import IlsOptions
from ils_bench.targets.address import parse_address
from sitebench._engine import Engine, EngineError
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import SitebenchError
from sitebench.scenario import script
from tests.docs.test_told import page, section

SEARCH = '[[operation]]\nsearch = "(uid=a)"\n'
FILES = {
    "load.stages": [f'load.stages = ["1s:5"]\n{SEARCH}'],
}
"""Files with what the first cell of each row begins with."""
ROWS = dict(
    re.findall(
        r"^\| `(.+?)`[^|]* \| ([^|`]+) \|$", section(page("scenarios.md"), "Not run yet"), re.M
    )
)


def test_every_row_of_the_table_is_tried() -> None:
    assert list(ROWS) == list(FILES)


@pytest.mark.parametrize(("named", "text"), [(k, text) for k in FILES for text in FILES[k]])
def test_a_file_with_it_is_refused_by_that_name(named: str, text: str, tmp_path: Path) -> None:
    with pytest.raises((EngineError, SitebenchError), match=re.escape(ROWS[named])) as refused:
        start(text, tmp_path)
    assert "not run yet" in str(refused.value)


def test_a_file_without_it_is_not(tmp_path: Path) -> None:
    start(SEARCH, tmp_path)


def start(text: str, folder: Path) -> None:
    """Start an engine for a scenario, without users and so without a connection."""
    (folder / "accounts.csv").write_text("uid,password\nann,secret\n")
    (folder / "x.toml").write_text(text)
    read = script.read(str(folder / "x.toml"))
    options = IlsOptions(target="ldap://127.0.0.1:9", base="o=x", threads=1)
    address = parse_address(options.target)
    config = engine_config(options, address, [read], slot=WorkerSlot(), first_added=0)
    Engine(config, None, None, {f"x/{k}": v for k, v in read.tables.items()}).stop()
