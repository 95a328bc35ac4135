"""A run file that was written before is read by every command of today, with equal results.

`tests/support/schema2.sitebench` was made with four commands and the same --out: `ils run lookup`,
`ils run connect --rate 150`, `ps run page --rate 100` and `ils run add --workers 1`, which failed
once for want of a worker. The golden files are what `sitebench export` wrote of it then.
"""

import csv
import hashlib
import io
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sitebench.cli.export import as_text
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.runfile import RunFile
from tests.support.cli import in_process, sitebench
from tests.support.runs import STORED

GOLDEN = Path(__file__).parent / "golden"
DIGESTS = {
    "timeline": "761e3484b0489e189319e9692a6e02346dda573bcaa5256d5d4c00291f4e8601",
    "samples": "f7bb147d722ed3a3d0253b8ce5aa2cada0634dbb978b7dfa00620cded6f00295",
    "hlog": "a2a19a85532a14d55b1f6f5c314bec575fb58bb49681a3f8ef86c2927746307d",
}
"""SHA-256 of the longer exports."""
ADDED = ("latency_us.p95",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(STORED, tmp_path / "stored.sitebench"))


def exported(form: str, what: str = "points") -> str:
    with RunFile(STORED) as run:
        return "".join(f"{line}\n" for line in as_text(run, form, what))


def columns(text: str) -> dict[str, list[str]]:
    """Return the values of a CSV by column; a suite's was called `half` then."""
    head, *rows = csv.reader(io.StringIO(text))
    return {name.replace("half", "suite"): [*each] for name, *each in zip(head, *rows, strict=True)}


def as_then(what: str) -> str:
    """Return a CSV without the columns that were added since; a suite's was called `half`."""
    head, *rows = csv.reader(io.StringIO(exported("csv", what)))
    kept = [place for place, name in enumerate(head) if name not in ADDED]
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["half" if head[place] == "suite" else head[place] for place in kept])
    out.writerows([row[place] for place in kept] for row in rows)
    return text.getvalue()


@pytest.mark.parametrize("what", ["points", "steps"])
def test_export_writes_every_figure_as_before(what: str) -> None:
    before, now = columns((GOLDEN / f"{what}.csv").read_text()), columns(exported("csv", what))
    assert {name: now.get(name) for name in before} == before


def test_export_writes_every_drain_and_reading_as_before() -> None:
    longer = {
        "timeline": as_then("timeline"),
        "samples": as_then("samples"),
        "hlog": exported("hlog"),
    }
    assert {k: hashlib.sha256(text.encode()).hexdigest() for k, text in longer.items()} == DIGESTS


def as_before(now: Any, before: Any) -> Any:
    """Return what `now` holds under the keys that there were; keys may be added."""
    if isinstance(before, dict):
        return {key: as_before(now[key], each) for key, each in before.items()}
    if isinstance(before, list):
        return [as_before(*each) for each in zip(now, before, strict=True)]
    return now


def test_specifications_and_results_are_written_as_they_were_read() -> None:
    rows = sqlite3.connect(f"file:{STORED}?mode=ro&immutable=1", uri=True).execute(
        "SELECT key, spec, result FROM points"
    )
    results = 0
    for key, spec, result in rows:
        assert PointSpec.read(spec).canonical() == spec
        assert PointSpec.read(spec).key == key
        if result is not None:
            results += 1
            before = json.loads(result)
            written = json.loads(json.dumps(PointResult.read(before).to_json()))
            assert as_before(written, before) == before
    assert results == 4


def test_compare_reads_it(path: Path) -> None:
    other = shutil.copy(path, path.with_name("other.sitebench"))
    ran = in_process("compare", str(path), str(other), "--json")
    assert ran.code == 0, ran.err
    found = {
        each["operation"]: each["measures"]["ops_per_s"] for each in json.loads(ran.out)["points"]
    }
    assert {name: each["median_a"] for name, each in found.items()} == {
        "lookup": 12869.948928979238,
        "connect": 149.8632807074568,
        "page": 99.93645033720357,
        "add": 80.05037670207254,
    }
    assert {each["ratio"] for each in found.values()} == {1.0}


def test_plan_reads_it(path: Path) -> None:
    asked = ("--target", "embedded", "--mix", "connect=1,lookup=6")
    ran = in_process("plan", "ils", str(path), *asked, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["answers"] == {"simultaneous": 168092, "community": 4202298}


def test_report_reads_it(path: Path) -> None:
    page = path.with_name("page.html")
    ran = in_process("report", str(path), "--out", str(page))
    assert ran.code == 0, ran.err
    text = page.read_text()
    for shown in ("12,870", "80.1", "no worker came to 127.0.0.1:15997 in time, 1 were to"):
        assert shown in text


@pytest.mark.parametrize(
    "argv",
    [("resume", "{}"), ("ils", "sweep", "--entries", "500", "--out", "{}")],
    ids=["resume", "--out"],
)
def test_no_run_continues_in_it(path: Path, argv: tuple[str, ...]) -> None:
    before = path.read_bytes()
    ran = sitebench(*(each.format(path) for each in argv))
    assert ran.code == 2, ran.err
    assert "has schema 2, which this sitebench reads and does not continue" in ran.err
    assert "--out" in ran.err.splitlines()[-1]
    assert path.read_bytes() == before
