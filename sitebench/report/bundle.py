"""The chart library of a page: Vega, Vega-Lite and Vega-Embed as one script, bundled by vl-convert.

A wheel has the script as data; `make build` makes it, of the locked vl-convert, by

    python -m sitebench.report.bundle > sitebench/data/charts.js
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from sitebench.errors import BadInput

_FILE = Path(__file__).parents[1] / "data" / "charts.js"

# Wrapped in a function: the bundle's global names would clash with those of other scripts.
_OPEN, _CLOSE = "(()=>{", "})();"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """Return the script, which defines `vegaEmbed`; a checkout without `make build` makes it."""
    try:
        return _FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return made()


def made() -> str:
    """Return the script as vl-convert makes it, in a second."""
    try:
        from vl_convert import javascript_bundle
    except ImportError:
        raise NoVlConvert("the charts of a report") from None
    return _OPEN + javascript_bundle(snippet=_SNIPPET) + _CLOSE


class NoVlConvert(BadInput):
    """vl-convert, which only some installations need, is not installed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} need vl-convert", "pip install 'sitebench[figures]'")


if __name__ == "__main__":
    sys.stdout.write(made())
