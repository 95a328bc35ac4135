"""Workloads: scenario files for web servers.

An operation of one constant request is a class of requests: for a file, a program or a path. If all
operations of a file are classes, results have a row per class, like the papers' tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files as files_of
from pathlib import Path
from typing import Any

from sitebench._engine import FileSet as Generator
from sitebench.counts.source import SEQUENCE
from sitebench.errors import BadFile, BadInput
from sitebench.options.spelling import nearest
from sitebench.scenario import script
from sitebench.scenario.script import Script
from sitebench.system.native_errors import translated
from web_bench.suite import SUITE

DYNAMIC = {
    "cgi-env": "a process per request that prints its environment",
    "cgi": "a process per request",
    "inprocess": "a program within the server's process",
    "page": "a page that the server parses to insert today's date",
    "template": "one of 100 identical pages with today's date",
    "fastcgi": "a process that stays",
}

SEED = 1997

PATH = "path"

Progress = Callable[[int, int], object]
"""Called with the written bytes, and the total."""


def file_set(spec: Mapping[str, Any]) -> Generator:
    with translated():
        return Generator(json.dumps(dict(spec)))


def seed(
    spec: Mapping[str, Any], docroot: Path, progress: Progress = lambda written, total: None
) -> Path:
    """Write a file set into `docroot` and return its manifest.

    The manifest is JSON lines: the specification, then path, size and SHA-256 of each file, then
    totals. The same call resumes an interrupted seeding: files in the manifest stay; the totals
    mark a complete set.
    """
    files = file_set(spec)
    with translated():
        files.write(str(docroot), lambda written: progress(written, files.bytes))
    return docroot / f"{spec['name']}.manifest"


@dataclass(frozen=True)
class FileClass:
    """Files requested equally often: a row of a paper's table."""

    name: str
    sizes: tuple[int, ...] = ()
    """Sizes in bytes, used in turn."""
    spread: tuple[int, int] | None = None
    """In place of `sizes`: the smallest and the largest size, with geometric steps between."""
    files: int | None = None
    """Number of files; by default `files_per_class` for each of `sizes`."""


@dataclass(frozen=True)
class FileSet:
    """The files of a workload; their contents follow from the specification and the seed."""

    name: str
    classes: tuple[FileClass, ...]
    files_per_class: int = 1

    def only(self, class_: FileClass) -> FileSet:
        """Return the set of the files of one class."""
        return replace(self, classes=(class_,))

    @property
    def count(self) -> int:
        return file_set(self.spec()).count

    @property
    def bytes(self) -> int:
        return file_set(self.spec()).bytes

    def spec(self, seed: int = SEED) -> dict[str, Any]:
        return {
            "name": self.name,
            "seed": seed,
            "files_per_class": self.files_per_class,
            "classes": [_spec_of_class(class_) for class_ in self.classes],
        }


def _spec_of_class(class_: FileClass) -> dict[str, Any]:
    sizes, spread = [*class_.sizes], class_.spread and [*class_.spread]
    fields = {"name": class_.name, "sizes": sizes, "spread": spread, "files": class_.files}
    return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True)
class RequestClass:
    """Requests for files of a class, a path or a program, or an operation of several requests."""

    name: str
    weight: int
    row: tuple[str, str]
    """Operation and step under which the requests are counted."""
    files: FileClass | None = None
    dynamic: str = ""
    asks: tuple[str, ...] = ()
    """Paths and programs that the steps request."""
    size: int | None = None
    """Bytes of the body; None if bodies differ in size or the size is unknown."""
    size_about: int | None = None
    """Mean bytes of the body, if the size depends on the server."""
    tls: bool = False


@dataclass(frozen=True)
class Workload(Script):
    """A weighted mix of requests, and its numbers of clients."""

    title: str = ""
    classes: tuple[RequestClass, ...] = ()
    file_set: FileSet | None = None
    http: str = "1.1"
    kinds: frozenset[str] = frozenset()
    """Kinds of programs that the workload requests."""
    uses_tls: bool = False
    """Whether some requests always go over TLS."""

    @property
    def clients(self) -> tuple[int, ...]:
        return tuple(self.load.get("clients", ()))

    @property
    def requests(self) -> Sequence[tuple[str, str]]:
        if self.counts is not None:
            return [class_.row for class_ in self.classes]
        rows = (
            (operation.name, name) for operation in self.operations for name, _ in operation.steps
        )
        return list(dict.fromkeys(rows))

    @property
    def connects(self) -> Sequence[tuple[str, str]]:
        if self.counts is not None:
            return [(self.name, "connect")]
        return super().connects

    def mean_bytes_of(self, class_: RequestClass) -> float | None:
        if self.file_set is not None and class_.files is not None:
            files = self.file_set.only(class_.files)
            return files.bytes / files.count
        size = class_.size_about if class_.size is None else class_.size
        return None if size is None else float(size)


