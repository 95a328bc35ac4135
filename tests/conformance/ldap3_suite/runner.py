"""Runs ldap3's tests against one server in a few processes, and collects their outcomes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.ldap3_suite.plan import Plan, plans
from tests.conformance.ldap3_suite.sdist import unpack_tests
from tests.conformance.served import Served

HERE = Path(__file__).resolve().parent

# Many of the tests sleep, for servers that replicate slowly.
PROCESSES = 4
PROCESS_WITHIN_S = 270.0


class SuiteError(Exception):
    """The tests could not be run; the message gives the reason."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test: passed, failed or skipped."""

    module: str
    test: str
    outcome: str
    detail: str

    @property
    def name(self) -> str:
        return f"{self.module}.{self.test}"


@dataclass(frozen=True)
class SuiteResult:
    """The outcomes of all applicable tests against one server."""

    outcomes: tuple[Outcome, ...]

    def named(self, outcome: str) -> set[str]:
        """Return the names of the tests that ended as `outcome`."""
        return {each.name for each in self.outcomes if each.outcome == outcome}

    def counts(self, module: str | None = None) -> Counter[str]:
        """Count outcomes of one module or of all."""
        return Counter(
            each.outcome for each in self.outcomes if module is None or each.module == module
        )

    @property
    def modules(self) -> list[str]:
        return sorted({each.module for each in self.outcomes})


def _settings(server: Served, base: str, strategy: str) -> dict[str, str]:
    return {
        "url": server.url,
        "base": f"ou=ldap3,{base}",
        "moved": f"ou=ldap3-moved,{base}",
        "user": server.admin_dn,
        "password": server.admin_password,
        "secondary_user": f"cn=secondary,ou=ldap3-moved,{base}",
        "secondary_password": "second sesame",
        "strategy": strategy,
    }


def _drive(folder: Path, settings: dict[str, str], shares: list[list[Plan]]) -> str:
    """Run the driver and return its output."""
    work = json.dumps([[[plan.module, plan.left_out] for plan in share] for share in shares])
    environment = os.environ | {"LDAP3_SUITE": json.dumps(settings)}
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            [sys.executable, str(HERE / "driver.py"), str(folder), work],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=PROCESS_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SuiteError(f"it took more than {PROCESS_WITHIN_S} s") from error
    if done.returncode != 0:
        raise SuiteError(f"it ended with {done.returncode}: {done.stderr}")
    return done.stdout


def run_suite(server: Served, *, base: str | None = None, strategy: str = "sync") -> SuiteResult:
    """Run every applicable test below `base`, as the administrator of `server`."""
    settings = _settings(server, base or server.suffix, strategy)
    with tempfile.TemporaryDirectory(prefix="ldap3-suite-") as name:
        folder = Path(name)
        applicable = plans(unpack_tests(folder))
        shutil.copy(HERE / "config_module.py", folder / "test" / "config.py")
        shares = [applicable[i::PROCESSES] for i in range(PROCESSES)]
        lines = _drive(folder, settings, shares).splitlines()
    outcomes = tuple(Outcome(**json.loads(line)) for line in lines if line.startswith("{"))
    silent = {plan.module for plan in applicable} - {outcome.module for outcome in outcomes}
    if silent:
        raise SuiteError(f"no test ran of {', '.join(sorted(silent))}")
    return SuiteResult(outcomes)
