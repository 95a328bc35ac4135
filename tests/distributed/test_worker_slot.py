"""Division of people and rates among processes."""

import json
import math
from fractions import Fraction
from random import Random

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import engine_config as directory_config
from ils_bench.sequences import ADD
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from ps_bench.operations import built_in
from ps_bench.options import PsOptions
from ps_bench.points import engine_config as site_config
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.suite_base.points import Load
from tests.support.people import BASE

CHANCE = Random(1997)
RATES = [1.0, 0.1, 5_000.0, 10_000 / 3, 123_456.789, 1e-3, 2.0**40, *(CHANCE.uniform(0, 1e6),) * 20]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 1_000])
def test_parts_of_a_rate_add_up_exactly(count: int) -> None:
    for rate in RATES:
        parts = [WorkerSlot(index, count).rate(rate) or 0.0 for index in range(count)]
        assert sum(map(Fraction, parts)) == Fraction(rate)
        assert math.fsum(parts) == rate
        assert sum(reversed(parts)) == sum(parts) == rate
        assert max(parts) - min(parts) <= math.ulp(rate)


def test_worker_of_a_test_without_a_rate_gets_no_rate() -> None:
    assert WorkerSlot(1, 3).rate(None) is None


def test_engine_rates_of_all_workers_add_up() -> None:
    rate, count = 1_000.0, 3
    target = OpenDirectory("any", DirectoryAddress("127.0.0.1", 389), BASE)
    options = IlsOptions(rate=rate)
    told = [
        json.loads(directory_config(Load(options, target, [ADD], WorkerSlot(n, count))))
        for n in range(count)
    ]
    assert sum(each["schedule"]["rate"] for each in told) == rate
    assert [each["keys"]["engine"] for each in told] == list(range(count))


def test_people_created_by_workers_at_sites_never_collide() -> None:
    options, scenarios = PsOptions(entries=500), [built_in("scenario")]
    site = OpenSite("any", SiteAddress("127.0.0.1", 80))
    adds = [
        json.loads(site_config(Load(options, site, scenarios, WorkerSlot(n, 4))))["adds"]
        for n in range(4)
    ]
    ends = [each["start"] + each["keys"] for each in adds]
    assert adds[0]["start"] == 500
    assert all(end <= after["start"] for end, after in zip(ends, adds[1:], strict=False))
