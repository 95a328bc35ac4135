"""TLS: the trust of clients, the certificate of a server, and failures."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from sitebench.errors import BadFile, BadInput, TlsFailed
from sitebench.options.spelling import long_option
from sitebench.system import secret
from sitebench.system.scratch import scratch
from sitebench.targets.tls_options import SELF_SIGNED, TlsOptions, TlsServeOptions
from sitebench.verdict.warning import PointWarning, WarningKind

_OF_TLS = ("tls_ca", "tls_insecure", "tls_cert", "tls_key", "tls_key_password_file")


class Trust(msgspec.Struct, frozen=True):
    """TLS settings of clients. CA certificates are passed as PEM text, private keys as paths."""

    ca_pem: str | None = None
    insecure: bool = False
    cert: str | None = None
    key: str | None = None
    key_password_file: str | None = None
    resume: bool = False

    @classmethod
    def from_options(cls, options: TlsOptions) -> Trust:
        _check_pair(options.tls_cert, options.tls_key)
        return cls(
            None if options.tls_ca is None else _authorities(options.tls_ca),
            options.tls_insecure,
            options.tls_cert,
            options.tls_key,
            options.tls_key_password_file,
            options.tls_resume,
        )

    def to_engine(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["key_password_file"]
        return {**fields, "key_password": key_password(self.key_password_file)}

    def context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cadata=self.ca_pem)
        except (ssl.SSLError, ValueError) as error:
            raise BadFile(
                f"--tls-ca holds no certificate: {error}",
                "give it in PEM (-----BEGIN CERTIFICATE-----)",
            ) from error
        # Like the engine, accept the server's own certificate, and names in subjectAltName alone.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.hostname_checks_common_name = False
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        _check_pair(self.cert, self.key)
        if self.cert is not None:
            password = key_password(self.key_password_file)
            try:
                # Without a password OpenSSL would prompt at the terminal.
                context.load_cert_chain(self.cert, self.key, lambda: password or "")
            except (OSError, ValueError) as error:
                raise BadFile(
                    f"cannot use certificate {self.cert} with key {self.key}: {short(error)}",
                    "give a matching pair in PEM, and its password in --tls-key-password-file or "
                    f"${secret.KEY_PASSWORD}",
                ) from error
        return context

    def warnings(self) -> tuple[PointWarning, ...]:
        if not self.insecure:
            return ()
        return (
            PointWarning(
                WarningKind.TLS_UNVERIFIED,
                "no certificate was checked (--tls-insecure): any server may have answered",
                "name the target's authority with --tls-ca",
            ),
        )


SYSTEM = Trust()
"""The system's certificate authorities."""


def trusting(trust: Trust, ca: str) -> Trust:
    return replace(trust, ca_pem=_authorities(ca))


def _authorities(path: str) -> str:
    try:
        # Between certificates, bundles have authorities' names, such as Főtanúsítvány.
        return Path(path).read_bytes().decode("ascii", "ignore")
    except OSError as error:
        raise BadFile(
            f"cannot read the authorities in {path}: {error.strerror}",
            "name a file in PEM with --tls-ca",
        ) from error


def key_password(path: str | None) -> str | None:
    return secret.read(path, "key's password file", secret.KEY_PASSWORD)


def _check_pair(cert: str | None, key: str | None) -> None:
    if (cert is None) != (key is None):
        raise BadInput("--tls-cert and --tls-key go together", "give both, or neither")


def check_tls(
    options: TlsOptions, target: str, *, start_tls: bool = False, may_choose: bool = False
) -> None:
    """Check a test's TLS options; with `may_choose`, connections of a scenario can use TLS."""
    over_tls = target.lower().startswith(("ldaps:", "https:"))
    if options.tls and "://" in target and not over_tls and not start_tls:
        raise BadInput(
            f"--tls applies to a target that sitebench starts; {target} is without TLS",
            "leave --tls out, and write ldaps:// or https:// if it listens there",
        )
    names = [name for name in _OF_TLS if vars(options)[name]]
    if not names:
        return
    if not (options.tls or over_tls or start_tls or may_choose):
        raise BadInput(
            f"{long_option(names[0])} has no effect without TLS",
            "name an ldaps:// or https:// target, or add --tls for one that is started here",
        )
    Trust.from_options(options).context()


