"""Where a test in this process records to: memory alone, or a point of a run file as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sitebench.child import dump
from sitebench.doubt import Doubt
from sitebench.errors import SitebenchError
from sitebench.monitor import Monitor, Probe
from sitebench.options import PointOptions
from sitebench.point import PointSpec, summarise
from sitebench.store import RunStore
from sitebench.tally import Tally
from sitebench.windows import PointFile, Windows


class Recorder:
    """Makes a test's windows and, for a point, its result."""

    def __init__(self, options: PointOptions, exporter: str | None) -> None:
        self._options = options
        self._exporter = exporter
        self._store: RunStore | None = None
        if options.store is not None and options.point is not None:
            self._store = RunStore(options.store, create=False)

    def windows(
        self, target_pid: int | None, address: tuple[str, int], probe: Probe | None = None
    ) -> Windows:
        """Return the windows of one test; only a point's result tells what others say."""
        if self._store is None or self._options.point is None:
            return Windows(Monitor(target_pid))
        monitor = Monitor(target_pid, address, exporter=self._exporter, probe=probe)
        return Windows(monitor, PointFile(self._store, self._store.join(self._options.point)))

    def finished(
        self,
        windows: Windows,
        counts: Sequence[tuple[str, str]],
        target_cores: int | None,
        *,
        native: bool,
        figures: Callable[[Tally], Mapping[str, Any]] = lambda measured: {},
        doubts: Callable[[PointSpec], Sequence[Doubt]] = lambda spec: (),
    ) -> None:
        """Write the point's result, when this test is one."""
        if self._store is None or self._options.point is None or windows.measured is None:
            return
        spec = self._store.spec(self._options.point)
        result = summarise(
            spec,
            windows.measured,
            counts,
            windows.use(),
            target_cores=target_cores,
            native=native,
            figures=figures(windows.measured),
            doubts=doubts(spec),
            workers=windows.workers,
        )
        windows.complete(result)

    def failed(self, error: SitebenchError) -> None:
        """Tell whoever started the point why it failed."""
        if self._store is not None and self._options.point is not None:
            self._store.fail(self._options.point, dump(error))

    def close(self) -> None:
        """Close the run file."""
        if self._store is not None:
            self._store.close()
