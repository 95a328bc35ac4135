"""ldapts' own tests, from its repository: npm's package has none."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conformance.client_suites.outcomes import read_outcomes
from tests.conformance.embedded import running_embedded
from tests.conformance.ldap3_suite.sdist import REPOSITORY
from tests.tls.certificates import Authority

# The newest version that runs on Node.js 20; version 9 requires 22, and 9.0.0 has the same tests.
VERSION = "8.2.0"
SOURCE = "https://github.com/ldapts/ldapts"
# The ID of a commit is the digest of its content.
COMMIT = "5c65a8ccf276acaa4a17067ae6e84a3949c60e3c"
NODE_AT_LEAST = 20

HERE = Path(__file__).resolve().parent
CACHE = REPOSITORY / ".cache" / f"ldapts-{VERSION}"
FETCH_WITHIN_S = 300.0
RUN_WITHIN_S = 120.0

SUFFIX = "dc=ldap,dc=local"
PASSWORD = "1234"

PASSED_AT_LEAST = 80

# The tests that connect to a server.
FILES = ("tests/Client.test.ts", "tests/Controls.test.ts")
_NEEDS_CERTIFICATE = "should bind using EXTERNAL sasl mechanism"

_CLIENT = "tests/Client.test.ts Client >"
_SORT = "tests/Controls.test.ts Controls > ServerSideSortingRequestControl >"

# file and test: reason
LEFT_OUT = {
    f"{_SORT} should sort values": "RFC 2891, sorting, is not offered",
    f"{_SORT} should sort values (descending)": "RFC 2891, sorting, is not offered",
    f"{_CLIENT} #bind() > should bind with a custom control": "password policy is not offered",
    f"{_CLIENT} #compare() > should throw on invalid DN": (
        "wants 34 for a name of an undefined type, which any entry may have here: 32"
    ),
    f"{_CLIENT} #exop() > should throw if fast bind is not supported": (
        "compares the text beside protocolError with slapd's"
    ),
}


def _fetch(npm: str) -> None:
    """Ensure that CACHE contains src and tests of ldapts, and vitest as in package-lock.json."""
    if CACHE.exists():
        return
    CACHE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE.parent) as name:
        folder = Path(name) / "ldapts"
        shutil.copytree(HERE / "node", folder)
        commands = [
            ["git", "init", "--quiet"],
            ["git", "fetch", "--quiet", "--depth", "1", SOURCE, COMMIT],
            ["git", "checkout", "--quiet", COMMIT, "--", "src", "tests"],
            [npm, "install", "--no-save", "--no-audit", "--silent", "--ignore-scripts"],
        ]
        for command in commands:
            subprocess.run(command, cwd=folder, timeout=FETCH_WITHIN_S, check=True)
        folder.rename(CACHE)


def _programs() -> tuple[str, str]:
    """Return npm and npx of a sufficiently new Node.js."""
    node, npm, npx = (shutil.which(program) for program in ("node", "npm", "npx"))
    if node is None or npm is None or npx is None:
        sys.exit(f"ldapts needs Node.js {NODE_AT_LEAST} or later with npm: https://nodejs.org")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").partition(".")[0]) < NODE_AT_LEAST:
        sys.exit(f"ldapts needs Node.js {NODE_AT_LEAST} or later; this is {version.strip()}")
    return npm, npx


def _content() -> str:
    data = CACHE / "tests" / "data" / "ldif"
    root = f"dn: {SUFFIX}\nobjectClass: domain\ndc: ldap\n"
    below = [(data / name).read_text() for name in ("03-pwpolicy-enable.ldif", "10-users.ldif")]
    return "\n".join([root, *below]).replace("{{ LDAP_BASE_DN }}", SUFFIX)


def _certificates(folder: Path) -> tuple[str, ...]:
    """Create the files of tests and directory; return the directory's options."""
    authority = Authority(folder)
    server = authority.sign("server")
    client = authority.sign("client", subject="/CN=ldap-client")
    shutil.copy(client.key, folder / "client-key.pem")
    return "--tls-cert", server.cert, "--tls-key", server.key


def run() -> dict[str, str]:
    """Run the tests that connect to a server."""
    npm, npx = _programs()
    _fetch(npm)
    certificates = CACHE / "tests" / "data" / "certs"
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as servers:
        folder = Path(name)
        (folder / "content.ldif").write_text(_content())
        (folder / "password").write_text(PASSWORD + "\n")
        served = [
            *("--suffix", SUFFIX, "--ldif", str(folder / "content.ldif")),
            *("--admin-dn", f"cn=admin,{SUFFIX}"),
            *("--admin-password-file", str(folder / "password")),
            *_certificates(certificates),
        ]

        def port(*options: str) -> int:
            directory = running_embedded(folder, *served, *options, anonymous_writes=True)
            return servers.enter_context(directory).port

        def outcomes(plain: int, secure: int, *options: str) -> dict[str, str]:
            report = folder / "junit.xml"
            vitest = [npx, "vitest", "run", "--reporter=junit"]
            subprocess.run(
                [*vitest, f"--outputFile={report}", *options, *FILES],
                cwd=CACHE,
                env=os.environ | {"LDAP_PORT": str(plain), "LDAPS_PORT": str(secure)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=RUN_WITHIN_S,
                check=False,
            )
            return read_outcomes(report)

        secure = port()
        found = outcomes(port("--start-tls"), secure)
        # A directory that requires certificates refuses clients without one.
        asking = port("--start-tls", "--tls-client-ca", str(certificates / "ca.pem"))
        with_certificate = outcomes(asking, secure, "-t", _NEEDS_CERTIFICATE)
        return found | {
            test: outcome for test, outcome in with_certificate.items() if outcome != "skipped"
        }
