"""The native engine's Python face: what crosses from Rust, and nothing else.

Every call that waits or works for long releases the GIL. Times are nanoseconds unless a name
says otherwise; instants are on the clock of `time.monotonic_ns`. Configurations travel as JSON
texts, whose fields are checked by the crates that read them: an unknown or missing field is an
`EngineError` that names it.
"""

import builtins
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Literal, final

from typing_extensions import disjoint_base

__all__ = [
    "Contents",
    "Directory",
    "EmbeddedServer",
    "Engine",
    "EngineError",
    "FileChecker",
    "FileSet",
    "Groups",
    "Histogram",
    "LdapRequest",
    "LdifCount",
    "NullResponder",
    "Population",
    "PortableUsers",
    "Scenario",
    "Site",
    "Snapshot",
    "Step",
    "StepStats",
    "Steps",
    "Table",
    "Visitors",
    "WebServer",
    "build_upd",
    "busy_limit",
    "cgi_program",
    "check_groups",
    "check_scenario",
    "copy_upd",
    "count_people",
    "first_person",
    "floor_connect",
    "floor_exchange",
    "hash_facts",
    "hash_nanoseconds",
    "inspect_upd",
    "metrics",
    "profile_facts",
    "read_people",
    "remove_groups",
    "remove_people",
    "scenario_schema",
    "seed_directory",
    "seed_groups",
]

class EngineError(Exception):
    """The engine refused or failed; the message says what, to what, and what to do."""

    kind: str
    """Which class of `sitebench.errors` it is, by its name."""

