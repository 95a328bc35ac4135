"""The public names, and measurements of running servers with them."""

import importlib
import re
import socket
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import ldap3
import pytest

import sitebench
from ps_bench.operations import text_of
from sitebench import LdapDirectory, Result, SitebenchError
from sitebench.errors import BadInput, TargetDied, TargetUnreachable, WrongPassword


def measured(operation: Any, target: Any = "embedded", **more: Any) -> Result:
    short = {"users": 4, "threads": 1, "warmup_s": 0.1, "measure_s": 0.5}
    return sitebench.run(operation, target, **short | more)


def sequence(name: str, *steps: Any, counts: str = "sequence") -> sitebench.Sequence:
    """Return a sequence that connects and binds before its steps."""
    bound = (sitebench.Connect(), sitebench.Bind(), *steps, sitebench.Unbind())
    return sitebench.Sequence(name, bound, counts=counts)


OWN = "dn: o=Own\nobjectClass: organization\no: Own\n"
FIND_OWN = sequence("found", sitebench.Search(filter="(o=Own)", expect_entries=1))


@pytest.fixture(scope="module")
def directory() -> Iterator[LdapDirectory]:
    """A directory of ten people."""
    with LdapDirectory(entries=10, locales=("en_US",)) as served:
        yield served


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LdapDirectory]:
    """A directory of one entry, which is no person."""
    (tmp_path / "own.ldif").write_text(OWN)
    with LdapDirectory(entries=0, ldif=tmp_path / "own.ldif") as served:
        yield served


def test_every_change_of_the_public_names_is_noticed() -> None:
    """A new public name is a decision, and a removed one breaks programs."""
    assert sitebench.__all__ == [
        *("Add", "Bind", "Change", "Compare", "Connect", "Delete", "Histogram", "LdapDirectory"),
        *("Lookup", "Modify", "PersonalizedSite", "Population", "Refresh", "Repeat", "Result"),
        *("Retrieve", "RunFile", "Search", "Sequence", "SitebenchError", "Think", "Unbind"),
        *("WebServer", "run"),
    ]


@pytest.mark.parametrize("name", sitebench.__all__)
def test_each_public_name_imports_from_its_module(name: str) -> None:
    found = getattr(sitebench, name)
    assert found.__name__ == name
    assert getattr(importlib.import_module(found.__module__), name) is found


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'sitebench' has no attribute 'Directory'"):
        _ = sitebench.Directory  # type: ignore[attr-defined]


def test_running_directory_object_can_be_measured() -> None:
    with LdapDirectory(entries=100, locales=("en_US",)) as directory:
        result = measured("lookup", directory)
        assert directory.stats()["searches"] >= result.latency.count
    assert result.failures == 0
    assert result.point.spec.entries == 100
    # Latencies count operations that were due in the window, `operations` those that ended in it:
    # each lane may have one under way at each edge.
    assert result.latency.count > 0
    assert abs(result.latency.count - result.point.operations) <= 4
    assert re.fullmatch(
        r"<lookup at 100: (>= )?[\d,.]+/s, p50 .+, p99 .+, 0 failures, .+>", repr(result)
    )


def test_user_defined_sequence_is_measured(directory: LdapDirectory) -> None:
    search = sitebench.Search(filter="(cn=*)", attributes=("cn",))
    prefix = sequence("prefix", sitebench.Repeat(50, (search,)), counts="search")
    result = measured(prefix, directory)
    assert (result.failures, result.point.spec.operation) == (0, "prefix")
    assert result.point.operations > 0


def test_password_of_a_sequence_reaches_lanes_but_not_the_run_file(tmp_path: Path) -> None:
    kept = tmp_path / "kept.sitebench"
    bind = sitebench.Bind(dn="cn=admin,o=Intranet", password="s3cret-word")
    sequence = sitebench.Sequence("bound", (sitebench.Connect(), bind, sitebench.Unbind()))
    admin: dict[str, Any] = {"admin_dn": "cn=admin,o=Intranet", "admin_password": "s3cret-word"}
    with LdapDirectory(10, locales=("en_US",), **admin) as directory:
        result = measured(sequence, directory, out=kept)
    assert (result.failures, result.point.operations > 0) == (0, True)
    assert "s3cret-word" not in result.point.spec.stored()
    assert "cn=admin" in result.point.spec.stored()
    assert [b"s3cret-word" in each.read_bytes() for each in tmp_path.iterdir()] == [False]


