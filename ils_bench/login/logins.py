"""`ils run login`: a scenario made in memory, for generated people or accounts of a CSV file.

`sitebench ils operations --show login` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import gcd
from typing import Any

import msgspec

from ils_bench.lists import COMMA, separator_of
from ils_bench.login.accounts import Accounts, accounts_of, line_of, none_twice
from ils_bench.login.lockout import LIFT
from ils_bench.options import BIND, KEPT, SEARCH_BIND_GROUPS, IlsOptions
from ils_bench.programs import LOGIN, is_login
from ils_bench.quick import plain, quote
from ils_bench.targets.people import suffix_of
from sitebench._engine import profile_facts
from sitebench.errors import BadFile, BadInput
from sitebench.measure.options import LoadOptions, PeakOptions, RepeatOptions
from sitebench.options.option import group_of
from sitebench.scenario.script import Script, from_text
from sitebench.seeders import Profile
from sitebench.suite_base.options import EntriesOption
from sitebench.system.machine import engine_threads, usable_cores
from sitebench.units import format_rate, plural

WRONG = "wrong"
"""Operation that sends wrong passwords."""
PEOPLE: Profile = "person"
"""Default profile, because people of the papers' profiles have no passwords."""
_PER_MILLE = 1_000
"""The share of wrong logins is rounded to thousandths."""
_ROW = re.compile(r"row ([0-9]+) of \w+, (.*)", re.DOTALL)
"""Message of the engine about a wrong cell."""


def to_check(options: IlsOptions) -> str:
    remedy = (
        "directories answer so to a wrong password, to a locked account, and to a name that is not "
        "there: check the name, the password and --base"
    )
    if are_ours(options):
        return remedy
    accounts = accounts_in(options)
    if accounts.dn is not None and options.how in (None, BIND):
        return f"{remedy}; DNs are of the column {accounts.dn}"
    hint = "another: --accounts FILE:COLUMN=uid"
    return f"{remedy}; names are of the column {accounts.name} ({hint})"


def script_of(options: IlsOptions) -> Script:
    try:
        return from_text(LOGIN, text_of(options))
    except BadFile as error:
        if (options.accounts is None) or (match := _ROW.search(error.message)) is None:
            raise
        file = accounts_in(options).file
        line = line_of(file, int(match[1]) - 1)
        raise BadFile(f"{file}, line {line}, {match[2]}", "correct it") from None


def accounts_in(options: IlsOptions) -> Accounts:
    assert options.accounts is not None
    return accounts_of(options.accounts)


def are_ours(options: IlsOptions) -> bool:
    return options.accounts is None


def is_careful(options: IlsOptions) -> bool:
    """Return whether wrong passwords could lock accounts of the user's."""
    return not are_ours(options) and options.wrong_passwords is None


def refuse_several(options: IlsOptions) -> None:
    if options.wrong and is_careful(options):
        raise BadInput(
            "each measurement would send wrong passwords to the same accounts",
            f"measure once, with `run`; or, if you may lock them, add {LIFT}",
        )


def apply_accounts(options: IlsOptions) -> IlsOptions:
    """Return options with the number of accounts, and with threads that prevent lockout."""
    if are_ours(options):
        return options
    accounts = accounts_in(options)
    rows = len(accounts)
    by_name = accounts.name and (accounts.dn is None or options.how not in (None, BIND))
    if "://" in options.target and by_name and not options.is_set("base"):
        raise BadInput(
            f"{accounts.file} has names, and no base says where they are",
            "name the DN that they are below, such as --base ou=people,dc=example,dc=com, or in "
            "the address: --target ldap://HOST/DN",
        )
    if isinstance(options, EntriesOption) and not options.is_set("entries"):
        options = replace(options, entries=rows)
    if is_careful(options) and options.threads is None and rows < usable_cores():
        # Every thread needs a row, and a second try of a point would add a thread. There is no
        # second try if the number of threads is set.
        options = replace(options, threads=min(rows, engine_threads(None)))
    if not (options.wrong and is_careful(options)):
        return options
    if isinstance(options, PeakOptions) or (
        (repeats := group_of(options, RepeatOptions)) is not None and repeats.repeats > 1
    ):
        refuse_several(options)
    from sitebench.measure.command import say

    say(
        f"no account is sent a second wrong password: with {plural(rows, 'account')} the run ends "
        f"after some {format_rate(rows / options.wrong)} logins"
    )
    # Points with a set number of threads get no second try.
    return replace(options, threads=options.threads or engine_threads(None))


