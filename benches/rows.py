"""Rows of a CSV file: read and checked by the engine, compared with Python's own reader."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from functools import cached_property
from pathlib import Path

from benches.bench import Bench, temporary_folder
from benches.ratios import Trial, Values, rows_of

ROW_COUNT = 1_000_000
BOUND_MB = 200.0

ROWS = rows_of("rows")

_ENGINE = """
from sitebench._engine import Table
began = time.process_time()
table = Table.read(sys.argv[1])
assert table.cell(table.rows - 1, 1).endswith("@example.com")
"""
_PYTHON = """
import csv
began = time.process_time()
with open(sys.argv[1], encoding="utf-8", newline="") as lines:
    reader = csv.reader(lines, strict=True)
    width = len(next(reader))
    rows = []
    for row in reader:
        assert len(row) == width
        rows.append(row)
"""
_AFTER = """
cpu_s = time.process_time() - began
mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
print(json.dumps({"cpu_s": cpu_s, "mb": mb}))
"""


class RowsBench(Bench):
    """One file for both readers; the length of a measurement has no effect here."""

    def trials(self) -> list[Trial]:
        return [
            Trial("rows", lambda: self._measured(_ENGINE)),
            Trial("rows-python", lambda: self._measured(_PYTHON)),
        ]

    @cached_property
    def _file(self) -> Path:
        path = self.stack.enter_context(temporary_folder()) / "accounts.csv"
        chance = random.Random(1997)
        with path.open("w", encoding="utf-8", newline="") as out:
            out.write("uid,mail,note\r\n")
            for n in range(ROW_COUNT):
                uid = f"{chance.choice(('anna', 'jörg', 'liu', 'maría'))}.{n}"
                note = f'"{chance.randrange(10**9)}, ""{n}"""' if n % 10 == 0 else n
                out.write(f"{uid},{uid}@example.com,{note}\r\n")
        return path

    def _measured(self, work: str) -> Values:
        # Each reader has its own process, so that the process's memory is the reader's.
        script = "import json, resource, sys, time" + work + _AFTER
        argv = [sys.executable, "-c", script, str(self._file)]
        found = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
        return {**found, "bound_mb": BOUND_MB}
