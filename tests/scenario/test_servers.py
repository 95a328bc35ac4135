"""A 90/10 mix with people of a file on directories of other vendors, by the servers' own counts."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from sitebench.runs.windows import Phase
from sitebench.system.secret import BIND_PASSWORD
from tests.scenario import servers
from tests.scenario.servers import Foreign
from tests.support.cli import in_process

MIX = """
base = "{base}"

data.person.file = "accounts.csv"

[[operation]]
weight = 90
search = "(uid={{person.uid}})"
expect.entry = {{ uid = "{{person.uid}}", cn = "{{person.cn}}" }}

[[operation]]
weight = 10
modify = "{named},{{base}}"
change.replace.telephoneNumber = "+1 {{random:10:0-9}}"
"""


Start = Callable[[Path], AbstractContextManager[Foreign]]


def mixed(start: Start, folder: Path) -> None:
    servers.accounts(folder)
    with start(folder) as server:
        (folder / "mix.toml").write_text(MIX.format(base=server.base, named=server.named))
        load = ("--users", 4, "--threads", 1, "--warmup", "0s", "--measure", "2s")
        who = ("--bind-dn", server.bind_dn, "--i-own-this-target", *server.options)
        before = server.counted and server.counted()
        argv = ("ils", "run", "mix.toml", "--target", server.url, *who, *load, "--json")
        out = ("--out", "run.sitebench")
        ran = in_process(*argv, *out, cwd=folder, **{BIND_PASSWORD: servers.PASSWORD})
        after = server.counted and server.counted()
    point = ran.point
    assert point["failures"] == 0, point["examples"]
    with RunFile(folder / "run.sitebench") as file:
        (stored,) = file.points()
        steps = [step for phase in Phase for step in file.steps(stored.id, phase)]
    ours = {
        name: sum(each.count for each in steps if (each.program, each.step) == (name, name))
        for name in ("search", "modify")
    }
    assert ours["search"] > ours["modify"] > 0
    if before and after:
        assert after[1] - before[1] == ours["modify"]
        # Sitebench also reads its base, its version, and its counters.
        others = after[0] - before[0] - ours["search"]
        assert server.looks <= others <= 60


def test_mix_runs_on_openldap(tmp_path: Path) -> None:
    mixed(servers.slapd, tmp_path)


@pytest.mark.servers
@pytest.mark.parametrize("start", [servers.ds389, servers.samba, servers.apacheds])
def test_mix_runs_on_a_directory_of_another_vendor(start: Start, tmp_path: Path) -> None:
    mixed(start, tmp_path)
