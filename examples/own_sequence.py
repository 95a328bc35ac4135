"""Your own sequence: bind, search fifty times for people whose name begins with A, unbind."""

from ils_bench.sequences import Bind, Connect, Repeat, Search, Sequence, Unbind
from ils_bench.users import SequenceUser


class PrefixUser(SequenceUser):
    """Browses by the first letter."""

    sequence = Sequence(
        "prefix",
        (Connect(), Bind(), Repeat(50, (Search(filter="(cn=A*)"),)), Unbind()),
        counts="search",
    )
