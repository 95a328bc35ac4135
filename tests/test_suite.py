"""The registry: every suite's references exist."""

from pkgutil import resolve_name

import pytest

import sitebench
from sitebench.errors import BadInput
from sitebench.suite import Suite, suite, suites

whichever = pytest.mark.parametrize("each", suites(), ids=lambda each: each.name)


def test_a_suite_is_found_by_its_name() -> None:
    assert [suite(each.name) for each in suites()] == list(suites())
    with pytest.raises(BadInput, match="no suite 'mail'; use one of ils, ps, web"):
        suite("mail")


@whichever
def test_references_of_a_suite_can_be_loaded(each: Suite) -> None:
    """A misspelt "module:name" would be noticed only on use."""
    for reference in (each.commands, each.points, each.report, each.plan):
        assert resolve_name(reference) is not None
    assert each.program is None or resolve_name(each.program) is not None


@whichever
def test_exports_of_a_suite_are_public(each: Suite) -> None:
    assert each.exports.keys() <= set(sitebench.__all__)
    for name, module in each.exports.items():
        assert getattr(sitebench, name) is resolve_name(f"{module}:{name}")
