"""Groups: seeded, verified and removed, on a stock slapd and on the embedded directory."""

import multiprocessing
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import ldap3
import pytest

from ils_bench.options import GroupOptions, IlsOptions
from ils_bench.targets.groups import attribute_of, groups_of
from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.opening import open_target
from ils_bench.targets.people import spec_of
from sitebench.errors import BadInput
from sitebench.options.option import fields_of
from sitebench.runs.runfile import RunFile
from sitebench.seeders.people import generate
from tests.ils_bench.conftest import LOCALES
from tests.support import stock_slapd
from tests.support.cli import SITEBENCH, in_process
from tests.support.programs import run_program
from tests.support.relay import relayed
from tests.support.stock_slapd import ADMIN, BASE, PASSWORD, PEOPLE, StockSlapd
from tests.support.waiting import eventually, left_s


def modify(stock: StockSlapd, text: str) -> None:
    said = stock.client("ldapmodify", "-D", ADMIN, "-w", PASSWORD, text=text)
    assert "modifying entry" in said or "adding new entry" in said, said


def login_check(stock: StockSlapd, profile: str) -> str:
    """Return what the check of a login shows of the user's groups."""
    at = (*stock.at, "--profile", profile)
    ran = stock.ils("run", "login", *at, "--how", "search-bind-groups", "--check").check(0)
    (groups,) = [line for line in ran.out.splitlines() if line.strip().startswith("groups ")]
    return groups


def test_groups_are_seeded_verified_read_and_removed_with_the_people(stock: StockSlapd) -> None:
    some = ("--groups", "12", "--members", "5,all")
    stock.seed(*some).check(
        0, "added 12 of 12 groups", f"{PEOPLE} people and 12 groups are under {BASE}"
    )
    groups = stock.entries("groupOfNames")
    assert sorted(group.count("\nmember: ") for group in groups) == [5] * 11 + [PEOPLE]
    assert sum("\nmember: uid=user.7,ou=people" in group for group in groups) == 2
    shown = login_check(stock, "person")
    assert ("(member=uid=user." in shown, "2 entries, success" in shown) == (True, True), shown
    stock.verify(*some).check(
        0, f"all 12 groups with {11 * 5 + PEOPLE} members verified", "it keeps no memberOf"
    )
    stock.seed(*some).check(0, "added 0 of 12 groups")
    stock.clean(*some).check(0, "removed 12 groups")
    assert stock.entries("top") == [] or stock.entries("groupOfNames") == []
    assert stock.entries("person") == []


LOGINS = (
    *("run", "login", "--how", "search-bind-groups"),
    *("--users", "2", "--rate", "200", "--warmup", "0s"),
)


@pytest.mark.parametrize("profile", ["person", "posix"])
@pytest.mark.parametrize("target", ["embedded", "openldap"])
def test_started_directory_contains_groups(target: str, profile: str) -> None:
    options = IlsOptions(
        target=target,
        profile=profile,
        locales=LOCALES,
        entries=PEOPLE,
        groups=12,
        members=(5, 7),
        in_all=1,
    )
    people = generate(spec_of(options, PEOPLE)).population
    spec = {"count": 12, "members": (5, 7), "depth": 1, "in_all": 1}
    expected = groups_of(spec, people, profile)
    assert expected is not None
    with open_target(options, PEOPLE) as opened:
        kind = "posixGroup" if profile == "posix" else "groupOfNames"
        with ldap3.Connection(str(opened.address)) as connection:
            connection.search(options.base, f"(objectClass={kind})", attributes=["*"])
            found = {each.entry_dn: each for each in connection.entries}
        assert set(found) == {expected.dn(g) for g in range(12)}
        attribute = attribute_of(profile)
        for g in range(12):
            assert sorted(found[expected.dn(g)][attribute].values) == sorted(expected.members(g))
        assert target == "embedded" or f"index {attribute} eq" in str(opened.facts)


