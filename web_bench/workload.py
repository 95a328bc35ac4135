"""Workloads: which requests, in which mix, over how many clients.

    title = "Pages and a program"
    clients = [10, 20, 50]              # the sweep
    http = "1.1"

    [files]                             # the file set that `[[class]]` tables describe
    name = "pages"

    [[class]]
    name = "small"
    weight = 60                         # of 100, or of what `sum` says
    sizes = [2048, 3072]                # a request takes one of the files, each as often

    [[class]]
    name = "small-tls"
    weight = 10
    files_of = "small"                  # the same files, over TLS
    tls = true

    [[class]]
    name = "program"
    weight = 20
    dynamic = "cgi"
    size = 10240

    [[class]]
    name = "again"                      # with paths or a program also:
    weight = 10
    paths = ["/logo.png"]
    method = "GET"                      # or HEAD
    headers = { If-Modified-Since = "Sun, 22 Nov 2026 00:00:00 GMT" }
    status = [304]                      # what its answers may have

The built-in workloads are such files too, in web_bench/workloads. Everything is checked before
anything starts; a message about an error has its line and column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files as package
from itertools import pairwise
from pathlib import Path
from typing import Any

from sitebench.errors import BadFile, BadInput
from sitebench.http import toml_file
from sitebench.http.scenario import FOR_CREDENTIALS
from sitebench.http.toml_file import Key, TomlError, TomlTable, flag, list_of, number, one_of, text
from sitebench.system.texts import read_text

DYNAMIC = {
    "cgi-env": "a process per request that prints its environment",
    "cgi": "a process per request",
    "inprocess": "a program within the server's process",
    "page": "a page that the server parses to insert today's date",
    "template": "one of 100 identical pages with today's date",
    "fastcgi": "a process that stays",
}
"""The kinds of programs behind a class."""

MOST_SPREAD = 1_000_000
"""The most files of one spread: its sizes can only be added one by one."""

SEED = 1997
"""The seed of a file set unless another is given."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Names of sets and classes are folders in paths: nothing to escape, and never ".."."""
_SOURCES = ("sizes", "spread", "files_of", "paths", "dynamic")
_RECORDED = ("sequence", "connect", "handshake", "first byte", "request")
"""What the engine records besides classes, under these names."""

_ASKED = ("method", "headers", "status")
"""What the requests of classes with paths or programs may be besides a GET that is answered 200."""
_METHODS = ("GET", "HEAD")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A header's name (RFC 9110 section 5.6.2)."""

CONTENTS = ("constant", "random")
"""What a program's text is made of: one letter, or random characters as WebStone's."""
_HTTP = ("1.0", "1.1")


class BadWorkload(BadFile):
    """A workload with an error; the message names its line and column."""


@dataclass(frozen=True)
class FileClass:
    """Files that are requested equally often: a row of a paper's table."""

    name: str
    sizes: tuple[int, ...] = ()
    """Bytes, taken in turn."""
    spread: tuple[int, int] | None = None
    """Instead of `sizes`: the smallest and the largest; those between grow by a constant factor."""
    files: int | None = None
    """How many; for each of `sizes` as many as the set's `files_per_class` unless given."""


@dataclass(frozen=True)
class FileSet:
    """The files of a workload; their contents follow from the spec and its seed alone."""

    name: str
    classes: tuple[FileClass, ...]
    files_per_class: int = 1

    def count_of(self, each: FileClass) -> int:
        return each.files or len(each.sizes) * self.files_per_class

    def bytes_of(self, each: FileClass) -> int:
        count = self.count_of(each)
        if each.spread is not None:
            smallest, largest = each.spread
            # The generator's expression: any other rounds some size differently.
            sizes = (smallest * math.pow(largest / smallest, i / (count - 1)) for i in range(count))
            return sum(map(round, sizes))
        rounds, rest = divmod(count, len(each.sizes))
        return sum(each.sizes) * rounds + sum(each.sizes[:rest])

    @property
    def count(self) -> int:
        return sum(map(self.count_of, self.classes))

    @property
    def bytes(self) -> int:
        return sum(map(self.bytes_of, self.classes))

    def spec(self, seed: int = SEED) -> dict[str, Any]:
        """Return what the generator of the files is given, as JSON has it."""
        return {
            "name": self.name,
            "seed": seed,
            "files_per_class": self.files_per_class,
            "classes": [_described(each) for each in self.classes],
        }


