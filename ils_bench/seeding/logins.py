"""Logins of seeded people: the file of `ils seed --accounts`, and test logins of a sample.

`verify` does not compare passwords, since most directories hide or rehash them. A test login with a
wrong password sends the stored text of the password (its hash): a server that does not know the
hash scheme would accept that text.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

from ils_bench.options import SeedOptions
from ils_bench.targets.address import parse_address
from ils_bench.targets.people import spec_of
from sitebench._engine import Population, profile_facts
from sitebench.errors import BadInput, MeasurementFailed
from sitebench.seeders.people import easily_typed
from sitebench.system.files import cannot_write, refuse_existing
from sitebench.targets.tls import Trust


def check_accounts(path: Path, profile: str) -> None:
    if not profile_facts(profile)[2]:
        raise BadInput(
            f"people of the profile {profile} have no passwords",
            "leave --accounts out, or name people who log in: --profile person",
        )
    if path.exists():
        refuse_existing(path)
        raise BadInput(f"{path} is no file", "name another place for --accounts")
    if not os.access(path.parent, os.W_OK):
        raise cannot_write(path, OSError(0, "its folder cannot be written to"))


def write_accounts(path: Path, population: Population) -> None:
    """Write DN, name and password of each person; only the owner may read the file."""
    of_ad = population.naming == "cn"
    try:
        path.touch(0o600, exist_ok=False)
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(("dn", "sAMAccountName" if of_ad else "uid", "password"))
            for i in range(population.size):
                name = population.name(i)
                if of_ad:
                    name = population.entry(i)[1]["sAMAccountName"][0].decode()
                rows.writerow((population.dn(i), name, population.password(i)))
    except OSError as error:
        raise cannot_write(path, error) from error


SAMPLE = 5
_CHECK = "check --seed and --hash, and that the directory lets people bind"


def check_logins(options: SeedOptions, population: Population, remedy: str | None = None) -> int:
    """Return the number of people that logged in; raise if one cannot.

    `remedy` is specific to the directory, if that is known.
    """
    if not population.size or not population.password(0):
        return 0
    # The first person's name is easily typed, so that the user can repeat the login.
    numbers = [index * population.size // SAMPLE for index in range(1, SAMPLE)]
    if (pool := spec_of(options, population.size).pool) is not None:
        # With another pool size, one of these two people has another password.
        numbers += [number for number in (pool - 1, pool) if number < population.size]
    sample = dict.fromkeys((easily_typed(population), *numbers))
    for number in sample:
        _check(options, population, number, remedy)
    return len(sample)


def _check(options: SeedOptions, population: Population, number: int, remedy: str | None) -> None:
    from ils_bench.targets.probe import refusal

    dn, password = population.dn(number), population.password(number)
    _, attributes = population.entry(number)
    (stored,) = attributes.get("userPassword", [b""])
    stored_text = stored.decode()
    hashed = stored_text not in ("", password)
    address = parse_address(options.target, start_tls=options.start_tls)
    trust = Trust.from_options(options)
    refused = refusal(address, dn, password, trust)
    let_in = refusal(address, dn, stored_text if hashed else f"{password}x", trust) is None
    if let_in and hashed:
        scheme = stored_text[: stored_text.index("}") + 1]
        raise MeasurementFailed(
            f"{address} does not know {scheme}: it lets {dn!r} in with the text of the hash",
            "empty it with `sitebench ils clean --seeded`, and seed it again with --hash clear",
        )
    if let_in:
        raise MeasurementFailed(
            f"{address} lets {dn!r} in with a wrong password", "see how it checks binds"
        )
    if refused is not None:
        raise MeasurementFailed(
            f"{address} does not let {dn!r} in with the right password: {refused.message}",
            f"{remedy or _CHECK}; who is there keeps the password, until `sitebench ils clean "
            "--seeded` removes them",
        )
