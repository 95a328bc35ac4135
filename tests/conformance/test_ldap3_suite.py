"""ldap3's own tests that pass against slapd also pass against the embedded directory."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.content import SKELETON
from tests.conformance.ldap3_suite import sdist
from tests.conformance.ldap3_suite.plan import EXCLUDED_MODULES, EXCLUDED_TESTS
from tests.conformance.ldap3_suite.runner import SuiteResult, run_suite
from tests.conformance.running import running

# Tests that pass against slapd and may fail against the embedded directory, with the reason.
ALLOWED_TO_FAIL: dict[str, str] = {}

# The number of applicable tests when this was written; a smaller number means that tests were not
# run.
TESTS_AT_LEAST = 200


@pytest.fixture(scope="module")
def distribution() -> None:
    """Provide the tests of ldap3, or skip; in CI they are required."""
    try:
        sdist.archive()
    except sdist.SdistMissingError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


def results(kind: str, strategy: str, tmp_path_factory: pytest.TempPathFactory) -> SuiteResult:
    folder = tmp_path_factory.mktemp(f"suite-{kind}-{strategy}")
    with running(kind, folder, SKELETON) as served:
        return run_suite(served, strategy)


@pytest.mark.parametrize("strategy", ["sync", "async"])
@pytest.mark.usefixtures("distribution")
@pytest.mark.timeout(300)
def test_embedded_directory_passes_every_ldap3_test_that_slapd_passes(
    strategy: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # In parallel, because the tests sleep most of the time.
    with ThreadPoolExecutor(2) as pool:
        openldap, embedded = pool.map(
            lambda kind: results(kind, strategy, tmp_path_factory), ["openldap", "embedded"]
        )
    assert len(openldap.named("passed")) >= TESTS_AT_LEAST
    missing = openldap.named("passed") - embedded.named("passed") - set(ALLOWED_TO_FAIL)
    failures = {each.name: each.detail for each in embedded.outcomes if each.name in missing}
    assert not missing, failures
    # An exception that passes must leave the list.
    assert not embedded.named("passed") & set(ALLOWED_TO_FAIL)


@pytest.mark.usefixtures("distribution")
def test_every_exclusion_names_an_existing_test(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("suite")
    modules = set(sdist.unpack_tests(folder))
    assert set(EXCLUDED_MODULES) <= modules
    for module, test in EXCLUDED_TESTS:
        text = (folder / "test" / f"{module}.py").read_text(errors="replace")
        assert f"def {test}(" in text
