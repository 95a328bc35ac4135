"""The embedded site inside this process: for `serve`, for tests, and for programs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ps_bench.suite import SUITE
from seeders.pools import DEFAULT_LOCALES
from seeders.upd import Progress, UpdSpec, cached, copied
from sitebench._engine import Site
from sitebench.system.native_errors import translated
from sitebench.system.scratch import scratch
from sitebench.targets.tls import CaFile, ServerTls


class PersonalizedSite:
    """A real web site of personalized pages, served by native threads of this process.

        with PersonalizedSite(entries=1_000) as site:
            page = urllib.request.urlopen(site.url + "/enter?user=7").read()

    Without a database of yours it serves, and changes, a copy that is thrown away when closed;
    the original is made once and kept in the cache folder. `limits` bound what one client can ask
    of it, by the names in docs/trust.md.
    """

    suite = SUITE.name
    """For `sitebench.run`: which operations it is a target of."""

    def __init__(
        self,
        entries: int | None = None,
        *,
        database: Path | str | None = None,
        seed: int = 1997,
        locales: tuple[str, ...] = DEFAULT_LOCALES,
        durability: Literal["normal", "full"] = "normal",
        row_cache: int = 0,
        limits: Mapping[str, int] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        threads: int = 1,
        tls: bool | ServerTls = False,
        progress: Progress = lambda done, total: None,
    ) -> None:
        self.host = host
        self.threads = threads
        self.seed, self.locales = seed, locales
        with contextlib.ExitStack() as opening:
            if database is None:
                upd = cached(UpdSpec(entries or 1_000, seed, locales), progress)
                folder = opening.enter_context(scratch())
                database = opening.enter_context(copied(upd, folder))
            self.database = Path(database)
            """The user-property database that it reads and changes."""
            config: dict[str, Any] = {
                "host": host,
                "port": port,
                "threads": threads,
                "database": str(database),
                "durability": durability,
                "row_cache": row_cache,
                "limits": dict(limits or {}),
            }
            if tls:
                shown = tls if isinstance(tls, ServerTls) else ServerTls()
                config["tls"] = shown.to_engine(host)
            self._scheme = "https" if tls else "http"
            expected = {} if entries is None else {"size": entries}
            with translated():
                self._site = Site(json.dumps(config), json.dumps(expected))
            opening.callback(self._site.stop)
            self.ca: str | None = None
            """File with the authority of a certificate that was made for it."""
            if self._site.made_ca is not None:
                file = CaFile(self._site.made_ca)
                opening.callback(file.remove)
                self.ca = str(file.path)
            self._opened = opening.pop_all()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._site.port

    @property
    def url(self) -> str:
        """Its address, as browsers take it."""
        return f"{self._scheme}://{self._site.address}"

    @property
    def size(self) -> int:
        """How many people its database was made with."""
        return int(self._site.manifest()["size"])

    def stats(self) -> dict[str, int]:
        """Return its counters: pages, reads of the database, creates, updates."""
        return self._site.stats()

    def close(self) -> None:
        """Store what is to be stored and end; calling it again does nothing."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<PersonalizedSite {self.url} people={self.size:,} database={str(self.database)!r}>"
