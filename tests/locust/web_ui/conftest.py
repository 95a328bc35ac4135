"""A browser, and a directory that counts what it is asked."""

from tests.locustfiles.conftest import counting

__all__ = ["counting"]
