"""`sitebench plan logins`: from points made by hand to answers that are computed here once more."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sitebench.monitor import MachineUse, ProcessUse
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from sitebench.verdict.verdict import Bound, Verdict
from sitebench.verdict.warning import PointWarning
from tests.support.cli import in_process
from tests.support.points import a_result, a_spec, a_tally

MIB = 2**20
CPU = Verdict(Bound.TARGET_CPU, True, "its CPU was used up")
TESTER = Verdict(Bound.GENERATOR, False, "the tester was the limit")
SERIALISED = Verdict(Bound.SERIALISED, True, "its threads wait for a lock")
WRITES = PointWarning("login-writes", "each login writes pwdLastSuccess", "switch it off")
REHASHES = PointWarning(
    "login-rehashes", "a first login changes the hash of a password: {SSHA} became {X}", "wait"
)


def login(
    hashed: str | None,
    cpu_ms: float | None = 1.0,
    peak_mib: float = 26.0,
    verdict: Verdict = CPU,
    *warnings: PointWarning,
    users: int = 16,
    target: str = "openldap",
    entries: int = 1_000,
    cores: int = 2,
    **settings: str,
) -> PointResult:
    """Return a window of 2 s with 2,000 logins at this cost, on a machine of 8 GiB."""
    known = {"profile": "person", "users": str(users), **settings}
    known |= {} if hashed is None else {"hash": hashed, "hash_pool": "1k"}
    spec = a_spec("login", entries, target=target, users=users, settings=known)
    made = a_result(spec, 2_000)
    used = None if cpu_ms is None else ProcessUse(2.0 * cpu_ms, 1, int(peak_mib * MIB))
    machine = MachineUse(busy_per_core=(0.9,) * cores, total_bytes=8 << 30)
    return replace(
        made,
        use=replace(made.use, target=used, machine=machine),
        verdict=replace(verdict, warnings=warnings),
    )


def a_run(
    path: Path, *results: PointResult, version: str = "slapd 2.5", allowed: int | None = None
) -> str:
    facts = [{"name": "openldap", "version": version}]
    with RunStore(path) as store:
        cpu, limits = {"model": "A fine processor", "usable": 2}, {"group_memory_bytes": allowed}
        store.set_manifest({"cpu": cpu, "targets": facts, "limits": limits})
        for result in results:
            store.begin(result.spec)
            store.complete(store.point_id(result.spec.key), {"measure": a_tally()}, result)
            store.confirm(result.spec)
    return str(path)


def planned(*argv: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the answers by hash, and the warnings."""
    ran = in_process("plan", "logins", *argv, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    return {each["hash"]: each for each in found["answers"]}, found["doubts"]


LOW, HIGH = login("pbkdf2-sha256:100000", 15.5), login("pbkdf2-sha256:600000", 90.5)


@pytest.fixture
def run(tmp_path: Path) -> str:
    """As people have it: a quick hash, two rounds, and two argon2 of one number of passes."""
    return a_run(
        tmp_path / "run.sitebench",
        login("ssha", 0.12, 26.0),
        *(LOW, HIGH),
        login("argon2:16m", 50.0, 26.0 + 16 * 16),
        login("argon2:64m", 290.0, 26.0 + 16 * 64),
    )


def test_cost_is_a_line_through_two_rounds(run: str) -> None:
    more = ("--hash", "pbkdf2-sha256:300000", "--cores", "4", "--logins", "500/s")
    answers, warnings = planned(run, *more, "--headroom", "20%")
    (found,) = answers.values()
    # 75 ms for 500,000 rounds are 30 for 200,000 more.
    assert found["cpu_ms"] == pytest.approx(45.5)
    assert found["logins_per_s"] == pytest.approx(4 * 0.8 / 0.0455)
    assert found["cores"] == pytest.approx(500 * 0.0455 / 0.8)
    assert found["memory_gib"] == pytest.approx(26 / 1_024)
    assert found["bound"] == "measured"
    assert any("4 cores are assumed to do what 2 did" in each for each in warnings)
    assert any("checks running, more than the 16" in each for each in warnings)
    assert not any("headroom" in each for each in warnings)


@pytest.mark.parametrize(
    ("target", "limits", "allowed", "fits"),
    [
        ("openldap", "", None, True),
        ("openldap", "memory=1g", None, False),
        ("openldap", "", 1 << 30, False),
        # In which groups a server of the user's is was not seen.
        ("ldap://127.0.0.1:389", "", 1 << 30, True),
    ],
)
def test_memory_is_what_the_server_may_have(
    target: str, limits: str, allowed: int | None, fits: bool, tmp_path: Path
) -> None:
    quick = login("ssha", 0.12, 26.0, target=target, target_limits=limits)
    slow = login("argon2:64m", 290.0, 26.0 + 16 * 64, target=target, target_limits=limits)
    run = a_run(tmp_path / "run.sitebench", quick, slow, allowed=allowed)
    ran = in_process("plan", "logins", run, "--hash", "argon2:64m")
    assert (ran.code, "its machine has 1 GiB" in ran.err) == ((0, False) if fits else (2, True))


def test_without_a_hash_the_dearest_of_each_kind_is_planned_on_the_machine_measured(
    run: str,
) -> None:
    answers, _ = planned(run)
    assert list(answers) == ["ssha", "pbkdf2-sha256:600000", "argon2:64m"]
    assert answers["ssha"]["logins_per_s"] == pytest.approx(2 / 0.000_12)
    assert answers["argon2:64m"]["cores"] == pytest.approx(100 * 0.29)


def test_memory_is_that_at_rest_and_of_each_check(run: str) -> None:
    more = ("--hash", "argon2:32m", "--memory", "16g", "--connections", "100")
    answers, warnings = planned(run, *more)
    assert answers["argon2:32m"]["memory_gib"] == pytest.approx((26 + 100 * 32) / 1_024)
    assert answers["argon2:32m"]["cpu_ms"] == pytest.approx(50 + (290 - 50) / 3)
    assert any("16 checks were made at once of 16 users, and 100" in each for each in warnings)
    answers, _ = planned(run, "--hash", "argon2:32m")
    assert answers["argon2:32m"]["memory_gib"] == pytest.approx((26 + 16 * 32) / 1_024)


def test_memory_that_threads_keep_is_planned_with(tmp_path: Path) -> None:
    """A slapd held that of 17 checks with 16 users."""
    points = (login("ssha", 0.1, 26.0), login("argon2:19m:2", 46.0, 26.0 + 17 * 19))
    run = a_run(tmp_path / "run", *points)
    answers, _ = planned(run, "--hash", "argon2:19m:2")
    assert answers["argon2:19m:2"]["memory_gib"] == pytest.approx((26 + 17 * 19) / 1_024)
    # They keep it whatever the connections, and one more for each beyond.
    for connections, checks in ((4, 17), (17, 17), (32, 32)):
        more = ("--hash", "argon2:19m:2", "--connections", str(connections))
        answers, _ = planned(run, *more)
        assert answers["argon2:19m:2"]["memory_gib"] == pytest.approx((26 + checks * 19) / 1_024)


def test_threads_that_were_more_than_the_users_keep_no_more_for_more_users(tmp_path: Path) -> None:
    """A slapd held 17 checks of 16 MiB with 8 users, and with 32: 1.1 GiB were foretold of 0.3."""
    points = (login("ssha", 0.1, 26.0), login("argon2:16m:1", 14.0, 26.0 + 17 * 16, users=8))
    run = a_run(tmp_path / "run", *points)
    for connections in (4, 8, 16):
        more = ("--hash", "argon2:16m:1", "--connections", str(connections))
        answers, _ = planned(run, *more)
        assert answers["argon2:16m:1"]["memory_gib"] == pytest.approx((26 + 17 * 16) / 1_024)
    # What is kept is no room for fewer connections either.
    ran = in_process("plan", "logins", run, "--hash", "argon2:16m:1", "--memory", "200m")
    assert ran.code == 2
    assert "--connections" not in ran.err
    assert "--memory 1g" in ran.err


def test_memory_that_is_given_back_is_that_of_the_connections(tmp_path: Path) -> None:
    """Of one pass 13 of 16 held theirs at once."""
    points = (login("ssha", 0.1, 26.0), login("argon2:64m:1", 60.0, 26.0 + 12.8 * 64))
    run = a_run(tmp_path / "run", *points)
    answers, _ = planned(run, "--hash", "argon2:64m:1", "--connections", "4")
    held = 4 * 12.8 / 13
    assert answers["argon2:64m:1"]["memory_gib"] == pytest.approx(
        (26 + held * 64) / 1_024, rel=1e-4
    )


def test_between_two_measured_sizes_the_one_that_holds_more_is_planned_with(tmp_path: Path) -> None:
    """Threads keep small memory, and give large memory back; up to where is not known.

    With 8 users a slapd held 17 checks of 24 MiB, as of 8, and 7 of 32: half of it was foretold.
    """
    points = [login(f"argon2:{mib}m:1", 1.0 * mib, 26.0 + n * mib) for mib, n in ((8, 17), (64, 7))]
    run = a_run(tmp_path / "run", login("ssha", 0.1, 26.0), *points)
    more = ("--hash", "argon2:16m:1,argon2:48m:1")
    answers, _ = planned(run, *more)
    small, large = (each["memory_gib"] * 1_024 for each in answers.values())
    assert small == pytest.approx(26 + 17 * 16)
    assert large == pytest.approx(26 + 17 * 48)
    words = in_process("plan", "logins", run, "--hash", "ssha,argon2:16m:1").out
    assert " 26 MiB" in words
    assert " 298 MiB" in words
    assert " 474 MiB" in in_process("plan", "logins", run, "--hash", "argon2:64m:1").out


def test_a_server_with_fewer_threads_than_users_holds_so_many_checks(tmp_path: Path) -> None:
    points = [login(f"argon2:{mib}m", 3.0 * mib, 26.0 + 4 * mib) for mib in (16, 64)]
    answers, _ = planned(a_run(tmp_path / "run", *points), "--hash", "argon2:32m", "--cores", "8")
    assert answers["argon2:32m"]["memory_gib"] == pytest.approx((26 + 4 * 32) / 1_024)
    # Nor are more than four cores busy with them.
    assert answers["argon2:32m"]["logins_per_s"] == pytest.approx(4 / 0.096)


def test_what_was_measured_is_no_point_of_a_line_that_leaves_it_out(tmp_path: Path) -> None:
    costs = {7_000: 7.0, 10_000: 30.0, 15_000: 15.0}
    run = a_run(tmp_path / "run", *(login(f"crypt:{n}", ms) for n, ms in costs.items()))
    answers, _ = planned(run, "--hash", "crypt:10000,crypt:12000")
    assert answers["crypt:10000"]["cpu_ms"] == pytest.approx(30.0)
    assert answers["crypt:12000"]["cpu_ms"] == pytest.approx(12.0)


def test_argon2_may_differ_in_passes_or_in_memory_and_not_in_both(tmp_path: Path) -> None:
    points = [login(f"argon2:{each}", ms) for each, ms in (("8m:1", 10.0), ("8m:4", 34.0))]
    run = a_run(tmp_path / "run", *points, login("argon2:32m:4", 150.0))
    answers, _ = planned(run, "--hash", "argon2:8m,argon2:16m:4", "--connections", "1")
    # Without a number it is three passes.
    assert answers["argon2:8m"]["cpu_ms"] == pytest.approx(26.0)
    assert answers["argon2:16m:4"]["cpu_ms"] == pytest.approx(34 + (150 - 34) / 3)
    ran = in_process("plan", "logins", run, "--hash", "argon2:16m:2")
    assert ran.code == 2
    assert "differs from argon2:8m:1 and argon2:8m:4 and argon2:32m:4 in more" in ran.err


def test_the_points_nearest_to_what_is_asked_say_what_it_costs(tmp_path: Path) -> None:
    """One that was measured itself is as it was measured, whatever a line says."""
    costs = {1_000: 1.0, 10_000: 20.0, 15_000: 40.0, 40_000: 50.0, 1_000_000: 5_000.0}
    run = a_run(tmp_path / "run", *(login(f"crypt:{n}", ms) for n, ms in costs.items()))
    hashes = "crypt:10000,crypt:20000,crypt,crypt:2000000"
    answers, _ = planned(run, "--hash", hashes)
    assert answers["crypt:10000"]["cpu_ms"] == pytest.approx(20.0)
    assert answers["crypt:20000"]["cpu_ms"] == pytest.approx(42.0)
    # 5,000 rounds are what it is without a number.
    assert answers["crypt"]["cpu_ms"] == pytest.approx(1 + 19 * 4 / 9)
    assert answers["crypt:2000000"]["cpu_ms"] == pytest.approx(5_000 + 4_950 * 100 / 96)


@pytest.mark.parametrize(
    ("argv", "message", "remedy"),
    [
        (("--hash", "pbkdf2-sha512:5000"), "pbkdf2-sha512 was not measured", "--hash pbkdf2-sha5"),
        (("--hash", "pbkdf2-sha256:5000000"), "8.33 times beyond what was measured", "sweep"),
        (("--hash", "pbkdf2-sha256:10000"), "10 times beyond what was measured", "sweep"),
        (("--hash", "argon2:1g"), "16 times beyond what was measured, 16 to 64", "sweep"),
        (("--hash", "argon2:64m:9"), "was measured with 3 passes alone", "--hash argon2:64m:9"),
        (("--hash", "rot13"), "there is no hash", "use clear, ssha"),
        (("--hash", ","), "names no hash", "ssha"),
        (("--memory", "16"), "'16' is no memory", "16g"),
        (("--memory", "0g"), "'0g' is no memory", "16g"),
        (
            ("--hash", "argon2:64m", "--memory", "1g"),
            "takes 1.03 GiB with 16 checks at once of argon2:64m",
            "--connections 15",
        ),
        (
            ("--hash", "argon2:64m", "--connections", "1000"),
            "1,000 checks at once of argon2:64m",
            "--memory 63g",
        ),
        (("--connections", "1000", "--memory", "0.05t"), "its machine has 51.2 GiB", "63g"),
        (("--logins", "0"), "not above zero", "500"),
        (
            ("--hash", "ssha", "--memory", "20m"),
            "server takes 26 MiB, and its machine has 20 MiB",
            "1g",
        ),
        (("--cores", "0"), "'0'", ""),
        (("--cores", "100000"), "'100000'", ""),
        (("--headroom", "100%"), "leaves no core", "less than 100%"),
        (("--target", "other"), "there is no target other", "openldap"),
        (("--size", "5k"), "there is no size 5k", "1k"),
        (("--xlsx", "/no/such/folder/plan.xlsx"), "cannot write", "folder"),
    ],
)
def test_what_points_do_not_say_is_one_line_and_its_remedy(
    run: str, argv: tuple[str, ...], message: str, remedy: str
) -> None:
    ran = in_process("plan", "logins", run, *argv)
    assert ran.code == 2, ran.out
    first, *rest = ran.err.strip().splitlines()
    assert message in first
    assert remedy in " ".join(rest)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([LOW], "was measured with 100,000 rounds alone"),
        ([LOW, login("pbkdf2-sha256:150000", 23.0)], "less than 2 times apart"),
        ([LOW, login("pbkdf2-sha256:600000", 15.0)], "costs 15 ms, no more than"),
        ([LOW, replace(HIGH, verdict=replace(CPU, warnings=(REHASHES,)))], "rounds alone"),
        ([replace(HIGH, verdict=Verdict(Bound.UNSETTLED, False, "it grew"))], "unsettled: it grew"),
        ([login("pbkdf2-sha256:300000", 45.0, 26.0, CPU, REHASHES)], "{SSHA} became {X}"),
        (
            [login("pbkdf2-sha256:300000", 45.0, 26.0, Verdict(Bound.DISK, True, "full"), WRITES)],
            "each login writes pwdLastSuccess, and disk was the limit",
        ),
        ([login("pbkdf2-sha256:300000", None)], "the CPU of its server was not seen"),
        ([login("pbkdf2-sha256:300000", 0.0)], "the CPU of its server was not seen"),
        ([LOW, replace(HIGH, spec=replace(HIGH.spec, target="other"))], "more than one target"),
        ([LOW, replace(HIGH, spec=replace(HIGH.spec, entries=7))], "more than one size"),
        ([LOW, login("pbkdf2-sha256:600000", 90.0, over="kept")], "more than one target"),
        ([login(None, accounts="a.csv")], "pbkdf2-sha256 was not measured; there are as stored"),
        ([a_result()], "no finished point of logins"),
        ([login("rot13")], 'there is no hash "rot13"'),
    ],
)
def test_points_that_say_nothing_of_a_hash_are_named(
    tmp_path: Path, points: list[PointResult], message: str
) -> None:
    run = a_run(tmp_path / "run", *points)
    ran = in_process("plan", "logins", run, "--hash", "pbkdf2-sha256:300000")
    assert ran.code == 2, ran.out
    first, remedy = ran.err.strip().splitlines()
    assert message in first
    assert remedy.startswith("  ")


