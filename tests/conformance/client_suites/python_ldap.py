"""python-ldap's own tests, from its source distribution, compiled against Debian's libldap."""

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.conformance.client_suites.outcomes import read_outcomes
from tests.conformance.ldap3_suite.sdist import REPOSITORY, download

VERSION = "3.4.8"
DIGEST = "sha256:18dc7460470c6ff64ed5c04ee21c56dbfee7ab433a53213ba91e407eea44c34c"
# The imports of the tests besides pyasn1, which ldap3 installs.
MODULES = "pyasn1_modules==0.4.2"
MODULES_DIGEST = "sha256:29253a9207ce32b64c3ac6600edc75368f98473906e8fd1043bd6b5b1de2c14a"

HERE = Path(__file__).resolve().parent
CACHE = REPOSITORY / ".cache" / f"python-ldap-{VERSION}"
BUILD_WITHIN_S = 300.0
RUN_WITHIN_S = 300.0

PASSED_AT_LEAST = 161

_NO_SERVER = "tests python-ldap alone and talks to no server"

LEFT_OUT_MODULES = {
    "t_cidict": _NO_SERVER,
    "t_ldap_asyncsearch": _NO_SERVER,
    "t_ldap_controls_libldap": _NO_SERVER,
    "t_ldap_controls_ppolicy": _NO_SERVER,
    "t_ldap_controls_readentry": _NO_SERVER,
    "t_ldap_controls_sss": _NO_SERVER,
    "t_ldap_dn": _NO_SERVER,
    "t_ldap_filter": _NO_SERVER,
    "t_ldap_functions": _NO_SERVER,
    "t_ldap_modlist": _NO_SERVER,
    "t_ldap_schema_tokenizer": _NO_SERVER,
    "t_ldapurl": _NO_SERVER,
    "t_ldif": _NO_SERVER,
    "t_untested_mods": _NO_SERVER,
    "t_slapdobject": "starts and stops slapd, and asks it nothing",
}

_LDAPI = "a Unix socket; the directory has none"
_SYNCREPL = "RFC 4533, content synchronisation, is not offered"
_VERSIONS = "wants version 3 alone in the root DSE; the directory names 2 too, which it speaks"
_SCHEMA = "adds a class to slapd's configuration; the directory accepts any, so refuses none first"

_SIMPLE = "Tests.t_ldapobject.Test00_SimpleLDAPObject"
_RECONNECT = "Tests.t_ldapobject.Test01_ReconnectLDAPObject"
_FILENO = "Tests.t_ldapobject.Test03_SimpleLDAPObjectWithFileno"
_SYNC = "Tests.t_ldap_syncrepl.TestSyncrepl"
_SUBSCHEMA = "Tests.t_ldap_schema_subentry.TestSubschemaUrlfetchSlapd"

# class and test: reason
LEFT_OUT = {
    "Tests.t_cext.TestLdapCExtension test_anon_rootdse_search": "wants the class OpenLDAProotDSE",
    "Tests.t_ldap_sasl.TestSasl test_external_ldapi": _LDAPI,
    f"{_SUBSCHEMA} test_urlfetch_ldap": "compares the class uidObject with slapd's description",
    f"{_SUBSCHEMA} test_urlfetch_ldapi": _LDAPI,
    f"{_SYNC} test_refreshAndPersist_cancelled": _SYNCREPL,
    f"{_SYNC} test_refreshAndPersist_poll_only": _SYNCREPL,
    f"{_SYNC} test_refreshAndPersist_timeout": _SYNCREPL,
    f"{_SYNC} test_refreshOnly_poll_full": _SYNCREPL,
    f"{_RECONNECT} test101_reconnect_sasl_external": _LDAPI,
} | {
    f"{group} {test}": reason
    for group in (_SIMPLE, _RECONNECT, _FILENO)
    for test, reason in {
        "test006_sasl_external_bind_s": _LDAPI,
        "test006_sasl_options": _LDAPI,
        "test_dse": _VERSIONS,
        "test_slapadd": _SCHEMA,
    }.items()
}


def _fetch() -> None:
    """Ensure that CACHE contains the distribution's folder Tests, and its imports in `site`."""
    if CACHE.exists():
        return
    CACHE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE.parent) as name:
        folder = Path(name)
        archive = download(folder, "python-ldap", VERSION, DIGEST)
        with tarfile.open(archive) as distribution:
            distribution.extractall(folder, filter="data")
        wanted = folder / "imports.txt"
        wanted.write_text(f"{archive} --hash={DIGEST}\n{MODULES} --hash={MODULES_DIGEST}\n")
        unpacked = folder / f"python_ldap-{VERSION}"
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
        command = [sys.executable, "-m", "pip", "install", *options]
        subprocess.run(
            [*command, "--target", str(unpacked / "site"), "-r", str(wanted)],
            timeout=BUILD_WITHIN_S,
            check=True,
        )
        (unpacked / "Tests" / "conftest.py").symlink_to(HERE / "embedded_slapd.py")
        unpacked.rename(CACHE)


def run() -> dict[str, str]:
    """Run the tests that connect to a server, with a new directory for each class."""
    _fetch()
    modules = {path.stem for path in (CACHE / "Tests").glob("t_*.py")}
    if missing := set(LEFT_OUT_MODULES) - modules:
        sys.exit(f"python-ldap has no module {', '.join(sorted(missing))}, and it is left out")
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "junit.xml"
        environment = os.environ | {
            "CI_DISABLED": "LDAPI",
            "PYTHONPATH": str(CACHE / "site"),
            "SITEBENCH": str(Path(sys.executable).parent / "sitebench"),
            "TMP": name,
        }
        environment.pop("CI", None)
        subprocess.run(
            [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(CACHE)]
            + ["-q", "-p", "no:cacheprovider", "--timeout", "60", "--junitxml", str(report)]
            + [f"Tests/{module}.py" for module in sorted(modules - set(LEFT_OUT_MODULES))],
            cwd=CACHE,
            env=environment,
            stdout=subprocess.DEVNULL,
            timeout=RUN_WITHIN_S,
            check=False,
        )
        return read_outcomes(report)
