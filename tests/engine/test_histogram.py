"""Histograms store every duration with three significant digits, and lose none."""

import json
import math
import struct
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench._engine import Histogram

HOUR_NS = 3_600_000_000_000
durations = st.integers(min_value=1, max_value=HOUR_NS)
samples = st.lists(durations, min_size=1, max_size=200)


def histogram_of(values: list[int]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


def within_three_digits(measured: float, exact: float) -> bool:
    return math.isclose(measured, exact, rel_tol=1e-3, abs_tol=1)


def test_empty_histogram_reads_as_zero() -> None:
    empty = Histogram()
    assert (empty.count, empty.min, empty.max, empty.mean, empty.sum) == (0, 0, 0, 0.0, 0)
    assert empty.percentile(99) == 0
    assert empty.buckets() == []


@given(samples, st.floats(min_value=0, max_value=100))
def test_percentile_equals_the_percentile_of_the_sorted_samples(
    values: list[int], q: float
) -> None:
    rank = max(1, math.ceil(q / 100 * len(values)))
    histogram = histogram_of(values)
    exact = {sorted(values)[rank - 1], sorted(values)[max(0, rank - 2)]}
    # Two ranks: q / 100 * n may round to either side of an integer.
    assert any(within_three_digits(histogram.percentile(q), value) for value in exact)


@given(samples)
def test_extremes_mean_and_sum_agree_with_the_samples(values: list[int]) -> None:
    histogram = histogram_of(values)
    assert histogram.count == len(values)
    assert within_three_digits(histogram.min, min(values))
    assert within_three_digits(histogram.max, max(values))
    assert within_three_digits(histogram.mean, sum(values) / len(values))
    assert math.isclose(histogram.sum, sum(values), rel_tol=1e-3, abs_tol=len(values))


@given(samples, samples)
def test_merged_histograms_equal_one_histogram_of_all_samples(
    left: list[int], right: list[int]
) -> None:
    merged = histogram_of(left)
    merged.add(histogram_of(right))
    assert merged == histogram_of(left + right)
    assert merged.buckets() == histogram_of(left + right).buckets()


def test_histogram_added_to_itself_is_doubled() -> None:
    histogram = histogram_of([10, 20])
    histogram.add(histogram)
    assert histogram == histogram_of([10, 20, 10, 20])


@given(samples)
def test_histogram_serialised_to_bytes_reads_back(values: list[int]) -> None:
    histogram = histogram_of(values)
    assert Histogram.from_bytes(histogram.to_bytes()) == histogram


@given(st.binary(max_size=64))
def test_bytes_that_are_no_histogram_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a histogram"):
        Histogram.from_bytes(data)


@pytest.mark.parametrize("keep", [0, 3, 8, 20])
def test_truncated_bytes_are_refused(keep: int) -> None:
    with pytest.raises(ValueError, match="not a histogram"):
        Histogram.from_bytes(histogram_of([1, 2, 3]).to_bytes()[:keep])


def test_copy_of_a_histogram_is_independent() -> None:
    original = histogram_of([5])
    twin = original.copy()
    twin.record(6)
    assert (original.count, twin.count) == (1, 2)


def test_record_with_count_n_adds_n_samples() -> None:
    histogram = Histogram()
    histogram.record(1_000, 7)
    assert histogram == histogram_of([1_000] * 7)


def locust_bucket(ms: float) -> int:
    """Round like `locust.stats.bucket_response_time`, without importing Locust into the tests."""
    digits = [0, -1, -2, -3][sum(ms >= border for border in (100, 1_000, 10_000))]
    return int(round(ms, digits))


@given(samples)
def test_milliseconds_match_the_buckets_of_locust(values: list[int]) -> None:
    millis = histogram_of(values).millis()
    assert sum(millis.values()) == len(values)
    for value in values:
        # A sample may be a thousandth off, and therefore in the neighbouring bucket.
        low, high = (locust_bucket(value * factor / 1e6) for factor in (0.999, 1.001))
        assert any(low <= bucket <= high for bucket in millis)


MILLIS = [0.06, 0.7, 1.4, 1.6, 99.4, 99.6, 147.0, 999.0, 3432.0, 9990.0, 58760.0]


@pytest.mark.parametrize("ms", MILLIS)
def test_milliseconds_are_rounded_as_in_locust(ms: float) -> None:
    assert histogram_of([round(ms * 1e6)]).millis() == {locust_bucket(ms): 1}


def test_buckets_of_locust_are_unchanged() -> None:
    # In a separate process: importing Locust patches sockets and threads of the importing process.
    code = f"from locust.stats import bucket_response_time as f; print([f(ms) for ms in {MILLIS}])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(answer.stdout) == [locust_bucket(ms) for ms in MILLIS]


@pytest.mark.parametrize("q", [-0.1, 100.1, math.nan])
def test_percentile_outside_0_to_100_is_refused(q: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        Histogram().percentile(q)


def encoded(claimed: int, digits: int, counts: bytes) -> bytes:
    """Return a histogram in the compressed form of HdrHistogram's second version."""
    head = struct.pack(">IIIIqqd", 0x1C849313, claimed, 0, digits, 1, 3_600 * 10**9, 1.0)
    payload = zlib.compress(head + counts)
    return struct.pack(">II", 0x1C849314, len(payload)) + payload


@pytest.mark.parametrize(
    ("claimed", "digits", "counts", "said"),
    [
        (64 << 20, 3, b"\1" * (64 << 20), "it has more than 516136 bytes"),
        (1 << 30, 3, b"\1" * 1_000, "it claims 1073741824 bytes of counts"),
        (4, 5, b"\1" * 4, "at 5 digits"),
    ],
)
def test_invalid_histogram_header_is_refused_before_decompression(
    claimed: int, digits: int, counts: bytes, said: str
) -> None:
    assert Histogram.from_bytes(encoded(4, 3, b"\2" * 4)).count == 4
    with pytest.raises(ValueError, match=f"not a histogram: .*{said}"):
        Histogram.from_bytes(encoded(claimed, digits, counts))
