"""Identity of a bind: anonymous, a DN with its password, or SASL."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ils_bench.options import EXTERNAL, DirectoryOptions
from sitebench.errors import BadFile, BadInput, WrongPassword
from sitebench.measure.options import LoadOptions
from sitebench.options.option import group_of
from sitebench.system import secret
from sitebench.system.secret import BIND_PASSWORD

_T = TypeVar("_T", bound=DirectoryOptions)


@dataclass(frozen=True)
class Identity:
    """A DN, its password and a SASL mechanism, by default a simple bind."""

    dn: str | None = None
    password: str | None = field(default=None, repr=False)
    sasl: str | None = None

    def __str__(self) -> str:
        if self.sasl == EXTERNAL:
            return "the certificate's identity"
        return repr(self.dn) if self.dn else "anonymous clients"

    def to_engine(self) -> dict[str, str | None]:
        return {"bind_dn": self.dn, "password": self.password, "sasl": self.sasl}

    def to_ldap3(self) -> dict[str, Any]:
        if self.sasl is None:
            return {"user": self.dn, "password": self.password}
        return {
            "authentication": "SASL",
            "sasl_mechanism": self.sasl.upper(),
            "sasl_credentials": "" if self.sasl == EXTERNAL else (None, self.dn, self.password),
        }


ANONYMOUS = Identity()


def identity_of(options: DirectoryOptions) -> Identity:
    check_sasl(options)
    if options.sasl == EXTERNAL:
        return Identity(sasl=EXTERNAL)
    if options.bind_dn is None:
        return ANONYMOUS
    password = secret.read(options.password_file, "password file", BIND_PASSWORD)
    if password is None:
        raise _missing(options.bind_dn)
    return Identity(options.bind_dn, password, options.sasl)


def check_sasl(options: DirectoryOptions) -> None:
    if options.sasl is None:
        return
    if not (options.tls or options.start_tls or options.target.lower().startswith("ldaps:")):
        raise BadInput(
            f"--sasl {options.sasl} needs TLS", "name an ldaps:// target, or add --start-tls"
        )
    if options.sasl == EXTERNAL:
        if options.bind_dn is not None:
            raise BadInput(
                "--sasl external binds as the certificate's identity and excludes --bind-dn",
                "leave out one of them",
            )
        if options.tls_cert is None:
            raise BadInput(
                "--sasl external needs a client certificate", "give --tls-cert and --tls-key"
            )
    elif options.bind_dn is None:
        raise BadInput("--sasl plain needs a DN", "give --bind-dn")


def ask_password(options: _T) -> _T:
    """Return options, after a prompt for a password that is neither in a file nor in a variable.

    Commands prompt before they start processes, which have no terminal.
    """
    if (dn := options.bind_dn) is None or options.sasl == EXTERNAL:
        return options
    if options.password_file is not None:
        again = secret.read_once(options.password_file, "password file", BIND_PASSWORD)
        options = replace(options, password_file=again)
    if (password := secret.read(options.password_file, "password file", BIND_PASSWORD)) is not None:
        if not password and options.password_file is not None:
            raise BadFile(
                f"the first line of the password file {options.password_file} is empty",
                "put the password there, and nothing else",
            )
        return options
    if (load := group_of(options, LoadOptions)) is not None and load.workers is not None:
        raise BadInput(
            f"workers cannot use a password for {dn} that is typed here",
            f"give each worker --password-file, or ${BIND_PASSWORD}, on its machine",
        )
    typed = secret.prompt_for_secret(f"Password of {dn}: ", _missing(dn))
    return replace(options, password_file=typed)


def _missing(dn: str) -> WrongPassword:
    return WrongPassword(
        f"no password for {dn}",
        f"name its file with --password-file, set ${BIND_PASSWORD}, or type it at a terminal",
    )
