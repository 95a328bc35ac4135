"""The bench's own users: lookups over a connection that stays."""

from ils_bench.sequences import Bind, Connect, Lookup, Repeat, Sequence, Unbind
from ils_bench.users import SequenceUser


class KeptUser(SequenceUser):
    """Looks a million random people up per connection."""

    sequence = Sequence(
        "lookup", (Connect(), Bind(), Repeat(1_000_000, (Lookup(),)), Unbind()), "lookup"
    )