@final
class Histogram:
    """Durations in nanoseconds at three significant digits (HdrHistogram)."""

    def __new__(cls) -> Histogram: ...
    @property
    def count(self) -> int:
        """How many values were recorded."""
    @property
    def min(self) -> int:
        """Smallest value, 0 when empty."""
    @property
    def max(self) -> int:
        """Largest value, 0 when empty."""
    @property
    def mean(self) -> float:
        """Mean value, 0.0 when empty."""
    @property
    def sum(self) -> int:
        """Sum of all values, each at three digits."""
    def percentile(self, q: float) -> int:
        """Return the value that `q` percent of the samples do not exceed; 0 when empty.

        Raises ValueError unless 0 <= q <= 100.
        """
    def add(self, other: Histogram) -> None:
        """Merge `other` into this one, exactly: bucket by bucket."""
    def record(self, ns: int, n: int = 1) -> None:
        """Count `ns` `n` times."""
    def buckets(self) -> list[tuple[int, int]]:
        """Return (highest value of the bucket, samples in it), ascending, empty ones left out."""
    def millis(self) -> dict[int, int]:
        """Return samples per rounded millisecond, as Locust keeps them.

        Locust rounds to whole milliseconds below 100 ms, to tens below 1 s, to hundreds below
        10 s and to seconds above.
        """
    def to_bytes(self) -> bytes:
        """Return the HdrHistogram V2 encoding, deflated, which its other tools read too."""
    @staticmethod
    def from_bytes(data: bytes) -> Histogram:
        """Read what `to_bytes` wrote. Raises ValueError when `data` is something else."""
    def copy(self) -> Histogram:
        """Return an independent copy."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class StepStats:
    """What one step of one program did since the last drain."""

    @property
    def program(self) -> str:
        """Name of the program the step belongs to."""
    @property
    def step(self) -> str:
        """Name of the step, or `sequence` for the whole pass, or a phase of its requests."""
    @property
    def overlaps(self) -> bool:
        """Whether its time and its failures are those of other steps too: a pass, or a phase."""
    @property
    def count(self) -> int:
        """Operations that ended, answered or not: those on `service`, `wrong` and `censored`."""
    @property
    def failures(self) -> dict[str, int]:
        """Failed operations by kind."""
    @property
    def examples(self) -> dict[str, str]:
        """Of each kind of failure the first request since the last drain, and its answer."""
    @property
    def clocks(self) -> dict[str, Histogram]:
        """Histograms by the names of all clocks in `metrics`, in their order.

        On a closed schedule, where the intended start is the actual one, `latency` is the very
        object `service`, `abandoned` the very object `censored`, and `lag` is empty.
        """
    @property
    def counters(self) -> dict[str, int]:
        """Sums by the names of all counters in `metrics`, in their order."""

def metrics() -> list[tuple[str, str, str, str, str]]:
    """Return what is measured of each step: kind, name, unit, meaning and influence.

    The kind is "clock" or "counter". Clocks come first. The influence is what the values follow:
    "sending", "counting", "waiting" or "nothing".
    """

@final
class Snapshot:
    """Everything recorded between two drains, and the threads' CPU at its end."""

    @property
    def t0_ns(self) -> int:
        """When this snapshot's window began."""
    @property
    def t1_ns(self) -> int:
        """When it ended."""
    @property
    def cpu_ns(self) -> list[int]:
        """CPU time each engine thread has used since it started."""
    @property
    def lanes(self) -> int:
        """Lanes running at the end of the window."""
    @property
    def lane_ns(self) -> int:
        """Lanes that ran, integrated over the window."""
    @property
    def waiting_ns(self) -> int:
        """Time lanes had nothing to do: thinking, no arrival due, pausing after a failure."""
    @property
    def underway_ns(self) -> int:
        """What lanes had begun at the end of the window and is recorded nowhere yet.

        `lane_ns` is the sum of every step's service, given up and processing times, of
        `waiting_ns`, and of `underway_ns` less that of the snapshot before.
        """
    @property
    def backlog(self) -> int:
        """Arrivals of an open schedule that are due and have not found a lane."""
    @property
    def in_flight(self) -> int:
        """Operations begun and not answered."""
    @property
    def owed(self) -> int:
        """Operations due in the window before the last cut, not answered and not given up."""
    @property
    def without_row(self) -> int:
        """Users that have ended since the start because there was no row left for them.

        Once no lane runs for that, time stands still: the window ends with the last of them.
        """
    @property
    def row_wait_ns(self) -> int:
        """Time that users waited for rows that others had alone; it is in no operation's time."""
    @property
    def lost_rows(self) -> int:
        """Rows lost since the start that users have alone in turn: a change was never answered."""
    @property
    def log(self) -> list[str]:
        """What was logged of requests, each as a line of JSON, in the order of their ends."""
    @property
    def lane_counts(self) -> list[int]:
        """Requests that succeeded in the window, by lane; empty unless `phases` are recorded.

        A lane keeps its place from drain to drain. That of one that has ended stays at 0 until a
        new lane takes it.
        """
    @property
    def decks(self) -> list[tuple[str, list[int], list[int]]]:
        """One entry per deck: program, cards of each branch, cards dealt since the start.

        Each thread deals whole decks: what is dealt differs from the weights by less than a deck
        a thread.
        """
    @property
    def steps(self) -> list[StepStats]:
        """One entry per (program, step) that did anything."""
    @property
    def late(self) -> list[StepStats]:
        """The same of what was due in the window that ended at the last cut."""
    @property
    def older(self) -> list[StepStats]:
        """The same of what was due before that window: in no window's durations."""

    @property
    def spans(self) -> list[tuple[int, StepStats]]:
        """Of a schedule of stages, the arrivals among all these by the span they were due in."""

