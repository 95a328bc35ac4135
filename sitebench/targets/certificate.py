"""Certificates for servers that are started for a test, made by the openssl program."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from sitebench.errors import BadFile, MeasurementFailed
from sitebench.system.programs import find_program, last_line

_REQUEST = """\
[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = server of a test
[extensions]
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
subjectAltName = DNS:localhost, IP:{host}
"""
"""Request of a self-signed certificate. A client that trusts this certificate trusts no other."""


def make_certificate(cert: Path, key: Path, host: str = "127.0.0.1") -> None:
    config = cert.with_suffix(".cnf")
    config.write_text(_REQUEST.format(host=host))
    argv = ["req", "-x509", "-nodes", "-newkey", "ec", "-days", "30"]
    argv += ["-pkeyopt", "ec_paramgen_curve:P-256", "-config", str(config)]
    process = _openssl([*argv, "-keyout", str(key), "-out", str(cert)])
    if process.returncode:
        raise MeasurementFailed(
            f"cannot make a certificate: {last_line(process.stderr)}",
            "check the version of OpenSSL, or name a target that speaks TLS already",
        )


def unlock(locked: str, password: str, key: Path) -> None:
    """Write a key without its password, for which a server would prompt at the terminal."""
    key.touch(0o600)
    argv = ["pkey", "-in", locked, "-passin", "stdin", "-out", str(key)]
    process = _openssl(argv, f"{password}\n")
    if process.returncode:
        raise BadFile(
            f"cannot read the key {locked} with its password: {last_line(process.stderr)}",
            "give a key in PEM and the password that it was encrypted with",
        )


def _openssl(argv: Sequence[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    program = find_program(
        "openssl",
        "install it (`apt-get install openssl`), or name a target that speaks TLS already",
    )
    return subprocess.run(
        [program, *argv], input=stdin, capture_output=True, text=True, check=False
    )
