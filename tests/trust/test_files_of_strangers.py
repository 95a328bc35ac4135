"""A hostile run file of a stranger: it is shown or refused, without harm."""

import contextlib
import csv
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

import sitebench
from sitebench.errors import BadFile
from sitebench.runs.store import RunStore
from sitebench.system.network import free_port
from tests.report import made
from tests.support.browser import Browser, browsing
from tests.support.cli import Ran, in_process
from tests.support.terminal import at_terminal
from tests.support.waiting import left_s

SCRIPT = "<script>document.title = 'ran'</script>"
MARKUP = '"><img src=x onerror="document.title = `ran`"><meta http-equiv=refresh content=0;url=a>'
PATH = "x/../../../planted"
FORMULA = "=HYPERLINK(1)"
ESCAPE = r"\u001b]0;pwned\u0007"
"""In JSON notation: a terminal escape that sets the title."""
NAMES = (SCRIPT, MARKUP, PATH, FORMULA, "", "lookup\n", "\x1b[2J", "x" * 65, "../x", "-x", "@x")


def written(path: Path, target: str) -> Path:
    """Write a run with hostile content in every text field."""
    asked = structs.replace(made.spec(), target=target, settings={target: SCRIPT, "client": MARKUP})
    with RunStore(path) as store:
        store.set_manifest({"command": [SCRIPT], target: MARKUP, "cpu": {"model": SCRIPT}})
        for load in (2, 64):
            result = made.measured(
                store,
                structs.replace(asked, users=load),
                failures={MARKUP: 3, SCRIPT: 4, target: 5},
            )
            assert result.failures
        for operation in ("add", "connect"):
            made.measured(store, structs.replace(asked, operation=operation))
        missing = made.spec("refresh")
        store.begin(missing)
        store.fail(missing.key, {"kind": SCRIPT, "message": MARKUP, "remedy": FORMULA})
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE samples SET what = ? WHERE what = 'runnable'", (SCRIPT,))
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("of a stranger") / "own"
    folder.mkdir()
    run = written(folder / "a.sitebench", MARKUP)
    with contextlib.closing(sqlite3.connect(run)) as database, database:
        for column, text in (("result", '"evidence": "'), ("error", '"message": "')):
            change = f"UPDATE points SET {column} = replace({column}, ?, ?)"
            assert database.execute(change, (text, text + ESCAPE)).rowcount > 0
        # The hostile parts of the other fields stay unchanged.
        for end in ("</script>", "url=a>"):
            change = "UPDATE manifest SET value = replace(value, ?, ?) WHERE instr(value, ?)"
            assert database.execute(change, (end, end + ESCAPE, end)).rowcount > 0
    return run


@pytest.fixture(scope="module")
def browser(chromedriver: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(chromedriver, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def commands(run: Path) -> dict[str, tuple[str, ...]]:
    """Return every command that reads foreign run files."""
    out, other = run.parent, run.with_name("other.sitebench")
    shutil.copyfile(run, other)
    return {
        "report": (
            *("report", str(run), "--out", str(out / "report.html")),
            *("--figures", str(out / "figures"), "--markdown", str(out / "report.md")),
        ),
        "plan": ("plan", "ils", str(run), "--xlsx", str(out / "plan.xlsx")),
        "compare": ("compare", str(run), str(other), "--html", str(out / "compare.html")),
        **{
            f"export-{what}": (
                *("export", str(run), "--what", what),
                *("--out", str(out / f"{what}.csv")),
            )
            for what in ("points", "steps", "timeline", "samples")
        },
        "hlog": ("export", str(run), "--format", "hlog", "--out", str(out / "run.hlog")),
    }


def assert_refused(run: Path, words: str) -> None:
    """Check that every command refuses a run file."""
    for argv in commands(run).values():
        assert in_process(*argv).check(2, words).out == ""


@pytest.fixture(scope="module")
def ran(hostile: Path) -> dict[str, Ran]:
    return {name: in_process(*argv) for name, argv in commands(hostile).items()}


def test_commands_read_a_hostile_run_file_and_write_beside_it(
    ran: dict[str, Ran], hostile: Path
) -> None:
    assert {name: each.err for name, each in ran.items() if each.code != 0} == {}
    assert [each.name for each in hostile.parent.parent.iterdir()] == ["own"]
    figures = hostile.parent / "figures"
    assert len(list(figures.iterdir())) > 3
    assert all(each.is_file() and each.suffix == ".svg" for each in figures.iterdir())


def test_markdown_of_a_hostile_run_file_has_no_html(ran: dict[str, Ran], hostile: Path) -> None:
    text = (hostile.parent / "report.md").read_text()
    assert "&lt;" in text
    assert "<" not in text


def test_hostile_run_file_sends_no_terminal_escapes(ran: dict[str, Ran]) -> None:
    for name, done in ran.items():
        assert "\x1b]" not in done.out + done.err, name
        assert "\x07" not in done.out + done.err, name


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ("steps", ("--what", "steps")),
        ("timeline", ("--format", "hlog")),
        ("timeline", ("--what", "timeline")),
        ("samples", ("--what", "samples")),
    ],
)
def test_terminal_export_is_escaped(table: str, asked: tuple[str, ...], tmp_path: Path) -> None:
    name = {"samples": "what"}.get(table, "step")
    run = made.write(tmp_path / "run.sitebench")
    with contextlib.closing(sqlite3.connect(run)) as database, database:
        database.execute(f"UPDATE {table} SET {name} = {name} || ?", ("\x1b[31m\x9b7m",))
    shown = at_terminal("export", str(run), *asked, cwd=tmp_path)
    assert "\\x1b[31m\\x9b7m" in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    file = tmp_path / "file"
    assert in_process("export", str(run), *asked, "--out", str(file)).code == 0
    assert "\x1b[31m" in file.read_text(encoding="utf-8")