def _described(each: FileClass) -> dict[str, Any]:
    sizes = {"sizes": list(each.sizes)} if each.spread is None else {"spread": list(each.spread)}
    return {"name": each.name, **sizes, **({} if each.files is None else {"files": each.files})}


@dataclass(frozen=True)
class RequestClass:
    """Requests of one kind: for a file of a class, for one of some paths, or for a program."""

    name: str
    weight: int
    files: FileClass | None = None
    paths: tuple[str, ...] = ()
    dynamic: str = ""
    size: int | None = None
    """Bytes of a body of `paths` or `dynamic`; None where they differ or are not known."""
    size_about: int | None = None
    """Their mean where it depends on the server."""
    content: str = CONTENTS[0]
    tls: bool = False
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    status: tuple[int, ...] = (200,)
    """What an answer may have; another one is a failure."""


@dataclass(frozen=True)
class Workload:
    """A weighted mix of requests, and the sweep that it is measured over."""

    name: str
    title: str
    classes: tuple[RequestClass, ...]
    files: FileSet | None = None
    clients: tuple[int, ...] = ()
    http: str = "1.1"
    paper: str = ""
    note: str = ""
    """What the paper does not print, and where it comes from."""

    @property
    def writes(self) -> bool:
        """Whether it changes the server: it asks for pages only."""
        return False

    @property
    def needs_people(self) -> bool:
        return False

    @property
    def uses_tls(self) -> bool:
        """Whether some of its requests go over TLS whatever the others do."""
        return any(each.tls for each in self.classes)

    @property
    def deck(self) -> tuple[int, ...]:
        """Return the fewest requests of each class that are exactly the mix."""
        weights = [each.weight for each in self.classes]
        return tuple(weight // math.gcd(*weights) for weight in weights)

    def mean_bytes_of(self, each: RequestClass) -> float | None:
        """Return the mean bytes of a class's bodies; None if they are not known."""
        if self.files is not None and each.files is not None:
            return self.files.bytes_of(each.files) / self.files.count_of(each.files)
        known = each.size_about if each.size is None else each.size
        return None if known is None else float(known)

    @property
    def mean_bytes(self) -> float | None:
        """Return the mean bytes of a body; None if those of a class are not known."""
        weighted = self._weighted_bytes()
        return None if weighted is None else sum(weighted) / sum(self.deck)

    @property
    def request_shares(self) -> tuple[float, ...]:
        """Return each class's share of the requests."""
        return tuple(cards / sum(self.deck) for cards in self.deck)

    @property
    def byte_shares(self) -> tuple[float, ...] | None:
        """Return each class's share of the bytes of bodies; None if they are not known."""
        weighted = self._weighted_bytes()
        if weighted is None or not sum(weighted):
            return None
        return tuple(each / sum(weighted) for each in weighted)

    def _weighted_bytes(self) -> list[float] | None:
        means = [self.mean_bytes_of(each) for each in self.classes]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means):
            return None
        return [cards * mean for cards, mean in zip(self.deck, known, strict=True)]


def of_path(name: str, path: str) -> Workload:
    """Return the workload that asks for one path again and again."""
    return Workload(
        name, f"GET {path}", (RequestClass(name, 1, paths=(path,)),), clients=(1, 4, 16, 64)
    )


def built_in() -> dict[str, Workload]:
    """Return the workloads of the package by their names, in alphabetical order."""
    folder = package("web_bench").joinpath("workloads")
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return {
        name.removesuffix(".toml"): parse(folder.joinpath(name).read_text(encoding="utf-8"), name)
        for name in found
    }


def find(name: str) -> Workload:
    """Return a built-in workload, or that of a TOML file."""
    if not name.endswith(".toml"):
        known = built_in()
        if name not in known:
            remedy = f"{toml_file.suggest(name, known)}; or name a .toml file of your own"
            raise BadInput(f"unknown workload {name!r}", remedy)
        return known[name]
    return parse(read_text(name, "the workload", BadWorkload), name)


def parse(content: str, name: str) -> Workload:
    """Return the workload of a TOML text; `name` is the file's."""
    stem = Path(name).stem
    return toml_file.read(content, name, lambda document: _workload(document, stem), BadWorkload)


