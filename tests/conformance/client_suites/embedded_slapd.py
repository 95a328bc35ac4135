"""Replaces the slapd of python-ldap's tests by the embedded directory.

The file is copied beside the unpacked tests as their conftest.py, and imports no module of ours.
"""

import atexit
import os
import re
import subprocess
from pathlib import Path

import pytest
import slapdtest  # type: ignore[import-not-found]

_START_LINE = re.compile(rb"serving .* at ldap://")


class EmbeddedDirectory(slapdtest.SlapdObject):  # type: ignore[misc]
    """`sitebench ils serve` with slapdtest's suffix, administrator, port and certificates."""

    # A directory that requires certificates refuses clients without one, such as ldapadd.
    asks_for_certificates = False

    def __init__(self) -> None:
        super().__init__()
        self.ldapi_uri = None
        self.default_ldap_uri = self.ldap_uri
        self.cli_sasl_external = False
        self._proc: subprocess.Popen[bytes] | None = None
        self._content = Path(self.testrundir) / "content.ldif"

    def start(self) -> None:
        if self._proc is None:
            atexit.register(self.stop)
            self.setup_rundir()
            self._serve("--entries", "0")
            # The tests add the suffix themselves.
            self.ldapdelete(self.suffix)

    def terminate(self) -> None:
        """Stop, and keep the files that slapd would have kept."""
        command = ["ldapsearch", "-LLL", "-o", "ldif-wrap=no", "-H", self.ldap_uri]
        command += [*self._cli_auth_args(), "-b", self.suffix]
        self._content.write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
        super().terminate()

    def resume(self) -> None:
        self._serve("--ldif", str(self._content))

    def ldapadd(self, ldif: str, extra_args: list[str] | None = None) -> None:
        super().ldapadd(ldif, extra_args)
        if self.asks_for_certificates:
            self.terminate()
            self.wait()
            self._serve("--ldif", str(self._content), "--tls-client-ca", self.cafile)

    def slapadd(self, ldif: str | None, extra_args: list[str] | None = None) -> None:
        pytest.fail("slapadd writes slapd's own database")

    def _serve(self, *content: str) -> None:
        password = Path(self.testrundir) / "password"
        password.write_text(self.root_pw + "\n")
        command = [os.environ["SITEBENCH"], "ils", "serve", "--port", str(self.port)]
        command += ["--suffix", self.suffix, *content]
        command += ["--admin-dn", self.root_dn, "--admin-password-file", str(password)]
        command += ["--start-tls", "--tls-cert", self.servercert, "--tls-key", self.serverkey]
        with (Path(self.testrundir) / "stderr").open("w") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        self._proc = process
        assert process.stdout is not None
        line = process.stdout.readline()
        if not _START_LINE.match(line):
            raise RuntimeError(f"sitebench ils serve did not start: {line!r}")


slapdtest.SlapdObject = EmbeddedDirectory
slapdtest.SlapdTestCase.server_class = EmbeddedDirectory


@pytest.fixture(autouse=True, scope="module")
def _certificates(request: pytest.FixtureRequest) -> None:
    EmbeddedDirectory.asks_for_certificates = request.module.__name__.endswith("t_ldap_sasl")