def test_target_name_with_control_characters_is_refused(tmp_path: Path) -> None:
    run = written(tmp_path / "run.sitebench", "\x1b]0;pwned\x07")
    assert_refused(run, "holds a control character")


@pytest.mark.parametrize("page", ["report.html", "compare.html"])
@pytest.mark.usefixtures("ran")
def test_hostile_run_file_executes_no_script_in_a_browser(
    page: str, hostile: Path, browser: Browser
) -> None:
    file = hostile.parent / page
    browser.draw(file)
    assert browser.run("return document.title") != "ran"
    assert browser.run("return location.href") == file.as_uri()
    count = "return document.querySelectorAll('img, meta[http-equiv=refresh]').length"
    assert browser.run(count) == 0


def test_exported_cells_are_never_formulas(tmp_path: Path) -> None:
    run = written(tmp_path / "b.sitebench", FORMULA)
    table = tmp_path / "points.csv"
    assert in_process("export", str(run), "--out", str(table)).code == 0
    with table.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert f"'{FORMULA}" in cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))] == []
    book = tmp_path / "plan.xlsx"
    assert in_process("plan", "ils", str(run), "--xlsx", str(book)).code == 0
    with zipfile.ZipFile(book) as parts:
        sheets = [parts.read(name) for name in parts.namelist() if "worksheets/" in name]
        assert FORMULA.encode() in parts.read("xl/sharedStrings.xml")
    assert not any(b"<f>HYPERLINK" in sheet for sheet in sheets)


@pytest.mark.parametrize(
    ("name", "field"), [*((name, "operation") for name in NAMES), (SCRIPT, "suite"), ("", "suite")]
)
def test_unknown_operation_name_of_a_run_file_is_refused(
    name: str, field: str, tmp_path: Path
) -> None:
    run = made.write(tmp_path / "run.sitebench")
    with contextlib.closing(sqlite3.connect(run)) as database, database:
        rows = database.execute("SELECT id, spec, result FROM points").fetchall()
        for point, spec, result in rows:
            values = [json.dumps(json.loads(spec) | {field: name})]
            if result is not None:
                found = json.loads(result)
                found |= {field: name, "spec": found["spec"] | {field: name}}
                values.append(json.dumps(found))
            columns = ", ".join(f"{c} = ?" for c in ("spec", "result")[: len(values)])
            database.execute(f"UPDATE points SET {columns} WHERE id = ?", (*values, point))
    assert_refused(run, "is not the name of an operation")
    assert {each.name for each in tmp_path.iterdir()} == {"run.sitebench", "other.sitebench"}


