"""A directory with its stock schema: seeded, measured, verified and emptied without own schema.

The directory is a slapd as Debian's package configures it, with its own counters.
"""

import base64
import hashlib
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import sitebench
from ils_bench.seeding import commands
from ils_bench.targets import journal
from sitebench._engine import Population, seed_directory
from sitebench.runs.runfile import RunFile
from sitebench.seeders.people import Spec, generate
from tests.ils_bench.conftest import LOCALES, in_ended_process
from tests.support import stock_slapd
from tests.support.cli import in_process
from tests.support.stock_slapd import ADMIN, BASE, PASSWORD, PEOPLE, SUFFIX, StockSlapd

BRIEF = (
    *("--users", "2", "--threads", "1", "--think", "10ms"),
    *("--warmup", "0s", "--measure", "500ms"),
)


@pytest.fixture
def seeded(stock: StockSlapd) -> StockSlapd:
    """The stock slapd with people."""
    stock.seed().check(0)
    return stock


def known(profile: str = "person") -> Population:
    spec = Spec(PEOPLE, locales=LOCALES, base=BASE).to_dict() | {"profile": profile}
    return generate(Spec.from_dict(spec)).population


def test_stock_directory_is_seeded_with_logins_and_verified(seeded: StockSlapd) -> None:
    """Only RTPerson was supported: the first add was refused."""
    there = seeded.entries("inetOrgPerson")
    assert len(there) == PEOPLE
    people = known()
    (first,) = [each for each in there if each.startswith(f"dn: {people.dn(7)}\n")]
    # slapd's slapcat writes passwords in base64.
    stored = base64.b64decode(first.partition("userPassword:: ")[2].split("\n")[0])
    assert stored.startswith(b"{SSHA}")
    both = base64.b64decode(stored.removeprefix(b"{SSHA}"))
    assert hashlib.sha1(people.password(7).encode() + both[20:]).digest() == both[:20]
    assert len(both) == 20 + 8
    login = ("-D", people.dn(7), "-w")
    assert seeded.client("ldapwhoami", *login, people.password(7)) == f"dn:{people.dn(7)}\n"
    for wrong in (people.password(8), stored.decode()):
        assert "Invalid credentials (49)" in seeded.client("ldapwhoami", *login, wrong)
    seeded.verify().check(
        0,
        "people of the profile person, as its schema has no RTPerson",
        f"all {PEOPLE} people verified",
        "5 of them logged in, and were refused with another password",
    )
    seeded.verify("--seed", "7").check(1)


def test_seed_adds_only_missing_people_to_a_stock_directory(seeded: StockSlapd) -> None:
    seeded.seed(entries=PEOPLE + 30).check(0)
    assert len(seeded.entries("inetOrgPerson")) == PEOPLE + 30
    emptied = seeded.clean(entries=PEOPLE + 30)
    assert f"removed {PEOPLE + 30} people from {BASE}" in emptied.err


LOGIN = """
[data.person]
people = "seeded"
[[operation]]
name = "login"
[[operation.step]]
name = "bind"
bind = "{person.dn}"
password = "{person.password}"
[[operation.step]]
name = "look"
search = "(uid={person.uid})"
expect.entry = "person"
"""
BASE_IN_ADDRESS = ("--target", "{0.url}/ou=people,dc=example,dc=com")


