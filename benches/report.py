"""The duration of a report, compared with its time limit."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import cached_property
from pathlib import Path

from benches import long_run
from benches.bench import Bench, temporary_folder
from benches.ratios import Trial, Values, rows_of

BOUND_S = 3.0

ROWS = rows_of("report")


class ReportBench(Bench):
    """One report of a long run; the length of a measurement has no effect here."""

    def trials(self) -> list[Trial]:
        return [Trial("report", self._report)]

    @cached_property
    def _run(self) -> Path:
        path = self.stack.enter_context(temporary_folder()) / "long.sitebench"
        long_run.write(path)
        return path

    def _report(self) -> Values:
        # The command runs as a user runs it, with its start and the reading of the file.
        page = self._run.with_suffix(".html")
        argv = [sys.executable, "-m", "sitebench.cli.main", "report", str(self._run)]
        argv += ["--out", str(page)]
        began = time.monotonic()
        subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        size = float(page.stat().st_size)
        return {"seconds": seconds, "bound": BOUND_S, "bytes": size, "bytes-bound": 2e6}
