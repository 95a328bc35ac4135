"""389-DS, ApacheDS and a Samba domain controller by default: seeded, measured, emptied."""

import base64
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ils_bench.targets.password_schemes import SERVERS
from sitebench.seeders.people import Spec, generate
from tests.ils_bench.conftest import LOCALES
from tests.scenario import servers
from tests.scenario.servers import Foreign
from tests.support.cli import Ran, in_process

PEOPLE = 60
BRIEF = ("--threads", "1", "--warmup", "0s", "--measure", "1s", "--json")


def ils(server: Foreign, command: str, *argv: str) -> Ran:
    people = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
    who = ("--bind-dn", server.bind_dn, "--i-own-this-target", *server.options)
    return in_process(
        "ils", command, *people, *argv, *who, SITEBENCH_BIND_PASSWORD=servers.PASSWORD
    )


def worked(
    start: Callable[[Path], AbstractContextManager[Foreign]],
    folder: Path,
    profile: str,
    said: str,
    *more: str,
    groups: tuple[str, ...] = ("--groups", "9", "--members", "5,all"),
    member_of: bool = False,
    rehashed: bool = False,
    log_in: str = "2",
) -> None:
    """Perform all commands with generated people and groups, beside those of a stranger."""
    servers.accounts(folder)
    with start(folder) as server:
        # Another branch than that of the stranger's people.
        base = "ou=ours," + server.base.partition(",")[2]
        kind = {"ad": "user", "posix": "posixAccount"}.get(profile, "inetOrgPerson")
        of_groups = {"ad": "group", "posix": "posixGroup"}.get(profile, "groupOfNames")

        def there(kind: str = kind) -> int:
            where = ("-LLL", "-b", base, f"(objectClass={kind})", "1.1")
            return servers.ldap("ldapsearch", server.url, server.bind_dn, *where).count("dn:")

        ils(server, "seed", "--to", f"{server.url}/{base}", *more, *groups).check(0, said)
        assert there() == PEOPLE
        assert there(of_groups) == int(groups[1])
        verified = ils(server, "verify", f"{server.url}/{base}", *more, *groups).check(0)
        assert ("it shows them as memberOf of people" in verified.err) == member_of, verified.err
        assert " of them logged in, and were refused with another password" in verified.err
        at = ("--target", server.url, "--base", base, *more)
        for operation in ("lookup", "add"):
            (point,) = ils(server, "run", operation, *at, *BRIEF, "--users", "2").check(0).objects
            assert (point["failures"], point["ops_per_s"] > 0) == (0, True), point
        assert there() == PEOPLE
        for how, rehashes in (("bind", rehashed), ("search-bind-groups", False)):
            users = ("--users", log_in, "--how", how, "--wrong", "10%")
            (point,) = ils(server, "run", "login", *at, *BRIEF, *users).check(0).objects
            assert (point["failures"], point["ops_per_s"] > 0) == (0, True), point
            kinds = {each["kind"] for each in point["warnings"]}
            assert ("login-rehashes" in kinds) == rehashes, point["warnings"]
        ils(server, "clean", "--seeded", *at, *groups).check(0)
        assert there() == there(of_groups) == 0


AS_IT_IS = "people of the profile person, as its schema has no RTPerson"


@pytest.mark.servers
def test_389_ds_works_as_target(tmp_path: Path) -> None:
    # 389-DS replaces the first hash with which a person logs in by its own hash.
    worked(servers.ds389, tmp_path, "person", AS_IT_IS, rehashed=True)


@pytest.mark.servers
def test_389_ds_accepts_posix_accounts_with_cleartext_passwords(tmp_path: Path) -> None:
    worked(servers.ds389, tmp_path, "posix", "", "--profile", "posix", "--hash", "clear")


@pytest.mark.servers
@pytest.mark.parametrize("hashed", ["ssha512", "crypt", "pbkdf2-sha256:1000", "pbkdf2-sha512:1000"])
def test_389_ds_accepts_logins_with_each_supported_hash(tmp_path: Path, hashed: str) -> None:
    hashes = ("--hash", hashed)
    # 389-DS replaces supported hashes by its own, except crypt.
    foreign = hashed in ("ssha512", "pbkdf2-sha256:1000")
    worked(servers.ds389, tmp_path, "person", AS_IT_IS, *hashes, rehashed=foreign)


@pytest.mark.servers
def test_389_ds_refuses_hashes_that_it_would_store_as_cleartext(tmp_path: Path) -> None:
    with servers.ds389(tmp_path) as server:
        base = "ou=ours," + server.base.partition(",")[2]
        ils(server, "seed", "--to", f"{server.url}/{base}", "--hash", "argon2:64k").check(
            2,
            "is 389-DS, which does not know {ARGON2}",
            "--hash: ssha, ssha512, clear, crypt, pbkdf2-sha256",
        )
        where = ("-LLL", "-b", server.base, "(uid=user.*)", "1.1")
        assert "user." not in servers.ldap("ldapsearch", server.url, server.bind_dn, *where)