def test_two_servers_are_no_plan(tmp_path: Path) -> None:
    """Two lines' ends on two servers were 40 % off."""
    one = a_run(tmp_path / "one", LOW)
    more = ("--hash", "pbkdf2-sha256:300000")
    answers, _ = planned(one, a_run(tmp_path / "same", HIGH), *more)
    assert answers["pbkdf2-sha256:300000"]["cpu_ms"] == pytest.approx(45.5)
    for other in (
        a_run(tmp_path / "newer", HIGH, version="slapd 2.6"),
        a_run(tmp_path / "larger", login("pbkdf2-sha256:600000", 90.5, cores=8)),
    ):
        ran = in_process("plan", "logins", one, other, *more)
        assert ran.code == 2
        assert "have two servers: A fine processor, 2 cores, 8.59 GB, slapd 2.5; and" in ran.err


def test_a_file_that_went_on_elsewhere_is_of_two_servers(tmp_path: Path) -> None:
    run = a_run(tmp_path / "larger", LOW, login("pbkdf2-sha256:600000", 90.5, cores=8))
    newer = a_run(tmp_path / "newer", LOW, HIGH)
    with RunStore(Path(newer)) as store:
        store.add_target({"name": "openldap", "version": "slapd 2.6"})
    moved = a_run(tmp_path / "moved", LOW, HIGH)
    with RunStore(Path(moved)) as store:
        store.set_manifest({"earlier": [{"cpu": {"model": "Another processor"}}]})
    for file, other in ((run, "8 cores"), (newer, "slapd 2.6"), (moved, "Another processor")):
        ran = in_process("plan", "logins", file)
        assert ran.code == 2, ran.out
        assert f"{file} has two servers: A fine processor, 2 cores" in ran.err
        assert other in ran.err