def _workload(document: Mapping[str, Any], stem: str) -> Workload:
    table = TomlTable(
        document, (), "title", "paper", "note", "clients", "http", "sum", "files", "class"
    )
    file_classes: dict[str, FileClass] = {}
    read = list_of(lambda found, key: _class(found, key, file_classes), "[[class]]")
    classes = table.must("class", read)
    _check_names(classes)
    total, wanted = sum(each.weight for each in classes), table.take("sum", number(1), 100)
    if total != wanted:
        raise TomlError(
            ("sum",) if "sum" in document else ("class",),
            f"the weights sum to {total}, not {wanted}",
            f"change a weight, or write sum = {total} above the first table",
        )
    return Workload(
        stem,
        table.take("title", text, stem),
        classes,
        _file_set(table, tuple(file_classes.values())),
        table.take("clients", _clients, ()),
        table.take("http", one_of(_HTTP), "1.1"),
        table.take("paper", text, ""),
        table.take("note", text, ""),
    )


def _check_names(classes: tuple[RequestClass, ...]) -> None:
    names = [each.name for each in classes]
    for n, name in enumerate(names):
        if name in names[:n] or name in _RECORDED:
            what = f"two classes have the name {name!r}"
            if name in _RECORDED:
                what = f"a class has the name {name!r}, under which results keep something else"
            raise TomlError(("class", n, "name"), what, "give each a name of its own")


def _file_set(table: TomlTable, classes: tuple[FileClass, ...]) -> FileSet | None:
    if not classes:
        return table.take("files", _unused, None)
    found, key = table.take("files", lambda found, key: (found, key), (None, ("class",)))
    if found is None:
        raise TomlError(
            key, "classes with files need the name of their set", 'add [files] with name = "own"'
        )
    fields = TomlTable(found, key, "name", "files_per_class")
    name = fields.must("name", _name)
    if name.endswith(".manifest"):
        # A set's manifest is the file beside its folder.
        what = f"the file set {name!r} has the name of a manifest"
        raise TomlError((*key, "name"), what, "choose a name without .manifest")
    return FileSet(name, classes, fields.take("files_per_class", number(1), 1))


def _unused(_: Any, key: Key) -> None:
    raise TomlError(key, "no class has files", "give a class sizes, or remove [files]")


def _class(found: Any, key: Key, file_classes: dict[str, FileClass]) -> RequestClass:
    """Read a class; files that it describes are added to those of the set."""
    known = ("name", "weight", *_SOURCES, "files", "size", "size_about", "content", "tls", *_ASKED)
    table = TomlTable(found, key, *known)
    name = table.must("name", _name)
    given = [each for each in _SOURCES if each in found]
    if len(given) != 1:
        both = f"class {name!r} has both {' and '.join(given)}", "keep one, or make two classes"
        neither = (
            f"class {name!r} has neither sizes, paths nor dynamic",
            "give it sizes, spread or files_of for files, paths for your own URLs, "
            "or dynamic for a program",
        )
        raise TomlError(key, *(both if given else neither))
    files = None
    if given[0] in ("sizes", "spread"):
        files = file_classes[name] = _file_class(table, key, name)
    elif "files" in found:
        raise TomlError((*key, "files"), "'files' without sizes or spread", "remove it")
    described = given[0] not in ("paths", "dynamic")
    if described and (asked := next((each for each in _ASKED if each in found), None)):
        what = f"{asked!r} of a class of files, whose every byte is compared"
        raise TomlError((*key, asked), what, "give the class paths instead of files")
    if given[0] == "files_of":
        files = table.must(
            "files_of", lambda wanted, at: _described_above(wanted, at, file_classes)
        )
    dynamic = table.take("dynamic", one_of(DYNAMIC), "")
    size, size_about = _body_bytes(table, found, key)
    return RequestClass(
        name,
        table.must("weight", number(1)),
        files,
        table.take("paths", list_of(_path, 'paths = ["/", "/about.html"]'), ()),
        dynamic,
        size,
        size_about,
        table.take("content", one_of(CONTENTS), CONTENTS[0]),
        table.take("tls", flag, False),
        table.take("method", one_of(_METHODS), "GET"),
        table.take("headers", _headers, ()),
        table.take("status", list_of(number(200), "status = [200, 304]"), (200,)),
    )


