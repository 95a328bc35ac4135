"""Runs ldap3's tests against one server in a few processes, and collects their outcomes."""

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.ldap3_suite.plan import Plan, plans
from tests.conformance.ldap3_suite.sdist import unpack_tests
from tests.conformance.served import Served
from tests.support.programs import run_program

HERE = Path(__file__).resolve().parent

# Many of the tests sleep, for servers that replicate slowly.
PROCESSES = 4


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
    argv = [sys.executable, HERE / "driver.py", folder, work]
    done = run_program(argv, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_suite(server: Served, strategy: str) -> SuiteResult:
    """Run every applicable test as the administrator of `server`."""
    settings = _settings(server, server.suffix, strategy)
    with tempfile.TemporaryDirectory(prefix="ldap3-suite-") as name:
        folder = Path(name)
        applicable = plans(unpack_tests(folder))
        shutil.copy(HERE / "config_module.py", folder / "test" / "config.py")
        shares = [applicable[i::PROCESSES] for i in range(PROCESSES)]
        lines = _drive(folder, settings, shares).splitlines()
    outcomes = tuple(Outcome(**json.loads(line)) for line in lines if line.startswith("{"))
    silent = {plan.module for plan in applicable} - {outcome.module for outcome in outcomes}
    assert not silent, "no test ran of these modules"
    return SuiteResult(outcomes)
