"""An open directory: an open target that holds people under a base DN."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.identity import ANONYMOUS, Identity
from sitebench.targets.open_target import OpenTarget


@dataclass(frozen=True)
class OpenDirectory(OpenTarget[DirectoryAddress]):
    base: str
    who: Identity = ANONYMOUS

    def probe(self) -> None:
        """Raise what is wrong with it; its base is not looked up again."""
        # Late, as everywhere: importing ldap3 takes a tenth of a second.
        from ils_bench.targets.probe import probe

        probe(self.address, None, self.who, self.trust)

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
