"""The password that goes with a DN."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ils_bench.options import PASSWORD_VARIABLE, DirectoryOptions
from sitebench import secret
from sitebench.errors import BadInput, WrongPassword

T = TypeVar("T", bound=DirectoryOptions)


def password_of(options: DirectoryOptions) -> str | None:
    """Read the password from its file or the environment; raises when a DN has none."""
    if options.bind_dn is None:
        return None
    found = secret.given(options.password_file, "password file", PASSWORD_VARIABLE)
    if found is None:
        raise _missing(options.bind_dn)
    return found


def password_asked(options: T) -> T:
    """Return options whose DN has a password: one with neither file nor variable is asked for.

    Commands do so before anything else, as the processes that they start have no terminal.
    """
    if options.bind_dn is None:
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