def test_logins_read_groups_and_group_options_identify_the_point(tmp_path: Path) -> None:
    def measured(name: str, *argv: str) -> dict[str, str]:
        """Return the identity of the point that comes from groups."""
        people = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
        out = ("--out", str(tmp_path / name))
        in_process("ils", *LOGINS, "--measure", "500ms", "--json", *people, *argv, *out).check(0)
        with RunFile(tmp_path / name) as file:
            (point,) = file.results()
        assert (point.operations > 0, point.failures) == (True, 0)
        named = ("groups", "members", "depth", "in_all")
        return {each: text for each, text in point.spec.settings.items() if each in named}

    some = measured("some", "--groups", "12", "--members", "5,all", "--in-all", "1")
    assert some == {"groups": "12", "members": "5,all", "depth": "1", "in_all": "1"}
    assert measured("none") == {}
    in_process("compare", tmp_path / "some", tmp_path / "none").check(2, "groups")


RUN, SEED = "run login", f"seed --to ldap://127.0.0.1:1/{BASE}"


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        (RUN, "--groups 3 --members 61", "--members 61: there are 60 people"),
        (RUN, "--members 3", "--members is said of no groups"),
        (RUN, "--groups 3 --target ldap://127.0.0.1:1", "ldap://127.0.0.1:1 runs already"),
        (SEED, "--groups 3 --members 61", "--members 61: there are 60 people"),
        (SEED, "--groups 1 --members 2,3", "--members has 2 sizes, and there are 1 groups"),
        (SEED, "--members 3", "--members is said of no groups"),
        (SEED, "--depth 3", "--depth is said of no groups"),
        (SEED, "--groups 2 --depth 3", "--depth 3"),
        (SEED, "--groups 2 --members 2 --in-all 3", "--in-all 3"),
        (SEED, "--groups 2 --members 2,", "has an empty size"),
        (SEED, "--groups 0", "is not a whole number above zero"),
    ],
)
def test_impossible_groups_are_refused_without_a_connection(
    command: str, options: str, words: str, tmp_path: Path
) -> None:
    argv = (*command.split(), "--entries", PEOPLE, "--profile", "person", *options.split())
    ran = in_process("ils", *argv, cwd=tmp_path).check(2, words)
    assert (ran.out, [*tmp_path.iterdir()]) == ("", [])


def test_clean_reports_groups_left_without_their_people(stock: StockSlapd) -> None:
    assert stock.seed("--groups", "2").code == 0
    emptied = stock.clean().check(0, "groups are there, and stay")
    assert len(stock.entries("groupOfNames")) == 2
    emptied = stock.clean("--groups", "1").check(0, "more groups are there, and stay")
    emptied = stock.clean("--groups", "2").check(0, "removed 1 group from")
    assert "and stay" not in emptied.err + stock.clean().err


def test_seed_adds_missing_groups_and_refuses_other_options(stock: StockSlapd) -> None:
    assert stock.seed("--groups", "5").code == 0
    stock.seed("--groups", "8").check(0, "added 3 of 8 groups")
    stock.verify("--groups", "5").check(1, "is one of 5, and 8 are there")
    other = ("--groups", "8", "--members", "3")
    stock.seed(*other).check(2, "Group 7 of sitebench: 10 people", "clean --seeded")
    stock.verify(*other).check(1, 'is "Group 0 of sitebench: 10 people"')


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("delete: member\nmember: uid=user.31,{base}", "has 9 values of member, not 10"),
        (
            "delete: member\nmember: uid=user.31,{base}\n-\nadd: member\nmember: uid=user.3,{base}",
            "has the member 'uid=user.3,",
        ),
        ("replace: description\ndescription: mine", "is no group of sitebench"),
    ],
)
def test_verify_notices_a_changed_group(stock: StockSlapd, change: str, said: str) -> None:
    """Once only the numbers of members were compared."""
    assert stock.seed("--groups", "6").code == 0
    dn = f"cn=group.3,{BASE}"
    modify(stock, f"dn: {dn}\nchangetype: modify\n{change.format(base=BASE)}\n")
    stock.verify("--groups", "6").check(1, dn, said.replace("'", '"'))


def test_foreign_entry_with_the_name_of_a_group_is_not_changed(stock: StockSlapd) -> None:
    assert stock.seed().code == 0
    dn = f"cn=group.2,{BASE}"
    modify(
        stock,
        f"dn: {dn}\nchangetype: add\nobjectClass: groupOfNames\ncn: group.2\n"
        "description: the second group\nmember: cn=someone\n",
    )
    stock.seed("--groups", "4").check(2, f'has an entry "{dn}" that is no group of sitebench')
    assert stock.verify("--groups", "4").code == 1
    stock.clean("--groups", "4").check(0, "removed 1 group from")
    (left,) = stock.entries("groupOfNames")
    assert "description: the second group" in left


