"""Imported by the fork server before Locust: saves the functions that gevent replaces.

Gevent's functions wait in an event loop, which the fork server does not run.
"""

from multiprocessing import forkserver
from types import SimpleNamespace

for _name in ("os", "selectors", "signal", "socket"):
    setattr(forkserver, _name, SimpleNamespace(**vars(getattr(forkserver, _name))))
