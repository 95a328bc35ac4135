"""The chart library is part of the wheel; without the extra vl-convert pages still work."""

import sys
from pathlib import Path

import pytest

from sitebench.api.result import Result
from sitebench.report import bundle
from sitebench.runs.timeline import MEASURED, Slot
from tests.support.cli import in_process
from tests.support.drains import histogram
from tests.support.points import a_result


def test_chart_library_equals_the_output_of_the_locked_vl_convert() -> None:
    assert bundle.bundle() == bundle.build_bundle()


@pytest.fixture
def without_vl_convert(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)


@pytest.mark.usefixtures("without_vl_convert")
def test_report_is_written_without_vl_convert(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "charts.js"
    library.write_text("window.vegaEmbed = 0;")
    monkeypatch.setattr(bundle, "_FILE", library)
    bundle.bundle.cache_clear()
    ran = in_process("report", run, "--out", tmp_path / "page.html")
    bundle.bundle.cache_clear()
    assert (ran.code, ran.out) == (0, "")
    assert "<script>window.vegaEmbed = 0;</script>" in (tmp_path / "page.html").read_text()


@pytest.mark.usefixtures("without_vl_convert")
def test_figures_without_vl_convert_are_refused_before_reading(run: Path, tmp_path: Path) -> None:
    ran = in_process(
        "report", run, "--out", tmp_path / "page.html", "--figures", tmp_path / "img"
    ).check(2)
    assert ran.err == "sitebench: figures need vl-convert\n  pip install 'sitebench[figures]'\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_vl_convert")
def test_notebook_shows_the_table_without_vl_convert() -> None:
    result = Result(a_result(), histogram(), [Slot(MEASURED, 0, 10**9)])
    shown = result._repr_html_()
    assert "operations per second" in shown
    assert "pip install" in shown
    assert "<svg" not in shown
