"""`ils seed --accounts`: a CSV file of people's logins for `run login --accounts`."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from sitebench._engine import Population, profile_facts
from sitebench.errors import BadInput
from sitebench.system.files import cannot_write, refuse_existing


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
