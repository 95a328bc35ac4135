"""`ils run login`: accounts and binds, wrong passwords, and protection against locked accounts."""

import csv
import math
import re
import shlex
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import ldap3
import pytest

from ils_bench.login import logins
from ils_bench.login.accounts import accounts_of
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.password_schemes import assure_bounded
from sitebench import LdapDirectory
from sitebench.errors import BadFile, BadInput
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.system.network import free_port
from tests.docs.test_complete_lists import page
from tests.ils_bench.conftest import LOCALES
from tests.scenario.test_workers import worker
from tests.support import stock_slapd
from tests.support.cli import Ran, in_process
from tests.support.ldap_server import refusing
from tests.support.stock_slapd import ADMIN, BASE, PASSWORD, StockSlapd

PEOPLE = 60
FAST = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "600ms", "--json")
BRIEF = ("--rate", "300", *FAST)
"""A low rate for tests that do not depend on speed."""
WHO = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))


def steps(ran: Ran, operation: str = "login") -> dict[str, int]:
    """Return the number of times of each step of an operation."""
    (point,) = ran.objects
    return {s["step"]: s["count"] for s in point["steps"] if s["program"] == operation}


def log_in(*argv: object) -> Ran:
    return in_process("ils", "run", "login", *argv)


def own_file(folder: Path, text: str) -> Path:
    """Write a file of accounts."""
    path = folder / "a.csv"
    path.write_text(text)
    return path


def let_in(*argv: object) -> None:
    """Assert that one login without a load succeeds."""
    tried = log_in(*argv, "--check")
    assert (tried.code, ": success" in tried.out) == (0, True), tried.err


def right(ran: Ran) -> None:
    point = ran.point
    assert point["operations"] > 0
    assert point["failures"] == 0, point["examples"]


@pytest.mark.parametrize("how", ["bind", "search-bind-groups"])
@pytest.mark.parametrize("target", ["embedded", "openldap"])
def test_people_of_a_started_target_log_in(target: str, how: str) -> None:
    ran = log_in("--target", target, "--how", how, *WHO, *BRIEF)
    right(ran)
    assert "people of the profile person, who have passwords" in ran.err
    done = steps(ran)
    assert ("search" in done) == ("groups" in done) == (how != "bind")
    where = "main" if how == "bind" else "login"
    # A login is a connection and one bind on it.
    assert abs(done[f"{where}: connect"] - done["sequence"]) <= 2
    assert abs(done["bind"] - done["sequence"]) <= 2
    assert ran.objects[0]["entries"] == PEOPLE


def test_logins_can_use_persistent_connections() -> None:
    ran = log_in("--over", "kept", *WHO, *FAST)
    right(ran)
    assert steps(ran)["bind"] > 100
    # Both users may have begun in the window.
    assert steps(ran).get("main: connect", 0) <= 2


def test_people_who_log_in_have_the_chosen_profile() -> None:
    """The profile applies to loaded people, to the first login, and to the logins of users."""
    kind = ("--profile", "posix", "--hash", "clear")
    ran = log_in(*kind, "--how", "search-bind", *WHO, *BRIEF)
    right(ran)
    assert ("search" in steps(ran), "groups" in steps(ran)) == (True, False)


def test_accounts_are_shuffled_unless_the_option_keys_is_given() -> None:
    assert 'deal = "shuffled"' in logins.text_of(IlsOptions(profile="person"))
    assert 'deal = "zipfian"' in logins.text_of(IlsOptions(profile="person", keys="zipfian"))
    let_in("--keys", "hotspot", *WHO)


def test_refused_wrong_passwords_are_a_share_of_the_right_answers() -> None:
    ran = log_in("--wrong", "20%", *WHO, *BRIEF)
    right(ran)
    wrong, all_ = steps(ran, "wrong")["sequence"], ran.objects[0]["operations"]
    assert all_ >= 70  # below 65, none at all would be within the tolerance
    # Each is drawn: a larger deviation occurs in one of 16,000 such samples.
    assert wrong == pytest.approx(0.2 * all_, abs=4 * math.sqrt(0.2 * 0.8 * all_))


