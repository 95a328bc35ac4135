"""The cost of TLS: lookups with and without it, and handshakes compared with OpenSSL's.

Everything runs on loopback, the directory in a separate process, one thread each side.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time

from benches.ils import KEPT
from benches.ils_engine import DirectoryBench
from benches.ratios import Skipped, Trial, Values, rows_of
from ils_bench.sequences import CONNECT

ROWS = rows_of("ils_tls")


class TlsBench(DirectoryBench):
    def trials(self) -> list[Trial]:
        return [
            Trial("tls-plain", lambda: self.alone(self.options(), KEPT)),
            Trial("tls-kept", lambda: self.alone(self.options(tls=True), KEPT)),
            Trial("tls-connect", lambda: self.alone(self.options(tls=True), CONNECT)),
            Trial("tls-openssl", self._openssl),
        ]

    def _openssl(self) -> Values | Skipped:
        openssl, target = shutil.which("openssl"), self.target(self.options(tls=True))
        if openssl is None:
            return Skipped("needs openssl")
        argv = [openssl, "s_time", "-new", "-time", str(max(1, round(self.seconds)))]
        argv += ["-connect", f"{target.address.host}:{target.address.port}"]
        argv += ["-CAfile", str(target.ca), "-verify", "2"]
        began = time.monotonic()
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        # The program counts in whole seconds, and ends at the turn of a second.
        took_s = time.monotonic() - began
        counted = re.search(r"(\d+) connections in", done.stdout)
        if counted is None:
            return Skipped("openssl s_time did not say how many handshakes it made")
        return {"ops_per_s": int(counted[1]) / took_s}
