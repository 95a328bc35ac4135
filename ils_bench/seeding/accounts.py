"""`ils seed --accounts`: who logs in, as a CSV file for `run login --accounts` and other tools."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from sitebench._engine import Population, profile_facts
from sitebench.errors import BadInput
from sitebench.system.files import cannot_write, refuse_existing


def check_accounts(path: Path, profile: str) -> None:
    """Raise where such a file cannot be made, before any person is."""
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
    """Write a DN, a name and a password in each line; only its owner may read them."""
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