def test_the_version_of_another_target_is_none_of_this_one(tmp_path: Path) -> None:
    one, other = a_run(tmp_path / "one", LOW), a_run(tmp_path / "other", HIGH)
    with RunStore(Path(other)) as store:
        for result in [login("ssha", target="embedded")]:
            store.begin(result.spec)
            store.complete(store.point_id(result.spec.key), {"measure": a_tally()}, result)
            store.confirm(result.spec)
        store.add_target({"name": "embedded", "version": "sitebench 1"})
    answers, _ = planned(one, other, "--target", "openldap", "--hash", "pbkdf2-sha256:300000")
    assert answers["pbkdf2-sha256:300000"]["cpu_ms"] == pytest.approx(45.5)


def test_an_address_with_two_versions_is_two_servers(tmp_path: Path) -> None:
    """389-DS says its own as vendorVersion."""
    url = "ldap://127.0.0.1:1"
    runs = [a_run(tmp_path / "one", login("ssha", target=url))]
    runs += [a_run(tmp_path / "two", login("ssha", target=url))]
    for n, run in enumerate(runs):
        facts = {"name": "the directory", "vendorVersion": f"389-Directory/{n}"}
        with RunStore(Path(run)) as store:
            store.set_manifest({"targets": [facts]})
    ran = in_process("plan", "logins", *runs)
    assert ran.code == 2, ran.out
    assert "389-Directory/0; and" in ran.err


