"""`sitebench ps serve`: the personalized site for whoever wants to see it."""

from __future__ import annotations

from rich.console import Console

from ps_bench.options import ServeOptions
from ps_bench.targets.personalized_site import PersonalizedSite
from seeders.upd import Progress
from sitebench.measure.progress import bar
from sitebench.targets.ownership import on_loopback
from sitebench.targets.serving import until_stopped
from sitebench.targets.tls import ServerTls

DEFAULT_PEOPLE = 10_000


def serve(options: ServeOptions, console: Console) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    with until_stopped() as stopped, opened(options) as site:
        for line in greeting(options, site):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        if not on_loopback(options.host):
            warning = "anyone who reaches this address may be anyone on this site"
            console.print(warning, style="yellow")
        stopped.wait()


def opened(options: ServeOptions) -> PersonalizedSite:
    """Start the site on the database that is named, or on a copy of the one of that size."""
    if options.database is not None:
        return _site(options, options.entries, lambda done, total: None)
    entries = options.entries or DEFAULT_PEOPLE
    with bar("making the database", entries) as move:
        return _site(options, entries, lambda done, _: move(done))


def _site(options: ServeOptions, entries: int | None, progress: Progress) -> PersonalizedSite:
    return PersonalizedSite(
        entries,
        database=options.database,
        seed=options.seed,
        locales=options.locales,
        durability=options.durability,  # type: ignore[arg-type]
        row_cache=options.row_cache,
        limits=options.limit,
        host=options.host,
        port=options.port,
        threads=options.threads,
        tls=ServerTls.of(options) or False,
        progress=progress,
    )


def greeting(options: ServeOptions, site: PersonalizedSite) -> list[str]:
    """Say where it is and how to look at it."""
    what = "a copy, thrown away afterwards" if options.database is None else options.database
    trust = "" if site.ca is None else f" --tls-ca {site.ca}"
    return [
        f"serving {site.size:,} people at {site.url} from {what}; Ctrl-C ends it",
        f"  open {site.url}/enter?user={min(7, site.size - 1)} in a browser",
        f"  sitebench ps run --target {site.url}{trust} --entries {site.size}",
    ]
