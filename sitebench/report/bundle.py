"""The chart library of a page: Vega, Vega-Lite and Vega-Embed as one script, bundled by vl-convert.

A wheel contains the script as data; `make build` makes it with the locked vl-convert:

    python -m sitebench.report.bundle > sitebench/data/charts.js
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput

_FILE = Path(__file__).parents[1] / "data" / "charts.js"

LICENCES = Path(__file__).parent / "assets" / "charts-licences.txt"
"""The licences of the libraries, which every copy of the bundle must contain."""

# A function around the script hides its global names from other scripts.
_OPEN, _CLOSE = "(()=>{", "})();"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """Return the script, which defines `vegaEmbed`; if `make build` never ran, make it now."""
    try:
        return _FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return build_bundle()


def build_bundle() -> str:
    javascript_bundle = load_vl_convert("the charts of a report").javascript_bundle
    licences = LICENCES.read_text(encoding="utf-8")
    return f"/*!\n{licences}*/\n{_OPEN}{javascript_bundle(snippet=_SNIPPET)}{_CLOSE}"


def load_vl_convert(feature: str) -> Any:
    """Import vl-convert, which draws a specification; raises NoVlConvert."""
    try:
        import vl_convert
    except ImportError:
        raise NoVlConvert(feature) from None
    return vl_convert


class NoVlConvert(BadInput):
    """vl-convert, which only some installations need, is not installed."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"{feature} need vl-convert", "pip install 'sitebench[figures]'")


if __name__ == "__main__":
    sys.stdout.write(build_bundle())