def of_path(path: str, *, keepalive: bool = True) -> Workload:
    """Return the workload of one path, with a connection per client or per request."""
    lines = (
        f"title = {json.dumps(f'GET {path}')}",
        "load.clients = [1, 4, 16, 64]",
        "[[operation]]",
        f'name = "{PATH}"',
        f"get = {json.dumps(path)}",
        *(() if keepalive else ("[connection.main]", 'per = "step"')),
    )
    return parse("\n".join(lines) + "\n", PATH)


def built_in() -> dict[str, Workload]:
    return {name: find(name) for name in SUITE.operations}


def text_of(name: str) -> str:
    return files_of("web_bench").joinpath("workloads", f"{name}.toml").read_text(encoding="utf-8")


def find(name: str, data: Mapping[str, str] | None = None) -> Workload:
    """Return a built-in workload, or a scenario file's; `data` replaces the file's data."""
    if script.is_script(name):
        return _workload(script.read(name, data, by_class=True))
    if name not in SUITE.operations:
        near = nearest(name, SUITE.operations)
        hint = "" if near is None else f"did you mean {near!r}? "
        remedy = f"{hint}known: {', '.join(SUITE.operations)}; or name a .toml file of your own"
        raise BadInput(f"unknown workload {name!r}", remedy)
    return parse(text_of(name), name)


def parse(text: str, name: str) -> Workload:
    return _workload(script.from_text(name, text, by_class=True))


def _workload(loaded: Script) -> Workload:
    facts = loaded.facts
    if loaded.protocol != script.HTTP:
        raise BadFile(f"{loaded.path} speaks LDAP", "measure it with `sitebench ils`")
    for data in facts["data"]:
        if data["rows"] in (script.SEEDED, "new"):
            raise BadFile(
                f"{loaded.path}: a web server holds no people, and {data['name']!r} are some",
                "measure it with `sitebench ps`, or give its data a file",
            )
    secure = {connection["name"] for connection in facts["connections"] if connection["tls"]}
    files = None if facts["files"] is None else _file_set(facts["files"])
    names = {operation.name for operation in loaded.operations}
    operations = [operation for operation in facts["operations"] if operation["name"] in names]
    steps = [
        *(step for operation in operations for step in operation["steps"]),
        *facts["start"]["steps"],
    ]
    return Workload(
        **vars(loaded),
        title=facts["title"] or loaded.name,
        classes=tuple(_class(operation, loaded, files, secure) for operation in operations),
        file_set=files if any("file" in step["asks"] for step in steps) else None,
        http="1.0" if all(connection["http_1_0"] for connection in facts["connections"]) else "1.1",
        kinds=frozenset(step["asks"]["program"] for step in steps if "program" in step["asks"]),
        uses_tls=any(step["on"] in secure for step in steps),
    )


def _class(
    operation: Mapping[str, Any], loaded: Script, files: FileSet | None, secure: set[str]
) -> RequestClass:
    name, weight, steps = operation["name"], operation["weight"], operation["steps"]
    row = (loaded.name, name)
    if loaded.counts is None:
        counts = steps[0]["name"] if len(steps) == 1 else operation["counts"]
        row = (name, counts or SEQUENCE)
    requests = [step["asks"] for step in steps]
    if len(steps) > 1:
        tls = all(step["on"] in secure for step in steps)
        return RequestClass(name, weight, row, asks=tuple(map(_request_text, requests)), tls=tls)
    [asks], tls = requests, steps[0]["on"] in secure
    if "file" in asks:
        assert files is not None
        [files_of_class] = (class_ for class_ in files.classes if class_.name == asks["file"])
        return RequestClass(name, weight, row, files_of_class, tls=tls)
    size = asks["size"] if asks.get("whole", True) else None
    size_about, dynamic = asks.get("size_about"), asks.get("program", "")
    paths = () if dynamic else (asks["path"],)
    return RequestClass(name, weight, row, None, dynamic, paths, size, size_about, tls)


def _request_text(asks: Mapping[str, Any]) -> str:
    text: str = asks.get("path") or asks.get("program") or asks.get("file") or ""
    return text


def _file_set(table: Mapping[str, Any]) -> FileSet:
    return FileSet(
        table["name"],
        tuple(
            FileClass(
                row["name"],
                tuple(row["sizes"] or ()),
                row["spread"] and tuple(row["spread"]),
                row["count"],
            )
            for row in table["classes"]
        ),
    )