def test_accepted_wrong_password_is_a_wrong_answer(tmp_path: Path) -> None:
    path = own_file(
        tmp_path, "dn,password\n" + "".join(f'"uid={n},{BASE}",x\n' for n in range(500))
    )
    with refusing(BASE, "it refuses adds alone, and lets everyone in") as url:
        at = ("--target", url, "--accounts", path, "--wrong", "50%")
        ran = log_in(*at, *BRIEF, "--allow-failures")
    point = ran.point
    wrong = next(s for s in point["steps"] if (s["program"], s["step"]) == ("wrong", "sequence"))
    assert wrong["count"] > 10
    # Operations due at the window's edge end after it.
    assert abs(wrong["failures"] - wrong["count"]) <= 2
    assert abs(point["failures"] - wrong["count"]) <= 2
    assert set(point["failures_by_kind"]) == {"wrong-answer"}


SENT_AGAIN = "each measurement would send wrong passwords to the same accounts"
AT = "--accounts a.csv --target ldap://127.0.0.1:1"
WRONG = f"{AT} --wrong 5%"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("run lookup --accounts a.csv", "--accounts is for the operation login"),
        ("run lookup --accounts a.csv --check", "--accounts is for the operation login"),
        ("run login --accounts a.csv --names @a.csv:dn", "leave --names out"),
        ("run lookup --wrong 5%", "--wrong is for the operation login"),
        ("run login --profile small", "people of the profile small have no passwords"),
        ("run login --wrong 5", "write a percentage"),
        ("run login --wrong 100%", "is not between"),
        ("run login --accounts a.csv", "is started here"),
        ("run login --accounts none.csv", "cannot read the accounts in none.csv"),
        (f"run login {AT}/o=a --how search-bind", "line 3: uid 'X' is there twice"),
        (f"sweep --operations login {AT}/o=a", "give a sweep --sizes 2"),
        (f"sweep --operations connect,login {AT}/o=a", "no other"),
        # No two points send wrong passwords to one account.
        (f"sweep --operations login,connect {WRONG}", SENT_AGAIN),
        (f"vary login --vary users=1,2 {WRONG}", SENT_AGAIN),
        (f"vary login --vary over=new,kept {WRONG}", SENT_AGAIN),
        (f"run login --repeats 2 {WRONG}", SENT_AGAIN),
        (f"peak login --clients 1,2 {WRONG}", SENT_AGAIN),
    ],
)
def test_contradicting_login_options_are_refused_without_a_connection(
    argv: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text('dn,uid,password\n"cn=1,o=a",x,y\n"cn=2,o=a",X,z\n')
    in_process("ils", *argv.split(), *BRIEF, cwd=tmp_path).check(2, words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dn,mail\nuid=a,b\n", "line 1: no column is called password: 'dn', 'mail'"),
        ("name,password\na,b\n", "line 1: no column is called dn or uid"),
        ("uid, password\na,b\n", "line 1: no column is called password: 'uid', ' password'"),
        ("uid,password\na,b\n\nb,\n", "line 4: password is empty"),
        ('uid,password\n"a\nb",c\n,x\n', "line 4: uid is empty"),
        ('uid,password\na,b\n"A ",c\n', "line 3: uid 'A ' is there twice"),
        ('uid,password\n"a b",b\n"a  B",c\n', "line 3: uid 'a  B' is there twice"),
        ('dn,password\n"ou=a,o=b",b\n"OU = a, o=b",c\n', "line 3: dn 'OU = a, o=b' is there"),
        # RFC 4514 has several spellings of one name.
        ('dn,password\n"cn=a\\2Cb,o=x",b\n"cn=a\\,b,o=x",c\n', "is there twice"),
        ('dn,password\n"cn=\\c3\\a4,o=x",b\n"CN=Ä,O=x",c\n', "line 3: dn 'CN=Ä,O=x' is there"),
        ('dn,password\n"cn=a+uid=b,o=x",b\n"UID=b + cn=a,o=x",c\n', "is there twice"),
        ('dn,password\n"2.5.4.3=a,o=x",b\n"cn=a,o=x",c\n', "is there twice"),
        ('dn,password\n"cn=a\\=b,o=x",b\n"cn=a=b,o=x",c\n', "is there twice"),
        ('dn,password\n"cn=a\\\\,o=x",b\n"cn=a\\5C,2.5.4.10=x",c\n', "is there twice"),
        ("uid,mail,UID,password\na,b,c,d\n", "line 1: the columns uid and UID have one name"),
        ("uid,password\n", "line 2, column 1: the file ends without a row"),
        ("", "the file ends without a row"),
    ],
)
def test_accounts_file_is_checked_line_by_line(text: str, said: str, tmp_path: Path) -> None:
    path = own_file(tmp_path, text)
    with pytest.raises(BadFile, match=re.escape(said)):
        accounts_of(str(path))