def test_groups_of_a_tree_are_members_of_groups(stock: StockSlapd) -> None:
    tree = ("--groups", "7", "--depth", "3", "--in-all", "1", "--members", "4")
    assert stock.seed(*tree).code == 0
    there = {each.split(",")[0]: each for each in stock.entries("groupOfNames")}
    root = there["dn: cn=group.0"]
    assert root.count("\nmember: ") == 3
    assert f"\nmember: cn=group.1,{BASE}" in root
    assert f"\nmember: cn=group.4,{BASE}" in root
    assert all(f"\nmember: uid=user.0,{BASE}" in each for each in there.values())
    stock.verify(*tree).check(0)
    assert stock.clean(*tree).code == 0


def test_posix_groups_have_login_names_as_members(stock: StockSlapd) -> None:
    unix = ("--profile", "posix", "--groups", "30", "--members", "2")
    assert stock.seed(*unix).code == 0
    first = min(stock.entries("posixGroup"))
    assert "gidNumber: 1000" in first
    assert first.count("\nmemberUid: user.") == 2
    assert "\nmember:" not in first
    assert stock.verify(*unix).code == 0
    shown = login_check(stock, "posix")
    assert ("(memberUid=user." in shown, "1 entries, success" in shown) == (True, True), shown
    stock.seed(*unix, "--depth", "2").check(2, "a posixGroup has people in it, and no groups")
    assert stock.clean(*unix).code == 0
    assert stock.entries("posixGroup") == []


def _seed_slowly(url: str) -> None:
    os.setsid()
    # 400 groups, one after another.
    argv = ("--groups", "400", "--members", "20")
    in_process(
        *("ils", "seed", "--to", f"{url}/{BASE}", "--entries", str(PEOPLE)),
        *("--locales", ",".join(LOCALES), "--bind-dn", ADMIN, "--i-own-this-target", *argv),
        SITEBENCH_BIND_PASSWORD=PASSWORD,
    )


def test_killed_seeding_of_groups_is_resumed(stock: StockSlapd) -> None:
    process = multiprocessing.get_context("fork").Process(target=_seed_slowly, args=(stock.url,))
    process.start()
    assert eventually(lambda: bool(stock.entries("groupOfNames")))
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    some = ("--groups", "400", "--members", "20")
    there = len(stock.entries("groupOfNames"))
    assert 0 < there < 400
    stock.seed(*some).check(0, f"added {400 - there} of 400 groups")
    assert stock.verify(*some).code == 0
    assert stock.clean(*some).code == 0


def test_incomplete_group_is_recreated(stock: StockSlapd) -> None:
    """A seeding that is killed between two pieces of a group leaves an incomplete group."""
    assert stock.seed("--groups", "5").code == 0
    half = "replace: description\ndescription: Group 3 of sitebench: 10 people, incomplete"
    less = f"replace: member\nmember: uid=user.30,{BASE}"
    modify(stock, f"dn: cn=group.3,{BASE}\nchangetype: modify\n{half}\n-\n{less}\n")
    stock.verify("--groups", "5").check(1, "is incomplete")
    stock.seed("--groups", "5").check(0, "added 1 of 5 groups")
    assert stock.verify("--groups", "5").code == 0


def test_group_of_all_people_and_groups_of_one_person_are_seeded(stock: StockSlapd) -> None:
    some = ("--groups", "3", "--members", "1,all")
    assert stock.seed(*some, entries=1).code == 0
    assert [group.count("\nmember: ") for group in stock.entries("groupOfNames")] == [1, 1, 1]
    assert stock.verify(*some, entries=1).code == 0
    assert stock.clean(*some, entries=1).code == 0


def test_member_of_is_verified_if_the_server_maintains_it(slapd: Path, tmp_path: Path) -> None:
    some = ("--groups", "5", "--depth", "2")
    with stock_slapd.running(tmp_path / "overlay", member_of=True) as server:
        assert server.seed(*some).code == 0
        server.verify(*some).check(0, "it shows them as memberOf of people")


