"""The embedded directory in this process, for `serve`, tests and programs."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ils_bench.options import GroupOptions
from ils_bench.suite import SUITE
from ils_bench.targets.groups import groups_of, spec_of_groups
from ils_bench.targets.password_schemes import assure_bounded
from ils_bench.targets.people import which_people
from sitebench._engine import Directory, Groups, Population
from sitebench.errors import BadInput
from sitebench.options.arguments import check_arguments
from sitebench.seeders import DEFAULT_LOCALES, Profile
from sitebench.seeders.people import Spec, easily_typed, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.system import secret
from sitebench.system.native_errors import translated
from sitebench.targets.in_process import InProcess, certificate, start
from sitebench.targets.serving import serve_until_stopped
from sitebench.targets.tls import ServerTls
from sitebench.units import plural

if TYPE_CHECKING:
    from ils_bench.options import ServeOptions

_DEFAULT_SUFFIX = "o=Intranet"
_DEFAULT_PEOPLE = 10_000
_NAME = re.compile(r"[A-Za-z0-9.-]+=[^\0]+$")


class LdapDirectory(InProcess[Directory]):
    """A real LDAP directory, served by native threads of this process until it is closed.

        with LdapDirectory(entries=1_000) as directory:
            connection = ldap3.Connection(directory.url, auto_bind=True)

    `sitebench docs pytest` lists the arguments. People of the profiles `person`, `posix` and `ad`
    log in, each with a password of its own or all with `one_password`:

        with LdapDirectory(profile="posix") as directory:
            people = directory.people
            ldap3.Connection(directory.url, people.dn(0), people.password(0), auto_bind=True)
    """

    suite = SUITE.name
    """The suite whose operations `sitebench.run` can measure here."""

    @check_arguments
    def __init__(
        self,
        entries: int = 1_000,
        *,
        ldif: Path | str | None = None,
        schema: Path | str | None = None,
        suffix: str | None = None,
        profile: Profile = "paper",
        hash: str | None = None,  # noqa: A002, as the option is called
        one_password: str | None = None,
        hash_pool: int | None = None,
        groups: int | None = None,
        members: tuple[int, ...] = (10,),
        depth: int = 1,
        in_all: int = 0,
        seed: int = 1997,
        locales: tuple[str, ...] = DEFAULT_LOCALES,
        admin_dn: str | None = None,
        admin_password: str | None = None,
        read_only: bool = False,
        require_bind: bool = False,
        limits: Mapping[str, int] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        threads: int = 1,
        tls: bool | ServerTls = False,
        start_tls: bool = False,
    ) -> None:
        if admin_dn is not None and not admin_password:
            raise BadInput(f"the administrator {admin_dn!r} has no password", "give admin_password")
        if admin_password is not None and admin_dn is None:
            raise BadInput("admin_password without admin_dn", "give both, or neither")
        if tls is True and start_tls:
            raise BadInput("tls and start_tls exclude each other", "leave one of them out")
        group_spec = spec_of_groups(GroupOptions(groups, tuple(members), depth, in_all))
        if suffix is None:
            ldif_suffix = None if ldif is None or entries else _first_name(Path(ldif))
            suffix = ldif_suffix or _DEFAULT_SUFFIX
        self.suffix, self.ldif = suffix, ldif
        self.people: Population | None = None
        """The people: names, DNs, passwords and every attribute of person i."""
        if entries:
            base = f"ou=Dynamic,{suffix}"
            spec = Spec(entries, seed, profile, locales, base, hash, one_password, hash_pool)
            with translated():
                assure_bounded(hash, one_password, limits)
            people = generate(spec)
            make_hashes(people)
            self.people = people.population
        self.groups: Groups | None = None
        """The groups: DNs, and the members of group g."""
        if groups is not None:
            if self.people is None:
                raise BadInput(
                    f"{plural(groups, 'group is', 'groups are')} asked for, and no people",
                    "ask for people, too, with entries",
                )
            self.groups = groups_of(group_spec, self.people, profile)
        config: dict[str, Any] = {
            "host": host,
            "port": port,
            "threads": threads,
            "suffix": suffix,
            "profile": profile,
            "ldif": None if ldif is None else str(ldif),
            "schema": None if schema is None else str(schema),
            "admin_dn": admin_dn,
            "admin_password": admin_password,
            "read_only": read_only,
            "require_bind": require_bind,
            "limits": dict(limits or {}),
        }
        if tls or start_tls:
            config["tls"] = {"certificate": certificate(tls, host), "start": start_tls}
        self.start_tls = start_tls
        """Whether clients use StartTLS."""
        super().__init__(
            lambda config: Directory(config, self.people, self.groups),
            config,
            "ldaps" if tls and not start_tls else "ldap",
            contextlib.ExitStack(),
        )

    @property
    def base(self) -> str:
        """DN under which the people are; the suffix if there are no people."""
        return self.suffix if self.people is None else f"ou=Dynamic,{self.suffix}"

    def __repr__(self) -> str:
        size = 0 if self.people is None else self.people.size
        return f"<LdapDirectory {self.url} suffix={self.suffix!r} people={size:,}>"


def options_of(server: LdapDirectory, entries: int | None) -> dict[str, Any]:
    """Return the options of a test of all people, or of `entries` people, without the address."""
    if server.people is None:
        return {"entries": entries or 1, "base": server.base}
    people = Spec.from_dict(json.loads(server.people.spec_json))
    if entries is not None and entries > people.size:
        raise BadInput(
            f"entries: {entries:,} people are asked for, and {server} has {people.size:,}",
            "leave entries out, or make the directory with as many",
        )
    names = ("base", "profile", "seed", "locales", "hash", "hash_pool", "one_password")
    options = {name: getattr(people, name) for name in names}
    return options | {"entries": entries or people.size}


def _first_name(ldif: Path) -> str | None:
    """Return the first DN in a file, or None; errors of the file are reported when it is loaded.

    A pipe is not read here, because it can be read once only.
    """
    if not ldif.is_file():
        return None
    with contextlib.suppress(OSError, ValueError), ldif.open(encoding="utf-8-sig") as lines:
        for line in lines:
            kind, _, name = line.partition(":")
            if kind.lower() == "dn":
                for rest in lines:  # of a folded line
                    if not rest.startswith(" "):
                        break
                    name = name.rstrip("\r\n") + rest[1:]
                coded = name.startswith(":")
                dn = base64.b64decode(name[1:]).decode() if coded else name.strip()
                return dn if _NAME.match(dn) else None
    return None


def serve(options: ServeOptions) -> None:
    """Serve the directory until Ctrl-C or SIGTERM."""
    open_to_all = "anyone who reaches this address may write: consider --admin-dn or --read-only"
    serve_until_stopped(
        lambda: _open(options),
        lambda directory: _greeting(options, directory),
        host=options.host,
        warning=open_to_all if options.admin_dn is None else None,
    )


def _open(options: ServeOptions) -> LdapDirectory:
    entries = options.entries
    if entries is None:
        entries = _DEFAULT_PEOPLE if options.ldif is None else 0
    password = _admin_password(options)
    return start(LdapDirectory, options, entries=entries, admin_password=password)


def _admin_password(options: ServeOptions) -> str | None:
    if options.admin_dn is None:
        return None
    missing = BadInput(
        f"the administrator {options.admin_dn!r} has no password",
        "put it into a file and name that with --admin-password-file, "
        f"set ${secret.BIND_PASSWORD}, or type it at a terminal",
    )
    password = secret.read(options.admin_password_file, "password file", secret.BIND_PASSWORD)
    if password is None:
        typed = secret.prompt_for_secret(
            f"Password of the administrator {options.admin_dn}: ", missing
        )
        password = secret.first_line(typed, "password", secret.BIND_PASSWORD)
    if not password:
        raise missing
    return password


def _greeting(options: ServeOptions, directory: LdapDirectory) -> list[str]:
    url, base, people = directory.url, shlex.quote(directory.base), directory.people
    subject = f"the entries of {directory.ldif}" if directory.ldif else "no people"
    if people is not None:
        rest = f" and {subject}" if directory.ldif else ""
        subject = f"{plural(people.size, 'person', 'people')}{rest}"
    if directory.groups is not None:
        subject += f" and {plural(directory.groups.count, 'group')}"
    search = "(objectClass=*)"
    if people is not None:
        search = f"({people.naming}={people.name(easily_typed(people))})"
    trust = "" if directory.ca is None else f"LDAPTLS_CACERT={directory.ca} "
    tls = "" if directory.ca is None else f" --tls-ca {directory.ca}"
    if directory.start_tls:
        tls += " --start-tls"
    start_tls = " -ZZ" if directory.start_tls else ""
    if options.require_bind and options.admin_dn is not None:
        tls += f" --bind-dn {shlex.quote(options.admin_dn)}"
    # A lookup needs generated people, connect does not.
    run = "connect" if people is None else "lookup"
    who_else = "" if people is None else f" --entries {people.size}{which_people(options)}"
    lines = [
        f"serving {subject} at {url}, suffix {directory.suffix} (Ctrl-C to stop)",
        f"  {trust}ldapsearch -x{start_tls} -H {url} -b {base} {shlex.quote(search)}",
        f"  sitebench ils run {run} --target {url}{tls} --base {base}{who_else}",
    ]
    if people is not None and (password := people.password(easy := easily_typed(people))):
        login = f"-D {shlex.quote(people.dn(easy))} -w {shlex.quote(password)}"
        lines.append(f"  {trust}ldapwhoami -x{start_tls} -H {url} {login}")
    return lines