@pytest.mark.servers
def test_389_ds_gets_a_group_beyond_its_message_limit_in_pieces(tmp_path: Path) -> None:
    """389-DS disconnects on such messages without an answer: at 2 MB by default, here at 70 kB."""
    some = ("--groups", "3", "--members", "10,all", "--entries", "2000", "--hash", "clear")
    with servers.ds389(tmp_path) as server:
        base = "ou=ours," + server.base.partition(",")[2]
        limit = "changetype: modify\nreplace: nsslapd-maxbersize\nnsslapd-maxbersize: 70000\n"
        servers.ldap("ldapmodify", server.url, server.bind_dn, text=f"dn: cn=config\n{limit}")
        ils(server, "seed", "--to", f"{server.url}/{base}", *some).check(
            0, "does not take the largest in one message, but in pieces"
        )
        assert ils(server, "verify", f"{server.url}/{base}", *some).code == 0


@pytest.mark.servers
def test_samba_works_as_target(tmp_path: Path) -> None:
    # Samba refuses missing members, and maintains memberOf.
    tree = ("--groups", "9", "--members", "5,all", "--depth", "3", "--in-all", "1")
    said = "people of the profile ad, as it is an Active Directory"
    worked(servers.samba, tmp_path, "ad", said, groups=tree, member_of=True)


@pytest.mark.servers
def test_apacheds_works_as_target(tmp_path: Path) -> None:
    # ApacheDS stores each wrong password, and two at a time break its database.
    worked(servers.apacheds, tmp_path, "person", AS_IT_IS, log_in="1")


POLICY = (
    "ads-pwdId=default,ou=passwordPolicies,ads-interceptorId=authenticationInterceptor,"
    "ou=interceptors,ads-directoryServiceId=default,ou=config"
)


@pytest.mark.servers
def test_apacheds_without_its_password_policy_gets_concurrent_wrong_passwords(
    tmp_path: Path,
) -> None:
    """The remedy in docs/logins.md."""
    off = f"dn: {POLICY}\nchangetype: modify\nreplace: ads-enabled\nads-enabled: FALSE\n"
    with servers.apacheds(tmp_path) as server:
        servers.ldap("ldapmodify", server.url, server.bind_dn, text=off)
        base = f"ou=ours,{servers.SUFFIX}"
        assert ils(server, "seed", "--to", f"{server.url}/{base}").code == 0
        at = ("--target", server.url, "--base", base)
        ran = ils(server, "run", "login", *at, *BRIEF, "--users", "8", "--wrong", "30%").check(0)
        assert ran.objects[0]["failures"] == 0, ran.objects


TEXT, NO_ONE = "the text of it is the password", "no one is let in"
OF_APACHEDS = {
    "clear": "hashed again",
    "ssha": "taken",
    "ssha512": "taken",
    "crypt": "taken",
    "crypt:10000": NO_ONE,
    "pbkdf2-sha256:1000": TEXT,
    "pbkdf2-sha512:1000": TEXT,
    "argon2:64k": TEXT,
}


@pytest.mark.servers
def test_apacheds_handles_each_hash_as_documented_in_the_table(tmp_path: Path) -> None:
    (table,) = [each for each in SERVERS if each.name == "ApacheDS"]
    assert table.refuses == {h.partition(":")[0] for h, made in OF_APACHEDS.items() if made == TEXT}
    assert table.hashes_again == {h for h, made in OF_APACHEDS.items() if made == "hashed again"}
    with servers.apacheds(tmp_path) as server:
        assert {hashed: made_of(server, hashed) for hashed in OF_APACHEDS} == OF_APACHEDS
        for hashed, made in OF_APACHEDS.items():
            if made in (TEXT, NO_ONE):
                where = ("--to", f"{server.url}/{server.base}", "--hash", hashed)
                ils(server, "seed", *where).check(2, "is ApacheDS, which ")


def made_of(server: Foreign, hashed: str) -> str:
    """Return the stored form of a hash that OpenLDAP's client adds."""
    base = f"ou={hashed.replace(':', '-')},{servers.SUFFIX}"
    people = generate(Spec(1, profile="person", locales=LOCALES, base=base, hash=hashed)).population
    dn, password = people.dn(0), people.password(0)
    (given,) = people.entry(0)[1]["userPassword"]
    container = f"dn: {base}\nobjectClass: organizationalUnit\n\n"
    entry = people.ldif(0, 1, with_containers=False).decode()
    servers.ldap("ldapadd", server.url, server.bind_dn, text=container + entry)
    where = ("-LLL", "-o", "ldif-wrap=no", "-b", dn, "-s", "base", "userPassword")
    shown = servers.ldap("ldapsearch", server.url, server.bind_dn, *where)
    stored = base64.b64decode(shown.partition("userPassword:: ")[2].split()[0])
    by_password, by_text = (lets_in(server, dn, each) for each in (password, given.decode()))
    if by_text and given.decode() != password:
        return TEXT
    if not by_password:
        return NO_ONE
    return "taken" if stored == given else "hashed again"


def lets_in(server: Foreign, dn: str, password: str) -> bool:
    """Return whether the bind succeeds; only invalidCredentials (49) counts as a refusal."""
    try:
        servers.ldap("ldapwhoami", server.url, dn, password=password)
    except subprocess.CalledProcessError as error:
        if error.returncode != 49:
            raise
        return False
    return True
