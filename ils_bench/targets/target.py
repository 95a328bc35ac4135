"""An open target: where it is, whose process it is, and whether it still lives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ils_bench.targets.address import Address
from ils_bench.targets.identity import ANONYMOUS, Identity
from ils_bench.targets.probe import probe
from sitebench.errors import OutOfPorts, SitebenchError, TargetDied
from sitebench.targets.ownership import assure_own
from sitebench.targets.tls import SYSTEM, Trust
from sitebench.verdict.warning import Doubt


@dataclass(frozen=True)
class OpenTarget:
    """A directory that answers.

    `pid` and `cores` are known where it runs on this machine and is ours; `disposable` means
    that it is thrown away afterwards, so that nothing needs to be removed from it; `owned` that its
    user says it is theirs to write to; `counters` what it has counted, if it tells.
    """

    name: str
    address: Address
    base: str
    who: Identity = ANONYMOUS
    pid: int | None = None
    cores: int | None = None
    disposable: bool = False
    owned: bool = False
    alive: Callable[[], bool] = lambda: True
    close: Callable[[], None] = lambda: None
    counters: Callable[[], dict[str, int]] = dict
    facts: dict[str, Any] = field(default_factory=dict)
    trust: Trust = SYSTEM
    ca: str | None = None
    """The file with the authority of a certificate that was made for it."""

    def doubts(self) -> tuple[Doubt, ...]:
        """Return what there is to doubt about who it is."""
        return self.trust.doubts() if self.address.scheme != "ldap" else ()

    def assure_own(self, what: str) -> None:
        """Raise NotYours unless `what` may write to it."""
        owned = self.owned or self.disposable
        assure_own(self.address.host, self.address.port, owned=owned, what=what)

    def to_engine(self) -> str:
        """Return its address, as the engine's functions that seed and remove people read it."""
        return json.dumps(
            {
                "host": self.address.host,
                "port": self.address.port,
                "base": self.base,
                **self.who.to_engine(),
                "tls": self.address.engine_tls(self.trust),
            }
        )

    def check(self) -> None:
        """Raise TargetDied when it is not there any more."""
        remedy = "look into its log; points already measured are kept, run again to go on"
        if not self.alive():
            raise TargetDied(f"{self.name} at {self.address} ended during the measurement", remedy)
        try:
            probe(self.address, None, self.who, self.trust)
        except OutOfPorts:
            raise
        except SitebenchError as error:
            raise TargetDied(
                f"{self.name} at {self.address} answered before the measurement and does not "
                f"now: {error.message}",
                remedy,
            ) from error
