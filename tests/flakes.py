"""Repeat tests beside programs that keep every core busy, and count the failures of each test.

    python -m tests.flakes TEST ...               30 times each, beside two busy loops
    python -m tests.flakes --times 5 --busy 4 TEST ...

All repetitions run in one pytest, one after another. A module's fixture is created once, and a
failed test may affect the next test. The exit code is pytest's.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest


class Again:
    """Repeats each test, and counts its failures."""

    def __init__(self, times: int) -> None:
        self._times = times
        self._failed = Counter[str]()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each test an additional parameter, which the test does not use."""
        metafunc.fixturenames.append("time_of_many")
        metafunc.parametrize("time_of_many", range(self._times))

    @pytest.fixture
    def time_of_many(self, request: pytest.FixtureRequest) -> int:
        """The number of the repetition."""
        return int(request.param)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a failure, of the test or of its fixtures."""
        if report.failed:
            self._failed[report.nodeid] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the failures and the number of repetitions."""
        failed = self._failed.total()
        terminalreporter.write_line(f"failed {failed} times; each test ran {self._times} times")


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Run busy loops that end with this process."""
    loop = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    with contextlib.ExitStack() as stack:
        for _ in range(loops):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", loop]))
            stack.callback(process.kill)
        yield


def main() -> int:
    """Run the tests that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--busy", type=int, default=2)
    ours, theirs = parser.parse_known_args()
    with busy(ours.busy):
        # Processes of xdist would not know the repetitions.
        argv = ["-q", "-p", "no:cacheprovider", *theirs, "-n0"]
        return int(pytest.main(argv, [Again(ours.times)]))


if __name__ == "__main__":
    sys.exit(main())