def test_login_at_an_address_requires_accounts(directory: LdapDirectory) -> None:
    """The message named --names, which login refuses."""
    ran = in_process(
        "ils", "run", "login", "--target", directory.url, "--entries", "10k", *BRIEF
    ).check(2, "for your own people add --accounts accounts.csv; for ours")
    assert "--names" not in ran.err


def test_accounts_with_login_names_need_a_base(tmp_path: Path) -> None:
    """Sitebench's default base was used, which the user had never typed."""
    path = own_file(tmp_path, 'dn,uid,password\n"cn=1,o=a",x,y\n"cn=2,o=a",X,z\n')
    argv = ("ils", "run", "login", "--accounts", path, *BRIEF, "--target", "ldap://127.0.0.1:1")
    # Accounts that bind by DN may share a name.
    assert "nothing answers" in in_process(*argv).err
    path.write_text('dn,uid,password\n"cn=1,o=a",x,y\n')
    said = "has names, and no base says where they are"
    assert said in in_process(*argv, "--how", "search-bind").err
    path.write_text("uid,password\nx,y\n")
    in_process(*argv).check(2, said, "--base ou=people,dc=example,dc=com")
    for more in ("ou=Dynamic,o=Intranet", "o=a"):
        assert "nothing answers" in in_process(*argv, "--base", more).err
        assert "nothing answers" in in_process(*argv[:-1], f"{argv[-1]}/{more}").err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("argon2:1100m", "argon2:1100m takes 1.07 GiB of memory for each login"),
        ("argon2:512m:10", "argon2:512m:10 may take 10.5 s of CPU for each login"),
    ],
)
def test_expensive_hash_is_refused_by_every_command(given: str, said: str) -> None:
    people = ("--profile", "person", *WHO)
    for argv in (
        ("run", "login", "--hash", given, *people),
        ("sweep", "--operations", "login", "--hash", f"ssha,{given}", *people),
        ("serve", "--hash", given, *people),
    ):
        ran = in_process("ils", *argv)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
    with LdapDirectory(entries=0) as directory:
        to = ("--to", f"{directory.url}/ou=Dynamic,{directory.suffix}", "--hash", given)
        ran = in_process("ils", "seed", *people, *to, "--i-own-this-target")
        assert (ran.code, ran.out, said in ran.err) == (2, "", True), ran.err


def test_bounds_of_hashes_match_the_limits_of_the_directory() -> None:
    """docs/limits.md takes these limits from the directory; a program may raise some of them."""

    def bound(name: str) -> int:
        row = re.search(rf"^\| `ils` \| `{name}` \| (\d+) ", page("limits.md"), re.MULTILINE)
        assert row is not None
        return int(row[1])

    mib = bound("slow_hash_bytes") >> 20
    for most in (mib, 2 * mib):
        limits = {"slow_hash_bytes": most << 20, "slow_hash_ms": 20_000}
        assure_bounded(f"argon2:{most}m", limits=limits)
        with pytest.raises(BadInput, match="of memory for each login"):
            assure_bounded(f"argon2:{most + 1}m", limits=limits)
    passes = bound("slow_hash_ms") // (2 * 64 * 1024 // 1_000)
    assure_bounded(f"argon2:64m:{passes}")
    with pytest.raises(BadInput, match="of CPU for each login"):
        assure_bounded(f"argon2:64m:{passes + 1}")


@pytest.mark.parametrize(
    ("most", "beyond", "password"),
    [
        ("crypt:28571", "crypt:28572", "x" * 63),
        ("crypt:20000", "crypt:20000", "x" * 64),
        ("pbkdf2-sha256:40000", "pbkdf2-sha256:40001", None),
        ("pbkdf2-sha512:20000", "pbkdf2-sha512:20001", None),
        ("argon2:10000k:1", "argon2:10001k:1", None),
        ("argon2:5000k:2", "argon2:5000k:3", None),
    ],
)
def test_hashes_refused_as_options_are_exactly_those_beyond_the_directorys_limits(
    most: str, beyond: str, password: str | None, tmp_path: Path
) -> None:
    # 1.5 times the time that this machine needs.
    limits = {"slow_hash_ms": 20}

    def logs_in(hashed: str, password: str | None) -> bool:
        people = generate(Spec(1, profile="person", hash=hashed, one_password=password))
        make_hashes(people)
        found = people.population
        write_ldif(found, file := tmp_path / f"{hashed}.ldif".replace(":", "-"))
        # Loaded from a file, because the option would be refused.
        with LdapDirectory(entries=0, ldif=file, limits=limits) as directory:
            connection = ldap3.Connection(directory.url, found.dn(0), found.password(0))
            let_in: bool = connection.bind()
            connection.unbind()
            return let_in

    well = password and password[:63]
    assure_bounded(most, well, limits)
    assert logs_in(most, well)
    with pytest.raises(BadInput, match="of CPU for each login"):
        assure_bounded(beyond, password, limits)
    assert not logs_in(beyond, password)


