"""`python -m tests.conformance.client_suites [python-ldap|ldapts]`; without a name, both."""

import argparse
import sys
from collections import Counter

from tests.conformance.client_suites import ldapts, python_ldap
from tests.conformance.client_suites.outcomes import complaints

SUITES = {"python-ldap": python_ldap, "ldapts": ldapts}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.client_suites")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=" or ".join(SUITES))
    names = parser.parse_args().suites or list(SUITES)
    if unknown := set(names) - set(SUITES):
        parser.error(f"{', '.join(unknown)}: write {' or '.join(SUITES)}")
    failed = False
    for name in names:
        suite = SUITES[name]
        outcomes = suite.run()
        passed = Counter(outcomes.values())["passed"]
        print(
            f"{name} {suite.VERSION}: {passed} passed, {len(suite.LEFT_OUT)} left out", flush=True
        )
        for test, reason in suite.LEFT_OUT.items():
            print(f"  left out: {test}: {reason}")
        for complaint in complaints(outcomes, suite.LEFT_OUT, suite.PASSED_AT_LEAST):
            failed = True
            print(f"  {complaint}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
