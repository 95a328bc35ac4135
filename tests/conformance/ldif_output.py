"""The output of ldapsearch as data, with comments, base64 and entries without attributes."""

import base64
from dataclasses import dataclass, field


@dataclass
class Entry:
    """One entry: its DN, and its values by printed attribute description."""

    dn: str
    attributes: dict[str, list[bytes]] = field(default_factory=dict)

    def texts(self, name: str) -> list[str]:
        """Return the values of `name` as text, sorted, for comparison as a set."""
        return sorted(value.decode() for value in self.attributes.get(name, []))


def _value(line: str) -> tuple[str, bytes]:
    name, _, rest = line.partition(":")
    if rest.startswith(":"):
        return name, base64.b64decode(rest[1:].strip())
    return name, rest.removeprefix(" ").encode()


def _unfold(text: str) -> list[str]:
    return text.replace("\n ", "").splitlines()


def parse_entries(text: str) -> list[Entry]:
    """Parse LDIF as `ldapsearch -LLL` prints it; with -A a line is `name:` without a value."""
    entries: list[Entry] = []
    for line in _unfold(text):
        if not line or line.startswith("#"):
            continue
        name, value = _value(line)
        if name == "dn":
            entries.append(Entry(value.decode()))
        else:
            entries[-1].attributes.setdefault(name, []).append(value)
    return entries
