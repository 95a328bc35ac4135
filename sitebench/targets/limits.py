"""Limits on a target that is started here: its processors, memory, network and disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import structs

from sitebench.errors import BadInput, NotPossible, UnknownValue
from sitebench.system import groups
from sitebench.system.namespace import remote_host
from sitebench.system.programs import find_program
from sitebench.units import BYTES, parse_in, plural

_BITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_DISK = {"kb/s": 10**3, "mb/s": 10**6, "gb/s": 10**9}
_UNITS = {
    "processors": ({"": 1}, "a number, such as 1"),
    "memory": (BYTES, "bytes, such as 64m"),
    "network": (_BITS, "bits a second, such as 10mbit"),
    "disk": (_DISK, "bytes a second, such as 2mb/s"),
}
_NONE = "none"

# A shell enters the control groups, and then executes the target in its own process.
_ENTER = 'for group in $1; do echo $$ > "$group" || exit 1; done; shift; exec "$@"'


class Limits(msgspec.Struct, frozen=True):
    processors: int | None = None
    memory: int | None = None
    """Bytes, including cached files."""
    network: int | None = None
    """Bits a second in each direction."""
    disk: int | None = None
    """Bytes a second, for reads and for writes."""

    @classmethod
    def parse(cls, text: str) -> Limits:
        """Read `processors=1,memory=64m,network=10mbit,disk=2mb/s`."""
        limits = cls()
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, value = part.partition("=")
            limits = limits.with_limit(name, value)
        return limits

    def with_limit(self, name: str, value: str) -> Limits:
        """Return the limits with another value of one limit; the value `none` removes the limit."""
        if name not in _UNITS:
            raise UnknownValue(f"{name!r} cannot be limited", f"limit {', '.join(_UNITS)}")
        units, example = _UNITS[name]
        if value == _NONE:
            return structs.replace(self, **{name: None})
        if (limit := parse_in(value, units)) is None:
            raise UnknownValue(f"{value!r} is no limit of {name}", f"write {example}, or {_NONE}")
        return structs.replace(self, **{name: round(limit)})

    def __str__(self) -> str:
        def format_limit(name: str, value: int) -> str:
            units, _ = _UNITS[name]
            whole = (unit_size for unit_size in units.items() if value % unit_size[1] == 0)
            # The first name of a unit is its shortest.
            smallest = next(iter(units.items()))
            unit, size = max(whole, key=lambda unit_size: unit_size[1], default=smallest)
            return f"{name}={value / size:.15g}{unit}"

        limits = structs.asdict(self).items()
        return ",".join(format_limit(name, value) for name, value in limits if value is not None)


class Confinement(msgspec.Struct, frozen=True):
    before: tuple[str, ...] = ()
    """The prefix of the target's command."""
    host: str | None = None
    """The address for the target to listen on, if the network is limited."""


UNCONFINED = Confinement()


@contextmanager
def confine(limits: Limits | None, data: Path | None = None) -> Iterator[Confinement]:
    """Prepare the start of a target with its files in `data`; raise NotPossible if that fails."""
    limits, wrapper, host = limits or Limits(), list[str](), None
    with ExitStack() as stack:
        procs = []
        if limits.memory is not None:
            procs.append(stack.enter_context(groups.memory(limits.memory)).procs)
        if limits.disk is not None:
            if data is None:
                raise NotPossible("this target stores nothing on a disk", "limit something else")
            procs.append(stack.enter_context(groups.disk(limits.disk, data)).procs)
        if procs:
            wrapper += ["/bin/sh", "-c", _ENTER, "sh", " ".join(map(str, procs))]
        if limits.processors is not None:
            wrapper += _on_processors(limits.processors)
        if limits.network is not None:
            remote = stack.enter_context(remote_host(limits.network))
            wrapper += remote.before
            host = remote.address
        yield Confinement(tuple(wrapper), host)


def forget(folder: Path) -> None:
    """Drop a folder's files from the page cache.

    A cached page counts for the control group that read or wrote it first: a limited target that
    reads it later would use no memory for it.
    """
    for path in folder.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            try:
                os.fdatasync(file)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)


def refuse_limits(target: str, limits: Limits | None) -> None:
    if limits is not None:
        raise BadInput(
            f"{target} runs already, and only a target that sitebench starts can be limited",
            "leave --target-limits out",
        )


def _on_processors(count: int) -> list[str]:
    """Return the command prefix that keeps a program on the last processors."""
    usable = sorted(os.sched_getaffinity(0))
    if count > len(usable):
        raise NotPossible(
            f"this machine has {plural(len(usable), 'processor')}, and not {count}", "ask for fewer"
        )
    taskset = find_program("taskset", "install util-linux")
    return [taskset, "--cpu-list", ",".join(map(str, usable[-count:]))]
