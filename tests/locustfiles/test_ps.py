"""The site suite's locustfile: Locust's totals and the site's own counters."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ps_bench.operations import built_in
from ps_bench.paper.figures import figures
from sitebench._engine import Site
from sitebench.counts.tally import Tally
from sitebench.seeders.upd import UpdSpec, build
from tests.locustfiles.conftest import LOCALES, PEOPLE, processes
from tests.support.drains import Drain, Step
from tests.support.http_server import other_site
from tests.support.locusts import run_locust

LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "ps.py"
RUN = ("-u", "8", "-r", "8", "--threads", "1")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A site of 200 people."""
    upd = build(UpdSpec(PEOPLE, locales=LOCALES), tmp_path / "upd.sqlite")
    served = Site(json.dumps({"database": str(upd.path)}))
    yield served
    served.stop()


def test_every_request_to_a_site_is_counted_once(tmp_path: Path, site: Site) -> None:
    run = ("-f", str(LOCUSTFILE), "--headless", *RUN, "--json-file", "totals")
    people = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
    target = ("--target", f"http://{site.address}")
    for seconds in (1, 3, 10, 30):  # A busy machine needs some of it to begin.
        before = site.stats()
        argv = (*run, *people, *target, "-t", f"{seconds}s", *processes(2), "ScenarioUser")
        run_locust(*argv, cwd=tmp_path, forked=False).check(0)
        counts = Counter[str]()
        for entry in json.loads((tmp_path / "totals.json").read_text()):
            assert entry["num_failures"] == 0
            counts[entry["name"]] += entry["num_requests"]
        counted = {
            "pages": counts["page"] + counts["updated-page"],
            "updates": counts["update"],
            "creates": counts["create"],
            "images": counts["image"],
        }
        if min(counted.values()) > 0:
            break
    assert min(counted.values()) > 0
    done = site.stats()
    assert counted == {name: done[name] - before[name] for name in counted}
    # The paper's rows correspond to the site's own counters.
    of = {"create": "create", "page": "page"} | dict.fromkeys(
        ("update", "updated-page"), "page-and-update"
    )
    tally = Tally.starting(Drain(0, 0))
    tally.add(Drain(0, 10**9, [Step(of[name], name, counts[name]) for name in of]))
    found = figures(tally, [built_in("scenario")])
    for ours, theirs in (("asp_requests_per_s", "asp_requests"), ("upd_reads_per_s", "upd_reads")):
        assert done[theirs] - before[theirs] == found[ours], ours


def test_site_of_another_kind_ends_a_headless_test_before_any_load(tmp_path: Path) -> None:
    with other_site() as (url, asked):
        argv = ["-f", str(LOCUSTFILE), "--headless", "--target", url, "ScenarioUser"]
        ran = run_locust(*argv, cwd=tmp_path)
    ran.check(2, "not sitebench's own site")
    assert set(asked) == {"GET /"}