def test_value_of_member_of_that_names_no_seeded_group_is_reported() -> None:
    """As with an overlay or plug-in that was enabled after some groups existed."""
    with LdapDirectory(entries=30, profile="person", groups=3) as directory:
        people = directory.people
        assert people is not None
        some = ("--entries", "30", "--profile", "person", "--groups", "3", "--base", directory.base)
        in_process("ils", "verify", directory.url, *some, cwd=None).check(0, "it keeps no memberOf")
        with ldap3.Connection(directory.url, check_names=False) as connection:
            changed = {"memberOf": [(ldap3.MODIFY_REPLACE, ["cn=other,o=Intranet"])]}
            assert connection.modify(people.dn(10), changed)  # type: ignore[no-untyped-call]
        in_process("ils", "verify", directory.url, *some, cwd=None).check(
            1, "is not in the memberOf of its member"
        )


def test_groups_of_several_classes_are_removed(slapd: Path, tmp_path: Path) -> None:
    """Clean took these groups for groups without nested groups."""
    some = ("--profile", "posix", "--groups", "5", "--depth", "2")
    with stock_slapd.running(tmp_path / "bis", auxiliary=True) as bis:
        assert bis.seed(*some).code == 0
        (first, *_) = bis.entries("posixGroup")
        assert "objectClass: groupOfNames" in first
        assert bis.verify(*some).code == 0
        bis.clean(*some).check(0, "removed 5 groups")


MANY = 2_000
LARGE = ("--groups", "3", "--members", "10,all")
"""One of these groups has 90 kB of members."""
LEAST_BYTES = 70_000
"""The largest accepted message: less than the group, and more than the smallest pieces."""


def test_group_larger_than_the_message_limit_is_added_in_pieces(
    slapd: Path, tmp_path: Path
) -> None:
    """This slapd disconnects on long messages without an answer, as 389-DS does at 2 MB."""
    with stock_slapd.running(tmp_path / "narrow", message_bytes=LEAST_BYTES) as narrow:
        narrow.seed(*LARGE, entries=MANY).check(
            0, "added 3 of 3 groups; it does not take the largest in one message, but in"
        )
        counts = sorted(group.count("\nmember: ") for group in narrow.entries("groupOfNames"))
        assert counts == [10, 10, MANY]
        narrow.verify(*LARGE, entries=MANY).check(0)
        assert narrow.clean(*LARGE, entries=MANY).code == 0


def test_refused_pieces_of_a_group_are_halved() -> None:
    """A piece one value too long was followed by an equally long piece, endlessly."""
    limits, people = {"message_bytes_before_bind": LEAST_BYTES}, 8_000
    with LdapDirectory(entries=people, profile="person", limits=limits) as directory:
        some = ("--entries", str(people), "--profile", "person", "--base", directory.base)
        # The group has 300 kB, and the first pieces have 250 kB.
        in_process("ils", "seed", "--to", directory.url, *some, *LARGE, cwd=None).check(
            0, "but in pieces of 60"
        )
        in_process("ils", "verify", directory.url, *some, *LARGE, cwd=None).check(0)


def test_refusal_of_the_smallest_piece_ends_the_seeding() -> None:
    """It was retried endlessly: the smallest pieces may be one value longer than announced."""
    limits = {"message_bytes_before_bind": 50_000}
    with LdapDirectory(entries=MANY, profile="person", limits=limits) as directory:
        people = ("--entries", str(MANY), "--profile", "person", "--base", directory.base)
        in_process("ils", "seed", "--to", directory.url, *people, *LARGE, cwd=None).check(
            1, "closed the connection"
        )


def test_group_beyond_the_limits_is_refused_with_the_limits() -> None:
    """An entry of the embedded directory has at most 10,000 values, without an alternative."""
    limits = {"values_per_entry": 100}
    with pytest.raises(BadInput, match=r"values_per_entry \(100\), entry_bytes and write_work"):
        LdapDirectory(entries=200, profile="person", groups=1, members=(200,), limits=limits)
    with LdapDirectory(entries=200, profile="person", limits=limits) as directory:
        people = ("--entries", "200", "--profile", "person", "--base", directory.base)
        some = ("--groups", "1", "--members", "200")
        in_process("ils", "seed", "--to", directory.url, *people, *some, cwd=None).check(
            2, "refuses to add", "over the limit of 100"
        )