@final
class Population:
    """People as a pure function of (seed, i); `i` may exceed `size`, which is only what is seeded.

    `spec_json`: {"seed", "size", "profile": "paper"|"small"|"ils"|"person"|"posix"|"ad", "locales":
    [...], "base", "passwords": {"hash": as `hash_facts` takes it, "one": str or None, "pool": how
    many log in differently, all unless said}}, the last of them optional.
    """

    def __new__(cls, pools_path: str, spec_json: str) -> Population: ...
    @property
    def size(self) -> int:
        """How many people are seeded."""
    @property
    def digest(self) -> str:
        """Identity of the population: its spec without size and base, and its pools."""
    @property
    def naming(self) -> str:
        """The attribute in the RDN, by which people are looked up."""
    @property
    def spec_json(self) -> str:
        """The spec as the engine read it."""
    def name(self, i: int) -> str:
        """Return the name of person `i`: the value in the RDN, by which they are looked up."""
    def password(self, i: int) -> str:
        """Return what person `i` logs in with; empty where the profile has no passwords."""
    def dn(self, i: int) -> str:
        """Return the DN of person `i`, escaped per RFC 4514."""
    def entry(self, i: int) -> tuple[str, dict[str, list[bytes]]]:
        """Return the DN and every attribute of person `i`."""
    @property
    def slow_hashes(self) -> tuple[int, int]:
        """How many slow hashes people have, and how many of them, from the first on, are made."""
    def hashes(self) -> bytes:
        """Return the slow hashes that are made, from the first on, one a line."""
    def take_hashes(self, text: bytes) -> None:
        """Take what `hashes` returned before, as far as it is what people may have."""
    def make_hashes(self, threads: int, progress: Callable[[int], object] | None = None) -> None:
        """Make the slow hashes that are missing; an exception in `progress` ends it early."""
    def index_of(self, name: str) -> int | None:
        """Return the `i` whose `name(i)` is `name`."""
    def answer_bytes(self, i: int) -> int:
        """Return the bytes of a lookup's answer, SearchResultEntry and SearchResultDone."""
    def encoded_answer_bytes(self, start: int, stop: int) -> int:
        """Return the sum of `answer_bytes` over [start, stop)."""
    def ldif(self, start: int, stop: int, *, with_containers: bool) -> bytes:
        """Return people [start, stop) as LDIF (RFC 2849).

        `with_containers` puts the entries of the base DN first, so that the text loads into an
        empty directory.
        """
    def contents(self, start: int, stop: int) -> Contents:
        """Return the contents of a place that holds exactly people [start, stop)."""

@final
class Groups:
    """Groups of a population's people, each a pure function of its number.

    `spec_json`: {"count", "members": people in most of them, then in one each, "depth": levels of
    groups in groups, "in_all": people who are in every group, "class": "groupOfNames"|"posixGroup"|
    "groupOfNames+posixGroup"|"group"}.
    """

    def __new__(cls, population: Population, spec_json: str) -> Groups: ...
    @property
    def count(self) -> int:
        """How many there are."""
    def dn(self, g: int) -> str:
        """Return the DN of group `g`."""
    def members(self, g: int) -> list[str]:
        """Return who is in group `g`: DNs, or logins in a posixGroup."""
    def ldif(self, start: int, stop: int) -> bytes:
        """Return groups [start, stop) as LDIF (RFC 2849)."""

def hash_facts(hash: str) -> tuple[str, str, bool, int]:  # noqa: A002 -- as elsewhere
    """Return a hash as it is always written, its scheme, whether it is slow, and its memory."""

def hash_nanoseconds(hash: str, password: int) -> int:  # noqa: A002 -- as elsewhere
    """Return the CPU of a check at most of a password of so many bytes; 0 where it is not slow."""

def profile_facts(profile: str) -> tuple[str, str, bool]:
    """Return by which class and attribute people are searched for, and if they have passwords."""

@final
class Contents:
    """Which people a place holds: the same whatever holds them, in whatever order and spelling.

    The digest is the sum modulo 2^256 of each person's SHA-256; docs/test-directories.md has the
    definition.
    """

    @property
    def people(self) -> int:
        """How many there are."""
    @property
    def digest(self) -> str:
        """64 hexadecimal digits."""
    def __add__(self, other: Contents, /) -> Contents: ...
    def __radd__(self, other: Contents, /) -> Contents: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class LdifCount:
    """Counts the people of a profile in an LDIF file, of any origin."""

    def __new__(cls, profile: str = "paper") -> LdifCount: ...
    def feed(self, piece: bytes) -> None:
        """Take the next bytes, wherever they were cut. Raises EngineError naming the line."""
    @property
    def people(self) -> int:
        """How many have come so far."""
    def finish(self) -> Contents:
        """Return what there was, now that the file has ended."""

