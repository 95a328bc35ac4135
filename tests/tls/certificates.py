"""Certificates made by OpenSSL: an authority, and the certificates that it signs."""

import base64
import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.programs import required_program

PASSWORD = "opens the key"


@dataclass(frozen=True)
class Certificate:
    cert: str
    key: str

    def pin(self) -> str:
        """Return the digest that identifies its public key (RFC 7469, 2.4)."""
        shown = _openssl("pkey", "-in", self.key, "-pubout", "-outform", "der")
        return base64.b64encode(hashlib.sha256(shown).digest()).decode()


def _openssl(*argv: str, said: str = "") -> bytes:
    program = [str(required_program("openssl")), *argv]
    return subprocess.run(program, input=said.encode(), check=True, capture_output=True).stdout


def self_signed(folder: Path, name: str, *more: str) -> Certificate:
    """Return an ordinary self-signed certificate, which is therefore an authority's."""
    made = Certificate(str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"),
        *(*more, "-keyout", made.key, "-out", made.cert),
    )
    return made


class Authority:
    """Signs certificates in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.ca, self._key = str(folder / "ca.pem"), str(folder / "ca.key")
        _openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-subj", "/CN=an authority of the tests", "-days", "2"),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
            *("-keyout", self._key, "-out", self.ca),
        )

    def sign(
        self,
        name: str,
        *,
        subject: str = "/CN=server",
        names: str = "DNS:localhost,IP:127.0.0.1",
        days: int = 2,
    ) -> Certificate:
        """Return a new certificate; with negative days it has expired."""
        made = Certificate(str(self._folder / f"{name}.pem"), str(self._folder / f"{name}.key"))
        request, more = str(self._folder / f"{name}.csr"), self._folder / f"{name}.ext"
        more.write_text(f"subjectAltName={names}\nbasicConstraints=CA:FALSE\n")
        _openssl(
            *("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-subj", subject, "-keyout", made.key, "-out", request),
        )
        _openssl(
            *("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._key),
            *("-CAcreateserial", "-days", str(days), "-extfile", str(more), "-out", made.cert),
        )
        return made

    def locked(self, certificate: Certificate, password: str = PASSWORD) -> Certificate:
        """Return the same certificate with its key encrypted."""
        key = certificate.key + ".locked"
        # As an argument it would be in the list of processes, which tests search.
        _openssl(
            *("pkcs8", "-topk8", "-in", certificate.key, "-out", key, "-passout", "stdin"),
            said=f"{password}\n",
        )
        return Certificate(certificate.cert, key)
