"""The parts of every chart: a Vega-Lite specification, its data and its theme.

A specification never holds data: it names its datasets, so that one drawing can switch to another
point, and the page holds each number once. On the page hues come from the style sheet
(`var(--...)`), which has a light, a dark and a print theme; images use the light one.

Colours are Okabe and Ito's, which every kind of colour vision can distinguish, and no series
differs by colour alone: lines have a dash, marks a shape.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

Spec = dict[str, Any]

Columns = Mapping[str, Any]
"""A dataset: each column is a list, or codes into a list of distinct values."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#6b6b6b")
_DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (5, 2), (1, 3), (12, 4), (3, 3, 8, 3))
_SHAPES = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-right"),
)
"""There is one shape fewer than hues, so 56 series have different pairs of shape and hue."""
INK = {
    "ink": "#1c2126",
    "faint": "#5b6570",
    "line": "#d5dade",
    "ground": "#ffffff",
    "shade": "#e9ecef",
    "bad": "#a33a00",
}
"""Colours by the names of the page's CSS variables."""

_MOST_PRINTED = 4


def _colour_range(n_printed: int) -> str:
    """Return the name of the range of hues in which printed machines come first.

    Printed machines have the last hues, grey and brown: today's series keep their hues.
    """
    return f"beside-{min(n_printed, _MOST_PRINTED)}"


_AXIS_WIDTH = 58
"""Width of the labels of a y axis, equal in all charts: stacked charts are aligned."""

SHOWN: Spec = {"name": "shown", "select": {"type": "point", "fields": ["series"]}, "bind": "legend"}
"""The parameter that a click in the legend sets: the series to show."""
FADED: Spec = {"condition": {"param": "shown", "value": 1}, "value": 0.12}
"""The opacity of the series that are not chosen in the legend."""

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
"""Axes by quantity: times are in the most readable unit, counts have a prefix such as k."""


def log_axis(name: str, values: Iterable[float]) -> Spec:
    """Return a logarithmic axis of AXES; a narrow range of values has more ticks."""
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
"""The legend beside a drawing, in a figure with several drawings."""

ALL_SERIES = "all series"
"""Placeholder in a specification for the names of a dataset's series."""


class Chart(msgspec.Struct, frozen=True):
    """One figure; its id also names the image file."""

    id: str
    title: str
    description: str
    spec: Mapping[str, Any]
    choices: Mapping[str, Mapping[str, Columns]]
    """For each choice, datasets by name; without a chooser there is one choice, ""."""
    key: Mapping[str, str] = {}
    """The meaning of signs, listed below the drawing."""
    titles: Mapping[str, str] = {}
    """The names of the choices in the chooser."""

    @property
    def chooser(self) -> str:
        """The id of the drop-down list of the choices; empty if there is one choice."""
        return f"choose-{self.id}" if self.titles else ""

    def title_of(self, choice: str) -> str:
        return f"{self.title}: {self.titles[choice]}" if choice in self.titles else self.title


def short(value: float, digits: int = 5) -> float | None:
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def dataset(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    """Return rows as a dataset with these columns; numbers are rounded to five digits."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return dict(zip(names, map(_encode, columns), strict=True))


def _encode(column: Sequence[Any]) -> Any:
    values = [short(value) if isinstance(value, float) else value for value in column]
    codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
    if 2 * len(codes) >= len(values):
        return values
    return {"codes": [codes[value] for value in values], "names": list(codes)}


def drawing(height: int, **parts: Any) -> Spec:
    """Return a drawing as wide as its place on the page."""
    return {"width": "container", "height": height, **parts}


def quantity(field: str, **properties: Any) -> Spec:
    return {"field": field, "type": "quantitative", **properties}


def series_scale(domain: Any) -> Spec:
    """Return a channel (colour, dash or shape) that distinguishes series, with a legend."""
    return {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": domain},
        "legend": {"title": None, "columns": 1, "symbolStrokeWidth": 2},
    }


def tell_apart(channel: str, today: Sequence[str], printed: Sequence[str] = ()) -> Spec:
    """Return a channel that distinguishes series: their colour, dash and shape vary together.

    Series of 1997 (`printed`) look the same in every figure, and unlike today's series.
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


def _shift(styles: Sequence[Any], n_printed: int, n: int) -> list[Any]:
    """Return `n_printed` styles for printed series, then `n` styles for other series.

    The first style always belongs to other series.
    """
    rest = [styles[0], *styles[1 + n_printed :]]
    return [*styles[1 : 1 + n_printed], *(rest[k % len(rest)] for k in range(n))]


def marks(shape: Spec, tooltip: Sequence[Spec]) -> list[Spec]:
    """Return layers: filled marks for valid points, hollow marks with grades for invalid ones."""
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
    """Return a dataset as rows for Vega; the page's script does the same."""
    spread = {
        name: [column["names"][code] for code in column["codes"]]
        if isinstance(column, Mapping)
        else column
        for name, column in columns.items()
    }
    return [dict(zip(spread, row, strict=True)) for row in zip(*spread.values(), strict=True)]


def with_data(chart: Chart, choice: str) -> Spec:
    """Return a specification with its data, as the page's script does."""
    datasets = {name: rows(columns) for name, columns in chart.choices[choice].items()}
    field = chart.spec.get("usermeta", {}).get("series")
    series = dict.fromkeys(row[field] for rows in datasets.values() for row in rows if field in row)
    spec = json.dumps(chart.spec).replace(json.dumps(ALL_SERIES), json.dumps(list(series)))
    return {**json.loads(spec), "datasets": datasets, "description": chart.description}


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
                for n in range(1, _MOST_PRINTED + 1)
            },
        },
        "style": {
            "ink": {"color": ink["ink"]},
            "shade": {"color": ink["shade"]},
            "failed": {"color": ink["bad"]},
            "hollow": {"fill": ink["ground"], "strokeWidth": 2},
        },
    }