def test_a_server_that_was_not_at_its_limit_is_said(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", login("ssha", 0.2, 26.0, TESTER))
    answers, warnings = planned(run)
    assert answers["ssha"]["bound"] == "about"
    assert "the server's CPU was not used up (ssha at 1,000/s, generator)" in warnings[0]
    assert "about 10,000/s" in in_process("plan", "logins", run).out


def test_where_something_else_was_the_limit_the_rate_is_at_most_so_high(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", login("ssha", 0.2, 26.0, SERIALISED))
    answers, warnings = planned(run)
    assert answers["ssha"]["bound"] == "at most"
    assert "ssha: serialised was the limit at 1,000/s: more cores may carry no" in warnings[0]
    assert "at least 0.02" in in_process("plan", "logins", run).out


def test_a_line_is_as_good_as_the_worse_of_its_points(tmp_path: Path) -> None:
    for n, (verdict, bound) in enumerate(((TESTER, "about"), (SERIALISED, "at most"))):
        run = a_run(tmp_path / f"{n}", LOW, replace(HIGH, verdict=verdict))
        answers, _ = planned(run, "--hash", "pbkdf2-sha256:300000")
        assert answers["pbkdf2-sha256:300000"]["bound"] == bound


def test_a_write_behind_a_login_is_a_part_of_its_cost_and_said(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", login("ssha", 0.2, 26.0, CPU, WRITES))
    _, warnings = planned(run)
    assert "ssha: each login writes pwdLastSuccess" in warnings


def test_memory_that_is_not_told_apart_is_left_out(tmp_path: Path) -> None:
    """A server that had a dearer hash before keeps the peak of that one."""
    run = a_run(tmp_path / "run", login("ssha", 0.1, 1_050.0), login("argon2:64m", 290, 1_050.0))
    answers, warnings = planned(run, "--hash", "argon2:64m")
    assert answers["argon2:64m"]["memory_gib"] is None
    assert any("not told apart from the server's" in each for each in warnings)
    # Even so, it needs at least what its checks take.
    ran = in_process("plan", "logins", run, "--hash", "argon2:64m", "--connections", "1000")
    assert ran.code == 2
    assert "takes 62.5 GiB with 1,000 checks at once of argon2:64m" in ran.err


def test_accounts_are_planned_as_they_were_measured(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", login(None, 3.0, accounts="a.csv"))
    answers, warnings = planned(run)
    assert answers["as stored"]["logins_per_s"] == pytest.approx(2 / 0.003)
    assert answers["as stored"]["memory_gib"] is None
    assert any("only the server knows" in each for each in warnings)


def test_of_repeats_and_of_loads_the_median_at_the_highest_rate_counts(tmp_path: Path) -> None:
    repeats = [login("ssha", ms) for ms in (0.1, 0.2, 0.9)]
    repeats = [replace(each, spec=replace(each.spec, repeat=n)) for n, each in enumerate(repeats)]
    quiet = login("ssha", 0.7, users=1)
    run = a_run(tmp_path / "run", *repeats, replace(quiet, operations=10))
    answers, _ = planned(run)
    assert answers["ssha"]["cpu_ms"] == pytest.approx(0.2)


def test_logins_that_are_half_done_at_the_edges_are_said(tmp_path: Path) -> None:
    """Windows of 3 s had 36 logins of 600,000 rounds by 16 users, and costs half as high again."""
    few = replace(HIGH, operations=36)
    run = a_run(tmp_path / "run", LOW, few)
    _, warnings = planned(run)
    (said,) = [each for each in warnings if "under way at the edges" in each]
    assert said.startswith("pbkdf2-sha256:600000: 16 logins were under way")
    assert "its cost may be 44% off; measure longer" in said


def test_repeats_of_short_windows_are_as_far_off_as_one(tmp_path: Path) -> None:
    """Five repeats of 3 s had each half of their CPU of others, and nothing was said."""
    few = [replace(HIGH, operations=36, spec=replace(HIGH.spec, repeat=n)) for n in range(5)]
    _, warnings = planned(a_run(tmp_path / "run", LOW, *few))
    (said,) = [each for each in warnings if "under way at the edges" in each]
    assert "16 logins were under way" in said
    assert "its cost may be 44% off; measure longer" in said


def test_of_a_rate_as_many_are_under_way_as_it_has_at_once(tmp_path: Path) -> None:
    """64 users who wait for their turn are no logins: 100 a second of 50 us each are none."""
    calm = login("ssha", 0.2, users=64, rate="100")
    calm = replace(calm, operations=200, spec=replace(calm.spec, rate=100))
    _, warnings = planned(a_run(tmp_path / "run", calm))
    assert not any("under way at the edges" in each for each in warnings)


@pytest.mark.parametrize(("lost", "is_used"), [(20, True), (21, False)])
def test_a_point_that_fails_more_than_one_percent_is_left_out(
    tmp_path: Path, lost: int, is_used: bool
) -> None:
    """The CPU of logins that were given up was that of those that were not."""
    failing = replace(HIGH, failures_by_kind={"timeout": lost})
    ran = in_process("plan", "logins", a_run(tmp_path / "run", failing))
    assert ran.code == (0 if is_used else 2)
    if is_used:
        assert "20 logins failed" in ran.out
    else:
        assert "is left out, 21 of its logins failed, more than 1 %" in ran.err


def test_what_was_measured_is_read_as_its_own_point_says(tmp_path: Path) -> None:
    """Not as the other end of the line through it."""
    run = a_run(tmp_path / "run", replace(LOW, verdict=SERIALISED), HIGH)
    answers, _ = planned(run, "--hash", "pbkdf2-sha256:600000,pbkdf2-sha256:100000")
    assert answers["pbkdf2-sha256:600000"]["bound"] == "measured"
    assert answers["pbkdf2-sha256:100000"]["bound"] == "at most"


def test_more_cores_than_checks_at_once_are_said_to_be_idle(run: str) -> None:
    """64 cores carried as much as 16, without a word."""
    said = "ssha: of 64 cores no more than 16 are busy"
    for cores, is_said in ((64, True), (16, False)):
        _, warnings = planned(run, "--hash", "ssha", "--cores", str(cores))
        assert any(said in each for each in warnings) == is_said
    _, warnings = planned(run, "--hash", "ssha", "--cores", "64", "--connections", "64")
    assert not any("are busy" in each for each in warnings)


@pytest.mark.parametrize("high_ms", [3.0, 10.0])
def test_a_line_that_ends_below_nothing_is_no_cost(tmp_path: Path, high_ms: float) -> None:
    """3 ms at twice what takes 1 is nothing at half of it, and 10 ms were -3.5."""
    run = a_run(tmp_path / "run", login("crypt:10000", 1.0), login("crypt:20000", high_ms))
    ran = in_process("plan", "logins", run, "--hash", "crypt:5000")
    assert ran.code == 2, ran.out
    first, remedy = ran.err.strip().splitlines()
    assert "by the line through crypt:10000 and crypt:20000 crypt would cost nothing" in first
    assert "--hash crypt," in remedy


@pytest.mark.parametrize(("high_ms", "is_said"), [(100.0, False), (102.0, True)])
def test_points_whose_noise_makes_a_login_cost_less_than_nothing_are_said(
    tmp_path: Path, high_ms: float, is_said: bool
) -> None:
    """By a tenth of the cheaper point or more: 1.4 ms of 15.5 are noise, and 1.8 are not."""
    run = a_run(tmp_path / "run", LOW, login("pbkdf2-sha256:600000", high_ms))
    _, warnings = planned(run)
    said = "by its line a login without the hash would cost -1.8 ms"
    assert any(said in each for each in warnings) == is_said


def test_points_are_a_line_from_twice_apart_on(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", login("crypt:10000", 10.0), login("crypt:20000", 22.0))
    answers, _ = planned(run, "--hash", "crypt:40000,crypt:5000")
    assert answers["crypt:40000"]["cpu_ms"] == pytest.approx(46.0)
    assert answers["crypt"]["cpu_ms"] == pytest.approx(4.0)
