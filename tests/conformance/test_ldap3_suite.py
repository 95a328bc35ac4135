"""ldap3's own tests pass against the embedded directory wherever they pass against slapd."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.content import SKELETON
from tests.conformance.ldap3_suite import sdist
from tests.conformance.ldap3_suite.plan import EXCLUDED_MODULES, EXCLUDED_TESTS
from tests.conformance.ldap3_suite.runner import SuiteResult, run_suite
from tests.conformance.running import running

# What slapd passes and the embedded directory need not, by name and with the reason.
ALLOWED_TO_FAIL: dict[str, str] = {}

# All that applied when this was written; fewer would mean that something ran that was not asked.
TESTS_AT_LEAST = 200


@pytest.fixture(scope="module")
def distribution() -> None:
    """Have the tests of ldap3, or skip; in CI they must be had."""
    try:
        sdist.archive()
    except sdist.SdistMissingError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


def results(kind: str, strategy: str, tmp_path_factory: pytest.TempPathFactory) -> SuiteResult:
    folder = tmp_path_factory.mktemp(f"suite-{kind}-{strategy}")
    with running(kind, folder, SKELETON) as served:
        return run_suite(served, strategy=strategy)


@pytest.mark.parametrize("strategy", ["sync", "async"])
@pytest.mark.usefixtures("distribution")
@pytest.mark.timeout(300)
def test_embedded_passes_as_slapd(strategy: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    # Side by side, because most of the time the tests sleep.
    with ThreadPoolExecutor(2) as pool:
        openldap, embedded = pool.map(
            lambda kind: results(kind, strategy, tmp_path_factory), ["openldap", "embedded"]
        )
    assert len(openldap.named("passed")) >= TESTS_AT_LEAST
    missing = openldap.named("passed") - embedded.named("passed") - set(ALLOWED_TO_FAIL)
    failures = {each.name: each.detail for each in embedded.outcomes if each.name in missing}
    assert not missing, failures
    # An exception that is no longer one must leave the list.
    assert not embedded.named("passed") & set(ALLOWED_TO_FAIL)


@pytest.mark.usefixtures("distribution")
def test_every_exclusion_names_a_test_that_exists(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("suite")
    modules = set(sdist.unpack_tests(folder))
    assert set(EXCLUDED_MODULES) <= modules
    for module, test in EXCLUDED_TESTS:
        text = (folder / "test" / f"{module}.py").read_text(errors="replace")
        assert f"def {test}(" in text