def test_long_cell_does_not_hide_later_lines(tmp_path: Path) -> None:
    path = own_file(tmp_path, f"uid,password\n{'a' * 1_000_000},b\nc,\n")
    usual = csv.field_size_limit()
    with pytest.raises(BadFile, match="line 3: password is empty"):
        accounts_of(str(path))
    assert csv.field_size_limit() == usual


def test_cell_that_is_not_a_dn_is_refused_with_its_line(tmp_path: Path) -> None:
    path = own_file(tmp_path, 'dn,password\n"uid=a,o=b",x\n\n"uid=a,b",x\n')
    argv = ("--accounts", path, "--target", "ldap://127.0.0.1:1")
    log_in(*argv, *BRIEF).check(2, f'{path}, line 4, dn: "uid=a,b": is no name')


def test_columns_of_accounts_are_recognised_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfUserName,Mail,userPassword,DN\r\na,a@x,p,cn=a\r\n")
    found = accounts_of(str(path))
    assert (found.name, found.dn, found.password) == ("UserName", "DN", "userPassword")
    assert (found.attribute, len(found)) == ("uid", 1)


def test_columns_of_accounts_can_be_chosen(tmp_path: Path) -> None:
    path = own_file(tmp_path, "Login,mail,Passwort neu,Personalnummer,x=y\na,a@x,p,7,z\n")

    def found(columns: str) -> tuple[str | None, str, str]:
        accounts = accounts_of(f"{path}:{columns}")
        return accounts.name, accounts.attribute, accounts.password

    # The first of the documented names takes precedence.
    assert found("passwort neu=password") == ("Login", "uid", "Passwort neu")
    assert found("mail,Passwort neu=password") == ("mail", "mail", "Passwort neu")
    number = "Personalnummer=employeeNumber,Passwort neu=password"
    assert found(number) == ("Personalnummer", "employeeNumber", "Passwort neu")
    for columns, said in (
        ("secret=password", "line 1: no column is called secret: 'Login', 'mail'"),
        ("Login=uid,mail", "names two columns of names, Login and mail"),
        ("Login=u id", "'u id' is no attribute"),
    ):
        with pytest.raises(BadFile, match=re.escape(said)):
            found(columns)
    with pytest.raises(BadFile) as refused:
        accounts_of(str(path))
    assert f"--accounts {path}:COLUMN=password" in refused.value.remedy


@pytest.fixture(scope="module")
def directory() -> Iterator[LdapDirectory]:
    with LdapDirectory(PEOPLE, profile="person", locales=LOCALES) as found:
        yield found


def seeded_accounts(folder: Path, base: str) -> Path:
    """Return the accounts of people below a base, as `seed` writes them."""
    path = folder / "accounts.csv"
    where = ("--to", folder / "people.ldif", "--accounts", path, "--profile", "person")
    ran = in_process("ils", "seed", *where, "--base", base, *WHO)
    ran.check(0, f"{PEOPLE} accounts with their passwords")
    return path


@pytest.fixture
def accounts(tmp_path: Path) -> Path:
    """Return the accounts of the embedded directory."""
    return seeded_accounts(tmp_path, "ou=Dynamic,o=Intranet")


def test_seed_writes_an_accounts_file_with_mode_0600(accounts: Path) -> None:
    assert stat.S_IMODE(accounts.stat().st_mode) == 0o600
    with accounts.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["dn", "uid", "password"]
    assert len(rows) == len({row["password"] for row in rows}) == PEOPLE
    assert rows[7]["dn"] == "uid=user.7,ou=Dynamic,o=Intranet"
    again = ("--to", accounts.with_name("b.ldif"), "--accounts", accounts)
    in_process("ils", "seed", *again, "--profile", "person", *WHO).check(2, "exists already")
    in_process("ils", "seed", "--to", "c.ldif", "--accounts", "c.csv", cwd=accounts.parent).check(
        2, "have no passwords"
    )
    assert not accounts.with_name("c.ldif").exists()


