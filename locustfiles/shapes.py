"""Load shapes, for any locustfile: name this one with it.

locust -f locustfiles/ils.py,locustfiles/shapes.py                web UI: they are in its picker
locust -f locustfiles/ils.py,locustfiles/shapes.py --headless -u 64 -r 64 --shape Spike LookupUser
"""

from __future__ import annotations

from sitebench.locust.shapes import shapes


class Steps(shapes.Steps):
    """More users with each step, up to `-u`."""


class Spike(shapes.Spike):
    """All users of `-u` for a moment."""


class Knee(shapes.Knee):
    """Twice as many users with each step, until the rate rises no more."""