@final
class FileSet:
    """Path, size and content of a web server's files, by number: nothing is kept per file.

    `spec_json`: {"name", "seed", "files_per_class": 1, "classes": [{"name", "sizes": [...]} or
    {"name", "spread": [smallest, largest]}, each with "files" or without]}. A class has `files`
    files, or `files_per_class` of each size.
    """

    def __new__(cls, spec_json: str) -> FileSet: ...
    @property
    def count(self) -> int:
        """How many files there are."""
    @property
    def bytes(self) -> int:
        """The sum of their sizes."""
    @property
    def spec_json(self) -> str:
        """The spec as the engine read it."""
    def path(self, i: int) -> str:
        """Return the path of file `i`, which begins with a slash."""
    def size(self, i: int) -> int:
        """Return its size in bytes."""
    def digest(self, i: int) -> str:
        """Return SHA-256 of its content, in hexadecimal digits."""
    def content(self, i: int) -> builtins.bytes:
        """Return its whole content."""
    def index_of(self, path: str) -> int | None:
        """Return the `i` whose `path(i)` is `path`."""
    def checker(self, i: int) -> FileChecker:
        """Return what compares a body with its content."""
    def write(self, docroot: str, progress: Callable[[int], object] | None = None) -> None:
        """Write the files below a folder, and `<name>.manifest` with their sizes and digests.

        Files that are there already are kept, so an interrupted writing is resumed by calling it
        again. `progress` is called in the calling thread, about ten times a second, with the
        number of bytes that are there so far; what it raises stops the writing and is raised here,
        and so does Ctrl-C.
        """

@final
class FileChecker:
    """Compares a body with a file of a `FileSet`, in pieces as they come."""

    def feed(self, piece: bytes) -> bool:
        """Take the next bytes, wherever they were cut; return whether all so far are right."""
    @property
    def fed(self) -> int:
        """How many bytes have come."""
    def finish(self) -> int | None:
        """Return the first byte at which the body differs from the file, now that it has ended.

        None if it does not. It is the body's length where only the file's end is missing, and the
        file's size where the body goes on after it.
        """

@disjoint_base
class EmbeddedServer:
    """A server, served by threads of this process: the base of the three embedded ones."""

    @property
    def port(self) -> int:
        """The port it listens on."""
    @property
    def address(self) -> str:
        """Where it listens, as host:port."""
    @property
    def made_ca(self) -> str | None:
        """The CA certificate that was made at the start, in PEM."""
    def stats(self) -> dict[str, int]:
        """Return the counters: connections, bytes_in, and those of the protocol."""
    def unknown_names(self) -> list[str]:
        """Return what clients have asked a domain of Active Directory for and it does not have."""
    def stop(self) -> None:
        """Close every connection and end the threads. Calling it again does nothing."""

@final
class Directory(EmbeddedServer):
    """The embedded LDAP directory, served by threads of this process.

    `config_json`: {"host", "port", "threads", "suffix", "profile", "ldif", "admin_dn",
    "admin_password", "read_only", "require_bind", "ils_ttl_s", "tls", "limits"}; port 0 takes a
    free one. `tls`: {"certificate", "start"}, where `certificate` is {"cert", "key",
    "key_password", "client_ca", "names"}.
    """

    def __new__(
        cls,
        config_json: str,
        population: Population | None = None,
        groups: Groups | None = None,
    ) -> Directory: ...

@final
class Visitors:
    """People as visitors of a personalized site: the same people, with more properties.

    `spec_json`: {"seed", "locales": [...]}. There is no size: visitors have no end.
    """

    def __new__(cls, pools_path: str, spec_json: str) -> Visitors: ...
    @property
    def digest(self) -> str:
        """Identity of the visitors: seed, locales, pools and lists."""
    def visitor(self, i: int) -> dict[str, str | int | bool | list[str]]:
        """Return every property of visitor `i`, `id` among them, as the database has them."""

