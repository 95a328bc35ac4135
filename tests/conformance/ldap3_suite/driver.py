"""Runs modules of ldap3's tests in a few processes and prints one JSON line per test.

`python driver.py FOLDER SHARES`, where FOLDER holds the package `test`, and SHARES is a JSON list
of the work of each process: lists of [module, [tests to leave out]].
"""

import importlib
import json
import multiprocessing
import sys
import unittest
import warnings
from multiprocessing.connection import Connection
from types import TracebackType

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class _Lines(unittest.TestResult):
    """Prints the outcome of each test once, even if its tearDown fails too."""

    def __init__(self, module: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._module = module
        self._told: set[str] = set()

    def _tell(self, test: unittest.TestCase, outcome: str, detail: str = "") -> None:
        name = test.id().rpartition(".")[2]
        if name not in self._told:
            self._told.add(name)
            line = {"module": self._module, "test": name, "outcome": outcome, "detail": detail}
            self.lines.append(json.dumps(line))

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's names
        self._tell(test, "passed")

    def addError(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802
        self._tell(test, "failed", f"{type(err[1]).__name__}: {err[1]}")

    def addFailure(self, test: unittest.TestCase, err: _ExcInfo) -> None:  # noqa: N802
        self._tell(test, "failed", f"{type(err[1]).__name__}: {err[1]}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self._tell(test, "skipped", reason)


def _run(module: str, left_out: list[str]) -> list[str]:
    result = _Lines(module)
    for group in unittest.defaultTestLoader.loadTestsFromName(f"test.{module}"):
        assert isinstance(group, unittest.TestSuite)
        for test in group:
            assert isinstance(test, unittest.TestCase)
            if test.id().rpartition(".")[2] not in left_out:
                test.run(result)
    return result.lines


def _run_share(share: list[tuple[str, list[str]]], told: Connection) -> None:
    told.send([line for module, left_out in share for line in _run(module, left_out)])


def main() -> None:
    folder, shares = sys.argv[1:]
    warnings.simplefilter("ignore")
    sys.path.insert(0, folder)
    importlib.import_module("test.config").prepare()
    # Forked, because importing ldap3 takes longer than most of its tests.
    context = multiprocessing.get_context("fork")
    heard = []
    for share in json.loads(shares):
        hearing, told = context.Pipe(duplex=False)
        context.Process(target=_run_share, args=(share, told)).start()
        told.close()
        heard.append(hearing)
    for hearing in heard:
        print("\n".join(hearing.recv()))


if __name__ == "__main__":
    main()