def keep(accounts: Path, columns: list[str]) -> Path:
    """Reduce a file to some columns."""
    path = accounts.with_name("own.csv")
    with accounts.open(newline="") as file, path.open("w", newline="") as own:
        rows = csv.DictWriter(own, columns, extrasaction="ignore")
        rows.writeheader()
        rows.writerows(csv.DictReader(file))
    return path


@pytest.mark.parametrize(
    ("columns", "how"),
    # The search is for the name, with or without a DN column.
    [
        (["uid", "password"], "bind"),
        (["dn", "uid", "password"], "bind"),
        (["uid", "password"], "search-bind"),
        (["dn", "uid", "password"], "search-bind-groups"),
    ],
)
def test_accounts_of_a_csv_file_log_in(
    directory: LdapDirectory, accounts: Path, how: str, columns: list[str]
) -> None:
    own = keep(accounts, columns)
    where = ("--target", directory.url, "--base", directory.base)
    ran = log_in(*where, "--accounts", own, "--how", how, *BRIEF)
    right(ran)
    other = own.with_name("other.csv")
    other.write_text(own.read_text().replace("uid,password", "log in,Geheim", 1))
    named = f"{other}:Geheim=password,log in=uid"
    let_in(*where, "--accounts", named, "--how", how)
    # The result contains the number of accounts.
    assert ran.objects[0]["entries"] == PEOPLE
    with accounts.open() as file:
        passwords = [row["password"] for row in csv.DictReader(file)]
    assert not any(each in ran.out + ran.err for each in passwords)


def test_semicolons_may_separate_the_cells_of_accounts(
    directory: LdapDirectory, accounts: Path, tmp_path: Path
) -> None:
    names = keep(accounts, ["uid", "password"]).read_text()
    other = tmp_path / "semicolons.csv"
    other.write_text(names.replace(",", ";"))
    where = ("--target", directory.url, "--base", directory.base)
    let_in(*where, "--accounts", other)
    other.write_text("jsmith;swordfish\nabyron;battery\n")
    ran = log_in(*where, "--accounts", other, *BRIEF).check(2, "no column is called password")
    assert "swordfish" not in ran.err


