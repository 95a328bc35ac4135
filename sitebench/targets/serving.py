"""The `serve` commands of all suites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sitebench.errors import UnknownValue
from sitebench.system.interrupt import ending
from sitebench.system.network import on_loopback
from sitebench.system.stop import Stop

if TYPE_CHECKING:
    from sitebench.targets.in_process import InProcess

_T = TypeVar("_T", bound="InProcess[Any]")

_LOOK_S = 1.0
"""Interval between checks for names that clients request and the server lacks."""
_HELD = ("entries", "answer_bytes")
"""Names of counters with a present value instead of a total."""


def parse_limits(text: str) -> dict[str, int]:
    """Read `name=value,name=value`; the engine checks the names."""
    limits = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if not value.strip().isdecimal():
            raise UnknownValue(
                f"{part!r} sets no limit", "write name=number, several with commas between"
            )
        limits[name.strip()] = int(value)
    return limits


def serve_until_stopped(
    opened: Callable[[], AbstractContextManager[_T]],
    greeting: Callable[[_T], Sequence[str]],
    *,
    host: str,
    warning: str | None = None,
) -> None:
    """Serve until a signal; print `warning` if other machines can reach `host`."""
    # Imported late: options import this module, and help does not need rich.
    from rich.console import Console

    console = Console()
    with until_stopped() as stopped, opened() as server:
        for line in greeting(server):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        if warning is not None and not on_loopback(host):
            console.print(warning, style="yellow")
        printed, ended = 0, False
        while not ended:
            ended = stopped.wait(_LOOK_S)
            for name in server.unknown_names()[printed:]:
                printed += 1
                line = f"clients ask for the {name}, which this server does not have"
                console.print(line, highlight=False, markup=False, soft_wrap=True, style="yellow")
        console.print(_totals(server.stats()), highlight=False, markup=False, soft_wrap=True)


def _totals(counters: Mapping[str, int]) -> str:
    """Return a server's totals in a line, to compare with a client's totals."""
    counts = [
        f"{name.replace('_', ' ')} {count:,}"
        for name, count in counters.items()
        if count and name not in _HELD
    ]
    return f"served: {', '.join(counts) or 'nothing'}"


@contextmanager
def until_stopped() -> Iterator[Stop]:
    with closing(Stop()) as stopped, stopped.on_signals(*ending()):
        yield stopped
