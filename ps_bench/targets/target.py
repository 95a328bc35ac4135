"""An open site: where it is, whose process it is, and whether it still lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sitebench.errors import OutOfPorts, SitebenchError, TargetDied
from sitebench.http.address import Address, probe
from sitebench.targets.tls import SYSTEM, Trust
from sitebench.verdict.warning import Doubt

_REMEDY = "look into its log; points already measured are kept, run again to go on"


@dataclass(frozen=True)
class OpenSite:
    """A site that answers; `pid` and `cores` are known where it is ours."""

    name: str
    address: Address
    pid: int | None = None
    cores: int | None = None
    alive: Callable[[], bool] = lambda: True
    facts: Mapping[str, Any] = field(default_factory=dict)
    trust: Trust = SYSTEM
    ca: str | None = None
    """The file with the authority of a certificate that was made for it."""

    def doubts(self) -> tuple[Doubt, ...]:
        """Return what there is to doubt about who it is."""
        return self.trust.doubts() if self.address.scheme == "https" else ()

    def check(self) -> None:
        """Raise TargetDied when it is not there any more."""
        if not self.alive():
            raise TargetDied(f"{self.name} at {self.address} ended during the measurement", _REMEDY)
        try:
            probe(self.address, self.trust)
        except OutOfPorts:
            raise
        except SitebenchError as error:
            raise TargetDied(
                f"{self.name} at {self.address} answered before the measurement and does not "
                f"now: {error.message}",
                _REMEDY,
            ) from error
