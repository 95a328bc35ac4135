"""Load shapes that Locust can choose from, beside any locustfile.

A locustfile with them is one line: `from sitebench.locust.shapes.ready import *`.
"""

from __future__ import annotations

from sitebench.locust.shapes import shapes


class Steps(shapes.Steps):
    """More users with each step, up to `-u`."""


class Spike(shapes.Spike):
    """All users of `-u` for a moment."""


class Knee(shapes.Knee):
    """Twice as many users with each step, until the rate rises no more."""
