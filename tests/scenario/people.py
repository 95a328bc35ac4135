"""A directory with foreign people, and a file of their accounts."""

import csv
from pathlib import Path

SUFFIX = "dc=example,dc=com"
BASE = f"ou=people,{SUFFIX}"
NAMES = ["jsmith", "Müller, Hans", "a+b=c", "x*(y)\\z", "#1", " blank", '"quoted"']


def names(count: int) -> list[str]:
    """Return `count` names; some have special characters of DNs and filters."""
    return [*NAMES, *(f"user{n}" for n in range(count - len(NAMES)))][:count]


def write_accounts(folder: Path, count: int = 100) -> Path:
    """Write a file of accounts beside scenarios."""
    path = folder / "accounts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["uid", "password"])
        rows.writerows([name, f"secret-{n}"] for n, name in enumerate(names(count)))
    return path


def write_ldif(folder: Path, count: int = 100) -> Path:
    """Write the LDIF of their directory."""
    from base64 import b64encode

    from ldap3.utils.dn import escape_rdn

    def line(name: str, value: str) -> str:
        return f"{name}:: {b64encode(value.encode()).decode()}"

    entries = [
        f"dn: {SUFFIX}\nobjectClass: domain\ndc: example",
        f"dn: {BASE}\nobjectClass: organizationalUnit\nou: people",
    ]
    for n, name in enumerate(names(count)):
        dn = line("dn", f"uid={escape_rdn(name)},{BASE}")
        values = [line("uid", name), "cn: X", "sn: X", f"userPassword: secret-{n}"]
        entries.append("\n".join([dn, "objectClass: inetOrgPerson", *values]))
    path = folder / "people.ldif"
    path.write_text("\n\n".join(entries) + "\n", encoding="utf-8")
    return path
