import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from sitebench.report import build
from sitebench.report.images import images, slug
from sitebench.report.model import Report

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn(report: Report) -> list[tuple[str, bytes]]:
    return list(images(build.sections(report), "svg"))


def test_figures_are_svg_with_their_own_colours(
    report: Report, drawn: list[tuple[str, bytes]]
) -> None:
    assert {name.partition(".")[0] for name, _ in drawn} >= {
        *("rate-ils-lookup", "printed-ils-add", "printed-ils-connect"),
        *("curve-lookup-1k-entries", "spectrum-lookup-16-users-by-size"),
    }
    assert sum(name.startswith("over-time-") for name, _ in drawn) == len(report.points)
    for name, content in drawn:
        root = ET.fromstring(content)
        assert root.tag == f"{SVG}svg", name
        paths = root.findall(f".//{SVG}path")
        if name == "overview.svg":
            drawn_bars = [each for each in paths if each.get("aria-roledescription") == "bar"]
            assert len(drawn_bars) == len(report.runs[0].series) - 2, "other loads are left out"
        else:
            assert len(paths) > 10, name
        assert b"var(--" not in content, name


def test_png_figure_has_two_pixels_per_unit(report: Report) -> None:
    sections = [section for section in build.sections(report) if section.id == "rates"]
    content = dict(images(sections, "png"))["rate-ils-lookup.png"]
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1_500
    assert height > 500


def test_file_names_have_no_special_characters() -> None:
    assert slug("Lookup, 1k entries, keys=latest/µ") == "lookup-1k-entries-keys-latest"


def test_figures_have_unique_file_names(drawn: list[tuple[str, bytes]]) -> None:
    found = [name for name, _ in drawn]
    assert len(found) == len(set(found))
    assert all(Path(name).name == name for name in found)
