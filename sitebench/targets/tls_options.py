"""TLS options of clients and of servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitebench.options import option
from sitebench.options.option import Placement
from sitebench.system import secret

SELF_SIGNED = "self-signed"
_KEY_PASSWORD_HELP = (
    f"File with the password of an encrypted key in its first line (default: "
    f"${secret.KEY_PASSWORD})."
)

# Names of files do not identify a point. A web form cannot name the file of a key.
_CERTIFICATE: Final[Placement] = {"panel": "TLS", "local": True}
_KEY: Final[Placement] = {"panel": "TLS", "local": True, "form": False}


@dataclass(frozen=True)
class TlsOptions:
    tls: bool = option.flag(
        "TLS to a target that sitebench starts, with a generated certificate.", panel="TLS"
    )
    tls_ca: str | None = option.file(
        "CA certificates to trust, in PEM (default: the system's).", **_CERTIFICATE
    )
    tls_insecure: bool = option.flag(
        "No verification of the target's certificate: any server may answer.", panel="TLS"
    )
    tls_cert: str | None = option.file("Client certificate, in PEM.", **_CERTIFICATE)
    tls_key: str | None = option.file("Key of the client certificate, in PEM.", **_KEY)
    tls_key_password_file: str | None = option.file(_KEY_PASSWORD_HELP, **_KEY)
    tls_resume: bool = option.flag(
        "Resumption of TLS sessions on new connections, instead of full handshakes.",
        panel="TLS",
        paired=True,
    )


@dataclass(frozen=True)
class TlsServeOptions:
    tls: str | None = option.choice(
        None, "TLS with a certificate generated at the start.", SELF_SIGNED, panel="TLS"
    )
    tls_cert: str | None = option.file("Server certificate, in PEM; turns TLS on.", panel="TLS")
    tls_key: str | None = option.file("Key of the server certificate, in PEM.", panel="TLS")
    tls_key_password_file: str | None = option.file(_KEY_PASSWORD_HELP, panel="TLS")
    tls_client_ca: str | None = option.file(
        "CA certificates of clients, in PEM; other clients are refused.", panel="TLS"
    )