@final
class Site(EmbeddedServer):
    """The personalized site, served by threads of this process from a UPD.

    `config_json`: {"host", "port", "threads", "database", "durability": "normal"|"full",
    "row_cache", "tls", "limits"}; port 0 takes a free one, and `tls` is a directory's
    `certificate`. `expected_json`: {"size", "digest"}, each of which may be left out: what the
    UPD's manifest must say. A stop also stores what is to be stored; the database is one file again
    after it.
    """

    def __new__(cls, config_json: str, expected_json: str | None = None) -> Site: ...
    def manifest(self) -> dict[str, str | int]:
        """Return what the UPD says of itself, as `inspect_upd` does."""

@final
class WebServer(EmbeddedServer):
    """The embedded web server, served by threads of this process.

    `config_json`: {"host", "port", "threads", "docroot", "cgi", "tls", "limits"}; port 0 takes a
    free one, `docroot` is the folder with the files and `cgi` the one with the programs, each of
    which may be left out, and `tls` is a directory's `certificate`.
    """

    def __new__(cls, config_json: str) -> WebServer: ...

def cgi_program() -> bytes:
    """Return the program of the CGI workloads, an executable for this machine.

    By its query it answers with `kind=constant|random` and `size` bytes, or with its environment.
    """

def build_upd(
    path: str,
    pools_path: str,
    spec_json: str,
    progress: Callable[[int], object] | None = None,
) -> dict[str, str | int]:
    """Write a user-property database and return its manifest.

    `spec_json`: {"seed", "size", "locales": [...]}. What was at `path` is replaced in one step at
    the end, and stays if anything fails. `progress` is called in the calling thread with the
    number of people in; what it raises stops the building and is raised here, and so does Ctrl-C.
    """

def inspect_upd(path: str, expected_json: str | None = None) -> dict[str, str | int]:
    """Return the manifest of a UPD: schema_version, seed, size, population, pools, digest.

    Raises EngineError when it is no UPD, one of another version, or not what is expected.
    """

def copy_upd(source: str, target: str) -> int:
    """Copy a UPD over another, in one step, and return its bytes; never one that is served."""

@final
class Table:
    """Rows of a CSV file (RFC 4180, UTF-8), checked once: one buffer, and four bytes for each cell.

    Lines end with CR LF or LF; empty ones are skipped. Raises EngineError that names file, line and
    column of what is wrong: a field too few or too many, a quote without an end, text behind a
    closing one, bytes that are not UTF-8, a second column of a name, no rows.
    """

    @staticmethod
    def head(path: str | PathLike[str], separator: str = ",") -> tuple[int, list[str]] | None:
        """Return the first line that is not empty, by its number and its fields."""
    @staticmethod
    def read(
        path: str | PathLike[str],
        separator: str = ",",
        columns: Sequence[str] | None = None,
        names: int | None = None,
    ) -> Table:
        """Read a file whose first line names its columns, unless they are given.

        `names` is a column with names of people, each of which one line must hold.
        """
    @property
    def rows(self) -> int:
        """How many rows there are: at least one."""
    @property
    def columns(self) -> list[str]:
        """Their names."""
    def cell(self, row: int, column: int) -> str:
        """Return a cell, counted from 0. Raises IndexError where there is none."""
    def digest(self, name: str, column: int) -> str:
        """Return SHA-256 of a name for a column and its cells, a line feed before each."""
    def shuffled(self, n: int, seed: int = 1997, part: int = 0, of: int = 1) -> list[int]:
        """Return the first `n` rows that part `part` of `of` deals.

        Part k of K has the rows k mod K, or all where there are fewer rows than parts: each once,
        then each again in another order.
        """

@final
class Scenario:
    """A scenario file, read and checked. Raises EngineError with a line for each problem."""

    def __new__(cls, text: str, columns: Mapping[str, Sequence[str]] | None = None) -> Scenario: ...
    @property
    def facts(self) -> str:
        """What commands have to know of it, in JSON."""

