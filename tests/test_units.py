from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench import units
from sitebench.errors import UnknownValue

VALID: Sequence[tuple[Callable[[str], object], dict[str, float]]] = (
    (units.parse_size, {"500": 500, "1,000": 1_000, "1,000,000": 1_000_000, "10k": 10_000}),
    (units.parse_size, {"1.5k": 1_500, "1m": 1_000_000, "1M": 1_000_000, " 2k ": 2_000}),
    (units.parse_duration, {"2s": 2.0, "500ms": 0.5, "10m": 600.0, "1.5s": 1.5, "3": 3.0}),
    (units.parse_duration, {"8784h": 366 * 86_400}),
    # Rates are operations per second.
    (units.parse_rate, {"500": 500.0, "0.5": 0.5, "1k": 1e3, "2/s": 2.0}),
    (units.parse_percent, {"4%": 0.04, " 12.3 % ": 0.123, "100%": 1.0}),
)


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [(parse, text, value) for parse, values in VALID for text, value in values.items()],
)
def test_valid_text_is_parsed(parse: Callable[[str], object], text: str, value: float) -> None:
    assert parse(text) == value


INVALID: dict[str, tuple[Callable[[str], object], Sequence[str]]] = {
    "write a number such as": (
        units.parse_size,
        ("", "0", "k", "-1", "1g", "1.5", "1.0001k", "10 k k", "1,00", "x"),
    ),
    "unknown duration": (units.parse_duration, ("", "s", "-1s", "1d", "2 s s", "1e3")),
    "longer than a year": (units.parse_duration, ("8785h", "9" * 400 + "h", "9" * 23 + "h")),
    "is not above zero; write operations/s": (units.parse_rate, ("0", "-3", "inf", "nan")),
    # A rate is no size.
    "unknown rate '.*'; write": (units.parse_rate, ("fast", "20kk", "1,00", "1/min")),
    "write a percentage": (units.parse_percent, ("4", "0.04", "-4%", "%", "4%%", "x%")),
}


@pytest.mark.parametrize(
    ("message", "text"),
    [(message, text) for message, (_, texts) in INVALID.items() for text in texts],
)
def test_invalid_text_is_refused_with_a_remedy(message: str, text: str) -> None:
    with pytest.raises(UnknownValue, match=message):
        INVALID[message][0](text)


@given(st.integers(1, 10**12))
def test_printed_size_parses_to_itself(size: int) -> None:
    assert units.parse_size(units.format_size(size)) == size


def test_sizes_in_a_list_are_separated_by_commas() -> None:
    assert units.parse_sizes("1k,10k, 1m") == (1_000, 10_000, 1_000_000)
    assert units.parse_sizes("100,200") == (100, 200)


@given(st.integers(1, 10**10))
def test_printed_duration_parses_to_itself(micros: int) -> None:
    seconds = micros / 1e6
    assert units.parse_duration(units.format_duration(seconds)) == pytest.approx(seconds, rel=1e-9)


def test_figures_are_printed_with_few_digits() -> None:
    assert units.format_rate(152_340.7) == "152,341"
    assert units.format_rate(3.14159) == "3.14"
    assert units.format_bytes(1_283) == "1.28 KB"
    assert units.format_bytes(195e6) == "195 MB"
    assert units.format_ns(61_300) == "61.3 us"
    assert units.format_ns(12) == "12 ns"


def test_interval_is_printed_with_one_unit_or_as_a_lower_bound() -> None:
    assert units.format_interval(1_190_000, 1_340_000, units.format_ns) == "1.19..1.34 ms"
    assert units.format_interval(850_000, 1_340_000, units.format_ns) == "850 us..1.34 ms"
    assert units.format_interval(1_190_000, None, units.format_ns) == ">= 1.19 ms"
    assert units.format_interval(10_000, 15_000, units.format_rate) == "10,000..15,000"


@given(st.integers(0, 100_000))
def test_printed_shares_parse_to_themselves(thousandths: int) -> None:
    share = thousandths / 1e5
    assert units.parse_percent(units.format_percent(share)) == pytest.approx(share)


@pytest.mark.parametrize("text", ["1.5g", "1536m", "1.5 GiB", "1.5gb", str(1536 << 20)])
def test_memory_units_have_several_spellings(text: str) -> None:
    assert units.parse_in(text, units.BYTES) == 1536 << 20


@pytest.mark.parametrize("text", ["", "0", "0g", "-1g", "g", "1.g", "64mbit", "1e9"])
def test_invalid_memory_is_parsed_as_none(text: str) -> None:
    assert units.parse_in(text, units.BYTES) is None


def test_a_count_of_one_has_a_singular_noun() -> None:
    assert units.plural(1, "client") == "1 client"
    assert units.plural(0, "client") == "0 clients"
    assert units.plural(1_200, "client") == "1,200 clients"
    assert units.plural(1, "person", "people") == "1 person"
    assert units.plural(2, "row is", "rows are") == "2 rows are"
    assert units.plural(1.0, "core") == "1 core"
    assert units.plural(2.5, "core") == "2.5 cores"
