"""The server's CPU time for the most expensive message of each kind.

    python -m benches.ils_messages

Most messages are handled in one piece while other clients wait. So each message is as
large as the limits allow, is sent by a client that has bound as its own entry, and leaves the
directory as it was. Its CPU is that of the server's process (`clock_gettime` of another process),
which a busy machine changes little; the least of some tries counts.

REFERENCE is the cost of writing a large entry: a group of 9,990 members is replaced by itself.
"""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from ils_bench.options import IlsOptions
from ils_bench.targets.opening import open_embedded
from ils_bench.targets.people import spec_of

TRIES = 3
PEOPLE = 16_000
"""Entries below one container: nearly the maximum for a rename (`rename_bytes`)."""
VALUES = 9_990
"""Values of a group: nearly `values_per_entry`."""
CHANGED = 50_000
"""`values_per_modify`."""
BASE = "ou=Dynamic,o=Intranet"
ME, PASSWORD = f"cn=me,{BASE}", "p" * 8
ADD, DELETE, REPLACE = 0, 1, 2
REFERENCE = "modify member: replace"
SUCCESS = 0
CLOSED = -1
"""The result if the directory closed the connection, in place of a result code."""


def tlv(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def octets(text: str | bytes, tag: int = 4) -> bytes:
    return tlv(tag, text.encode() if isinstance(text, str) else text)


def enumerated(number: int) -> bytes:
    return tlv(10, bytes([number]))


def message(*operation: bytes) -> bytes:
    """Return a message (RFC 4511 4.1.1); a connection uses one ID, for one message at a time."""
    return tlv(0x30, b"\x02\x01\x05", *operation)


def attribute(name: str, values: Sequence[str]) -> bytes:
    return tlv(0x30, octets(name), tlv(0x31, *map(octets, values)))


def add(dn: str, attributes: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    return message(tlv(0x68, octets(dn), tlv(0x30, *(attribute(*each) for each in attributes))))


def modify(dn: str, changes: Sequence[tuple[int, str, Sequence[str]]]) -> bytes:
    parts = (tlv(0x30, enumerated(kind), attribute(name, of)) for kind, name, of in changes)
    return message(tlv(0x66, octets(dn), tlv(0x30, *parts)))


def search(base: str, scope: int, wanted: bytes, attributes: Sequence[str] = ("1.1",)) -> bytes:
    limits = enumerated(scope) + enumerated(0) + b"\x02\x01\x00" * 2 + b"\x01\x01\x00"
    return message(
        tlv(0x63, octets(base), limits, wanted, tlv(0x30, *(octets(each) for each in attributes)))
    )


def equal(name: str, value: str) -> bytes:
    return tlv(0xA3, octets(name), octets(value))


def delete(dn: str) -> bytes:
    return message(octets(dn, 0x4A))


def rename(dn: str, to: str) -> bytes:
    return message(tlv(0x6C, octets(dn), octets(to), b"\x01\x01\xff"))


def bind(dn: str, password: str) -> bytes:
    return message(tlv(0x60, b"\x02\x01\x03", octets(dn), octets(password, 0x80)))


def compare(dn: str, name: str, value: str) -> bytes:
    return message(tlv(0x6E, octets(dn), tlv(0x30, octets(name), octets(value))))


def extended(name: str, value: bytes) -> bytes:
    return message(tlv(0x77, octets(name, 0x80), octets(value, 0x81)))


class Client:
    """A connection that sends a message and reads its whole answer."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._answers = self._socket.makefile("rb")

    def ask(self, request: bytes) -> int:
        """Return the result code."""
        self._socket.sendall(request)
        while True:
            answer = io.BytesIO(_read(self._answers)[1])
            _read(answer)  # The message's ID.
            operation, content = _read(answer)
            if operation not in (0x64, 0x73, 0x79):
                return content[2]

    def succeed(self, messages: Sequence[bytes]) -> None:
        for sent in messages:
            code = self.ask(sent)
            assert code == SUCCESS, (code, sent[:120])

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


def _read(stream: BinaryIO) -> tuple[int, bytes]:
    """Return the tag and the content of the next element."""
    head = stream.read(2)
    if len(head) < 2:
        raise ConnectionError("the directory closed the connection")
    tag, size = head
    if size & 0x80:
        size = int.from_bytes(stream.read(size & 0x7F), "big")
    return tag, stream.read(size)


@dataclass(frozen=True)
class Message:
    """A measured message, and the messages sent before and after it."""

    name: str
    sent: bytes
    before: tuple[bytes, ...] = ()
    after: tuple[bytes, ...] = ()
    """Messages that are sent only if the measured message was not refused."""


KINDS: dict[str, Callable[[int], str]] = {
    "mail": lambda i: f"{i}@a",
    "description": lambda i: f"{i} a",
    "member": lambda i: f"a={i}",
    "seeAlso": lambda i: f"a = {i} , b = {i}",
}
WIDE = "\ufdfa"
"""A character of three bytes that preparation (RFC 4518 2.3) expands to eighteen characters."""


HEX = r"\ef\b7\ba"
"""The same character, escaped in a name (RFC 4514 2.4)."""

MEMBERS = {
    "1638 names to normalise": [f"cn={HEX * 5}{i}" for i in range(1_638)],
    "9000 people": [f"cn=Person {i},{BASE}" for i in range(9_000)],
}
"""Members of groups, in the form in which an anonymous client or `serve --groups --members all`
adds them.
"""


PERSON = [("objectClass", ["top", "person", "inetOrgPerson"]), ("sn", ["x"])]


def group(name: str) -> str:
    return f"cn=all of {name},{BASE}"


def of_group(name: str) -> list[str]:
    return [KINDS[name](i) for i in range(VALUES)]


def group_of(name: str, values: Sequence[str], attribute: str | None = None) -> bytes:
    return add(group(name), [*PERSON, ("cn", [f"all of {name}"]), (attribute or name, values)])


def modifies() -> Iterator[Message]:
    for name in KINDS:
        values, dn = of_group(name), group(name)
        rest = values[1:]
        swap = [(DELETE, name, rest[::-1]), (ADD, name, rest)]
        back = modify(dn, [(REPLACE, name, values)])
        yield Message(f"modify {name}: replace", back)
        times = [(REPLACE, name, values[:: 1 - 2 * (n % 2)]) for n in range(5)]
        yield Message(f"modify {name}: replace 5 times", modify(dn, times))
        yield Message(f"modify {name}: delete and add twice", modify(dn, swap * 2), after=(back,))
        few = values[-48:]
        pairs = [(DELETE, name, few[::-1]), (ADD, name, few)]
        yield Message(f"modify {name}: 1,000 changes of 48", modify(dn, pairs * 500), after=(back,))
        ones = [(DELETE, name, values[-1:]), (ADD, name, values[-1:])]
        yield Message(f"modify {name}: 1,000 changes of 1", modify(dn, ones * 500), after=(back,))
    kinds: dict[str, Callable[[int], str]] = {
        "names of five parts": lambda i: f"cn={i:05},ou={'a' * 15},ou={'b' * 19},o={'c' * 12},c=dd",
        "names of nineteen parts": lambda i: f"a={i:05}{',a=1' * 18}",
        "names with escapes": lambda i: f"a={i:05}{HEX * 8}",
        "text": lambda i: f"{i:05}{'ab ' * 130}",
    }
    for kind, value in kinds.items():
        values = [value(i) for i in range(VALUES)]
        name = "description" if kind == "text" else "seeAlso"
        dn = f"cn=kinds,{BASE}"
        whole = add(dn, [*PERSON, ("cn", ["kinds"]), (name, values)])
        yield Message(f"add: {kind}", whole, after=(delete(dn),))
        for changed in (5_000, 2_500):
            some = values[:changed]
            swapped = modify(dn, [(DELETE, name, some[::-1]), (ADD, name, some)])
            words = f"modify {kind}: delete and add {changed:,}"
            yield Message(words, swapped, (delete(dn), whole))
    long = [f"{i} {WIDE * 128}" for i in range(9_000)]
    wide = group("long")
    fresh = [*PERSON, ("cn", ["all of long"])]
    grown = modify(wide, [(ADD, "description", long)])
    words = "modify description: add 3.4 MiB that become longer"
    yield Message(words, grown, (add(wide, fresh),), (delete(wide),))
    filled = add(wide, [*fresh, ("description", long)])
    yield Message("add: 3.4 MiB that become longer", filled, after=(delete(wide),))
    yield Message("delete: the same", delete(wide), before=(filled,))
    members = group_of("member", of_group("member"))
    yield Message("add: 9,990 members", members, before=(delete(group("member")),))
    many = [(f"description;x-{i}", [f"{n} a" for n in range(9)]) for i in range(990)]
    yield Message("add: 990 attributes of 9", add(wide, [*fresh, *many]), after=(delete(wide),))


def searches() -> Iterator[Message]:
    members = group("member")
    for terms in (13, 40):
        found = tlv(0xA1, *(equal("member", f"a=x{i}") for i in range(terms)))
        yield Message(f"search a group: {terms} members", search(members, 0, found))
    for name in MEMBERS:
        for terms in (20, 1_500):
            any_of = tlv(0xA1, *(equal("member", f"cn=zz{i}") for i in range(terms)))
            words = f"search a group of {name}: {terms:,} members"
            yield Message(words, search(group(name), 0, any_of))
    parts = tlv(0x30, *(octets("zz", 0x81) for _ in range(1_000)))
    substrings = search(group("description"), 0, tlv(0xA4, octets("description"), parts))
    yield Message("search a group: a substring of 1,000 parts", substrings)
    wide = tlv(0xA1, *(equal("description", WIDE * 100 + str(i)) for i in range(150)))
    yield Message("search: 64 KiB of filter that become longer", search(members, 0, wide))
    one = equal("description", WIDE * 20_000)
    yield Message("search: one value of 60 KB that becomes longer", search(members, 0, one))
    many = tlv(0xA1, *(equal("cn", f"x{i}") for i in range(3_500)))
    yield Message("search a person: 3,500 terms", search(ME, 0, many))
    present, options = octets("objectClass", 0x87), [f"member;x-{i}" for i in range(256)]
    yield Message("search: 256 attributes of a group", search(members, 0, present, options))
    yield Message("search: a group, whole", search(members, 0, present, ["member"]))
    deep = ",".join(f"a={i}" for i in range(1_400))
    yield Message("search below a name of 8 KB", search(deep, 0, octets("cn", 0x87)))


def others() -> Iterator[Message]:
    large = WIDE * 1_300_000
    escaped, spaces = "a=" + "\\41" * 1_300_000, "a" + " " * 4_000_000 + "b"
    values = [
        *((name, "3.9 MB that become longer", large) for name in KINDS if name != "seeAlso"),
        *((name, "the last value", of_group(name)[-1]) for name in KINDS if name != "seeAlso"),
        *(("member", "3.9 MB of escapes", escaped), ("description", "4 MB of spaces", spaces)),
    ]
    for name, words, value in values:
        yield Message(f"compare {name}: {words}", compare(group(name), name, value))
    yield Message("extended: 4 MB of an unknown one", extended("1.2.3.4", b"x" * 4_000_000))
    wrong, right = bind(f"cn=keys,{BASE}", "y" * 1_000), bind(ME, PASSWORD)
    yield Message("bind: 9,900 passwords of 1 KiB each looked at", wrong, after=(right,))
    there, back = rename(f"ou=many,{BASE}", "ou=more"), rename(f"ou=more,{BASE}", "ou=many")
    yield Message("rename: 16,000 people", there, after=(back,))
    controls = tlv(0xA0, tlv(0x30, octets("1.2.3")) * 400_000)
    yield Message("compare: 4 MB of controls", message(compare(ME, "cn", "me")[5:], controls))


CHAIN = "1.2.840.113556.1.4.1941"
NESTED, WIDE_GROUPS = 9_000, 20
SPELLED = ME.replace("=", " = ").upper()
"""A member in another spelling: a search for it must normalise all members of a group."""


def in_chain(attribute: str, dn: str) -> bytes:
    return tlv(0xA9, octets(CHAIN, 0x81), octets(attribute, 0x82), octets(dn, 0x83))


def memberships() -> Iterator[Message]:
    """Yield messages to an Active Directory domain (`setup_domain`)."""
    innermost, present = f"cn=g0,{BASE}", octets("objectClass", 0x87)
    nested = in_chain("member", innermost)
    yield Message(f"search: {NESTED:,} groups in groups", search(BASE, 2, nested))
    yield Message("search: 40 times the same", search(BASE, 2, tlv(0xA1, nested * 40)))
    upwards = in_chain("memberOf", innermost)
    yield Message("search a group: those around it", search(f"cn=g1,{BASE}", 0, upwards))
    words = f"search a user: memberOf of {WIDE_GROUPS} groups"
    yield Message(words, search(ME, 0, present, ["memberOf"]))
    yield Message("search a user: the same in a filter", search(ME, 0, octets("memberOf", 0x87)))
    yield Message("compare memberOf: the same", compare(ME, "memberOf", group("wide 1")))
    many = tlv(0xA4, octets("cn"), tlv(0x30, octets("classes", 0x80)))
    yield Message("search 8 users of 9,000 classes", search(BASE, 1, many, ["*"]))


def setup_domain(client: Client) -> None:
    """Add nested groups, and large groups that contain their last member in another spelling."""
    user, kind = [("objectClass", ["top", "user"])], [("objectClass", ["top", "group"])]
    made = [add(ME, [*user, ("cn", ["me"]), ("userPassword", [PASSWORD])]), bind(ME, PASSWORD)]
    made += [
        add(f"cn=g{i},{BASE}", [*kind, ("cn", [f"g{i}"]), ("member", [f"cn=g{i - 1},{BASE}"])])
        for i in range(1, NESTED)
    ]
    members = [f"cn=Person {i},{BASE}" for i in range(9_000)]
    made += [
        add(f"cn=wide {i},{BASE}", [*kind, ("cn", [f"wide {i}"]), ("member", [*members, SPELLED])])
        for i in range(WIDE_GROUPS)
    ]
    classes = ["top", "user", *(f"class-{i}" for i in range(9_000))]
    made += [
        add(f"cn=classes {i},{BASE}", [("objectClass", classes), ("cn", [f"classes {i}"])])
        for i in range(8)
    ]
    client.succeed(made)


def setup(client: Client) -> None:
    """Add the entries that the messages use, and bind."""
    entry = add(ME, [*PERSON, ("cn", ["me"]), ("userPassword", [PASSWORD])])
    unit = [("objectClass", ["top", "organizationalUnit"]), ("ou", ["many"])]
    keys = [*PERSON, ("cn", ["keys"]), ("userPassword", [f"{i:06}" for i in range(9_900)])]
    people = (add(f"cn={i},ou=many,{BASE}", [*PERSON, ("cn", [f"{i}"])]) for i in range(PEOPLE))
    client.succeed([entry, bind(ME, PASSWORD)])
    client.succeed([group_of(name, of_group(name)) for name in KINDS])
    client.succeed([group_of(name, names, "member") for name, names in MEMBERS.items()])
    client.succeed([add(f"cn=keys,{BASE}", keys), add(f"ou=many,{BASE}", unit), *people])


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process: its clock (clock_getcpuclockid(3)) to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


def measured(
    options: IlsOptions, prepare: Callable[[Client], None], messages: Iterable[Message]
) -> Iterator[tuple[str, int, float]]:
    """Yield the name of each message, its result code, and the server's CPU for it in seconds."""
    with open_embedded(options, spec_of(options, 1)) as target:
        pid = target.pid
        assert pid is not None
        client = Client(target.address.port)
        prepare(client)
        for each in messages:
            took = []
            for _ in range(TRIES):
                for one in each.before:
                    client.ask(one)
                began = cpu_s(pid)
                try:
                    code = client.ask(each.sent)
                except ConnectionError:
                    # The server has announced the end of the connection; the client may reconnect.
                    code, client = CLOSED, Client(target.address.port)
                    client.ask(bind(ME, PASSWORD))
                took.append(cpu_s(pid) - began)
                for one in each.after if code == SUCCESS else ():
                    assert client.ask(one) == SUCCESS, each.name
            yield each.name, code, min(took)
        client.close()


if __name__ == "__main__":
    of_people = measured(IlsOptions(entries=1), setup, chain(modifies(), searches(), others()))
    of_domain = measured(IlsOptions(entries=1, profile="ad"), setup_domain, memberships())
    for name, code, took_s in chain(of_people, of_domain):
        print(f"{1e3 * took_s:8.1f} ms  result {code:2}  {name}", flush=True)
