"""Random LDAP operations over few names, so that operations often affect each other.

Every operation is data with an `apply`, which sends it over a connection that checks nothing
and returns the answer as a client sees it, in a form that can be compared between two servers.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from ldap3 import BASE, LEVEL, MODIFY_ADD, MODIFY_DELETE, MODIFY_INCREMENT, MODIFY_REPLACE, SUBTREE
from ldap3.utils.dn import escape_rdn

from tests.conformance.ldap3_client import entries

# Spellings, some of which are the same name to the server and not to a careless client.
NAMES = ["ann", "ANN", "bo b", "bo  b", "Ängstrom", "ängstrom", "a,b", "加藤"]
BOXES = ["box", "BOX", "crate"]

TEXT_VALUES = [
    *["one", "ONE", "two", "two  words", "two words", " two words ", "tri", "Éclair", "éclair"],
    *["加藤 登紀子", "加藤", "(*)\\", "o", "12", "-7"],
]
VALUES = {
    "sn": TEXT_VALUES,
    "givenName": TEXT_VALUES,
    "description": TEXT_VALUES,
    "displayName": TEXT_VALUES,  # one value at most
    "mail": ["a@b.example", "A@B.example", "a b@c.example", "x"],
    "telephoneNumber": ["+44 20 79", "+442079", "+44-20-79", "12"],
    "uidNumber": ["0", "1", "12", "-7", "123456789012345"],
    "seeAlso": ["cn=ann,o=Intranet", "cn=ANN,o=Intranet", "cn=bo b,o=Intranet"],
}
# Requested and never stored: slapd normalises DNs before it stores them, other servers need not.
ASKED = {"seeAlso": ["CN=Ann , O=Intranet", "2.5.4.3=bo\\20b,o=intranet"]}
NOT_A_VALUE = {"uidNumber": ["x", "", "1.5"], "seeAlso": ["nodn"]}
UNKNOWN = "nosuchattribute"

Answer = tuple[object, ...]


def _dn_under(base: str, rdns: list[str]) -> str:
    return ",".join([*rdns, base])


rdn_of_person = st.sampled_from(NAMES).map(lambda name: f"cn={escape_rdn(name)}")
rdn_of_box = st.sampled_from(BOXES).map(lambda name: f"ou={name}")

# Innermost first, relative to the container of the test.
paths = st.one_of(
    rdn_of_person.map(lambda rdn: [rdn]),
    rdn_of_box.map(lambda rdn: [rdn]),
    st.tuples(rdn_of_person, rdn_of_box).map(list),
    st.tuples(rdn_of_person, rdn_of_person).map(list),
)
attributes = st.sampled_from(list(VALUES))


def _likeness(value: str) -> str:
    """Return a key that is equal for two spellings of one value of any attribute."""
    return value.casefold().replace(" ", "").replace("-", "")


@st.composite
def values_of(draw: st.DrawFn, attribute: str, *, least: int = 1, alike: bool = False) -> list[str]:
    """Draw different spellings; with `alike`, two of them may be one value to the server."""
    choices = st.sampled_from(VALUES[attribute])
    unlike = None if alike else _likeness
    return draw(st.lists(choices, min_size=least, max_size=3, unique_by=unlike or str))


@dataclass(frozen=True)
class Add:
    """Add a box or a named entry, of a class that requires only its name."""

    path: list[str]
    values: dict[str, list[str]]
    named: str = "device"

    def apply(self, connection: Any, base: str) -> Answer:
        structural = "organizationalUnit" if self.path[0].startswith("ou=") else self.named
        classes = [structural, "extensibleObject"]
        connection.add(_dn_under(base, self.path), classes, self.values)
        return _result(connection)


@dataclass(frozen=True)
class Delete:
    path: list[str]

    def apply(self, connection: Any, base: str) -> Answer:
        connection.delete(_dn_under(base, self.path))
        return _result(connection)


@dataclass(frozen=True)
class Modify:
    """Changes of attributes; ldap3 expects the changes of one attribute together."""

    path: list[str]
    changes: list[tuple[str, str, list[str]]]

    def apply(self, connection: Any, base: str) -> Answer:
        grouped: dict[str, list[tuple[str, list[str]]]] = {}
        for kind, attribute, values in self.changes:
            grouped.setdefault(attribute, []).append((kind, values))
        connection.modify(_dn_under(base, self.path), grouped)
        return _result(connection)


@dataclass(frozen=True)
class Rename:
    path: list[str]
    new_rdn: str
    delete_old: bool
    new_superior: list[str] | None

    def apply(self, connection: Any, base: str) -> Answer:
        superior = None if self.new_superior is None else _dn_under(base, self.new_superior)
        connection.modify_dn(
            _dn_under(base, self.path),
            self.new_rdn,
            delete_old_dn=self.delete_old,
            new_superior=superior,
        )
        return _result(connection)


@dataclass(frozen=True)
class Compare:
    path: list[str]
    attribute: str
    value: str

    def apply(self, connection: Any, base: str) -> Answer:
        connection.compare(_dn_under(base, self.path), self.attribute, self.value)
        return _result(connection)


@dataclass(frozen=True)
class Search:
    path: list[str]
    filter: str
    scope: str = SUBTREE
    attributes: list[str] = field(default_factory=lambda: ["*"])
    types_only: bool = False

    def apply(self, connection: Any, base: str) -> Answer:
        connection.search(
            _dn_under(base, self.path),
            self.filter,
            self.scope,
            attributes=self.attributes,
            types_only=self.types_only,
        )
        return (*_result(connection), visible(connection))


Operation = Add | Delete | Modify | Rename | Compare | Search


def _result(connection: Any) -> Answer:
    return connection.result["description"], _one_spelling(connection.result["dn"])


def visible(connection: Any) -> list[tuple[str, list[tuple[str, list[bytes]]]]]:
    """Return the entries of a search, sorted: servers promise no order."""
    return sorted((_one_spelling(dn), _sorted(values)) for dn, values in entries(connection))


def _one_spelling(dn: str) -> str:
    """Normalise a DN.

    RFC 4514 2.4 allows three escapes of a comma, and ancestors have two spellings: the embedded
    directory returns an entry below `ou=BOX` as it was added; slapd spells its ancestors as they
    were added themselves.
    """
    return re.sub(" +", " ", dn.casefold()).replace("\\,", "\\2c")


def _sorted(values: dict[str, list[bytes]]) -> list[tuple[str, list[bytes]]]:
    return sorted((name.lower(), sorted(several or [])) for name, several in values.items())


# --- filters ---------------------------------------------------------------------------------


def escaped(value: str) -> str:
    """Escape every byte, so that no client interprets any (RFC 4515 3)."""
    return "".join(f"\\{byte:02x}" for byte in value.encode())


@st.composite
def _equality(draw: st.DrawFn) -> str:
    attribute = draw(attributes)
    choices = VALUES[attribute] + ASKED.get(attribute, []) + NOT_A_VALUE.get(attribute, [])
    return f"({attribute}={escaped(draw(st.sampled_from(choices)))})"


@st.composite
def _named(draw: st.DrawFn) -> str:
    return f"(cn={escaped(draw(st.sampled_from(NAMES)))})"


@st.composite
def _substrings(draw: st.DrawFn) -> str:
    attribute = draw(st.sampled_from(["cn", *VALUES]))
    whole = draw(st.sampled_from(VALUES.get(attribute, NAMES)))
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), min_size=1, max_size=3)))
    # Without outer spaces: "two *" matches "two" by RFC 4518 2.6.1, which slapd does not follow.
    parts = [whole[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    kept = [escaped(part) if draw(st.booleans()) else "" for part in parts]
    # Adjacent asterisks are no valid filter; at least one part must remain.
    middle = [part for part in kept[1:-1] if part]
    text = "*".join([kept[0], *middle, kept[-1]])
    return f"({attribute}={text})" if text.strip("*") else f"({attribute}=*)"


@st.composite
def _ordering(draw: st.DrawFn) -> str:
    attribute = draw(st.sampled_from(["uidNumber", "sn", "mail"]))
    value = draw(st.sampled_from(VALUES[attribute]))
    return f"({attribute}{draw(st.sampled_from(['>=', '<=']))}{escaped(value)})"


@st.composite
def _extensible(draw: st.DrawFn) -> str:
    kind = draw(
        st.sampled_from(
            ["sn:caseExactMatch:", "sn:caseIgnoreMatch:", "sn:", "givenName:2.5.13.5:", "ou:dn:"]
        )
    )
    values = BOXES if kind == "ou:dn:" else TEXT_VALUES
    return f"({kind}={escaped(draw(st.sampled_from(values)))})"


simple_filters = st.one_of(
    _equality(),
    _named(),
    _substrings(),
    _ordering(),
    _extensible(),
    st.sampled_from(["cn", "ou", "name", "objectClass", UNKNOWN, *VALUES]).map(
        lambda a: f"({a}=*)"
    ),
    st.sampled_from(["person", "PERSON", "organizationalUnit", "top", "2.5.6.6"]).map(
        lambda name: f"(objectClass={name})"
    ),
    st.just(f"({UNKNOWN}=x)"),
)
filters = st.recursive(
    simple_filters,
    lambda inner: st.one_of(
        inner.map(lambda one: f"(!{one})"),
        st.tuples(st.sampled_from("&|"), st.lists(inner, min_size=1, max_size=3)).map(
            lambda pair: f"({pair[0]}{''.join(pair[1])})"
        ),
    ),
    max_leaves=6,
)

# --- operations --------------------------------------------------------------------------------


@st.composite
def _adds(draw: st.DrawFn) -> Add:
    chosen = draw(st.lists(attributes, max_size=4, unique=True))
    return Add(
        draw(paths), {attribute: draw(values_of(attribute, alike=True)) for attribute in chosen}
    )


@st.composite
def _changes(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    kind = draw(st.sampled_from([MODIFY_ADD, MODIFY_DELETE, MODIFY_REPLACE, MODIFY_INCREMENT]))
    if kind == MODIFY_INCREMENT:
        return kind, "uidNumber", [draw(st.sampled_from(["1", "-3", "0"]))]
    attribute = draw(attributes)
    least = 1 if kind == MODIFY_ADD else 0
    return kind, attribute, draw(values_of(attribute, least=least))


@st.composite
def _modifies(draw: st.DrawFn) -> Modify:
    return Modify(draw(paths), draw(st.lists(_changes(), min_size=1, max_size=3)))


@st.composite
def _renames(draw: st.DrawFn) -> Rename:
    path = draw(paths)
    new_rdn = draw(rdn_of_box if path[0].startswith("ou=") else rdn_of_person)
    superior = draw(st.one_of(st.none(), rdn_of_box.map(lambda rdn: [rdn]), paths))
    return Rename(path, new_rdn, draw(st.booleans()), superior)


@st.composite
def _compares(draw: st.DrawFn) -> Compare:
    attribute = draw(attributes)
    choices = VALUES[attribute] + ASKED.get(attribute, [])
    return Compare(draw(paths), attribute, draw(st.sampled_from(choices)))


@st.composite
def searches(draw: st.DrawFn) -> Search:
    """Draw a search of the container or of an entry in it."""
    return Search(
        draw(st.one_of(st.just([]), paths)),
        draw(filters),
        draw(st.sampled_from([BASE, LEVEL, SUBTREE])),
        draw(st.sampled_from([["*"], ["1.1"], ["sn", "CN"], ["name"], ["givenName", UNKNOWN], []])),
        draw(st.booleans()),
    )


operations: st.SearchStrategy[Operation] = st.one_of(
    _adds(), _modifies(), _modifies(), _renames(), _renames(), _compares(), searches(),
    paths.map(Delete),
)  # fmt: skip

# Entries that exist before random operations, so that the operations have targets.
BEGINNING = [
    Add(["ou=box"], {}),
    Add(["cn=ann"], {"description": ["one", "two"], "displayName": ["one"]}),
    Add(["cn=ann", "ou=box"], {"uidNumber": ["12"], "mail": ["a@b.example"]}),
    Add(["cn=bo b", "ou=box"], {"telephoneNumber": ["+44 20 79"], "givenName": ["Éclair"]}),
    Add(["cn=加藤", "ou=box"], {"sn": ["加藤"], "seeAlso": ["cn=ann,o=Intranet"]}),
    Add(["cn=a\\,b"], {"uidNumber": ["-7"], "description": ["(*)\\"]}),
]
