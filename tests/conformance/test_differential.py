"""The embedded directory and slapd give equal answers to equal requests."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conformance import random_operations
from tests.conformance.pair import Pair

# One test has thousands of round trips: seconds on an idle machine, minutes on a busy one.
pytestmark = pytest.mark.timeout(300)

# Equal examples at every run: a failure in CI is a failure here.
REPEATABLE = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@settings(REPEATABLE, max_examples=150)
@given(st.lists(random_operations.operations, min_size=5, max_size=30))
def test_random_operations_have_equal_results_on_both_servers(
    pair: Pair, several: list[random_operations.Operation]
) -> None:
    base = pair.new_container()
    for operation in [*random_operations.BEGINNING, *several]:
        pair.agree(operation, base)
    pair.agree(random_operations.Search([], "(objectClass=*)"), base)


@pytest.fixture(scope="module")
def crowd(pair: Pair) -> str:
    """Three boxes of people with every value, many of which are shared."""
    base = pair.new_container()
    for box in range(3):
        pair.agree(random_operations.Add([f"ou=box{box}"], {}), base)
        for i, name in enumerate(
            dict.fromkeys(name.casefold() for name in random_operations.NAMES)
        ):
            values = {
                attribute: [choices[(i + box * 5 + k) % len(choices)] for k in range(1 + i % 2)]
                for attribute, choices in random_operations.VALUES.items()
                if (i + box) % (2 + len(attribute) % 3) != 0
            }
            distinct = {key: several[:1] for key, several in values.items()}
            safe = name.replace(",", "\\2c").replace("+", "\\2b").replace("  ", " x ")
            distinct.setdefault("sn", ["Tester"])
            pair.agree(
                random_operations.Add([f"cn={safe}", f"ou=box{box}"], distinct, "inetOrgPerson"),
                base,
            )
    return base


@settings(REPEATABLE, max_examples=600)
@given(random_operations.filters)
def test_random_filters_match_equal_entries_on_both_servers(
    pair: Pair, crowd: str, text: str
) -> None:
    pair.agree(random_operations.Search([], text), crowd)


@settings(REPEATABLE, max_examples=300)
@given(random_operations.searches())
def test_random_searches_return_equal_answers_on_both_servers(
    pair: Pair, crowd: str, search: random_operations.Search
) -> None:
    pair.agree(search, crowd)
