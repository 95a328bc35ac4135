"""What writes to a directory are worth: whether they would survive the power going."""

from __future__ import annotations

from sitebench.runs.point import PointSpec
from sitebench.verdict.warning import Doubt, DoubtKind


def relaxed(spec: PointSpec, *, writes: bool) -> tuple[Doubt, ...]:
    """Doubt that writes to our own slapd cost what they would cost elsewhere.

    It runs with `dbnosync`, as an Internet Locator Server keeps nothing on disk (paper, page 3).
    """
    if spec.target != "openldap" or not writes:
        return ()
    return (
        Doubt(
            DoubtKind.RELAXED_DURABILITY,
            "this slapd does not sync what it is given to disk (dbnosync), and so writes faster",
            "compare it with directories that keep nothing either, or measure a slapd of your own "
            "by its ldap:// address",
        ),
    )
