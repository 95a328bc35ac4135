"""Percentiles are declared once, as fields of `Durations`."""

import re
from pathlib import Path

from sitebench.counts import durations
from sitebench.counts.durations import PERCENTILES, Durations
from sitebench.plan import model

ROOT = Path(__file__).parents[2]
LISTED = re.compile(r"p99[._]9|\bp999\b")


def test_their_names_say_which_they_are() -> None:
    assert PERCENTILES == {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}
    assert model.PERCENTILES == {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
    assert list(Durations().percentiles) == list(PERCENTILES)


def test_no_other_file_names_the_last() -> None:
    """Five files did by hand: to add a percentile was to find them all."""
    product = [
        file
        for room in ("sitebench", "ils_bench", "ps_bench", "web_bench")
        for suffix in ("py", "js")
        for file in (ROOT / room).rglob(f"*.{suffix}")
        if "data" not in file.parts and ".min." not in file.name
    ]
    assert Path(durations.__file__) in product
    assert [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in product
        if file != Path(durations.__file__)
        for line in file.read_text(encoding="utf-8").splitlines()
        if LISTED.search(line)
    ] == []
