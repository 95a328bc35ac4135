"""Cells of the truth matrix: what the engine reports of a test is what the server's log says.

docs/method.md has the rules that cells hold, `cells.py` which cells there are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.truth.cells import CELLS, NULL, Cell
from tests.truth.matrix import CROWDED, Measured, Server, measure, problems, serving

AT_A_TIME = 12

CELL_OF = {str(cell): cell for cell in CELLS}

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
    """Measure the cells of this session a dozen side by side; return how to get one."""
    chosen = [
        CELL_OF[item.callspec.id]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "run" in item.fixturenames
    ]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        running = {str(cell): pool.submit(measure, cell, server) for cell in chosen}
        yield lambda cell: running[str(cell)].result()
        for each in running.values():
            each.cancel()


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_figures_are_those_of_the_servers_log(
    cell: Cell, run: Run, null: Measured, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = run(cell)
    wrong = list(problems(measured, null))
    if wrong and measured.others > CROWDED:
        with capsys.disabled():
            print(f"\n{cell} once more: other programs had {measured.others:.0%}; {wrong}")
        wrong = list(problems(measure(cell, server), null))
    assert not wrong, "\n".join((str(cell), *wrong, *cell.scenarios))


@pytest.mark.parametrize("module", ["server", "log", "figures", "checks", "cells"])
def test_the_truth_imports_nothing_of_the_product(module: str) -> None:
    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text())
    names = [
        each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names
    ]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    tops = {name.partition(".")[0] for name in names}
    assert not tops & {"sitebench", "ils_bench", "ps_bench", "web_bench"}
    own = {name for name in names if name.startswith("tests.")}
    assert own <= {f"tests.truth.{each}" for each in ("figures", "log", "cells")}