@final
class PortableUsers:
    """Users of a directory whose requests a client in Python sends: those of one process.

    The arguments are an `Engine`'s. They share decks, data and random numbers, as the lanes of one
    thread do: the same seed gives the same requests. What no such client does is refused by name.
    """

    def __new__(
        cls,
        config_json: str,
        people: Population | Visitors | None = None,
        names: tuple[Table, int] | None = None,
        tables: Mapping[str, Table] | None = None,
    ) -> PortableUsers: ...
    def steps(self, program: str) -> Steps:
        """Make one more user of a program."""
    def lost_rows(self) -> int:
        """Return how many rows users do not have alone again, as a change was never answered."""

@final
class Steps:
    """What one user does, step by step."""

    def next(self) -> Step | None:
        """Return what is to be done next; None once it has stopped."""
    def answered_ldap(
        self,
        code: int,
        diagnostic: str,
        entries: Sequence[tuple[str, Sequence[tuple[str, Sequence[bytes]]]]],
        value: bytes | None = None,
    ) -> tuple[str | None, bool, str | None]:
        """Judge what was answered, entries with their names and attributes among it.

        `value` is that of an extended answer.
        """
    def lost(self, kind: str) -> str | None:
        """Say that no answer came, and why; return what to show of the request."""
    def stop(self) -> None:
        """Have it end after the operation it is in, which has no pauses any more."""

@final
class Step:
    """What a user does next: an operation begins, something is asked, and so on."""

    @property
    def does(
        self,
    ) -> Literal["begin", "begin pass", "open", "ask", "wait", "await row", "close", "end"]: ...
    @property
    def row(self) -> tuple[str, str] | None:
        """Where it is recorded: operation and step; of "end", that of the whole operation.

        The same of "begin", if the whole operation is what is counted, and of "begin pass": that
        operation is a whole pass, whose time has its think times in it.
        """
    @property
    def connection(self) -> int:
        """Which of the user's connections it is about."""
    @property
    def seconds(self) -> float:
        """How long to "wait", or to "await row": one that no other user has alone."""
    @property
    def kind(self) -> str | None:
        """What failed first in the operation at its "end"."""
    @property
    def answered(self) -> bool:
        """Whether the operation has come to its "end", and not broken off."""
    @property
    def ldap(self) -> LdapRequest | None:
        """What to "ask" a directory."""

@final
class LdapRequest:
    """A request of LDAP; what its verb does not have is empty."""

    @property
    def verb(
        self,
    ) -> Literal[
        "bind", "search", "compare", "add", "modify", "modify_dn", "delete", "extended"
    ]: ...
    @property
    def dn(self) -> str:
        """The entry, a search's base, who binds, or the OID of an extended operation."""
    @property
    def version(self) -> int: ...
    @property
    def sasl(self) -> str | None: ...
    @property
    def value(self) -> bytes | None:
        """The password of a bind, credentials, or the value of an extended operation."""
    @property
    def filter(self) -> str: ...
    @property
    def scope(self) -> int:
        """0 base, 1 one level, 2 subtree, 3 all below the base."""
    @property
    def dereference(self) -> int:
        """0 never, 1 in searching, 2 finding the base, 3 always."""
    @property
    def size_limit(self) -> int: ...
    @property
    def time_limit_s(self) -> int: ...
    @property
    def types_only(self) -> bool: ...
    @property
    def attributes(self) -> list[str]: ...
    @property
    def entry(self) -> list[tuple[str, list[bytes]]]:
        """What an entry is to have, or is compared with."""
    @property
    def changes(self) -> list[tuple[int, tuple[str, list[bytes]]]]:
        """0 add, 1 delete, 2 replace, 3 increment, each of an attribute with values."""
    @property
    def new_rdn(self) -> str: ...
    @property
    def delete_old_rdn(self) -> bool: ...
    @property
    def new_superior(self) -> str | None: ...
    @property
    def controls(self) -> list[tuple[str, bool, bytes | None]]:
        """OID, whether it is critical, value."""

