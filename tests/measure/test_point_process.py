"""The time limit of a point's process."""

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from sitebench.counts.steady import MOST_WINDOWS
from sitebench.measure.point_process import GRACE_S, most_s


def test_time_limit_of_a_point_includes_timeout_and_window() -> None:
    options = IlsOptions(warmup=1.0, measure=2.0, timeout=120.0)
    assert most_s(POINTS.point(options, "lookup")) == 1 + 2 * (MOST_WINDOWS * 2) + 120 + GRACE_S
