"""The paper's personalized site in Locust: its scenario, and each operation alone.

A locustfile with them is one line: `from ps_bench.locustfile import *`.
"""

from __future__ import annotations

from typing import ClassVar

from ps_bench.operations import built_in
from ps_bench.options import PsOptions
from ps_bench.users import SiteUser
from sitebench.scenario.script import Script


class _OwnUser(SiteUser):
    """Does one of the suite's own operations."""

    abstract = True
    operation: ClassVar[str]

    @classmethod
    def build(cls, options: PsOptions) -> Script:
        """Return the operation, with the connections that options ask for."""
        return built_in(cls.operation, keepalive=options.keepalive)

    def program(self) -> str:
        return type(self).operation


class ScenarioUser(_OwnUser):
    """Does the paper's visits: 91 pages of a hundred, 5 new users, 4 pages after an update.

    (Table 12.)
    """

    operation = "scenario"


class PageUser(_OwnUser):
    """Gets personalized pages, without their images."""

    operation = "page"


class CreateUser(_OwnUser):
    """Creates users."""

    operation = "create"


class UpdateUser(_OwnUser):
    """Updates two properties of a user."""

    operation = "update"


class ImageUser(_OwnUser):
    """Gets an image, which is a static file."""

    operation = "image"


class FileUser(SiteUser):
    """Does what the file of --scenario says."""