@pytest.mark.parametrize(
    "argv",
    [
        # Lookups searched below ou=Dynamic,o=Intranet.
        ("lookup", *BASE_IN_ADDRESS),
        ("lookup", "--client", "ldap3"),
        ("retrieve",),
        ("ils-user", "--session", "100ms"),
        ("add",),
        ("{1}/login.toml",),
    ],
    ids=" ".join,
)
def test_every_operation_runs_at_a_stock_directory(
    seeded: StockSlapd, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    (tmp_path / "login.toml").write_text(LOGIN)
    operation, *options = (word.format(seeded, tmp_path) for word in argv)
    where = () if "--target" in options else seeded.at
    out = tmp_path / "run.sitebench"
    ran = seeded.ils("run", operation, *options, *where, *BRIEF, "--json", "--out", out)
    assert (ran.point["failures"], ran.point["ops_per_s"] > 0) == (0, True), ran.point
    assert ("people of this run" in ran.err) == (operation == "add")
    assert len(seeded.entries("inetOrgPerson")) == PEOPLE
    with RunFile(out) as file:
        (stored,) = file.points()
        assert stored.spec.settings["profile"] == "person"
        assert file.manifest()["population"]["digest"] == known().digest


def test_different_bases_in_address_and_option_are_refused() -> None:
    named = ("--target", f"ldap://127.0.0.1:1/{BASE}", "--base", "o=other")
    in_process("ils", "run", "lookup", *named, *BRIEF).check(2, "leave one of them out")


def test_python_program_reads_people_by_the_base_in_the_address(stock: StockSlapd) -> None:
    """A Python program uses people of the default locales."""
    where, who = f"{stock.url}/{BASE}", ("--bind-dn", ADMIN, "--entries", "50")
    secret = {"SITEBENCH_BIND_PASSWORD": PASSWORD}
    assert in_process("ils", "seed", "--to", where, *who, cwd=None, **secret).code == 0
    found = sitebench.run(
        "lookup", where, entries=50, users=2, threads=1, warmup_s=0, measure_s=0.5
    )
    assert found.failures == 0
    assert found.ops_per_s > 0
    emptied = ("clean", "--seeded", "--target", where, *who)
    assert in_process("ils", *emptied, cwd=None, **secret).code == 0


def test_connects_do_not_read_the_schema(stock: StockSlapd) -> None:
    ran = stock.ils("run", "connect", "--target", stock.url, *BRIEF).check(0)
    assert "its schema" not in ran.err


def test_hidden_people_are_not_reported_as_missing(slapd: Path, tmp_path: Path) -> None:
    """As in 389-DS: the base is visible, and its people are not."""
    with stock_slapd.running(tmp_path / "hidden", hidden="inetOrgPerson") as server:
        assert server.seed().code == 0
        for names in (("--names", "uid=user.{i}"), ()):
            in_process("ils", "run", "lookup", *server.at, "--entries", "9", *names, *BRIEF).check(
                2, ", or does not show it to anonymous users", "--bind-dn"
            )
        bound = server.ils("run", "lookup", *server.at, "--names", "uid=nobody.{i}", *BRIEF)
        assert (bound.code, "anonymous" in bound.err) == (2, False), bound.err
        default = in_process("ils", "run", "lookup", "--target", server.url, *BRIEF)
        assert "(the default of --base)" in default.err
        assert f"below {SUFFIX!r}" in default.err


def test_missing_people_are_reported_with_the_seed_command(stock: StockSlapd) -> None:
    assert stock.seed(entries=1).code == 0
    who = ("--entries", "150", "--seed", "7", "--locales", "en_US")
    ran = in_process("ils", "run", "lookup", *stock.at, *BRIEF, *who).check(2)
    _, _, command = ran.err.partition("for ours first run `sitebench ils ")
    argv = shlex.split(command.partition("`")[0])
    login = ("--bind-dn", ADMIN, "--i-own-this-target")
    assert stock.clean().code == 0
    secret = {"SITEBENCH_BIND_PASSWORD": PASSWORD}
    assert in_process("ils", *argv, *login, cwd=None, **secret).code == 0
    assert in_process("ils", "run", "lookup", *stock.at, *BRIEF, *who).code == 0
    gone = ("clean", "--seeded", *stock.at, *who)
    assert in_process("ils", *gone, *login, cwd=None, **secret).code == 0


def test_refused_first_write_ends_the_run(seeded: StockSlapd, tmp_path: Path) -> None:
    """Anonymous modifies were sent for the whole window before the reason was printed."""
    scenario = tmp_path / "change.toml"
    scenario.write_text(
        '[[operation]]\nname = "find"\nweight = 9\n[[operation.step]]\n'
        f'search = "(uid=user.7)"\nbase = "{BASE}"\n'
        '[[operation]]\nname = "change"\n[[operation.step]]\n'
        f'modify = "uid=user.7,{BASE}"\nchange.replace.title = "x"\n'
    )
    load = ("--i-own-this-target", "--users", "2", "--warmup", "0s", "--measure", "9s")
    in_process("ils", "run", str(scenario), *seeded.at, *load).check(
        1,
        "change: every modify was refused, so the run has ended",
        "strongerAuthRequired",
        "--bind-dn",
    )


def test_posix_people_have_the_attributes_of_unix_logins(stock: StockSlapd) -> None:
    profile = ("--profile", "posix")
    made = stock.seed(*profile).check(0)
    assert "as its schema" not in made.err
    assert len(stock.entries("posixAccount")) == PEOPLE
    shown = stock.client("ldapsearch", "-LLL", "-b", BASE, "(uidNumber=10007)", "homeDirectory")
    assert "homeDirectory: /home/user.7" in shown
    assert stock.verify(*profile).code == 0
    # People with Unix accounts have another profile than people without.
    stock.verify("--profile", "person").check(1, "--profile")
    ran = stock.ils("run", "lookup", *stock.at, *profile, *BRIEF, "--json")
    assert (ran.code, ran.objects[0]["failures"]) == (0, 0), ran.err
    assert stock.clean(*profile).code == 0
    assert stock.entries("person") == []


@pytest.mark.parametrize(
    ("hashed", "module"),
    [
        ("ssha512", "slapd checks ssha512 with a module: `moduleload pw-sha2`"),
        ("pbkdf2-sha256:1000", "`moduleload pw-pbkdf2` (Debian: slapd-contrib)"),
        ("argon2:64k", "`moduleload argon2`"),
    ],
)
def test_missing_module_of_a_hash_is_named_after_the_first_login(
    stock: StockSlapd, hashed: str, module: str
) -> None:
    """The stock slapd stores the hash, and no login works."""
    # The same command with another hash would not change the first person.
    dn, remedy = f"uid=user.0,{BASE}", "`sitebench ils clean --seeded`"
    words = (f"does not let '{dn}' in", "invalidCredentials", module, remedy)
    stock.seed("--hash", hashed).check(1, *words)
    # The login of the first person is checked before the others, maybe a million, are added.
    assert len(stock.entries("inetOrgPerson")) == 1


@pytest.fixture(scope="module")
def modules(slapd: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StockSlapd]:
    """A slapd with the modules that hashes need."""
    folder = tmp_path_factory.mktemp("modules")
    with stock_slapd.running(folder, "pw-sha2", "pw-pbkdf2", "argon2") as server:
        yield server


@pytest.mark.parametrize(
    "hashed",
    [
        *("clear", "ssha512", "crypt", "crypt:1000"),
        *("pbkdf2-sha256:1000", "pbkdf2-sha512:1000", "argon2:4m"),
    ],
)
def test_slapd_with_modules_checks_each_hash(modules: StockSlapd, hashed: str) -> None:
    """Slapd's own code checks sitebench's hashes: only the right password is accepted."""
    how = ("--hash", hashed)
    modules.seed(*how, entries=10).check(0)
    modules.verify(*how, entries=10).check(
        0, "of them logged in, and were refused with another password"
    )
    spec = Spec(10, profile="person", locales=LOCALES, base=BASE, hash=hashed)
    people = generate(spec).population
    for number in (2, 5):
        login = ("-D", people.dn(number), "-w")
        said = modules.client("ldapwhoami", *login, people.password(number))
        assert said == f"dn:{people.dn(number)}\n"
        (stored,) = people.entry(number)[1]["userPassword"]
        for wrong in {people.password(1), stored.decode()} - {people.password(number)}:
            assert "Invalid credentials (49)" in modules.client("ldapwhoami", *login, wrong)
    assert modules.clean(entries=10).code == 0


def test_seed_prints_no_digest_of_unread_people(
    stock: StockSlapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed printed the digest of expected people despite a changed one; `verify` named `seed`."""
    first = stock.seed()
    assert "digest " in first.err, first.err
    changed = known().dn(7)
    text = f"dn: {changed}\nchangetype: modify\nreplace: telephoneNumber\ntelephoneNumber: 1\n"
    stock.client("ldapmodify", "-D", ADMIN, "-w", PASSWORD, text=text)
    stock.client("ldapdelete", "-D", ADMIN, "-w", PASSWORD, known().dn(9))
    again = stock.seed().check(0)
    assert "digest " not in again.err
    assert f"added 1 of {PEOPLE} people; those who were there already were not" in again.err
    assert "`sitebench ils verify` compares" in again.err
    whole = stock.seed()
    assert f"added 0 of {PEOPLE} people; those who were there already were not" in whole.err
    stock.verify().check(
        1,
        f"the first that differs is '{changed}'",
        "`sitebench ils clean --seeded`, then `sitebench ils seed`",
    )
    stock.client("ldapdelete", "-D", ADMIN, "-w", PASSWORD, known().dn(3))
    assert f"the first that is missing is '{known().dn(3)}'" in stock.verify().err
    monkeypatch.setattr(commands, "_FIRST_KEYS", 3)
    assert "; the first 3 are as they have to be" in stock.verify().err


def test_seed_that_adds_the_missing_first_people_prints_their_number(stock: StockSlapd) -> None:
    """Seed printed the digest without reading all people if the first thousand were missing."""
    _add_people(stock.url, generate(_people()).population, 20, PEOPLE)
    ran = stock.seed()
    assert f"added 20 of {PEOPLE} people; those who were there already were not" in ran.err
    assert "digest " not in ran.err


def _people() -> Spec:
    return Spec(PEOPLE, profile="person", locales=LOCALES, base=BASE)


def _add_people(url: str, population: Population, start: int, stop: int) -> None:
    config = f'{{"host": "127.0.0.1", "port": {url.rpartition(":")[2]}, "bind_dn": "{ADMIN}", '
    config += f'"password": "{PASSWORD}", "base": "{BASE}"}}'
    seed_directory(config, population, start, stop)


def _crash(url: str) -> None:
    reserved = journal.reserve(url, _people(), bind_dn=ADMIN, keys=50)
    population = generate(_people()).population
    _add_people(url, population, reserved.start, reserved.start + 30)


def test_clean_removes_people_of_a_crashed_run_by_the_journal(stock: StockSlapd) -> None:
    in_ended_process(_crash, stock.url)
    assert len(stock.entries("inetOrgPerson")) == 30
    in_process("ils", "clean", SITEBENCH_BIND_PASSWORD=PASSWORD).check(
        0, f"{stock.url}: removed 30 people from {BASE}"
    )
    assert stock.entries("person") == []


def test_users_of_active_directory_are_not_added_without_tls(seeded: StockSlapd) -> None:
    before = seeded.entries("top")
    for argv in (
        ("seed", "--to", f"{seeded.url}/ou=more,{BASE}"),
        ("run", "add", *seeded.at, *BRIEF),
    ):
        seeded.ils(*argv, "--profile", "ad").check(
            2, "is without TLS, and Active Directory takes passwords over TLS only"
        )
    assert seeded.entries("top") == before
