"""What `sitebench ils operations` shows: the suite's own operations, or the file of one."""

from __future__ import annotations

from ils_bench import quick, sequences
from ils_bench.login import logins
from ils_bench.options import IlsOptions
from ils_bench.programs import LOGIN
from ils_bench.suite import SUITE
from sitebench.suite_base.listing import show_operations


def show(options: IlsOptions, name: str | None) -> None:
    """Print all operations, or the file of one; one that options describe has one, too."""
    described = quick.described_by(options)
    if described is not None and name in (None, described[0]):
        print(quick.text_of(options), end="")
        return

    def text_of(operation: str) -> str:
        if operation == LOGIN:
            return logins.text_of(options)
        return sequences.text_of(operation, options.profile)

    show_operations(SUITE, text_of, name)