def text_of(options: IlsOptions) -> str:
    method, is_kept = options.how or BIND, options.over == KEPT
    service = "" if method == BIND else " Searches go over one that is kept."
    connection = "a connection that is kept" if is_kept else "a new connection"
    lines = ['title = "Log in"', f"# Each login is over {connection}.{service}", ""]
    # A scenario keeps connections by default, so only new connections need lines in the text.
    name = "main" if method == BIND else "login"
    lines += [] if is_kept else [f"[connection.{name}]", 'per = "iteration"', ""]
    lines += [] if method == BIND or not is_kept else ["[connection.login]", 'per = "user"', ""]
    careful = is_careful(options)
    people = again = "person" if are_ours(options) else "account"
    lines += _data(people, options, "exclusive" if careful else "shuffled")
    if options.wrong and careful:
        # Each account gets one wrong password.
        again = WRONG
        lines += _data(WRONG, options, "once")
    wrong = round((options.wrong or 0) * _PER_MILLE)
    cards = gcd(wrong, _PER_MILLE)
    lines += _operation(LOGIN, people, options, (_PER_MILLE - wrong) // cards)
    lines += _operation(WRONG, again, options, wrong // cards) if wrong else []
    return "\n".join(lines).rstrip() + "\n"


def _data(name: str, options: IlsOptions, deal: str) -> list[str]:
    rows = ['people = "seeded"']
    if not are_ours(options):
        file = accounts_in(options).file
        rows = [f"file = {quote(file)}"]
        if (separator := separator_of(file)) != COMMA:
            rows.append(f"separator = {quote(separator)}")
    if deal == "shuffled" and options.keys != LoadOptions.keys:
        deal = options.keys
    return [f"[data.{name}]", *rows, f"deal = {quote(deal)}", ""]


def _operation(name: str, data: str, options: IlsOptions, weight: int) -> list[str]:
    method, wrong, person = options.how or BIND, name == WRONG, _person(options, data)
    lines = ["[[operation]]", f"name = {quote(name)}"]
    lines += [] if weight == 1 else [f"weight = {weight}"]
    if method != BIND:
        if person.value is None:
            raise BadInput(
                f"--how {method} searches for a name, and {options.accounts} has DNs alone",
                "add a column uid, or name one (FILE:COLUMN=uid), or leave --how out",
            )
        lines += ["", "[[operation.step]]", 'name = "search"']
        lines += [f"search = {quote(f'({person.attribute}={person.value})')}"]
        lines += ['attributes = ["1.1"]', "size_limit = 2", "expect.entries = 1"]
        lines += ['capture.dn = "dn"']
    lines += ["", "[[operation.step]]", 'name = "bind"']
    lines += [] if method == BIND else ['on = "login"']
    lines += [f"bind = {quote(person.dn if method == BIND else '{dn}')}"]
    lines += [f"password = {quote('wrong-{random:12}' if wrong else person.password)}"]
    lines += ['expect.result = "invalidCredentials"'] if wrong else []
    if method == SEARCH_BIND_GROUPS and not wrong:
        of_unix = options.profile == "posix"
        groups = f"(memberUid={person.value})" if of_unix else "(member={dn})"
        lines += ["", "[[operation.step]]", 'name = "groups"', f"search = {quote(groups)}"]
        lines += [f"base = {quote(plain(suffix_of(options.base)))}", 'attributes = ["cn"]']
    return [*lines, ""]


class _Person(msgspec.Struct, frozen=True):
    """Placeholders of an account in the scenario."""

    dn: str
    attribute: str
    value: str | None
    password: str


def _person(options: IlsOptions, data: str) -> _Person:
    def column(name: str) -> str:
        return f"{{{data}.{name}}}"

    if are_ours(options):
        profile = options.profile if profile_facts(options.profile)[2] else PEOPLE
        attribute = "sAMAccountName" if profile == "ad" else profile_facts(profile)[1]
        return _Person(column("dn"), attribute, column(attribute), column("password"))
    accounts = accounts_in(options)
    value = None if accounts.name is None else column(accounts.name)
    dn = f"{accounts.attribute}={value},{{base}}" if accounts.dn is None else column(accounts.dn)
    return _Person(dn, accounts.attribute, value, column(accounts.password))


def with_passwords(options: IlsOptions) -> IlsOptions:
    if not are_ours(options) or profile_facts(options.profile)[2] or options.is_set("profile"):
        return options
    from sitebench.measure.command import say

    say(
        f"{options.target}: people of the profile {PEOPLE}, who have passwords; --profile names "
        "others"
    )
    return options.assign(profile=PEOPLE)


def check(options: IlsOptions, programs: Sequence[Any], own_targets: Collection[str]) -> None:
    if not any(map(is_login, programs)):
        for name in ("accounts", "how", "over", "wrong"):
            if vars(options)[name] is not None:
                raise BadInput(
                    f"--{name} is for the operation {LOGIN} alone", f"name {LOGIN}, and no other"
                )
        return
    if options.names is not None:
        raise BadInput(
            "--names has names without passwords",
            "put both into a CSV file, and name it with --accounts"
            if are_ours(options)
            else "leave --names out",
        )
    if are_ours(options):
        if not profile_facts(options.profile)[2]:
            raise BadInput(
                f"people of the profile {options.profile} have no passwords",
                f"name people who log in, --profile {PEOPLE}, or your own with --accounts",
            )
        return
    if options.target in own_targets:
        raise BadInput(
            f"--accounts is for a directory of your own, and {options.target} is started here",
            "leave it out, or name your directory with --target ldap://host:port",
        )
    accounts = accounts_in(options)
    if options.how not in (None, BIND) and accounts.dn and accounts.name:
        # The login name identifies the account; a DN column is not used.
        none_twice(accounts, accounts.name)
    if (rows := len(accounts)) != options.entries:
        raise BadInput(
            f"{accounts.file} has {plural(rows, 'account')}, and {options.entries:,} are asked for",
            f"all of them log in, in turn: leave --entries out, or give a sweep --sizes {rows}",
        )
