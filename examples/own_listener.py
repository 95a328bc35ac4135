"""Your own listener: what every step did, as it happens."""

from collections.abc import Sequence

from ils_bench.locustfile import LookupUser
from sitebench.locust.drains import StepRecord, on_drain

__all__ = ["LookupUser"]


@on_drain
def forward(steps: Sequence[StepRecord]) -> None:
    """Send on the counts since the last call; here, to standard output."""
    for step in steps:
        failed = sum(step.failures.values())
        print(f"{step.program} {step.step} +{step.count} failed +{failed}", flush=True)
