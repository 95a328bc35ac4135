"""The paper's personalized site in Locust: its scenario, and each operation alone.

A locustfile with them is one line: `from ps_bench.locustfile import *`.
"""

from __future__ import annotations

from ps_bench import scenarios
from ps_bench.options import PsOptions
from ps_bench.users import SiteUser
from sitebench.http.scenario import Scenario
from sitebench.http.scenario_file import read


class ScenarioUser(SiteUser):
    """Does what the file of --scenario says; without one, the paper's 91 pages of a hundred.

    The other nine are 5 new users, and 4 pages after an update (Table 12).
    """

    scenario = scenarios.PAPER

    @classmethod
    def build(cls, options: PsOptions) -> Scenario:
        """Return the scenario of the file, where one is named."""
        return cls.scenario if options.scenario is None else read(options.scenario)


class PageUser(SiteUser):
    """Gets personalized pages, without their images."""

    scenario = scenarios.PAGE


class CreateUser(SiteUser):
    """Creates users."""

    scenario = scenarios.CREATE


class UpdateUser(SiteUser):
    """Updates two properties of a user."""

    scenario = scenarios.UPDATE


class ImageUser(SiteUser):
    """Gets an image, which is a static file."""

    scenario = scenarios.IMAGE
