"""The parts of every chart: a Vega-Lite specification, its data and its theme.

A specification never holds data: it names its datasets, so that one drawing can switch to another
point, and the page holds each number once. On the page hues come from the style sheet
(`var(--...)`), which has a light, a dark and a print theme; images use the light one.

Colours are Okabe and Ito's, which every kind of colour vision can distinguish, and no series
differs by colour alone: lines have a dash, marks a shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

Spec = dict[str, Any]

Columns = Mapping[str, Any]
"""A dataset by column: a list, one value for all rows, or codes into a list of names."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#6b6b6b")
_DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (5, 2), (1, 3), (12, 4), (3, 3, 8, 3))
_SHAPES = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-right"),
)
"""One fewer than there are hues: both repeat, and no pair occurs twice among 56."""
INK = {
    "ink": "#1c2126",
    "faint": "#5b6570",
    "line": "#d5dade",
    "ground": "#ffffff",
    "shade": "#e9ecef",
    "bad": "#a33a00",
}
"""Colours by the names of the page's CSS variables."""

_MOST_THEN = 4


def _colour_range(n_printed: int) -> str:
    """Return the range of hues in which so many printed machines come first.

    They have the last hues, grey and brown before all, and today's the same as without them.
    """
    return f"beside-{min(n_printed, _MOST_THEN)}"


_AXIS_WIDTH = 58
"""Width of the labels of a y axis: equal in all charts, so that stacked charts align."""

SHOWN: Spec = {
    "name": "shown",
    "select": {"type": "point", "fields": ["series"]},
    "bind": "legend",
}
"""The parameter that a click in the legend sets: the series to be seen."""
FADED: Spec = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
"""The opacity of a series that is not the one to be seen."""

_US = "(datum.value < 1e3 ? format(datum.value, '~r') + ' us' : datum.value < 1e6 ? "
_MS = "format(datum.value / 1e3, '~r') + ' ms' : format(datum.value / 1e6, '~r') + ' s')"
_SIGN = "datum.value === 0 ? '0' : format(datum.value, '~s')"
AXES: Mapping[str, Spec] = {
    "us": {
        "labelExpr": _US + _MS,
        "values": [digit * 10**power for power in range(-1, 9) for digit in (1, 2, 5)],
    },
    "count": {"labelExpr": _SIGN},
    "count, log": {
        "labelExpr": _SIGN,
        "values": [digit * 10**power for power in range(-1, 10) for digit in (1, 2, 5)],
    },
}
"""Axes by quantity: microseconds in the most readable unit, counts with a prefix."""


def log_axis(name: str, values: Iterable[float]) -> Spec:
    """Return a logarithmic one of AXES with as many marks as make a narrow range readable."""
    positive = [value for value in values if value > 0]
    ratio = max(positive) / min(positive) if positive else 1.0
    digits: Sequence[float] = (1, 2, 5)
    if ratio < 10:
        digits = range(1, 10) if ratio >= 3 else [n / 2 for n in range(2, 20)]
    return AXES[name] | {"values": [d * 10**power for power in range(-1, 10) for d in digits]}


LEGEND_BESIDE: Spec = {
    "title": None,
    "orient": "right",
    "columns": 1,
    "offset": 6,
    "labelLimit": 110,
    "symbolType": "stroke",
}
"""Beside a figure of several drawings, each with its own."""

ALL_SERIES = "all series"
"""Placeholder for the names of a dataset's series, where a scale has to list them."""


class Chart(msgspec.Struct, frozen=True):
    """One figure; its id is also the name of the image file, `chooser` the list that selects."""

    id: str
    title: str
    description: str
    spec: Mapping[str, Any]
    choices: Mapping[str, Mapping[str, Columns]]
    """Datasets by name, per choice; without a chooser there is a single choice, ""."""
    chooser: str = ""
    key: Mapping[str, str] = {}
    """The legend of signs, below the drawing."""
    titles: Mapping[str, str] = {}
    """The title of each choice."""

    def title_of(self, choice: str) -> str:
        return f"{self.title}: {self.titles[choice]}" if choice in self.titles else self.title


def names(values: Iterable[str]) -> Columns:
    """Encode repeated texts as indices into a list."""
    indices: dict[str, int] = {}
    codes = [indices.setdefault(value, len(indices)) for value in values]
    return {"codes": codes, "names": list(indices)}


