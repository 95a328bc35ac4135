"""Users of the bench: lookups over a persistent connection."""

from ils_bench.sequences import Bind, Connect, Lookup, Repeat, Sequence, Unbind
from ils_bench.users import SequenceUser


class KeptUser(SequenceUser):
    """Looks up a million random people per connection."""

    sequence = Sequence(
        "lookup", (Connect(), Bind(), Repeat(1_000_000, (Lookup(),)), Unbind()), "lookup"
    )
