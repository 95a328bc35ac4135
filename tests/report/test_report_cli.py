"""`sitebench report` as it is typed, and what it says of files that are none."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sitebench.cli.main import main
from sitebench.runs.store import RunStore
from tests.report import made

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Return how to run a command line in this process: (exit code, out, err)."""

    def run(*argv: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sitebench", *map(str, argv)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_the_page_lies_beside_the_run_unless_named(typed: Typed, run: Path, tmp_path: Path) -> None:
    code, out, err = typed("report", run)
    assert (code, out) == (0, "")
    page = run.with_suffix(".html")
    assert str(page) in err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    other = tmp_path / "other.html"
    assert typed("report", run, "--out", other)[0] == 0
    assert other.read_bytes() == page.read_bytes()


def test_markdown_goes_to_standard_output_or_a_file(
    typed: Typed, run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    said = typed("report", run, "--out", out, "--markdown", "-")[1]
    assert said.startswith("# made\n")
    typed("report", run, "--out", out, "--markdown", tmp_path / "tables.md")
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == said


def test_figures_go_into_a_folder(typed: Typed, tmp_path: Path) -> None:
    path = tmp_path / "one.sitebench"
    with RunStore(path) as store:
        made.measured(store, made.spec())
    assert typed("report", path, "--figures", tmp_path / "img" / "svg")[0] == 0
    found = sorted(each.name for each in (tmp_path / "img" / "svg").iterdir())
    assert found == [
        "over-time-direct-lookup-1k-entries.svg",
        "rate-ils-lookup.svg",
        "spectrum-direct-lookup.svg",
    ]


def test_several_runs_share_one_page(typed: Typed, run: Path, tmp_path: Path) -> None:
    other = made.write(tmp_path / "after.sitebench")
    page = tmp_path / "both.html"
    assert typed("report", run, other, "--out", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>made, after</h1>" in text
    assert text.count('class="headline"') == 2


def test_a_run_that_goes_on_can_be_reported_on(typed: Typed, tmp_path: Path) -> None:
    path = tmp_path / "going-on.sitebench"
    with RunStore(path) as store:
        made.measured(store, made.spec())
        store.begin(made.spec(entries=5_000))
        assert typed("report", path)[0] == 0
    page = path.with_suffix(".html").read_text(encoding="utf-8")
    assert "running" in page
    assert "1 more have no result" in page


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def newer(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def other_tool(path: Path) -> None:
    path.write_text("timeStamp,elapsed,label\n1,2,home\n")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def unfinished(path: Path) -> None:
    path.unlink()
    with RunStore(path) as store:
        store.plan([made.spec()])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (truncated, "is damaged"),
        (newer, "schema 99"),
        (other_tool, "is not a run file of sitebench"),
        (empty, "is empty"),
        (unfinished, "has no measured point"),
        (Path.unlink, "no run file at"),
    ],
)
def test_a_file_that_cannot_be_reported_on_is_one_line_and_a_remedy(
    typed: Typed, run: Path, tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    path = tmp_path / "spoiled.sitebench"
    path.write_bytes(run.read_bytes())
    spoil(path)
    code, out, err = typed("report", path)
    assert (code, out) == (2, "")
    first, remedy = err.splitlines()
    assert first.startswith("sitebench: ")
    assert said in first
    assert remedy.startswith("  ")
    assert not path.with_suffix(".html").exists()


def test_what_cannot_be_written_is_one_line(typed: Typed, run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for option, place in (
        ("--out", tmp_path / "no" / "such" / "page.html"),
        ("--markdown", tmp_path),
        ("--figures", tmp_path / "file"),
    ):
        argv = ["report", run, option, place]
        argv += ["--out", tmp_path / "page.html"] if option != "--out" else []
        code, _, err = typed(*argv)
        assert code == 2, option
        assert f"{place}: " in err
        assert len(err.splitlines()) == 2, err


def test_an_unknown_format_is_refused_before_anything_is_read(typed: Typed, tmp_path: Path) -> None:
    code, _, err = typed("report", tmp_path / "absent", "--format", "gif")
    assert code == 2
    assert "unknown choice 'gif'" in err