def check_scenario(spec_json: str, tables: Mapping[str, Table]) -> str | None:
    """Raise EngineError with what of a scenario no lane could run.

    Return the step that is counted, where passes are operations: rows have the scenario's name.

    `spec_json` is one of the engine's "scenarios", and `tables` are their data.
    """

def scenario_schema() -> str:
    """Return the JSON Schema of scenario files."""

@final
class Engine:
    """Lanes running scenarios against one target, on threads of their own.

    Recorders drain without loss: each operation is in exactly one snapshot.

    `config_json` has "target": {"protocol": "ldap"|"http", ...}, "ldap" unless it says otherwise.
    An LDAP target takes people from a `Population`, an HTTP target from `Visitors`. `names` are a
    column of a table, for what `{i}` stands for in an LDAP target's names.

    "log": {"most": 100, "all": false} has each thread log so many requests: the first failure of
    each operation, or "all" that end. A line has "time", "user", "iteration", "operation", "step",
    "kind", "code", "diagnostic", "asked", "rest", "said", "rows", "captured" and "ms"; what is
    secret is there by its name.

    "scenarios": [{"name", "text", "operation", "base", "env": {...}, "bind": {"dn", "password",
    "sasl"}, "think_ms", "worker": 0, "of": 1}] are scenario files that lanes run; `tables` are
    their data, as "name/data".

    An HTTP target is {"protocol": "http", "host", "port", "base_path", "keepalive", "size",
    "spread_sources", "files", "tls", "secure", "addresses", "phases"}: people 0 to size - 1 are
    there, and "files" is the specification of a `FileSet`. Its scenarios may have "programs":
    {"cgi": "/path", ...}, "keepalive" and "classes": true. That gives operations of one request
    each a row under the scenario's name, and their connections one as "connect".

    "tls": {"ca", "ca_pem", "insecure", "cert", "key", "key_password", "resume": false} makes every
    connection one of TLS; "resume" lets new ones go on with a session of the thread's.
    "secure": {"host", "port", "tls": {...}} is a second endpoint, where connections with
    `tls = true` go; "host" may be left out. With "classes" a connection that is kept and goes
    elsewhere is closed for a new one.
    "addresses": [{"host", "port"}, ...] are further addresses of the site, which goes by the name
    of the first: lane k connects to address k modulo their number, the first included.

    "phases": true also records, for each program, "handshake" (that of TLS, of new connections;
    "connect" includes it), "first byte" (from sending a request to the first byte of its answer)
    and "request" (from the start of connecting, or of sending on a kept connection, to the last
    byte). What fails is a failure of "request" too. Their bytes are those of the other steps and
    are not counted again.

    Failures beside those of any connection: leak (another person's page), stale (not the values
    updated to), wrong-length, wrong-answer, truncated (fewer bytes than Content-Length says),
    nothing-captured, closed (ended before or without the answer's end), malformed, status:NNN; of
    redirects that are followed redirect-elsewhere, bad-redirect, too-many-redirects.
    """

    def __new__(
        cls,
        config_json: str,
        population: Population | Visitors | None = None,
        names: tuple[Table, int] | None = None,
        tables: Mapping[str, Table] | None = None,
    ) -> Engine: ...
    def start_lanes(self, program: str, n: int) -> None:
        """Start `n` more lanes of the scenario `program`."""
    def stop_lanes(self, program: str, n: int) -> None:
        """Stop `n` lanes of `program`; each ends after the operation it is in."""
    def drain(self) -> Snapshot:
        """Return what was recorded since the last drain and begin anew."""
    def cut(self) -> Snapshot:
        """Drain at the edge of a window: later snapshots keep apart what was due before it."""
    def stop(self, timeout_s: float = 5.0) -> Snapshot:
        """Stop every lane, wait at most `timeout_s` for answers, and return the last snapshot.

        Calling it again, or any other method after it, raises EngineError.
        """