def short(value: float | None, digits: int = 4) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def transpose(rows: Sequence[Sequence[Any]], width: int) -> list[Sequence[Any]]:
    """Return the columns of some rows; without rows as many empty ones."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def quantity(field: str, **properties: Any) -> Spec:
    return {"field": field, "type": "quantitative", **properties}


def series_scale(domain: Any) -> Spec:
    """Return a channel that tells series apart by colour, dash or shape; a legend names them."""
    return {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": domain},
        "legend": {"title": None, "columns": 1, "symbolStrokeWidth": 2},
    }


def tell_apart(channel: str, today: Sequence[str], printed: Sequence[str] = ()) -> Spec:
    """Return a channel that tells series apart: colour, dash and shape go together.

    The series of 1997 (`printed`) look the same in every figure; today's follow.
    """
    n, n_printed = len(today), len(printed)
    ranges: dict[str, Any] = {
        "color": _colour_range(n_printed) if printed else "category",
        "strokeDash": [list(dash) for dash in _shift(_DASHES, n_printed, n)],
        "shape": _shift(_SHAPES, n_printed, n),
    }
    channel_spec = series_scale([*printed, *today])
    channel_spec["scale"]["range"] = ranges[channel]
    channel_spec["legend"]["values"] = [*today, *printed]
    return channel_spec


def _shift(all_of_them: Sequence[Any], n_printed: int, n: int) -> list[Any]:
    """Return what the kept ones have, the second and so on, then `n` that they have not."""
    rest = [all_of_them[0], *all_of_them[1 + n_printed :]]
    return [*all_of_them[1 : 1 + n_printed], *(rest[k % len(rest)] for k in range(n))]


def marks(shape: Spec, tooltip: Sequence[Spec]) -> list[Spec]:
    """Return the layers of marks: filled where a point is sound, hollow with a word where not."""
    encoding = {"shape": shape, "tooltip": list(tooltip)}
    return [
        {
            "transform": [{"filter": "datum.invalid === ''"}],
            "mark": {"type": "point", "size": 70, "filled": True, "opacity": 1},
            "encoding": encoding,
        },
        {
            "transform": [{"filter": "datum.invalid !== ''"}],
            "mark": {"type": "point", "size": 80, "filled": False, "style": "hollow"},
            "encoding": encoding,
        },
        {
            "transform": [{"filter": "datum.invalid !== ''"}],
            "mark": {"type": "text", "dy": -13, "fontSize": 11, "fontWeight": "bold"},
            "encoding": {"text": {"field": "grade"}},
        },
    ]


def rows(columns: Columns) -> list[dict[str, Any]]:
    """Return a dataset as rows, as Vega reads it; the page's script does the same."""
    spread = {name: _spread(column) for name, column in columns.items()}
    length = max((len(c) for c in spread.values() if isinstance(c, list)), default=0)
    return [
        {name: c[n] if isinstance(c, list) else c for name, c in spread.items()}
        for n in range(length)
    ]


def _spread(column: Any) -> Any:
    if isinstance(column, Mapping):
        return [column["names"][code] for code in column["codes"]]
    return list(column) if isinstance(column, Sequence) and not isinstance(column, str) else column


def with_data(chart: Chart, choice: str) -> Spec:
    """Return a specification with its data, as the page's script does."""
    datasets = {name: rows(columns) for name, columns in chart.choices[choice].items()}
    spec: Spec = {**chart.spec, "datasets": datasets, "description": chart.description}
    series = chart.spec.get("usermeta", {}).get("series")
    series_names = [row[series] for rows in datasets.values() for row in rows if series in row]
    listed: Spec = _insert_series(spec, list(dict.fromkeys(series_names)))
    return listed


def _insert_series(part: Any, series: Sequence[Any]) -> Any:
    if isinstance(part, dict):
        return {k: v if k == "datasets" else _insert_series(v, series) for k, v in part.items()}
    if isinstance(part, list):
        return [_insert_series(child, series) for child in part]
    return series if part == ALL_SERIES else part


def theme(*, css: bool) -> Spec:
    """Return the configuration of every chart: for the page, or for an image."""
    hues = [f"var(--series-{n})" if css else value for n, value in enumerate(SERIES, 1)]
    ink = {name: f"var(--{name})" if css else colour for name, colour in INK.items()}
    font = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
    return {
        "background": None if css else INK["ground"],
        "font": font,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink["faint"],
            "titleColor": ink["ink"],
            "domainColor": ink["line"],
            "tickColor": ink["line"],
            "gridColor": ink["line"],
            "gridOpacity": 0.6,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": 500,
        },
        "axisY": {"minExtent": _AXIS_WIDTH, "maxExtent": _AXIS_WIDTH, "titleAnchor": "end"},
        "legend": {
            "labelColor": ink["ink"],
            "titleColor": ink["faint"],
            "labelFontSize": 12,
            "titleFontSize": 11,
            "orient": "top",
            "labelLimit": 320,
            "symbolSize": 90,
        },
        "title": {"color": ink["ink"], "fontSize": 13, "fontWeight": 600, "anchor": "start"},
        "text": {"color": ink["ink"]},
        "range": {
            "category": hues,
            "symbol": list(_SHAPES),
            **{
                _colour_range(n): [*reversed(hues[-n:]), *hues[:-n]]
                for n in range(1, _MOST_THEN + 1)
            },
        },
        "style": {
            "ink": {"color": ink["ink"]},
            "shade": {"color": ink["shade"]},
            "failed": {"color": ink["bad"]},
            "hollow": {"fill": ink["ground"], "strokeWidth": 2},
        },
    }