@pytest.mark.parametrize(
    "active",
    [
        "CREATE TRIGGER t AFTER UPDATE ON points BEGIN DELETE FROM points; END",
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i FROM n)"
        " SELECT i FROM n",
        "CREATE VIRTUAL TABLE w USING fts5(x)",
    ],
)
def test_run_file_with_triggers_is_refused(active: str, tmp_path: Path) -> None:
    run = made.write(tmp_path / "run.sitebench")
    with contextlib.closing(sqlite3.connect(run)) as database, database:
        database.execute(active)
    for argv in (
        ("export", str(run)),
        ("ils", "run", "lookup", "--entries", "10", "--measure", "100ms", "--out", str(run)),
    ):
        in_process(*argv).check(2, "has a view or trigger")


def test_invalid_operation_name_of_a_sequence_is_refused() -> None:
    sequence = sitebench.Sequence(SCRIPT, (sitebench.Connect(), sitebench.Search()))
    with pytest.raises(BadFile, match="cannot name a row"):
        sitebench.run(sequence, "embedded", entries=10)


DEEP = "[" * 5_000 + "]" * 5_000
CHANGES = {
    "points": (
        """result = replace(result, '"bytes_in": ', '"bytes_in": NaN, "x": ')""",
        """result = replace(result, '"cpu_s": ', '"cpu_s": 1e999, "x": ')""",
        """spec = replace(spec, '"settings":{', '"settings":{"a":1,')""",
        """spec = replace(spec, '"entries":1000,', '"entries":9223372036854775807,')""",
        """spec = replace(spec, '"users":', '"users":-')""",
        """started = 1e300, finished = 9e999""",
        f"""error = '{DEEP}'""",
        """error = '[1]'""",
        """error = '{"message": 1, "remedy": null}'""",
    ),
    "samples": ("value = 9e999", "value = -1e308, t_ns = -9223372036854775808"),
    "timeline": (
        "seconds = 9e999",
        "seconds = 0, t_ns = 9223372036854775807",
        "count = 9223372036854775807, failures = -9223372036854775808",
    ),
    "manifest": (f"value = '{DEEP}'", "value = '[1, null]'"),
}


@pytest.mark.parametrize(
    ("table", "change"), [(table, each) for table, found in CHANGES.items() for each in found]
)
def test_impossible_values_are_shown_or_refused(table: str, change: str, tmp_path: Path) -> None:
    run = made.write(tmp_path / "run.sitebench")
    with contextlib.closing(sqlite3.connect(run)) as database, database:
        assert database.execute(f"UPDATE {table} SET {change}").rowcount > 0
    page = ("report", str(run), "--out", str(tmp_path / "page.html"))
    for argv in (page, ("plan", "ils", str(run)), ("export", str(run), "--format", "hlog")):
        done = in_process(*argv)
        assert done.code in (0, 2)
        assert "Traceback" not in done.err


# Commands in a stranger's folder: none of its files is executed or read.

SITEBENCH = Path(sys.executable).with_name("sitebench")
MODULES = ("locust", "sitebench", "ils_bench", "psutil", "msgspec", "json", "flask")
FEW = ("--entries", "10", "--locales", "en_US")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Modules that write a file and fail, and options for Locust that write a file."""
    found = tmp_path / "of a stranger"
    found.mkdir()
    harm = f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit('harm')\n"
    for name in MODULES:
        (found / f"{name}.py").write_text(harm)
        (found / name).mkdir()
        (found / name / "__init__.py").write_text(harm)
    written = tmp_path / "written"
    (found / "locust.conf").write_text(f"logfile = {written}\nhtml = {written}\n")
    (found / "pyproject.toml").write_text(f'[tool.locust]\ncsv = "{written}"\n')
    return found


def untouched(folder: Path) -> bool:
    return [each.name for each in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize(
    "command", [("ils", "run", "lookup", "--target", "embedded"), ("ps", "run", "page")]
)
def test_hostile_folder_runs_no_code(command: tuple[str, ...], folder: Path) -> None:
    brief = ("--users", "1", "--rate", "100", "--warmup", "0s", "--measure", "500ms", "--json")
    done = subprocess.run(
        [SITEBENCH, *command, *FEW, *brief], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["operations"] > 0
    assert untouched(folder)


def test_hostile_folder_runs_no_code_in_the_web_ui(folder: Path) -> None:
    with subprocess.Popen(
        [SITEBENCH, "ils", "ui", "--no-browser", "--web-port", str(free_port()), *FEW],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=left_s())
    assert said.startswith("web UI: "), said
    assert untouched(folder)
