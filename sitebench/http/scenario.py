"""What users of a site do: operations with their shares, requests with what must come back.

A scenario is data. The engine runs it natively, `--client fasthttp` runs the same one through
Locust's FastHttpUser, and a TOML file describes one for any other site (`scenario_file`).

Texts are templates: `{given}` is the given name of the person a request is about; see FIELDS.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sitebench.errors import BadInput

_PROPERTIES = (
    *("id", "name", "given", "family", "mail", "city", "country", "language", "occupation"),
    *("company", "birth_year", "background", "accent", "sections", "interests", "stocks"),
    "newsletter",
)
"""Properties of a person."""

_DRAWN = ("draw.colour", "draw.accent", "draw.city", "draw.number")
"""Values that are drawn again for each update, and that the page after it must show."""

FIELDS = (*_PROPERTIES, *_DRAWN, "captured")
"""Everything a template may name; `captured` is what the lane captured last."""

_FIELD = re.compile(r"\{([a-z_.]*)\}")

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_SAFE = ("GET", "HEAD")
"""Those of them that change nothing (RFC 9110 section 9.2.1)."""

PERSONS = ("random", "own", "current", "new")
DOES = ("read", "create", "update")
_ABOUT = {"read": "random", "create": "new", "update": "own"}
MATCHES = ("html", "json", "plain")
FORM = "application/x-www-form-urlencoded"
"""The content type of a form that is posted."""

FOR_CREDENTIALS = ("authorization", "proxy-authorization")
"""Headers whose values must not be in a run file."""


class BadScenario(BadInput):
    """A scenario that no lane could run."""


@dataclass(frozen=True)
class Identity:
    """The person a page is for: the value between two texts; another value there is a leak."""

    before: str
    value: str
    until: str


@dataclass(frozen=True)
class Expect:
    """What an answer must be."""

    status: tuple[int, ...] = (200,)
    length: int | None = None
    contains: tuple[str, ...] = ()
    identity: Identity | None = None
    fresh: tuple[str, ...] = ()


@dataclass(frozen=True)
class Capture:
    """What to remember of an answer: a cookie, or what stands between two texts."""

    cookie: str = ""
    before: str = ""
    until: str = ""


@dataclass(frozen=True)
class Request:
    """One request and what must come back.

    `person` is the person it is about: any (`random`), one that no other lane updates now (`own`),
    the one of the last request (`current`), or a new one (`new`): in a create the person that it
    makes, elsewhere the person that the last create made. The default follows from `does`.
    """

    name: str
    path: str = "/"
    method: str = "GET"
    person: str = ""
    does: str = "read"
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    content_type: str = ""
    match: str = "html"
    expect: Expect = Expect()
    capture: Capture | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "person", self.person or _ABOUT[self.does])

    def to_step(self) -> dict[str, Any]:
        """Return the request as the engine reads it."""
        return {"op": "request", **_plain(self)}


@dataclass(frozen=True)
class Operation:
    """One card of the deck: requests in their order, and which of them is "the operation"."""

    name: str
    share: int
    requests: tuple[Request, ...]
    counts: str = ""
    page: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.counts or self.requests[0].name)


@dataclass(frozen=True)
class Scenario:
    """Operations, dealt from a shuffled deck with as many cards of each as its share says."""

    name: str
    operations: tuple[Operation, ...]

    def __post_init__(self) -> None:
        counted: dict[str, str] = {}
        for operation in self.operations:
            names = [request.name for request in operation.requests]
            if names.count(operation.counts) != 1:
                raise BadScenario(
                    f"operation {operation.name!r} counts {operation.counts!r}, which is not "
                    f"exactly one of its requests",
                    f"let it count one of {', '.join(dict.fromkeys(names))}",
                )
            counted[operation.counts] = operation.name
        for operation in self.operations:
            for request in operation.requests:
                owner = counted.get(request.name, operation.name)
                if owner != operation.name:
                    raise BadScenario(
                        f"requests of {operation.name!r} and of {owner!r} are both named "
                        f"{request.name!r}, which is what {owner!r} counts",
                        "give the counted request of each operation a name of its own",
                    )

    def to_program(self, think_s: float = 0.0) -> dict[str, Any]:
        """Return the scenario as the engine reads it: one operation a pass."""
        branches = [
            {"weight": each.share, "steps": [request.to_step() for request in each.requests]}
            for each in self.operations
        ]
        steps: list[dict[str, Any]] = [{"op": "deck", "branches": branches}]
        if think_s > 0:
            steps.append({"op": "think", "mean_ms": think_s * 1e3, "distribution": "exponential"})
        return {"name": self.name, "counts": "sequence", "steps": steps}

    @property
    def writes(self) -> bool:
        """Whether any request may change the site: all that HTTP does not call safe."""
        requests = (request for each in self.operations for request in each.requests)
        return any(each.method not in _SAFE or each.does != "read" for each in requests)

    @property
    def needs_people(self) -> bool:
        """Whether a request or its answer names a property of a person: else visitors are alike."""
        requests = (request for each in self.operations for request in each.requests)
        named = {name for each in requests for name in fields_in(repr(each))}
        return not named.isdisjoint(_PROPERTIES)

    def without_credentials(self) -> Scenario:
        """Return it as a run file may hold it."""

        def mask(header: tuple[str, str]) -> tuple[str, str]:
            name, _ = header
            return (name, "...") if name.lower() in FOR_CREDENTIALS else header

        def masked(request: Request) -> Request:
            return replace(request, headers=tuple(map(mask, request.headers)))

        operations = (
            replace(each, requests=tuple(map(masked, each.requests))) for each in self.operations
        )
        return replace(self, operations=tuple(operations))

    @property
    def counted(self) -> list[tuple[str, str]]:
        """The (program, step) pairs that are operations."""
        return [(self.name, each.counts) for each in self.operations]


def _plain(value: Any) -> Any:
    """Return a dataclass as JSON has it, with what is empty left out."""
    found: dict[str, Any] = {}
    for each in dataclasses.fields(value):
        part = getattr(value, each.name)
        if part in (None, "", ()):
            continue
        if each.name == "headers":
            part = dict(part)
        elif dataclasses.is_dataclass(part):
            part = _plain(part)
        elif isinstance(part, tuple):
            part = list(part)
        found[each.name] = part
    return found


def fields_in(template: str) -> Iterator[str]:
    """Yield the names of a template's fields."""
    return (match[1] for match in _FIELD.finditer(template))


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill a template in."""
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), template)