def test_accounts_file_with_fewer_accounts_than_threads_is_measured(
    directory: LdapDirectory, accounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each thread needs its own row, also on a machine with more cores than accounts."""
    monkeypatch.setattr(logins, "usable_cores", lambda: 8)
    monkeypatch.setattr(logins, "engine_threads", lambda asked: 4)
    own = keep(accounts, ["dn", "password"])
    own.write_text("\n".join(own.read_text().splitlines()[:2]) + "\n")
    options = IlsOptions(target=directory.url, base=directory.base, accounts=str(own))
    assert POINTS.apply_scenario(options).threads == 1
    own.write_text(accounts.read_text())
    assert POINTS.apply_scenario(options).threads is None


def test_accounts_with_dns_but_no_login_names_bind_without_a_search(
    directory: LdapDirectory, accounts: Path
) -> None:
    own = keep(accounts, ["dn", "password"])
    argv = ("--target", directory.url, "--accounts", own)
    let_in(*argv)
    log_in(*argv, "--how", "search-bind").check(2, "has DNs alone")


@pytest.fixture(scope="module")
def stock(slapd: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StockSlapd]:
    """A slapd that locks accounts at the third wrong password."""
    with stock_slapd.running(tmp_path_factory.mktemp("stock"), policies=True) as server:
        assert server.seed("--profile", "person").code == 0
        said = server.client("ldapadd", "-D", ADMIN, "-w", PASSWORD, text=stock_slapd.POLICY)
        assert "adding new entry" in said, said
        yield server


@pytest.fixture
def before(stock: StockSlapd) -> Counter[str]:
    """Return the number of refused binds per account, and unlock all accounts."""
    login = ("-D", ADMIN, "-w", PASSWORD)
    argv = ("-LLL", *login, "-b", BASE, "(|(pwdFailureTime=*)(pwdAccountLockedTime=*))", "1.1")
    for dn in re.findall(r"^dn: (.*)$", stock.client("ldapsearch", *argv), re.MULTILINE):
        reset = f"dn: {dn}\nchangetype: modify\nreplace: pwdFailureTime\n-\n"
        reset += "replace: pwdAccountLockedTime\n-\n"
        stock.client("ldapmodify", "-e", "!relax", *login, text=reset)
    return stock.refused()


@pytest.fixture
def strangers(stock: StockSlapd, tmp_path: Path) -> Path:
    """Return the accounts of the slapd."""
    return seeded_accounts(tmp_path, BASE)


def at(stock: StockSlapd, accounts: Path) -> tuple[object, ...]:
    return (*stock.at, "--accounts", accounts)


def with_two_workers(folder: Path, *argv: object) -> Ran:
    port = free_port()
    with worker(folder, port), worker(folder, port):
        return in_process(*argv, "--workers", "2", "--bind", f"127.0.0.1:{port}")


def outdate(accounts: Path, *rows: int) -> None:
    """Replace the passwords of these rows, or of all rows."""
    lines = accounts.read_text().splitlines()
    for row in rows or range(1, len(lines)):
        lines[row] = f"{lines[row].rpartition(',')[0]},stale-1"
    accounts.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("more", [(), ("--threads", "2"), ("--client", "ldap3")])
def test_no_account_gets_two_wrong_passwords(
    stock: StockSlapd, strangers: Path, before: Counter[str], more: tuple[str, ...]
) -> None:
    wrong = ("--wrong", "30%", "--measure", "20s")
    point = log_in(*at(stock, strangers), *FAST, *wrong, *more).point
    # Sixty of two hundred logins are wrong: the run ends with the last account.
    kinds = {each["kind"] for each in point["warnings"]}
    assert "data-used-up" in kinds
    # These logins cause no writes.
    assert not kinds & {"login-writes", "login-rehashes"}
    assert point["failures"] == 0
    assert stock.refused() - before == Counter({f"uid=user.{n},{BASE}": 1 for n in range(PEOPLE)})


def test_workers_share_accounts(stock: StockSlapd, strangers: Path, before: Counter[str]) -> None:
    # Slowly enough that some accounts remain when all users have started.
    load = (*at(stock, strangers), *BRIEF, "--wrong", "50%", "--rate", "30", "--measure", "20s")
    point = with_two_workers(strangers.parent, "ils", "run", "login", *load).point
    assert min(worker["operations"] for worker in point["workers"]) > 0
    refused = stock.refused() - before
    assert set(refused.values()) == {1}
    assert len(refused) > PEOPLE // 2


def test_one_outdated_password_in_the_accounts_file_ends_the_run(
    stock: StockSlapd, strangers: Path, before: Counter[str]
) -> None:
    outdate(strangers, 20)
    ran = log_in(*at(stock, strangers), *BRIEF, "--measure", "20s").check(
        1, "a password was refused, so the run has ended", "uid=user.19,"
    )
    assert "stale-1" not in ran.err
    assert stock.refused() - before == Counter({f"uid=user.19,{BASE}": 1})
    # With permission to lock accounts the run continues; permission to change the directory is not
    # enough.
    argv = ("login", *at(stock, strangers), *FAST, "--allow-failures")
    assert stock.ils("run", *argv).code == 1
    assert stock.ils("run", *argv, "--wrong-passwords", "any").point["failures"] > 1
    assert (stock.refused() - before)[f"uid=user.19,{BASE}"] > 3


def stale(accounts: Path, deal: str, more: str = "") -> Path:
    """Write a scenario file that logs in with the accounts, all with outdated passwords."""
    outdate(accounts)
    path = accounts.with_name("login.toml")
    path.write_text(
        f"[data.account]\nfile = {accounts.name!r}\ndeal = {deal!r}\n"
        "[[operation]]\nname = 'login'\n[[operation.step]]\nsearch = '(uid={account.uid})'\n"
        "attributes = ['1.1']\nname = 'find'\ncapture.dn = 'dn'\n"
        "[[operation.step]]\nname = 'log in'\nbind = '{dn}'\npassword = '{account.password}'\n"
        f"{more}"
    )
    return path


@pytest.mark.parametrize("way", ["file", "operation", "threads", "check", "workers"])
def test_file_of_outdated_passwords_locks_no_account(
    stock: StockSlapd, strangers: Path, before: Counter[str], way: str
) -> None:
    path = stale(strangers, "exclusive")
    name = f"{path}:login" if way == "operation" else path
    more = {"threads": ("--threads", "2"), "check": ("--check",)}.get(way, ())
    load = (*stock.at, "--warmup", "0s", "--measure", "5s", "--users", "16", "--allow-failures")
    argv = ("ils", "run", name, *load, *more)
    ran = with_two_workers(path.parent, *argv) if way == "workers" else in_process(*argv)
    assert ran.code == 1, ran.err
    assert "stale-1" not in ran.err
    refused = stock.refused() - before
    assert refused
    assert set(refused.values()) == {1}
    if way != "check":
        assert "a password was refused, so the run has ended" in ran.err
        assert "--wrong-passwords any" in ran.err


def test_dealing_rows_in_a_way_that_could_lock_accounts_is_refused(
    stock: StockSlapd, strangers: Path, before: Counter[str]
) -> None:
    target = (*stock.at, "--i-own-this-target")
    ran = in_process("ils", "run", stale(strangers, "uniform"), *target, *FAST).check(2)
    message, remedy = ran.err.splitlines()
    assert "login, step log in: stale passwords of account could be sent many" in message
    assert 'write deal = "exclusive" in its [data.account]' in remedy
    refused = "expect.result = 'invalidCredentials'\n"
    ran = in_process("ils", "run", stale(strangers, "exclusive", refused), *target, *FAST).check(
        2, 'write deal = "once"'
    )
    assert stock.refused() == before
    # A user with permission to lock accounts states it, and each account gets one intended wrong
    # password.
    once = stale(strangers, "once", refused)
    assert in_process("ils", "run", once, *target[:-1], *FAST).code == 0
    assert set((stock.refused() - before).values()) == {1}
    lifted = (*target, *FAST, "--wrong-passwords", "any", "--allow-failures")
    ran = in_process("ils", "run", stale(strangers, "uniform"), *lifted)
    assert "no operation succeeded" in ran.err
    assert max((stock.refused() - before).values()) > 2


def test_each_account_gets_one_wrong_password_per_run(
    stock: StockSlapd, strangers: Path, before: Counter[str], tmp_path: Path
) -> None:
    argv = (*at(stock, strangers), *BRIEF, "--wrong", "5%", "--out", tmp_path / "a.sitebench")
    # Compared pairs have separate run files.
    pairs = f"ils run login {shlex.join(map(str, argv[:-2]))} --over {{}}".replace(" --json", "")
    in_process("compare", "new", "kept", "--interleave", pairs, "--out", tmp_path / "c").check(
        2, "each measurement would send wrong passwords"
    )
    assert stock.refused() == before
    # A run that continues with another load counts, too.
    assert log_in(*argv).code == 0
    assert set((sent := stock.refused() - before).values()) == {1}
    log_in(*argv, "--users", "1").check(2, "this run has sent wrong passwords to these accounts")
    assert stock.refused() - before == sent


NOBODY = f'dn,uid,password\n"uid=nobody,{BASE}",nobody,x1\n'
FOREIGN = "Anmeldename,mail,password\nnobody,nobody@x,x1\n"
"""The user's column in another language was ignored, and mail used in its place."""


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (NOBODY, "--how bind", "invalidCredentials"),
        (NOBODY, "--how search-bind", "finds no entries below"),
        (NOBODY, "--check", "DNs are of the column dn"),
        (
            FOREIGN,
            "--how bind",
            "names are of the column mail (another: --accounts FILE:COLUMN=uid",
        ),
        (FOREIGN, "--check", "names are of the column mail (another: --accounts FILE:COLUMN=uid"),
    ],
)
def test_first_account_is_tried_before_the_load_and_its_column_named(
    stock: StockSlapd, tmp_path: Path, text: str, options: str, words: str
) -> None:
    ran = log_in(*at(stock, own_file(tmp_path, text)), *BRIEF[:-1], *options.split())
    assert ran.code in (1, 2)
    assert words in ran.err
    assert "x1" not in ran.err


