"""Every chart as an image file, SVG or PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sitebench.report.bundle import load_vl_convert
from sitebench.report.charts import Chart, rows, theme, with_data
from sitebench.report.page import Section

WIDTH = 760
_SCALE = 2.0
"""Pixels of a PNG per unit: sharp in print and on high-resolution screens."""


def images(sections: Sequence[Section], image: str) -> Iterator[tuple[str, bytes]]:
    names: set[str] = set()
    for chart in (chart for section in sections for chart in section.charts):
        for choice, datasets in chart.choices.items():
            if not any(rows(columns) for columns in datasets.values()):
                continue
            name = "-".join(filter(None, (slug(chart.id), slug(chart.titles.get(choice, choice)))))
            if name in names:
                name = f"{name}-{slug(choice)}"
            names.add(name)
            yield f"{name}.{image}", render(chart, choice, image)


def render(chart: Chart, choice: str, image: str) -> bytes:
    vl_convert = load_vl_convert("figures")
    spec = _with_size(with_data(chart, choice)) | {"title": chart.title_of(choice)}
    if image == "svg":
        drawn: str = vl_convert.vegalite_to_svg(spec, config=theme(css=False))
        return drawn.encode()
    pixels: bytes = vl_convert.vegalite_to_png(spec, scale=_SCALE, config=theme(css=False))
    return pixels


def _with_size(spec: dict[str, Any]) -> dict[str, Any]:
    resized = dict(spec)
    if resized.get("width") == "container":
        resized["width"] = WIDTH
    if "vconcat" in resized:
        resized["vconcat"] = [_with_size(part) for part in resized["vconcat"]]
    return resized


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
