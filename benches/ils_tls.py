"""The cost of TLS: lookups with and without it, and handshakes compared with OpenSSL's.

Everything runs on loopback, the directory in a separate process, one thread each side.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from functools import cached_property

from benches.bench import LANES, Bench
from benches.ils import KEPT
from benches.ratios import Skipped, Trial, Values, rows_of
from ils_bench.calibrate import WARMUP_S, engine_alone
from ils_bench.options import IlsOptions
from ils_bench.sequences import CONNECT
from ils_bench.targets.opening import open_target
from ils_bench.targets.target import OpenDirectory
from sitebench.scenario.script import Script

ENTRIES = 10_000

ROWS = rows_of("ils_tls")


class TlsBench(Bench):
    """A directory with TLS and one without."""

    def trials(self) -> list[Trial]:
        return [
            Trial("tls-plain", lambda: self._alone(self._plain, KEPT, tls=False)),
            Trial("tls-kept", lambda: self._alone(self._secure, KEPT, tls=True)),
            Trial("tls-connect", lambda: self._alone(self._secure, CONNECT, tls=True)),
            Trial("tls-openssl", self._openssl),
        ]

    @cached_property
    def _plain(self) -> OpenDirectory:
        return self.stack.enter_context(open_target(self._options(tls=False), ENTRIES))

    @cached_property
    def _secure(self) -> OpenDirectory:
        return self.stack.enter_context(open_target(self._options(tls=True), ENTRIES))

    def _options(self, *, tls: bool) -> IlsOptions:
        return IlsOptions(
            entries=ENTRIES, tls=tls, threads=1, users=LANES, warmup=WARMUP_S, measure=self.seconds
        )

    def _alone(self, target: OpenDirectory, sequence: Script, *, tls: bool) -> Values:
        return engine_alone(self._options(tls=tls), target, sequence, LANES, self.seconds)

    def _openssl(self) -> Values | Skipped:
        openssl, address = shutil.which("openssl"), self._secure.address
        if openssl is None:
            return Skipped("needs openssl")
        began = time.monotonic()
        done = subprocess.run(
            [
                *(openssl, "s_time", "-new", "-time", str(max(1, round(self.seconds)))),
                *("-connect", f"{address.host}:{address.port}"),
                *("-CAfile", str(self._secure.ca), "-verify", "2"),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        # The program counts in whole seconds, and ends at the turn of a second.
        took_s = time.monotonic() - began
        counted = re.search(r"(\d+) connections in", done.stdout)
        if counted is None:
            return Skipped("openssl s_time did not say how many handshakes it made")
        return {"ops_per_s": int(counted[1]) / took_s}