def test_embedded_directory_serves_groups(ldapsearch: Path) -> None:
    with LdapDirectory(entries=50, profile="person", groups=7, members=(4, 50)) as directory:
        people, groups = directory.people, directory.groups
        assert people is not None
        assert groups is not None
        assert groups.dn(3) == f"cn=group.3,{directory.base}"
        assert groups.members(3) == [people.dn(i) for i in (12, 13, 14, 15)]
        command = (str(ldapsearch), "-x", "-LLL", "-H", directory.url, "-b", directory.suffix)
        for _ in range(3):  # the first search builds the index
            found = run_program(
                (*command, f"(member={people.dn(12).upper()})", "1.1"), check=True
            ).stdout
            there = sorted(line for line in found.split("\n") if line)
            assert there == [f"dn: {groups.dn(0)}", f"dn: {groups.dn(3)}"]


def test_ldif_file_has_groups_after_the_people(tmp_path: Path) -> None:
    path, base = tmp_path / "all.ldif", "ou=people,dc=example,dc=com"
    some = ("--entries", "30", "--profile", "person", "--base", base, "--groups", "4")
    in_process("ils", "seed", "--to", str(path), *some, "--depth", "2", cwd=None).check(
        0, "30 people and 4 groups in"
    )
    in_process("ils", "verify", str(path), *some, cwd=None).check(2, "in a running directory alone")
    in_process("ils", "seed", "--to", f"slapd:{tmp_path}/slapd", *some, cwd=None).check(
        2, "are not put into a slapd's folder"
    )
    with LdapDirectory(entries=0, ldif=path) as directory:
        in_process("ils", "verify", directory.url, *some, "--depth", "2", cwd=None).check(
            0, "all 4 groups with"
        )


def test_verify_reads_more_than_a_page_of_people_and_groups_of_a_domain_controller() -> None:
    """A page has 1,000 entries, and verify reported later entries as hidden."""
    # Person 0 is in all groups, the last of which are beyond the first range of values.
    entries, many = 1_100, 1_600
    with LdapDirectory(entries, profile="ad", groups=many, members=(2,), in_all=1) as directory:
        people_of = ("--entries", str(entries), "--profile", "ad", "--base", directory.base)
        groups_of = ("--groups", str(many), "--members", "2", "--in-all", "1")
        in_process("ils", "verify", directory.url, *people_of, *groups_of, cwd=None).check(
            0,
            "all 1,100 people verified",
            f"all 1,600 groups with {2 * many:,} members verified",
            "it shows them as memberOf",
        )


def test_printed_sizes_of_groups_are_parsed_back() -> None:
    (members,) = [each for field, each in fields_of(GroupOptions) if field.name == "members"]
    assert members.parse(members.show((1_234, 0, 10))) == (1_234, 0, 10)


class _LosesGroups:
    """A relay that brings no data after the first response to an add."""

    def __init__(self) -> None:
        self.lost = threading.Event()

    def __call__(self, piece: bytes, client: socket.socket) -> None:
        if piece[5:6] == b"\x69":
            self.lost.set()
        if not self.lost.is_set():
            client.sendall(piece)


def test_ctrl_c_ends_the_wait_for_a_large_group() -> None:
    """The signal only ended the wait, and smaller pieces of the group were tried."""
    some = ("--entries", str(MANY), "--profile", "person", "--locales", "en_US")
    way = _LosesGroups()
    with (
        LdapDirectory(entries=MANY, profile="person", locales=("en_US",)) as directory,
        relayed(directory.port, way) as port,
    ):
        where = f"ldap://127.0.0.1:{port}/{directory.base}"
        large = ("--groups", "1", "--members", "all", "--i-own-this-target")
        argv = [*SITEBENCH, "ils", "seed", "--to", where, *some, *large]
        with subprocess.Popen(argv, stdout=-1, stderr=-1, text=True) as seeding:
            try:
                assert way.lost.wait(left_s())
                time.sleep(0.5)
                seeding.send_signal(signal.SIGINT)
                _, said = seeding.communicate(timeout=left_s())
            finally:
                seeding.kill()
    assert seeding.returncode == 130, said
    assert "Traceback" not in said
