"""Imported by the fork server before Locust: keeps for it what gevent exchanges.

What gevent has instead waits in an event loop, and the fork server runs none.
"""

from multiprocessing import forkserver
from types import SimpleNamespace

for _name in ("os", "selectors", "signal", "socket"):
    setattr(forkserver, _name, SimpleNamespace(**vars(getattr(forkserver, _name))))
