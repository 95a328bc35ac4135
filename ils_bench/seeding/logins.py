"""Test logins of a sample of people, with the right and with a wrong password.

`verify` does not compare passwords, since most directories hide or rehash them. The wrong password
is the text given to the directory: a server that does not know the hash scheme would accept that
text.
"""

from __future__ import annotations

from ils_bench.options import SeedOptions
from ils_bench.targets.address import parse_address
from ils_bench.targets.people import spec_of
from sitebench._engine import Population
from sitebench.errors import MeasurementFailed
from sitebench.seeders.people import easily_typed
from sitebench.targets.tls import Trust

SAMPLE = 5
_CHECK = "check --seed and --hash, and that the directory lets people bind"


def check_logins(options: SeedOptions, population: Population, remedy: str | None = None) -> int:
    """Return the number of people that logged in; raise if one cannot.

    `remedy` is specific to the directory, if that is known.
    """
    if not population.size or not population.password(0):
        return 0
    # First a person whose password is easily typed, for a try by hand.
    numbers = [index * population.size // SAMPLE for index in range(1, SAMPLE)]
    if (pool := spec_of(options, population.size).pool) is not None:
        # The last person of the pool, and the next person: another pool size changes one of both.
        numbers += [number for number in (pool - 1, pool) if number < population.size]
    sample = dict.fromkeys((easily_typed(population), *numbers))
    for number in sample:
        _check(options, population, number, remedy)
    return len(sample)


def _check(options: SeedOptions, population: Population, number: int, remedy: str | None) -> None:
    from ils_bench.targets.probe import refusal

    dn, password = population.dn(number), population.password(number)
    _, attributes = population.entry(number)
    (stored,) = attributes.get("userPassword", [b""])
    stored_text = stored.decode()
    hashed = stored_text not in ("", password)
    address = parse_address(options.target, start_tls=options.start_tls)
    trust = Trust.from_options(options)
    refused = refusal(address, dn, password, trust)
    let_in = refusal(address, dn, stored_text if hashed else f"{password}x", trust) is None
    if let_in and hashed:
        scheme = stored_text[: stored_text.index("}") + 1]
        raise MeasurementFailed(
            f"{address} does not know {scheme}: it lets {dn!r} in with the text of the hash",
            "empty it with `sitebench ils clean --seeded`, and seed it again with --hash clear",
        )
    if let_in:
        raise MeasurementFailed(
            f"{address} lets {dn!r} in with a wrong password", "see how it checks binds"
        )
    if refused is not None:
        raise MeasurementFailed(
            f"{address} does not let {dn!r} in with the right password: {refused.message}",
            f"{remedy or _CHECK}; who is there keeps the password, until `sitebench ils clean "
            "--seeded` removes them",
        )