class ServerTls(msgspec.Struct, frozen=True):
    cert: str | None = None
    key: str | None = None
    key_password: str | None = None
    client_ca: str | None = None

    @classmethod
    def from_options(cls, options: TlsServeOptions) -> ServerTls | None:
        self_signed = options.tls == SELF_SIGNED
        if options.tls_cert is None and options.tls_key is None and not self_signed:
            if options.tls_client_ca is not None:
                raise BadInput(
                    "--tls-client-ca without TLS",
                    "give --tls-cert and --tls-key, or --tls self-signed",
                )
            return None
        _check_pair(options.tls_cert, options.tls_key)
        if self_signed and options.tls_cert is not None:
            raise BadInput("--tls self-signed and --tls-cert exclude each other", "give only one")
        return cls(
            options.tls_cert,
            options.tls_key,
            key_password(options.tls_key_password_file),
            options.tls_client_ca,
        )

    def to_engine(self, host: str) -> dict[str, Any]:
        return {**asdict(self), "names": [] if host in ("0.0.0.0", "::") else [host]}


@contextlib.contextmanager
def ca_file(pem: str) -> Iterator[str]:
    with scratch() as folder:
        path = folder / "ca.pem"
        path.write_text(pem, encoding="ascii")
        yield str(path)


class _Fault(msgspec.Struct, frozen=True):
    kind: str
    signs: tuple[str, ...]
    message: str
    remedy: str


_FAULTS = (
    _Fault(
        "tls:wrong-name",
        ("mismatch", "doesn't match", "not valid for"),
        "its certificate is for another name",
        "use a name of its subjectAltName as the target's address (a common name alone does not "
        "count)",
    ),
    _Fault(
        "tls:expired",
        ("has expired", "not yet valid"),
        "its certificate is not valid today",
        "renew it, or set this machine's clock",
    ),
    _Fault(
        "tls:untrusted",
        ("CERTIFICATE_VERIFY_FAILED", "certificate verify failed"),
        "its certificate is not signed by a trusted authority",
        "name its authority with --tls-ca, or skip the check with --tls-insecure",
    ),
    _Fault(
        "tls:certificate-wanted",
        (
            "CERTIFICATE_REQUIRED",
            "ALERT_UNKNOWN_CA",
            "ALERT_BAD_CERTIFICATE",
            "CERTIFICATE_UNKNOWN",
        ),
        "it requires a client certificate, or another one",
        "give one with --tls-cert and --tls-key",
    ),
    _Fault(
        "tls:not-tls",
        ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "HTTP_REQUEST"),
        "it does not use TLS on this port",
        "check the port, or leave out TLS",
    ),
    _Fault(
        "tls:closed",
        ("UNEXPECTED_EOF", "EOF occurred"),
        "it closed the connection during the handshake",
        "check the port, whether it is one of ldap:// or http://, and the server's log",
    ),
    _Fault(
        "tls:refused",
        ("startTLS failed",),
        "it refuses StartTLS",
        "use ldaps:// if it listens there, or leave out --start-tls",
    ),
    _Fault("tls:broken", ("SSL", "TLS"), "it violates the TLS protocol", "see its log"),
)
"""Faults by words of OpenSSL, which libraries keep if they raise another exception."""


def _fault(error: BaseException) -> _Fault | None:
    cause: BaseException | None = error
    text = ""
    while cause is not None:
        text += f"{type(cause).__name__} {cause}\n"
        cause = cause.__cause__ or cause.__context__
    if "SSL" not in text and "startTLS" not in text and "wrapping" not in text:
        return None
    return next((fault for fault in _FAULTS if any(sign in text for sign in fault.signs)), None)


def fault_kind(error: BaseException) -> str | None:
    """Return the engine's name for a failure of TLS; None for another error."""
    fault = _fault(error)
    return None if fault is None else fault.kind


def tls_failed(address: object, error: BaseException) -> TlsFailed | None:
    """Return the error to raise in place of a failure of TLS; None for another error."""
    if (fault := _fault(error)) is None:
        return None
    return TlsFailed(f"no TLS with {address}: {fault.message}", fault.remedy)


def short(error: BaseException) -> str:
    """Return the first line of an error, or its class if it has no text."""
    lines = str(error).splitlines()
    return lines[0][:120] if lines and lines[0] else type(error).__name__
