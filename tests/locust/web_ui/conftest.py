"""A browser, and a directory that counts its requests."""

from tests.locustfiles.conftest import counting, headless

__all__ = ["counting", "headless"]
