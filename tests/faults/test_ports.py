"""A load generator without local ports is reported as the limit, instead of the target."""

import shlex

from sitebench.runs.runfile import RunFile
from tests.faults.groups import configure
from tests.faults.served import LANES
from tests.support.aftermath import Ground
from tests.support.cli import SITEBENCH
from tests.support.programs import required_program

WHO = "--entries 100 --locales en_US"
FEW_PORTS = f"""
ip link set lo up
ip addr add 10.9.9.9/32 dev lo
echo '40000 40099' > /proc/sys/net/ipv4/ip_local_port_range
{shlex.join(SITEBENCH)} ils serve --host 10.9.9.9 --port 3890 {WHO} > serving &
for _ in $(seq 300); do grep -q serving serving && break; sleep 0.1; done
"$@"
code=$?
kill $!
wait
exit $code
"""
"""Runs a command beside a directory in a network with a hundred local ports.

The address is outside 127/8, where lanes would use many source addresses.
"""


def test_lack_of_local_ports_is_a_limit_of_the_generator(ground: Ground) -> None:
    required_program("ip")
    own = (str(required_program("unshare")), "--user", "--map-root-user", "--net")
    configure(*own, "true")
    load = ("ils", "run", "connect", "--target", "ldap://10.9.9.9:3890", *WHO.split())
    how = ("--users", str(LANES), "--threads", "1", "--warmup", "100ms", "--measure", "1s")
    out = ("--out", str(ground.run))
    ran = ground.ran(*load, *how, *out, before=(*own, "bash", "-c", FEW_PORTS, "bash")).check(1)
    what, remedy = ran.err.strip().splitlines()[-2:]
    assert "no local port" in what
    assert "ip_local_port_range" in remedy
    with RunFile(ground.run) as run:
        (point,) = run.points()
    assert (point.status, (point.error or {}).get("kind")) == ("failed", "OutOfPorts")
    assert point.result is not None
    kinds = point.result.failures_by_kind
    assert set(kinds) == {"out-of-ports"}
    assert kinds["out-of-ports"] >= LANES