def seed_directory(
    config_json: str,
    population: Population,
    start: int,
    stop: int,
    progress: Callable[[int], object] | None = None,
) -> int:
    """Add people [start, stop) to a live directory, pipelined; return how many were not there.

    `config_json`: {"host", "port", "base", "bind_dn", "password", "connections", "window",
    "timeout_ms"}; all but host and port may be left out.

    Entries that exist already count as done, so an interrupted seeding is resumed by running it
    again. `progress` is called in the calling thread, about ten times a second, with the number
    done so far without a gap; what it raises stops the seeding and is raised here, and so does
    Ctrl-C.
    """

def remove_people(
    config_json: str,
    population: Population,
    start: int,
    stop: int,
    progress: Callable[[int], object] | None = None,
) -> int:
    """Delete people [start, stop) from a live directory, pipelined; return how many were there.

    Configuration and `progress` are those of `seed_directory`.
    """

def first_person(config_json: str, population: Population, start: int, stop: int) -> int | None:
    """Return the key of the first of people [start, stop) who is in a live directory, if any is.

    The configuration is that of `seed_directory`.
    """

def count_people(config_json: str, population: Population) -> int:
    """Return how many people of a live directory are there, from the first on without a gap.

    However the seeding ended, Ctrl-C or kill. The configuration is that of `seed_directory`.
    """

def read_people(
    config_json: str, population: Population, progress: Callable[[int], object] | None = None
) -> Contents:
    """Read every person below the population's base in a live directory.

    Configuration and `progress` are those of `seed_directory`; it is told how many came.
    """

def seed_groups(
    config_json: str, groups: Groups, progress: Callable[[int], object] | None = None
) -> tuple[int, int | None]:
    """Add the groups that are missing in a live directory, and return how many were.

    Beside it the bytes of members in a message, where the directory did not take a group's in one.
    Configuration and `progress` are those of `seed_directory`.
    """

def remove_groups(
    config_json: str, groups: Groups, progress: Callable[[int], object] | None = None
) -> int:
    """Delete the groups that are in a live directory, and return how many were.

    Configuration and `progress` are those of `seed_directory`.
    """

def check_groups(
    config_json: str, groups: Groups, progress: Callable[[int], object] | None = None
) -> tuple[int, bool]:
    """Raise unless a live directory has these groups, all of their members, and no more groups.

    Return how many members they have, and whether the directory shows them as memberOf of people.
    Configuration and `progress` are those of `seed_directory`.
    """

@final
class NullResponder:
    """The floor's server: answers every `request_bytes` with `response_bytes`, reading neither.

    Run it in a process of its own, or its CPU counts as the generator's.
    """

    def __new__(cls, request_bytes: int, response_bytes: int, port: int = 0) -> NullResponder: ...
    @property
    def port(self) -> int:
        """The port it listens on, on 127.0.0.1."""
    def stop(self) -> None:
        """Stop answering and end the thread. Calling it again does nothing."""

def busy_limit(
    kinds: Sequence[tuple[float, float]], cores: int, within_s: float, late: float
) -> float | None:
    """Return how busy so many cores may be, if the share `late` may take longer than `within_s`.

    `kinds` are operations, each with its weight and the seconds that an idle core takes for it.
    None where even idle cores are too slow.
    """

def floor_exchange(
    port: int, connections: int, seconds: float, request: bytes, response_bytes: int
) -> dict[str, float]:
    """Trade bytes with a `NullResponder` as fast as one thread can, over open connections.

    Any server will do that answers this request with so many bytes, whatever they say.
    Returns operations, seconds, cpu_ns of this side's thread, and p50_ns, p99_ns and max_ns of the
    first connection's operations.
    """

def floor_connect(
    port: int, connections: int, seconds: float, request: bytes, response_bytes: int
) -> dict[str, float]:
    """Connect, trade once and close, over and over; returns what `floor_exchange` returns."""
