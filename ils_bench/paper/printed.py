"""Figures of directories in the paper of 1997."""

from __future__ import annotations

from sitebench.report.printed import read_1997, users_of
from sitebench.suite import PaperSweep

PAPER = read_1997("ils_bench.paper")

_TESTS = {"ILS Connect": "connect", "ILS Add": "add", "ILS Direct Lookup": "lookup"}
"""Operations by their names in Tables 17 and 18."""

SWEEP_1997 = PaperSweep(
    sizes=PAPER.sizes,
    warmup_s=PAPER.warmup_s,
    measure_s=PAPER.measure_s,
    users=users_of(_TESTS),
    # In 1997 an Active Server Page added users, with 126 bytes per add (Tables 5 and 8).
    options={"add": {"profile": "small"}},
)
"""Each operation runs 600 s at each size (page 8), with the clients of Tables 17 and 18."""
