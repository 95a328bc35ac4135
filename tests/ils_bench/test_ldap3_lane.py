"""The portable lanes at a real slapd, through the whole of `sitebench ils run`."""

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from ils_bench.targets.probe import connect
from ils_bench.targets.target import OpenDirectory
from tests.support.cli import in_process

SHORT = (
    *("--client", "ldap3", "--users", "4", "--think", "15ms"),  # At full speed it takes a core.
    *("--warmup", "200ms", "--measure", "1s", "--json"),
)
LOCALES = ("--locales", "en_US,de_DE,ja_JP")
MANAGE_DSA_IT = ("2.16.840.1.113730.3.4.2", True, None)
"""The control that addresses a referral object itself (RFC 3296)."""


@pytest.mark.parametrize("operation", ["connect", "add", "lookup", "retrieve", "register"])
def test_every_sequence_runs_without_a_failure(slapd: object, operation: str) -> None:
    load = ("ils", "run", operation, "--target", "openldap", "--entries", "300", *LOCALES, *SHORT)
    for measure in ("1s", "8s"):  # On a busy machine slapd may use less CPU than a tick.
        (point,) = in_process(*load, "--measure", measure).check(0).objects
        if point["operations"] > 50:
            break
    assert point["operation"] == operation
    assert point["entries"] == 300
    assert point["ops_per_s"] > 0
    assert (point["failures"], point["failures_by_kind"]) == (0, {})
    assert point["latency_us"]["mean"] > 0
    assert point["generator"]["client"] == "ldap3"
    assert point["generator"]["cpu_us_per_op"] > 0
    assert point["target"]["cpu_s"] > 0
    assert point["bytes_in"] > 0


def test_answers_are_compared_with_the_expected_people(openldap: OpenDirectory) -> None:
    # Only the last of these people exists.
    last = f"cn=only-299,{openldap.base}"
    with connect(openldap.address) as connection:
        connection.add(last, ["organizationalRole"], {"cn": "only-299"})
        assert connection.result["description"] == "success", connection.result
        ran = in_process(
            *("ils", "run", "lookup", "--target", str(openldap.address), "--entries", "300"),
            *("--names", "cn=only-{i}"),
            *LOCALES,
            *SHORT,
        )
        connection.delete(last)
    (point,) = ran.check(1).objects
    assert point["operations"] < point["failures"]
    assert set(point["failures_by_kind"]) == {"wrong-answer"}


def test_no_referral_is_followed(openldap: OpenDirectory) -> None:
    away, classes = "cn=away,o=Intranet", ["referral", "extensibleObject"]
    with LdapDirectory(0) as elsewhere, connect(openldap.address) as connection:
        connection.add(away, classes, {"cn": "away", "ref": f"{elsewhere.url}/{away}"})
        assert connection.result["description"] == "success", connection.result
        connection.delete(f"cn=somebody,{away}")
        said = connection.result
        connection.delete(away, controls=[MANAGE_DSA_IT])
        assert connection.result["description"] == "success", connection.result
        assert said["description"] == "referral", said
        assert elsewhere.stats()["connections"] == 0


def test_think_times_lower_the_rate_of_a_user(slapd: object) -> None:
    ran = in_process(
        *("ils", "run", "lookup", "--target", "openldap", "--entries", "300"),
        *(*LOCALES, *SHORT, "--think", "50ms"),
    ).check(0)
    # 4 users that think 50 ms between lookups: at most 80 a second, and more than none.
    assert 0 < ran.objects[0]["ops_per_s"] < 100


def test_rate_is_refused_with_ldap3_and_the_native_client_is_named() -> None:
    ran = in_process("ils", "run", "lookup", "--client", "ldap3", "--rate", "50")
    ran.refuse(2, "--client ldap3 has no --rate", "leave --client out: the native client has them")
