"""`sitebench ils serve`: the embedded directory for whoever wants one."""

from __future__ import annotations

import shlex

from rich.console import Console

from ils_bench.options import PASSWORD_VARIABLE, ServeOptions
from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.errors import BadInput
from sitebench.system import secret
from sitebench.targets.ownership import on_loopback
from sitebench.targets.serving import until_stopped
from sitebench.targets.tls import ServerTls

DEFAULT_PEOPLE = 10_000


def serve(options: ServeOptions, console: Console) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    with until_stopped() as stopped, opened(options) as directory:
        for line in greeting(directory):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        if options.admin_dn is None and not on_loopback(options.host):
            console.print(
                "anyone who reaches this address may write: consider --admin-dn or --read-only",
                style="yellow",
            )
        stopped.wait()


def opened(options: ServeOptions) -> LdapDirectory:
    """Start the directory; an LDIF file comes alone unless a size is given too."""
    entries = options.entries
    if entries is None:
        entries = DEFAULT_PEOPLE if options.ldif is None else 0
    return LdapDirectory(
        entries,
        ldif=options.ldif,
        suffix=options.suffix,
        profile=options.profile,  # type: ignore[arg-type]
        seed=options.seed,
        locales=options.locales,
        admin_dn=options.admin_dn,
        admin_password=_admin_password(options),
        read_only=options.read_only,
        require_bind=options.require_bind,
        limits=options.limit,
        host=options.host,
        port=options.port,
        threads=options.threads,
        tls=ServerTls.of(options) or False,
        start_tls=options.start_tls,
    )


def _admin_password(options: ServeOptions) -> str | None:
    if options.admin_dn is None:
        return None
    none = BadInput(
        f"the administrator {options.admin_dn!r} has no password",
        "put it into a file and name that with --admin-password-file, "
        f"set ${PASSWORD_VARIABLE}, or type it at a terminal",
    )
    password = secret.given(options.admin_password_file, "password file", PASSWORD_VARIABLE)
    if password is None:
        typed = secret.typed(f"Password of the administrator {options.admin_dn}: ", none)
        password = secret.first_line(typed, "password", PASSWORD_VARIABLE)
    if not password:
        raise none
    return password


def greeting(directory: LdapDirectory) -> list[str]:
    """Say where it is and how to ask it something."""
    url, base, people = directory.url, shlex.quote(directory.base), directory.people
    who = "no people" if people is None else f"{people.size:,} people"
    search = "(objectClass=*)" if people is None else f"(cn={people.name(0)})"
    trust = "" if directory.ca is None else f"LDAPTLS_CACERT={directory.ca} "
    told = "" if directory.ca is None else f" --tls-ca {directory.ca}"
    if directory.start_tls:
        told += " --start-tls"
    asked = " -ZZ" if directory.start_tls else ""
    return [
        f"serving {who} at {url}, suffix {directory.suffix}; Ctrl-C ends it",
        f"  {trust}ldapsearch -x{asked} -H {url} -b {base} {shlex.quote(search)}",
        f"  sitebench ils run lookup --target {url}{told} --base {base}",
    ]
