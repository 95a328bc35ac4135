"""Options about TLS: of whoever connects, and of whoever serves."""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.options.option import choice, option
from sitebench.system import secret

KEY_PASSWORD_VARIABLE = secret.KEY_PASSWORD
SELF_SIGNED = "self-signed"


@dataclass(frozen=True)
class TlsOptions:
    """Whom clients trust, who they are, and what a handshake may leave out."""

    tls: bool = option(
        False,
        "Have a target that is started for the test speak TLS, with a certificate made for it.",
        panel="TLS",
    )
    tls_ca: str | None = option(
        None,
        "Certificate authorities to trust, in PEM; by default those of this system.",
        metavar="FILE",
        panel="TLS",
        identity=False,
    )
    tls_insecure: bool = option(
        False, "Trust any certificate: whoever answers may be anybody.", panel="TLS"
    )
    tls_cert: str | None = option(
        None,
        "Certificate to show to the target, in PEM.",
        metavar="FILE",
        panel="TLS",
        identity=False,
    )
    tls_key: str | None = option(
        None,
        "That certificate's key, in PEM.",
        metavar="FILE",
        panel="TLS",
        identity=False,
        form=False,
    )
    tls_key_password_file: str | None = option(
        None,
        f"File whose first line opens an encrypted key; or set ${KEY_PASSWORD_VARIABLE}.",
        metavar="FILE",
        panel="TLS",
        identity=False,
        form=False,
    )
    tls_resume: bool = option(
        False,
        "Resume TLS sessions in new connections; without it each makes a full handshake.",
        panel="TLS",
        paired=True,
    )


@dataclass(frozen=True)
class TlsServeOptions:
    """What a server shows, and whom it lets in."""

    tls: str | None = option(
        None,
        "self-signed: speak TLS with a certificate made at the start.",
        parse=choice(SELF_SIGNED),
        metavar="CHOICE",
        panel="TLS",
    )
    tls_cert: str | None = option(
        None, "Speak TLS with this certificate, in PEM.", metavar="FILE", panel="TLS"
    )
    tls_key: str | None = option(
        None, "The certificate's key, in PEM.", metavar="FILE", panel="TLS"
    )
    tls_key_password_file: str | None = option(
        None,
        f"File whose first line opens an encrypted key; or set ${KEY_PASSWORD_VARIABLE}.",
        metavar="FILE",
        panel="TLS",
    )
    tls_client_ca: str | None = option(
        None,
        "Authorities of clients, in PEM: let in only who shows a certificate of theirs.",
        metavar="FILE",
        panel="TLS",
    )