def test_running_site_object_can_be_measured(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(text_of("page", keepalive=True))
    with sitebench.PersonalizedSite(entries=100, locales=("en_US",)) as site:
        result = measured("scenario", site)
        own = measured(str(tmp_path / "own.toml"), site)
        assert site.stats()["pages"] >= result.point.operations
    assert (result.failures, own.failures) == (0, 0)


def test_a_notebook_shows_a_result_as_table_and_chart(tmp_path: Path) -> None:
    kept = tmp_path / "kept.sitebench"
    result = measured("lookup", entries=100, out=kept, rate=200, measure_s=1.0)
    shown = result._repr_html_()
    assert "operations per second" in shown
    chart = ET.fromstring(shown[shown.index("<svg") :])
    bars = chart.findall(".//*[@aria-roledescription='bar']")
    assert len(bars) == len(result.timeline) > 2
    with sitebench.RunFile(kept) as run:
        assert [each.operations for each in run.results()] == [result.point.operations]


def test_unknown_operation_or_wrong_target_is_refused(directory: LdapDirectory) -> None:
    with pytest.raises(SitebenchError, match=r"'lokup'; did you mean lookup\?"):
        sitebench.run("lokup")
    with pytest.raises(SitebenchError, match="'page' is not an operation of a directory"):
        sitebench.run("page", directory)


def test_more_people_than_a_local_directory_has_are_refused_at_once(
    directory: LdapDirectory, own: LdapDirectory
) -> None:
    message = r"entries: 5,000 people are asked for, and .* has 10; leave"
    with pytest.raises(BadInput, match=message):
        measured("lookup", directory, entries=5_000)
    for needing in ("lookup", "retrieve"):
        with pytest.raises(BadInput, match=rf"'{needing}' asks for people .*expect_entries=1"):
            measured(needing, own)
    assert own.stats()["searches"] == 0
    assert measured(FIND_OWN, own).failures == 0


def test_run_without_a_load_uses_the_load_of_the_scenario_file(
    directory: LdapDirectory, tmp_path: Path
) -> None:
    file = tmp_path / "rt.toml"
    step = '[[operation]]\nsearch = "(objectClass=*)"\nscope = "base"\n'
    file.write_text(f"[load]\nusers = 2\nrate = 50\n{step}")
    own = sitebench.run(str(file), directory, measure_s=1, threads=1).point.spec
    said = sitebench.run(str(file), directory, measure_s=1, users=3, rate=80, threads=1)
    file.write_text(f'[load]\nstages = ["1ms:40/s", "2s:40/s"]\n{step}')
    staged = sitebench.run(str(file), directory, threads=1)
    assert (own.users, own.rate) == (2, 50)
    assert (said.point.spec.users, said.point.spec.rate) == (3, 80)
    assert staged.point.verdict.bound == "staged"
    assert staged.point.operations == pytest.approx(80, abs=40)


def test_people_of_an_ldif_file_are_measured_if_their_number_is_given(tmp_path: Path) -> None:
    ldif = tmp_path / "people.ldif"
    with LdapDirectory(entries=10) as served:
        people = served.people
        assert people is not None
    container = b"dn: ou=Dynamic,o=Intranet\nobjectClass: organizationalUnit\nou: Dynamic\n\n"
    ldif.write_bytes(container + people.ldif(0, 10, with_containers=False))
    suffix = "ou=Dynamic,o=Intranet"
    with LdapDirectory(entries=0, ldif=ldif, suffix=suffix) as served:
        assert measured("lookup", served, entries=10).failures == 0


def test_address_of_a_directory_may_contain_the_base(own: LdapDirectory) -> None:
    assert measured(FIND_OWN, f"{own.url}/o=Own").failures == 0
    with pytest.raises(BadInput, match=r"no entry 'ou=Dynamic,o=Intranet' .*; .*ldap://HOST/DN"):
        measured(FIND_OWN, own.url)


def test_closed_server_stops_listening() -> None:
    directory = LdapDirectory(entries=0, suffix="dc=example,dc=com")
    with ldap3.Connection(directory.url) as connection:
        assert connection.search("dc=example,dc=com", "(objectClass=*)", ldap3.BASE)
    directory.close()
    directory.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((directory.host, directory.port))


def test_changes_to_a_site_are_lost_when_the_site_closes() -> None:
    with sitebench.PersonalizedSite(entries=10, locales=("en_US",)) as site:
        asked = urllib.request.Request(site.url, headers={"Cookie": "user=7"})
        with urllib.request.urlopen(asked) as page:
            assert len(page.read()) == 8_290
        database = site.database
        assert database.exists()
    assert not database.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"users": 0}, "users: size '0'"),
        ({"users": 2.5}, r"users is 2.5; give it as int \| None"),
        ({"users": "8"}, "run: users is '8'; give it as int"),
        ({"measure_s": "2s"}, "measure_s is '2s'; give it as float"),
        ({"names": ["ann"]}, r"names is \['ann'\]; give it as str"),
        ({"target": 389}, r"target is 389; give it as str \| Server"),
        ({"measure": 5}, r"run has no 'measure'; did you mean measure_s\?"),
        ({"tls_ca": "no.pem"}, "tls_ca has no effect without TLS; .* add tls for"),
        ({"rate": -1.0}, "rate: rate '-1'"),
        ({"measure_s": 0.0}, "measure: '0s' is not a time above zero"),
        ({"rate": 5.0, "think_s": 1.0}, "think_s and rate both decide"),
        ({"password": "secret"}, "a password without a DN; give bind_dn"),
        (
            {"operation": "scenario", "bind_dn": "cn=admin"},
            "'bind_dn' is of no use .*; leave it out",
        ),
        (
            {"operation": "large-filemix", "names": "uid={i}"},
            "'names' is of no use .*; leave it out",
        ),
        ({"operation": "large-filemix", "entries": 5}, "'entries' is of no use .*; leave it out"),
        ({"names": "ann"}, "'ann' is neither"),
    ],
)
def test_wrong_arguments_are_refused_before_any_work(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        sitebench.run(**{"operation": "lookup", **given})


def test_lookups_of_listed_people_with_a_bind_need_the_right_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SITEBENCH_BIND_PASSWORD", raising=False)
    admin, password, run_file = "cn=admin,o=Own", "s3cret-word", tmp_path / "run.sitebench"
    ldif, people = tmp_path / "own.ldif", tmp_path / "people.txt"
    entry = "dn: uid={0},o=Own\nobjectClass: account\nuid: {0}\n"
    names = ("ann", "bob", "eve")
    ldif.write_text("\n".join([OWN, *map(entry.format, names)]))
    people.write_text("\n".join(names))
    with LdapDirectory(
        entries=0, ldif=ldif, admin_dn=admin, admin_password=password, require_bind=True
    ) as directory:
        who = {"names": f"@{people}", "bind_dn": admin}
        for target in (directory, f"{directory.url}/o=Own"):
            result = measured("lookup", target, password=password, out=run_file, **who)
            run_file.unlink()
            assert (result.failures, result.point.spec.entries) == (0, 3), result.point.examples
            assert result.point.operations > 0
            assert password not in result.point.spec.stored()
        with pytest.raises(SitebenchError, match="cn=admin,o=Own"):
            measured("lookup", f"{directory.url}/o=Own", password="wrong", **who)
        with pytest.raises(BadInput, match=r"no password for cn=admin,o=Own; give password"):
            measured("lookup", f"{directory.url}/o=Own", **who)


def test_server_object_is_probed_before_the_load_like_an_address(tmp_path: Path) -> None:
    names = tmp_path / "people.txt"
    with LdapDirectory(10, profile="person", locales=("en_US",)) as directory:
        assert directory.people is not None
        names.write_text(f"{directory.people.name(0)}\nghost\n")
        with pytest.raises(
            WrongPassword, match=r"invalidCredentials; check bind_dn, and password or \$"
        ):
            measured("lookup", directory, bind_dn=directory.people.dn(3), password="wrong")
        with pytest.raises(BadInput, match=r"has no 'uid=ghost'.* it is name 2 of"):
            measured("lookup", directory, names=f"@{names}")
        assert directory.stats()["searches"] < 20
    with pytest.raises(TargetUnreachable, match="nothing answers at ldap://"):
        measured("lookup", directory)
    with sitebench.PersonalizedSite(10, locales=("en_US",)) as site:
        pass
    with pytest.raises(TargetUnreachable, match="nothing answers at http://"):
        measured("page", site)


def test_server_closed_under_load_raises_target_died() -> None:
    with LdapDirectory(10, locales=("en_US",)) as directory:
        closing = threading.Timer(1.5, directory.close)
        closing.start()
        with pytest.raises(TargetDied, match=r"answered before .* does not now: .*; find out why"):
            measured("lookup", directory, measure_s=4)
        closing.join()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LdapDirectory("1k"), "LdapDirectory: entries is '1k'; give it as int"),  # type: ignore[arg-type]
        (lambda: LdapDirectory(5, members=10, groups=1), "members is 10"),  # type: ignore[arg-type]
        (lambda: LdapDirectory(0, groups=3), "and no people"),
        (lambda: LdapDirectory(5, members=(3,)), "members is said of no groups"),
        (lambda: LdapDirectory(5, tls="yes"), "tls is 'yes'; give it as bool"),  # type: ignore[arg-type]
        (lambda: LdapDirectory(5, tls=True, start_tls=True), "tls and start_tls exclude"),
        (lambda: LdapDirectory(5, admin_password="x"), "admin_password without admin_dn"),
        (lambda: LdapDirectory(0, admin_dn="cn=a"), "has no password; give admin_passw"),
        (lambda: LdapDirectory(5, profile="person", hash="md5"), "'?md5'?"),
        (lambda: LdapDirectory(5, hash="ssha"), "leave hash out, .* profile person"),
        (lambda: sitebench.PersonalizedSite(5, 7), "PersonalizedSite: too many positional"),  # type: ignore[call-arg, arg-type]
        (lambda: sitebench.Sequence("one", sitebench.Connect()), "Sequence: steps is Connect"),  # type: ignore[arg-type]
        (lambda: sitebench.Repeat(5, sitebench.Search()), "Repeat: steps is Search"),  # type: ignore[arg-type]
    ],
)
def test_argument_of_wrong_type_or_without_its_pair_is_refused_in_one_line(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        call()
