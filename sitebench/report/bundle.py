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

NOTICE = """\
The charts of reports are drawn by these libraries, as vl-convert bundles them:

Vega, Vega-Lite, Vega-Embed, Vega-Tooltip, Vega-Themes (BSD-3-Clause)
    Copyright (c) 2015-2023, University of Washington Interactive Data Lab
vl-convert (BSD-3-Clause)
    Copyright 2023 Jon Mease
D3, internmap, topojson-client (ISC)
    Copyright 2010-2023 Mike Bostock
Delaunator (ISC)
    Copyright (c) 2021, Mapbox
semver (ISC)
    Copyright (c) Isaac Z. Schlueter and Contributors
clone (MIT)
    Copyright (c) 2011-2015 Paul Vorbach
fast-deep-equal, fast-json-stable-stringify (MIT)
    Copyright (c) 2017 Evgeny Poberezkin
    Copyright (c) 2013 James Halliday
fast-json-patch (MIT)
    Copyright (c) 2013, 2014, 2020 Joachim Wester
json-stringify-pretty-compact (MIT)
    Copyright (c) 2014, 2016, 2017, 2019, 2021, 2022 Simon Lydell
Colours of ColorBrewer (Apache-2.0)
    Copyright (c) 2002 Cynthia Brewer, Mark Harrower, and The Pennsylvania State University

BSD-3-Clause: Redistribution and use in source and binary forms, with or without modification, are
permitted provided that the following conditions are met: 1. Redistributions of source code must
retain the above copyright notice, this list of conditions and the following disclaimer.
2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions
and the following disclaimer in the documentation and/or other materials provided with the
distribution. 3. Neither the name of the copyright holder nor the names of its contributors may be
used to endorse or promote products derived from this software without specific prior written
permission.
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER
IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF
THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

ISC: Permission to use, copy, modify, and/or distribute this software for any purpose with or
without fee is hereby granted, provided that the above copyright notice and this permission notice
appear in all copies.
THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS
SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE
AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE
OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS
SOFTWARE.

MIT: Permission is hereby granted, free of charge, to any person obtaining a copy of this software
and associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions: The above copyright notice and this
permission notice shall be included in all copies or substantial portions of the Software.
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""
"""Each report is a copy of the bundle, and their licences go along with copies."""

# Wrapped in a function: the bundle's global names would clash with those of other scripts.
_OPEN, _CLOSE = "(()=>{", "})();"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """Return the script, which defines `vegaEmbed`; a checkout without `make build` makes it."""
    try:
        return _FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return build_bundle()


def build_bundle() -> str:
    """Return the script as vl-convert makes it, in a second."""
    try:
        from vl_convert import javascript_bundle
    except ImportError:
        raise NoVlConvert("the charts of a report") from None
    return f"/*!\n{NOTICE}\n*/\n{_OPEN}{javascript_bundle(snippet=_SNIPPET)}{_CLOSE}"


class NoVlConvert(BadInput):
    """vl-convert, which only some installations need, is not installed."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"{feature} need vl-convert", "pip install 'sitebench[figures]'")


if __name__ == "__main__":
    sys.stdout.write(build_bundle())
