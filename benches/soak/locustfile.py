"""The users of `sitebench ils soak`, in the proportions of `benches.soak.mix`."""

from __future__ import annotations

from benches.soak.mix import USERS
from ils_bench.users import SequenceUser

for name, (sequence, weight) in USERS.items():
    body = {"sequence": sequence, "weight": weight, "__module__": __name__}
    globals()[name] = type(name, (SequenceUser,), body)
