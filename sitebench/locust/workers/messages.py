"""The messages of a master and its workers, beside Locust's own: plain data with named fields.

    master                                   worker
      slots, in the prepared test   ------->
                                    <-------  Opened   its identity; its lanes are open
      Ping                          ------->
                                    <-------  Pong     its clock
      Ask    number, phase          ------->           twice a second, and at each boundary
                                    <-------  Report   the same number, all counts since the last
      Ask    last                   ------->           its lanes end
                                    <-------  Report   last
                                    <-------  Failed   the error that ended it

A worker that is ended on its own machine (Ctrl-C) sends its last report unasked. Messages of a
worker arrive complete and in order, or not at all. A message with missing or additional fields is
refused: it comes from another build (`build`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec.structs import replace

from sitebench._engine import Histogram
from sitebench.counts import metrics
from sitebench.counts.source import Drain, Drained, ended
from sitebench.errors import BadMessage
from sitebench.monitor.use import Use

SHARED = "sitebench_shared"
"""Name of the parsed option in which a master sends its workers a `Shared`."""


class Message(msgspec.Struct, forbid_unknown_fields=True):
    TYPE: ClassVar[str] = ""

    def send(self, runner: Any, worker: str | None = None) -> None:
        plain = msgspec.to_builtins(self, builtin_types=(bytes,))
        addressee = () if worker is None else (worker,)
        runner.send_message(self.TYPE, plain, *addressee)


_M = TypeVar("_M", bound=Message)


def read(kind: type[_M], data: Any) -> _M:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise _unreadable(kind, str(error)) from error


def _unreadable(kind: type[Message], reason: str) -> BadMessage:
    return BadMessage(
        f"a message {kind.TYPE or kind.__name__} has not the form of this sitebench: {reason}",
        "run the same sitebench on the master's machine and on the workers'",
    )


class Shared(Message):
    """A test that begins, and its division among workers."""

    build: dict[str, Any]
    slots: dict[str, int]
    loopback: str
    """The network namespace of the master, in which its loopback addresses are valid."""
    test: dict[str, Any]


class Opened(Message):
    """A worker's identity; its build comes first, as the master refuses other builds."""

    TYPE: ClassVar[str] = "sitebench-opened"
    version: str
    schema: int
    digest: str
    host: str
    address: str
    pid: int
    machine: str
    client: str
    cpu: list[int]
    """CPU nanoseconds of each thread of the worker when its lanes began."""


class Ping(Message):
    TYPE: ClassVar[str] = "sitebench-ping"
    sent: int


class Pong(Message):
    TYPE: ClassVar[str] = "sitebench-pong"
    sent: int
    received: int
    answered: int
    epoch: int


class Ask(Message):
    """A request for a drain; `begins` is the phase that begins with the drain."""

    TYPE: ClassVar[str] = "sitebench-drain"
    number: int
    begins: str | None
    shown: bool
    last: bool
    sent: int


class Report(Message):
    """A drain, and the number of its request, if any."""

    TYPE: ClassVar[str] = "sitebench-report"
    number: int | None
    sent: int | None
    received: int
    answered: int
    epoch: int
    last: bool
    did: int
    use: Use | None
    drained: dict[str, Any]
    """A `Drain` as plain data (`pack`)."""


class Failed(Message):
    TYPE: ClassVar[str] = "sitebench-failed"
    error: dict[str, str]


ALL: tuple[type[Message], ...] = (Shared, Opened, Ping, Pong, Ask, Report, Failed)


def pack(drained: Drained, cpu_ns: Sequence[int]) -> dict[str, Any]:
    """Return a drain as plain data, with the CPU time of the load generator."""
    encoded: dict[int, bytes] = {}

    def encode(times: Histogram) -> bytes:
        """Encode a histogram once, even if clocks share it: the encoding takes milliseconds."""
        if id(times) not in encoded:
            encoded[id(times)] = times.to_bytes() if times.count else b""
        return encoded[id(times)]

    drain = msgspec.convert(drained, Drain, from_attributes=True, dec_hook=_to_counter)
    drain = replace(drain, cpu_ns=tuple(cpu_ns))
    plain: dict[str, Any] = msgspec.to_builtins(drain, enc_hook=encode, builtin_types=(bytes,))
    return plain


def _to_counter(kind: type, value: Any) -> Any:
    return value if kind is Histogram else Counter(msgspec.convert(value, dict[str, int]))


def unpack(plain: Mapping[str, Any]) -> Drain:
    """Undo `pack`; raises BadMessage. Equal clocks of a message share a histogram."""
    histograms: dict[bytes, Histogram] = {b"": Histogram()}

    def decode(kind: type, value: Any) -> Any:
        if kind is not Histogram:
            return _to_counter(kind, value)
        if value not in histograms:
            histograms[value] = Histogram.from_bytes(value)
        return histograms[value]

    try:
        _same_names("fields", plain, Drain.__struct_fields__)
        drain = msgspec.convert(plain, Drain, dec_hook=decode)
        for step in (*ended(drain), *(step for _, step in drain.spans)):
            _same_names("clocks", step.clocks, metrics.CLOCKS)
            _same_names("counters", step.counters, metrics.COUNTERS)
    except ValueError as error:
        raise _unreadable(Report, str(error)) from error
    return drain


def _same_names(kind: str, values: Mapping[str, Any], names: Sequence[str]) -> None:
    if differences := values.keys() ^ set(names):
        raise ValueError(f"its {kind} differ in {', '.join(sorted(differences))}")
