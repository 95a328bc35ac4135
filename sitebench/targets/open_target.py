"""An open target: its address, its process, and whether it still answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec

from sitebench.errors import OutOfPorts, SitebenchError, TargetDied
from sitebench.system.closing import Closing
from sitebench.targets import ownership
from sitebench.targets.tls import SYSTEM, Trust
from sitebench.verdict.warning import PointWarning

_REMEDY = "see its log; points already measured are kept; run the same command to continue"


class ServerAddress(Protocol):
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def is_encrypted(self) -> bool: ...


_OF_HERE = ("pid", "cores", "alive", "stop", "counters", "facts", "ca")

_A = TypeVar("_A", bound=ServerAddress)


def _lives() -> bool:
    return True


def _stop_nothing() -> None: ...


@dataclass(frozen=True)
class OpenTarget(Closing, Generic[_A]):
    """A server that answers; `pid`, `cores` and `counters` are set if sitebench started it."""

    name: str
    address: _A
    pid: int | None = field(default=None, kw_only=True)
    cores: int | None = field(default=None, kw_only=True)
    disposable: bool = field(default=False, kw_only=True)
    """Whether the target is deleted after the test, so that added entries need not be removed."""
    owned: bool = field(default=False, kw_only=True)
    """Whether the user permits writes (`--i-own-this-target`)."""
    alive: Callable[[], bool] = field(default=_lives, kw_only=True)
    stop: Callable[[], None] = field(default=_stop_nothing, kw_only=True)
    counters: Callable[[], dict[str, int]] = field(default=dict, kw_only=True)
    facts: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    trust: Trust = field(default=SYSTEM, kw_only=True)
    ca: str | None = field(default=None, kw_only=True)
    """File with the authority of a certificate that was made for the target."""

    def probe(self) -> object:
        raise NotImplementedError

    def close(self) -> None:
        self.stop()

    def for_several_tests(self) -> Self:
        """Return the target for several tests, each of which removes the entries that it added."""
        return replace(self, disposable=False, owned=self.owned or self.disposable)

    def without_process(self) -> Self:
        return replace(self, alive=_lives, stop=_stop_nothing, counters=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are valid on other machines too, without secrets."""
        names = [field.name for field in fields(self) if field.name not in _OF_HERE]
        sent: dict[str, Any] = msgspec.to_builtins({name: getattr(self, name) for name in names})
        return sent

    def with_options(self, options: Any) -> Self:
        """Return the target with the options and secrets of this process."""
        return self

    def pending_cleanup(self, pid: int) -> str | None:
        """Describe the pending clean-up of a test's process."""
        return None

    def warnings(self) -> tuple[PointWarning, ...]:
        return self.trust.warnings() if self.address.is_encrypted else ()

    def owns(self, *, named: bool) -> bool:
        """Return whether writes are permitted; `named` if the operation's name implies a write."""
        owned = self.owned or self.disposable
        return ownership.owns(self.address.host, self.address.port, owned=owned, named=named)

    def check(self) -> None:
        """Raise TargetDied if the target does not answer any more."""
        if not self.alive():
            raise TargetDied(f"{self.name} at {self.address} ended during the measurement", _REMEDY)
        try:
            self.probe()
        except OutOfPorts:
            raise
        except SitebenchError as error:
            raise TargetDied(
                f"{self.name} at {self.address} answered before the measurement and does not "
                f"now: {error.message}",
                _REMEDY,
            ) from error
