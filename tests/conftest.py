"""Fixtures of all tests; each package adds its own beside its tests."""

from pathlib import Path

import pytest

from tests.support.programs import required_program


@pytest.fixture(scope="session")
def slapd() -> Path:
    """Return the OpenLDAP server."""
    return required_program("slapd")


@pytest.fixture(scope="session")
def ldapsearch() -> Path:
    """Return OpenLDAP's search client; the others lie beside it."""
    return required_program("ldapsearch")
