"""This process's limit on open files, checked and raised before a test reaches it."""

from __future__ import annotations

import resource

from sitebench.errors import OutOfDescriptors

_SPARE = 96
"""Number of descriptors for libraries, pipes, the run file and pollers, besides connections."""


def most_connections(lowest: int, highest: int) -> int:
    """Return `lowest`, doubled as often as `highest` and the hard limit on open files allow."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    while lowest * 2 <= highest and (hard == resource.RLIM_INFINITY or lowest * 2 + _SPARE <= hard):
        lowest *= 2
    return lowest


def allow_descriptors(connections: int) -> None:
    """Raise the limit on open files of this process and its children for so many connections."""
    needed = connections + _SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise OutOfDescriptors(
            f"{connections:,} users need {needed:,} open files, and this process may have {hard:,}",
            f"raise the limit (`ulimit -Hn {needed}` as root), or use fewer users",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
