"""Who binds to a directory: nobody in particular, a DN with its password, or by SASL."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ils_bench.options import EXTERNAL, PASSWORD_VARIABLE, DirectoryOptions
from sitebench.errors import BadInput, WrongPassword
from sitebench.system import secret

T = TypeVar("T", bound=DirectoryOptions)


@dataclass(frozen=True)
class Identity:
    """Who binds, and how; without a mechanism by a simple bind."""

    dn: str | None = None
    password: str | None = field(default=None, repr=False)
    sasl: str | None = None

    def __str__(self) -> str:
        if self.sasl == EXTERNAL:
            return "whoever the certificate is for"
        return repr(self.dn) if self.dn else "anonymous clients"

    def to_engine(self) -> dict[str, str | None]:
        """Return it as the engine's seeding reads it."""
        return {"bind_dn": self.dn, "password": self.password, "sasl": self.sasl}

    def to_ldap3(self) -> dict[str, Any]:
        """Return it as a connection of ldap3's takes it."""
        if self.sasl is None:
            return {"user": self.dn, "password": self.password}
        return {
            "authentication": "SASL",
            "sasl_mechanism": self.sasl.upper(),
            "sasl_credentials": "" if self.sasl == EXTERNAL else (None, self.dn, self.password),
        }


ANONYMOUS = Identity()


def identity_of(options: DirectoryOptions) -> Identity:
    """Return who binds; reads the password from its file or the environment."""
    if options.sasl is not None:
        _check(options)
    if options.sasl == EXTERNAL:
        return Identity(sasl=EXTERNAL)
    if options.bind_dn is None:
        return ANONYMOUS
    found = secret.given(options.password_file, "password file", PASSWORD_VARIABLE)
    if found is None:
        raise _missing(options.bind_dn)
    return Identity(options.bind_dn, found, options.sasl)


def _check(options: DirectoryOptions) -> None:
    """Raise unless there is what the mechanism says who one is by."""
    if not (options.tls or options.start_tls or options.target.lower().startswith("ldaps:")):
        raise BadInput(
            f"--sasl {options.sasl} is for TLS only",
            "name an ldaps:// target, or ask for TLS with --start-tls",
        )
    if options.sasl == EXTERNAL:
        if options.bind_dn is not None:
            raise BadInput(
                "--sasl external binds as whom the certificate is for, and --bind-dn says another",
                "leave out one of both",
            )
        if options.tls_cert is None:
            raise BadInput(
                "--sasl external has no certificate to show", "give --tls-cert and --tls-key"
            )
    elif options.bind_dn is None:
        raise BadInput("--sasl plain does not say who binds", "give --bind-dn")


def password_asked(options: T) -> T:
    """Return options whose DN has a password: one with neither file nor variable is asked for.

    Commands do so before anything else, as the processes that they start have no terminal.
    """
    if options.bind_dn is None or options.sasl == EXTERNAL:
        return options
    if secret.given(options.password_file, "password file", PASSWORD_VARIABLE) is not None:
        return options
    if getattr(options, "workers", None) is not None:
        raise BadInput(
            f"workers cannot be told a password for {options.bind_dn} that is typed here",
            f"have each read it: --password-file, or ${PASSWORD_VARIABLE}, on its machine",
        )
    typed = secret.typed(f"Password of {options.bind_dn}: ", _missing(options.bind_dn))
    return replace(options, password_file=typed)


def _missing(dn: str) -> WrongPassword:
    return WrongPassword(
        f"there is no password for {dn}",
        f"name its file with --password-file, set ${PASSWORD_VARIABLE}, or type it at a terminal",
    )