def test_successful_login_clears_earlier_failures(
    stock: StockSlapd, strangers: Path, before: Counter[str]
) -> None:
    """The first login after it changed the entry, and every login was reported as a write."""
    dn = accounts_of(str(strangers)).cell(0, "dn")
    stock.client("ldapwhoami", "-D", dn, "-w", "wrong")
    assert stock.refused() - before == Counter({dn: 1})
    ran = log_in(*at(stock, strangers), *BRIEF)
    right(ran)
    assert "login-writes" not in {each["kind"] for each in ran.objects[0]["warnings"]}


def test_server_that_writes_at_each_login_causes_a_warning(
    slapd: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with stock_slapd.running(tmp_path_factory.mktemp("last"), last=True) as server:
        assert server.seed("--profile", "person").code == 0
        for _ in range(2):
            ran = server.ils("run", "login", *server.at, "--profile", "person", *BRIEF)
            right(ran)
            said = {each["kind"]: each["message"] for each in ran.objects[0]["warnings"]}
            assert said["login-writes"].startswith("each login writes pwdLastSuccess")


def test_check_tries_one_login_without_a_load(stock: StockSlapd, strangers: Path) -> None:
    how = ("--how", "search-bind-groups", "--wrong", "5%", "--check")
    ran = log_in(*at(stock, strangers), *how).check(0)
    assert [line.split()[0] for line in ran.out.splitlines() if not line.startswith("  m")] == [
        *("login", "login:", "search", "bind", "groups", "login:"),
        *("wrong", "login:", "search", "bind", "login:"),
    ]
    assert "password={account.password}: success" in ran.out


def test_advice_is_given_if_the_check_of_a_login_is_refused(
    stock: StockSlapd, strangers: Path, before: Counter[str]
) -> None:
    outdate(strangers)
    for _ in range(2):
        log_in(*at(stock, strangers), "--check").check(
            1, "login: not answered as it has to be", "check the name, the password and --base"
        )
    assert list((stock.refused() - before).values()) == [2]


def test_runs_with_different_accounts_files_are_different_points(tmp_path: Path) -> None:
    keys = set()
    for names in ("ab", "ac"):
        path = tmp_path / "a.csv"
        path.write_text("uid,password\n" + "".join(f"{each},x\n" for each in names))
        options = IlsOptions(accounts=str(path), target="ldap://127.0.0.1:1", entries=2)
        keys.add(POINTS.point(options, "login").key)
    assert len(keys) == 2


def test_directory_closed_to_anonymous_clients_is_reported(accounts: Path, tmp_path: Path) -> None:
    kind = {"profile": "person", "locales": LOCALES, "admin_dn": "cn=a", "admin_password": "x"}
    with LdapDirectory(PEOPLE, require_bind=True, **kind) as directory:  # type: ignore[arg-type]
        argv = ("--target", directory.url, "--base", directory.base, "--accounts", accounts)
        how = ("--how", "search-bind")
        ran = log_in(*argv, *how, *BRIEF)
        assert ran.code != 0
        assert "with --bind-dn and --password-file; an account of the file will do" in ran.err
        # A bind uses the base only as text.
        own = keep(accounts, ["uid", "password"])
        right(log_in(*argv[:-1], own, *BRIEF))
        elsewhere = ("--base", f"ou=none,{directory.suffix}")
        ran = log_in(*argv[:-1], own, *elsewhere, "--check")
        assert ran.code != 0, ran.out
        secret = tmp_path / "password"
        secret.write_text("x")
        who = ("--bind-dn", "cn=a", "--password-file", secret)
        right(log_in(*argv, *how, *who, *BRIEF))


def test_login_works_at_a_slapd_closed_to_anonymous_reads(
    slapd: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With `by users read by * none`, anonymous clients get noSuchObject, as for a wrong base."""
    path = tmp_path / "accounts.csv"
    with stock_slapd.running(tmp_path_factory.mktemp("closed"), closed=True) as server:
        assert server.seed("--profile", "person", "--accounts", path).code == 0
        names = keep(path, ["uid", "password"])
        where = ("--target", server.url, "--accounts", names, *BRIEF)
        right(log_in("--base", BASE, *where))
        log_in("--base", BASE, *where, "--how", "search-bind").check(
            2, f"has no entry {BASE!r}, or does not show it to anonymous users", "--bind-dn"
        )
        wrong = log_in("--base", f"ou=none,{BASE}", *where)
        assert wrong.code != 0
        assert "check the name, the password and --base" in wrong.err


def test_reading_accounts_takes_at_most_20_times_as_long_as_csv_reader(tmp_path: Path) -> None:
    """It takes seven times; a quadratic search for duplicates would take a hundred times more."""
    path = tmp_path / "a.csv"
    with path.open("w") as file:
        file.write("dn,password\n")
        file.writelines(f'"uid=user.{i},{BASE}",pw{i}\n' for i in range(25_000))
    began = time.process_time()
    with path.open(newline="") as file:
        assert sum(1 for _ in csv.DictReader(file)) == 25_000
    read = time.process_time()
    assert len(accounts_of(str(path))) == 25_000
    assert time.process_time() - read < 20 * (read - began)
