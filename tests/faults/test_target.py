"""A target that is killed, and there again without its people, under lanes that go on."""

from pathlib import Path

import pytest

from tests.faults.served import LANES, LOCALES, PEOPLE, Served
from tests.support.aftermath import Ground
from tests.support.cli import Ran
from tests.support.mortal import mortal
from tests.support.waiting import eventually

GONE = {"connect-refused", "closed", "reset", "truncated"}
NOBODY = {"directory": "wrong-answer", "slapd": "result:noSuchObject", "site": "status:404"}


@pytest.mark.parametrize("kind", list(NOBODY))
def test_a_target_that_is_killed_and_comes_back_empty_is_named(
    ground: Ground, tmp_path: Path, kind: str
) -> None:
    with mortal(kind, tmp_path / "target", PEOPLE, LOCALES) as target:
        load = Served(target.scheme, target.port).run()
        how = ("--warmup", "0s", "--measure", "12s", "--json", "--out", str(ground.run))
        with ground.started(*load, *how) as process:
            assert eventually(lambda: "measure" in ground.phases(), 60)
            target.kill()
            target.start(empty=True)
            out, err = process.communicate(timeout=60)
    ran = Ran(process.returncode, out, err)
    assert ran.code == 0, ran.err
    (point,) = ran.objects
    kinds = set(point["failures_by_kind"])
    assert NOBODY[kind] in kinds <= GONE | {NOBODY[kind]}
    # Each lane lost its connection, and came back.
    assert point["failures"] - point["failures_by_kind"][NOBODY[kind]] >= LANES
    assert point["operations"] > LANES
    page = ground.folder / "page.html"
    assert ground.ran("report", str(ground.run), "--out", str(page)).code == 0
    assert NOBODY[kind] in page.read_text()
