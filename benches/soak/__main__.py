"""`python -m benches.soak`: a long run of the embedded directory."""

from __future__ import annotations

from dataclasses import dataclass

from benches.command import run
from benches.soak.run import soak
from sitebench.measure.options import run_file
from sitebench.options import option
from sitebench.options.command import command


@dataclass(frozen=True)
class _SoakOptions:
    entries: int = option.size(100_000, "People in the directory.")
    measure: float = option.duration(120.0, "Length of the measured window.")
    users: int = option.count(64, "Lanes.", at_least=16)
    think: float = option.duration(0.0, "Mean think time of a lane between operations.")
    out: str | None = option.file("Run file (default: a name with the time in it).")


@command(_SoakOptions, panel="Measure", name="soak")
def main(options: _SoakOptions) -> None:
    """Load the embedded directory for a long time, and compare the end with the beginning.

    python -m benches.soak --entries 1m --measure 1h

    Lookups at full rate; people who register, change, leave and expire; lanes that reconnect. It
    fails if memory grows on either side, if an operation takes more CPU time at the end than
    at the beginning, or if the counts of lanes and directory differ.
    """
    out = options.out or run_file("ils-soak")
    soak(options.entries, options.measure, options.users, options.think, out)


if __name__ == "__main__":
    run(main, "benches.soak")
