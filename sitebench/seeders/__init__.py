"""People for what is measured: name pools, populations, LDIF.

Entry `i` of a population is a pure function of (seed, i); see `native/shared/people` for how.
"""

from typing import Literal, get_args

DEFAULT_BASE = "ou=Dynamic,o=Intranet"
"""Where people are in a directory."""

Profile = Literal["paper", "small", "ils", "person", "posix", "ad"]
"""Which attributes people have."""
PROFILES: tuple[Profile, ...] = get_args(Profile)

Hash = Literal["ssha", "ssha512", "clear"]
"""How directories are given passwords; the first unless another is asked for."""
HASHES: tuple[Hash, ...] = get_args(Hash)
