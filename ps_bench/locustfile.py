"""The paper's personalized site in Locust: its scenario, and each operation alone.

A locustfile with them is one line: `from ps_bench.locustfile import *`.
"""

from __future__ import annotations

from ps_bench.users import OperationUser, SiteUser


class ScenarioUser(OperationUser):
    """Does the paper's visits: 91 pages of a hundred, 5 new users, 4 pages after an update.

    (Table 12.)
    """

    operation = "scenario"


class PageUser(OperationUser):
    """Gets personalized pages, without their images."""

    operation = "page"


class CreateUser(OperationUser):
    """Creates users."""

    operation = "create"


class UpdateUser(OperationUser):
    """Updates two properties of a user."""

    operation = "update"


class ImageUser(OperationUser):
    """Gets an image, which is a static file."""

    operation = "image"


class FileUser(SiteUser):
    """Does what the file of --scenario says."""
