"""Your own load shape: office hours, once a minute."""

from dataclasses import dataclass

from ils_bench.locustfile import LookupUser
from sitebench.locust import shapes

__all__ = ["LookupUser", "OfficeHours"]


@dataclass(frozen=True)
class Hours:
    """A quarter of the users, and all of them from second 20 to 40."""

    top: int
    lasts_s: float = 60.0

    def users_at(self, elapsed_s: float) -> int:
        """Return the number of users at this moment."""
        return self.top if 20 <= elapsed_s % 60 < 40 else max(1, self.top // 4)


class OfficeHours(shapes.Shape):
    """Takes `-u` for all users."""

    def plan(self) -> Hours:
        """Return the number of users for each moment."""
        return Hours(self.top)
