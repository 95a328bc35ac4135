"""`python -m tests.conformance.ldap3_suite --server embedded|openldap|ldap://HOST:PORT`."""

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.conformance.content import SKELETON
from tests.conformance.ldap3_suite.runner import SuiteResult, run_suite
from tests.conformance.running import KINDS, running
from tests.conformance.served import Served

# Never on the command line, where every user of the machine can read it.
PASSWORD_VARIABLE = "LDAP3_SUITE_PASSWORD"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.ldap3_suite")
    parser.add_argument("--server", required=True, help="embedded, openldap or ldap://HOST:PORT")
    parser.add_argument("--strategy", choices=["sync", "async"], default="sync")
    parser.add_argument("--base", default="o=Intranet", help="where to add (URLs only)")
    parser.add_argument(
        "--bind-dn",
        default="cn=admin,o=Intranet",
        help=f"who may write (URLs only); password in ${PASSWORD_VARIABLE}",
    )
    return parser.parse_args()


@contextlib.contextmanager
def _server(options: argparse.Namespace) -> Iterator[Served]:
    if options.server in KINDS:
        with (
            tempfile.TemporaryDirectory() as folder,
            running(options.server, Path(folder) / "server", SKELETON) as served,
        ):
            yield served
    else:
        url = urlsplit(options.server)
        if url.scheme != "ldap" or url.hostname is None:
            sys.exit(f"--server {options.server}: write embedded, openldap or ldap://HOST:PORT")
        password = os.environ.get(PASSWORD_VARIABLE, "")
        yield Served(
            "other", url.hostname, url.port or 389, options.base, options.bind_dn, password
        )


def _print(result: SuiteResult) -> None:
    print(f"{'module':<32} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for module in [*result.modules, None]:
        counts = result.counts(module)
        row = [counts["passed"], counts["failed"], counts["skipped"]]
        print(f"{module or 'total':<32} {row[0]:>7} {row[1]:>7} {row[2]:>8}")
    for outcome in result.outcomes:
        if outcome.outcome == "failed":
            print(f"failed: {outcome.name}: {outcome.detail[:300]}")


def main() -> int:
    options = _options()
    with _server(options) as served:
        result = run_suite(served, strategy=options.strategy)
    _print(result)
    return 1 if result.named("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
