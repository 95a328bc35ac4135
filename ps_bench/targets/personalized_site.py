"""The embedded site in this process, for `serve`, tests and programs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ps_bench.suite import SUITE
from sitebench._engine import Site
from sitebench.options.arguments import check_arguments
from sitebench.seeders import DEFAULT_LOCALES
from sitebench.seeders.upd import Progress, UpdSpec, open_cached, temporary_copy
from sitebench.system.scratch import scratch
from sitebench.targets.in_process import InProcess, certificate, start
from sitebench.targets.serving import serve_until_stopped
from sitebench.targets.tls import ServerTls
from sitebench.units import plural

if TYPE_CHECKING:
    from ps_bench.options import ServeOptions

_DEFAULT_PEOPLE = 10_000


class PersonalizedSite(InProcess[Site]):
    """A real web site of personalized pages, served by native threads of this process.

        with PersonalizedSite(entries=1_000) as site:
            page = urllib.request.urlopen(site.url + "/enter?user=7").read()

    Without a database of your own, the site serves a copy of a generated database, and `close`
    deletes the copy. The generated database is made once and stays in the cache folder. `limits`
    bound the requests of one client; `sitebench docs limits` lists their names.
    """

    suite = SUITE.name
    """The suite whose operations `sitebench.run` can measure here."""

    @check_arguments
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
        self.seed, self.locales = seed, locales
        with contextlib.ExitStack() as opening:
            if database is None:
                upd = open_cached(UpdSpec(entries or 1_000, seed, locales), progress)
                folder = opening.enter_context(scratch())
                database = opening.enter_context(temporary_copy(upd, folder))
            self.database = Path(database)
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
                config["tls"] = certificate(tls, host)
            expected = json.dumps({} if entries is None else {"size": entries})
            super().__init__(
                lambda config: Site(config, expected),
                config,
                "https" if tls else "http",
                opening.pop_all(),
            )

    @property
    def size(self) -> int:
        """Number of people with whom the site's database was made."""
        return int(self._server.manifest()["size"])

    def __repr__(self) -> str:
        return f"<PersonalizedSite {self.url} people={self.size:,} database={str(self.database)!r}>"


def serve(options: ServeOptions) -> None:
    """Serve the site until Ctrl-C or SIGTERM."""
    serve_until_stopped(
        lambda: _open(options),
        lambda site: _greeting(options, site),
        host=options.host,
        warning="anyone who reaches this address may be anyone on this site",
    )


def _open(options: ServeOptions) -> PersonalizedSite:
    if options.database is not None:
        return start(PersonalizedSite, options)
    from sitebench.measure.progress import bar

    entries = options.entries or _DEFAULT_PEOPLE
    with bar("making the database", entries) as move:
        return start(
            PersonalizedSite, options, entries=entries, progress=lambda count, _: move(count)
        )


def _greeting(options: ServeOptions, site: PersonalizedSite) -> list[str]:
    origin = "a copy, thrown away afterwards" if options.database is None else options.database
    trust = "" if site.ca is None else f" --tls-ca {site.ca}"
    return [
        f"serving {plural(site.size, 'person', 'people')} at {site.url} from {origin} "
        "(Ctrl-C to stop)",
        f"  open {site.url}/enter?user={min(7, site.size - 1)} in a browser",
        f"  sitebench ps run --target {site.url}{trust} --entries {site.size}",
    ]
