"""The page as a file: self-contained, and without code from a run file."""

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path

import pytest

from benches import long_run
from sitebench.cli.export import as_text
from sitebench.report import build, model
from sitebench.report.bundle import bundle
from sitebench.report.charts import dataset, rows
from sitebench.report.model import Report, load
from sitebench.runs.runfile import RunFile


@pytest.fixture(scope="session")
def page(report: Report) -> str:
    return build.html(report, build.sections(report))


def scripts(page: str) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", page, re.DOTALL)


def test_content_security_policy_allows_only_scripts_of_the_page_and_no_fetch(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    digests = {
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'"
        for s in scripts(page)
    }
    allowed = re.search(r"script-src ([^;]+)", policy[1])
    assert allowed is not None
    assert set(allowed[1].split()) == digests
    assert policy[1].startswith("default-src 'none'; ")
    assert "connect-src" not in policy[1]


def test_texts_of_a_run_file_are_escaped(page: str) -> None:
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    for foreign in ("<script>alert", "<b>processor", "<i>died"):
        assert foreign not in outside
    assert "alert(1)" not in "".join(scripts(page))
    assert "&lt;script&gt;alert(1)" in outside


def test_every_figure_has_data_and_a_description(page: str) -> None:
    packed = re.search(r'id="data">([^<]+)<', page)
    assert packed is not None
    data = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    placed = re.findall(r'<figure class="chart"[^>]* data-chart="([^"]+)"', page)
    assert list(data["charts"]) == placed
    assert all(chart["description"].endswith(".") for chart in data["charts"].values())
    assert page.count("<noscript>") == len(placed)


def test_page_embeds_histograms_and_figures_unless_too_large(
    run: Path, report: Report, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunFile(run) as opened:
        csv = "".join(f"{line}\n" for line in as_text(opened, "csv"))
    assert dict(report.runs[0].downloads)["made.csv"] == csv
    assert re.findall(r'data-file="([^"]+)"', page) == ["made.csv", "made.hlog"]
    monkeypatch.setattr(model, "_LARGEST_DOWNLOAD", len(csv) - 1)
    assert "made.csv" not in load([run]).runs[0].downloads


def test_element_ids_are_unique(page: str) -> None:
    found = re.findall(r' id="([^"]+)"', re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL))
    assert sorted(found) == sorted(set(found))


def test_datasets_stored_by_column_are_decoded_to_rows() -> None:
    columns = dataset(("who", "n", "us"), [("a", 1, 2.5), ("a", 2, None), ("a", 123_456, 1 / 3)])
    assert columns["who"] == {"codes": [0, 0, 0], "names": ["a"]}
    assert rows(columns) == [
        {"who": "a", "n": 1, "us": 2.5},
        {"who": "a", "n": 2, "us": None},
        {"who": "a", "n": 123_456, "us": 0.33333},
    ]
    assert rows(dataset(("who", "n"), [])) == []


def test_page_with_all_slots_is_under_2_mb(tmp_path: Path) -> None:
    path = tmp_path / "long.sitebench"
    long_run.write(path, points=5, seconds=300.0)
    report = load([path])
    slots = sum(len(point.slots) for point in report.points)
    assert 500 <= slots <= 5 * 120
    # The library is included once; the data grow with the slots, of which there are at most 2,400.
    library = len(bundle())
    page = len(build.html(report, build.sections(report)).encode())
    assert library + (page - library) * 2_400 / slots < 2_000_000
