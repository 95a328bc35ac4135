from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import asdict

from sitebench.monitor.use import Use


class WorkerSeen(msgspec.Struct, frozen=True):
    """Figures of a worker within the measured window.

    `operations` counts every step. If a worker ended before the test, `ended` is `left` (it gave
    notice) or `lost` (it gave none). `missing` counts operations that no report has. `skew_s` is
    the worker's wall clock minus the master's.
    """

    index: int
    host: str
    address: str
    pid: int
    machine: str
    client: str
    seconds: float = 0.0
    operations: int = 0
    failures: int = 0
    cpu_s: tuple[float, ...] = ()
    use: Use | None = None
    round_trip_s: float | None = None
    skew_s: float | None = None
    ended: str | None = None
    missing: int = 0

    @property
    def name(self) -> str:
        return f"worker {self.index} ({self.host}, {self.address})"

    def to_json(self) -> dict[str, Any]:
        use = None if self.use is None else self.use.to_json()
        return {**asdict(self), "use": use}
