"""A certificate for a slapd that is started for a test, made by OpenSSL."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sitebench.errors import MeasurementFailed
from sitebench.system.programs import find_program, last_line

_DAYS = "30"
"""Longer than any measurement."""

_CONFIG = """\
[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = slapd of a test
[extensions]
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
subjectAltName = DNS:localhost, IP:127.0.0.1
"""
"""Self-signed: a client that trusts it trusts no other."""


def make(folder: Path) -> tuple[Path, Path]:
    """Make a certificate and its key in a folder, and return both files."""
    openssl = find_program(
        "openssl", "install it (`apt-get install openssl`), or name an ldaps:// target"
    )
    config, cert, key = folder / "certificate.cnf", folder / "slapd.pem", folder / "slapd.key"
    config.write_text(_CONFIG)
    argv = [openssl, "req", "-x509", "-nodes", "-newkey", "ec", "-days", _DAYS]
    argv += ["-pkeyopt", "ec_paramgen_curve:P-256", "-config", str(config)]
    argv += ["-keyout", str(key), "-out", str(cert)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MeasurementFailed(
            f"cannot make a certificate: {last_line(done.stderr)}",
            "check the version of OpenSSL, or name an ldaps:// target",
        )
    return cert, key