def _headers(found: Any, key: Key) -> tuple[tuple[str, str], ...]:
    if not isinstance(found, Mapping):
        raise TomlError(key, "headers must be a table", 'write headers = { Name = "value" }')
    for name, value in found.items():
        line = text(value, (*key, name))
        if not _TOKEN.fullmatch(name) or not line.isprintable() or {*"{}"} & {*line}:
            what = f"{name!r} with its value is no header line of a workload"
            remedy = "leave out spaces in its name, and control characters and braces in its value"
            raise TomlError((*key, name), what, remedy)
        if name.lower() in FOR_CREDENTIALS:
            what = f"{name!r} holds credentials, and this file goes into the run file"
            raise TomlError((*key, name), what, "leave it out; ask for what needs none")
    return tuple(found.items())


def _file_class(table: TomlTable, key: Key, name: str) -> FileClass:
    sizes = table.take("sizes", list_of(number(1), "sizes = [2048, 3072]"), ())
    files = table.take("files", number(1), None)
    if sizes:
        if files is not None and files < len(sizes):
            what = f"{files} files cannot have {len(sizes)} sizes"
            raise TomlError((*key, "files"), what, f"write files = {len(sizes)} or more")
        return FileClass(name, sizes, None, files)
    spread = table.must("spread", list_of(number(1), "spread = [1000, 2000]"))
    if len(spread) != 2 or spread[0] > spread[1]:
        what = f"the spread {list(spread)} is not from a smallest to a largest size"
        raise TomlError((*key, "spread"), what, "write two sizes, such as spread = [1000, 2000]")
    if files is None or not 2 <= files <= MOST_SPREAD:
        what = f"class {name!r} needs 2 to {MOST_SPREAD:,} files for its spread"
        raise TomlError((*key, "files"), what, "write files = 100, or give it sizes instead")
    return FileClass(name, (), (spread[0], spread[1]), files)


def _described_above(found: Any, key: Key, known: Mapping[str, FileClass]) -> FileClass:
    wanted = text(found, key)
    if wanted not in known:
        what = f"no class above has the name {wanted!r} and files"
        raise TomlError(
            key, what, toml_file.suggest(wanted, known) if known else "describe it first"
        )
    return known[wanted]


def _body_bytes(
    table: TomlTable, found: Mapping[str, Any], key: Key
) -> tuple[int | None, int | None]:
    """Read the bytes of a body, exact and approximate: a program has one of them."""
    given = [name for name in ("size", "size_about") if name in found]
    if "paths" not in found and "dynamic" not in found:
        if given:
            what = f"{given[0]!r} of a class of files, which have sizes of their own"
            raise TomlError((*key, given[0]), what, "remove it")
    elif len(given) > 1:
        raise TomlError((*key, "size_about"), "both size and size_about", "keep one")
    elif "dynamic" in found and not given:
        what = "a program without its size"
        raise TomlError(
            (*key, "dynamic"), what, "write size = 10240, or size_about where it varies"
        )
    elif found.get("dynamic") == "cgi-env" and "size" in found:
        what = "the size of an environment is not the same on every server"
        raise TomlError((*key, "size"), what, "write size_about instead")
    return table.take("size", number(0), None), table.take("size_about", number(0), None)


def _name(found: Any, key: Key) -> str:
    name = text(found, key)
    if not _NAME.fullmatch(name):
        remedy = "use up to 64 letters, digits, '-', '_' and '.', and begin with a letter or digit"
        raise TomlError(key, f"{name!r} cannot be part of a path", remedy)
    return name


def _path(found: Any, key: Key) -> str:
    path = text(found, key)
    if (fault := path_fault(path)) is not None:
        raise TomlError(key, *fault)
    return path


def path_fault(path: str) -> tuple[str, str] | None:
    """Return why a text cannot be asked for as a path, and the remedy; None if it can."""
    if not path.startswith("/"):
        remedy = f"write {'/' + path!r}"
        if "://" in path:
            remedy = "write the path alone; the target has the address"
        return f"the path {path!r} does not begin with '/'", remedy
    if not path.isascii() or not path.isprintable() or {*" #{}"} & {*path}:
        return (
            f"the path {path!r} has a character that no request line can carry",
            "write it as %XX",
        )
    return None


def _clients(found: Any, key: Key) -> tuple[int, ...]:
    clients = list_of(number(1), "clients = [10, 20, 50]")(found, key)
    for n, (fewer, more) in enumerate(pairwise(clients), start=1):
        if fewer >= more:
            raise TomlError(
                (*key, n), f"{more} clients after {fewer}", "write them in ascending order"
            )
    return clients
