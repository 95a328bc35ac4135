"""Runs modules of ldap3's tests in this process and prints one JSON line per test.

`python driver.py FOLDER PLANS`, where FOLDER holds the package `test` and PLANS is a JSON list of
[module, [tests to leave out]]. `prepare` instead of PLANS adds what the tests expect to find.
"""

import importlib
import json
import sys
import unittest
import warnings
from types import TracebackType
from typing import TextIO

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class _Lines(unittest.TestResult):
    """Says how each test ended. A test that fails in its tearDown as well is told once."""

    def __init__(self, module: str, out: TextIO) -> None:
        super().__init__()
        self._module = module
        self._out = out
        self._told: set[str] = set()

    def _tell(self, test: unittest.TestCase, outcome: str, detail: str = "") -> None:
        name = test.id().rpartition(".")[2]
        if name not in self._told:
            self._told.add(name)
            line = {"module": self._module, "test": name, "outcome": outcome, "detail": detail}
            self._out.write(json.dumps(line) + "\n")
            self._out.flush()

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's names
        self._tell(test, "passed")

    def addError(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802
        self._tell(test, "failed", f"{type(err[1]).__name__}: {err[1]}")

    def addFailure(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802
        self._tell(test, "failed", f"{type(err[1]).__name__}: {err[1]}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self._tell(test, "skipped", reason)


def _run(module: str, left_out: list[str]) -> None:
    result = _Lines(module, sys.stdout)
    for group in unittest.defaultTestLoader.loadTestsFromName(f"test.{module}"):
        assert isinstance(group, unittest.TestSuite)
        for test in group:
            assert isinstance(test, unittest.TestCase)
            if test.id().rpartition(".")[2] not in left_out:
                test.run(result)


def main() -> None:
    folder, plans = sys.argv[1:]
    warnings.simplefilter("ignore")
    sys.path.insert(0, folder)
    if plans == "prepare":
        importlib.import_module("test.config").prepare()
        return
    for module, left_out in json.loads(plans):
        _run(module, left_out)


if __name__ == "__main__":
    main()
