"""Cells of the truth matrix: the engine's report of a test equals the server's log.

README.md has the rules that cells hold, `cells.py` the cells.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path

import pytest

from tests.truth.cells import CELLS, NULL, PAIRS, Cell
from tests.truth.key_cells import KEY_CELLS
from tests.truth.matrix import Measured, Server, differences, measure, problems, serving

AT_A_TIME = 12

EVERY = (*CELLS, *KEY_CELLS)
CELL_OF = {str(cell): cell for cell in EVERY}

Run = Callable[[Cell], Measured]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def null(server: Server) -> Measured:
    return measure(NULL, server)


@pytest.fixture(scope="module")
def run(server: Server, null: Measured, request: pytest.FixtureRequest) -> Iterator[Run]:
    """Measure the cells of this session, a dozen concurrently; return a function to get one."""
    chosen = dict.fromkeys(
        str(cell)
        for item in request.session.items
        if isinstance(item, pytest.Function) and "run" in item.fixturenames
        for name, cell in item.callspec.params.items()
        if name in ("cell", "other")
    )
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        running = {name: pool.submit(measure, CELL_OF[name], server) for name in chosen}
        yield lambda cell: running[str(cell)].result()
        for each in running.values():
            each.cancel()


@pytest.mark.alone
@pytest.mark.parametrize("cell", EVERY, ids=str)
def test_figures_equal_those_of_the_servers_log(
    cell: Cell, run: Run, null: Measured, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = run(cell)
    wrong = list(problems(measured, null))
    if wrong:
        say_again(measured, wrong, capsys)
        wrong = list(problems(measure(cell, server), null))
    assert not wrong, "\n".join((str(cell), *wrong, *cell.scenarios))


def say_again(measured: Measured, wrong: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{measured.cell} again: other programs had {measured.others:.0%}; {wrong}")


@pytest.mark.alone
@pytest.mark.parametrize(("cell", "other"), PAIRS, ids=str)
def test_equivalent_cells_of_the_matrix_have_equal_figures(
    cell: Cell, other: Cell, run: Run, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts of a window differ by operations near its edges, and by a deck that it cuts."""
    one, two = run(cell), run(other)
    wrong = list(differences(one, two))
    if wrong:
        say_again(two, wrong, capsys)
        wrong = list(differences(measure(cell, server), measure(other, server)))
    assert not wrong, "\n".join((str(cell), str(other), *wrong))


def test_cells_named_in_the_readme_exist() -> None:
    page = Path(__file__).with_name("README.md").read_text()
    rules = page.partition("by parts of their names:\n\n")[2].partition("\n\n")[0]
    cells = [f"-{cell}-" for cell in CELLS]
    for rule in rules.splitlines():
        named = re.findall(r"`([a-z-]+)`", rule.rpartition(": ")[2])
        assert named, rule
        assert all(any(f"-{each}-" in cell for cell in cells) for each in named), rule


TRUTH = {"server", "log", "figures", "checks", "cells", "key_cells"}
FACES = {"engine_face", "doors"}
"""Modules that use the engine and the commands."""
MODULES = sorted(
    path for path in Path(__file__).parent.glob("[!_]*.py") if not path.stem.startswith("test_")
)


@pytest.mark.parametrize("path", MODULES, ids=attrgetter("stem"))
def test_truth_tests_import_no_module_of_the_product(path: Path) -> None:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    # Intervals are compared with closed forms, not with a log.
    if path.stem not in FACES | {"intervals"}:
        tops = {name.partition(".")[0] for name in names}
        assert not tops & {"sitebench", "ils_bench", "ps_bench", "web_bench"}
    if path.stem in TRUTH:
        own = {name for name in names if name.startswith("tests.")}
        truth = {f"tests.truth.{name}" for name in ("figures", "log", "cells")}
        assert own <= {*truth, "tests.support.ldap_server"}
