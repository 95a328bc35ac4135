"""`--stages 30s:100,1m:500`: its syntax, and the number of operations that are due."""

from itertools import pairwise
from pathlib import Path

import pytest

from sitebench.counts.stages import Stage, Stages
from sitebench.errors import BadFile, BadInput, UnknownValue


def test_stage_is_a_duration_and_its_final_rate() -> None:
    read = Stages.parse("30s:100, 1m:20k/s,500ms:0")
    assert read.stages == (Stage(30.0, 100.0), Stage(60.0, 20_000.0), Stage(0.5, 0.0))
    assert Stages.parse(str(read)) == read


def test_rate_is_linear_in_each_stage_and_begins_at_0() -> None:
    read = Stages.parse("30s:100,1m:500,10s:0")
    assert list(read.edges) == [(0, 0), (30, 100), (90, 500), (100, 0)]
    # Triangles and a trapezium: 1,500, 18,000 and 2,500.
    assert [read.due(at) for at in (0, 30, 90, 100, 1_000)] == [0, 1_500, 19_500, 22_000, 22_000]
    assert read.due(15) == 375
    assert read.mean == 220
    assert read.highest == 500


@pytest.mark.parametrize(
    ("text", "span_s", "count"),
    [
        ("300ms:5", 1.0, 1),
        ("5s:1", 1.0, 5),
        ("12s:1", 1.0, 12),
        ("12500ms:1", 2.0, 6),
        ("24s:1", 2.0, 12),
        ("30s:100,1m:500", 10.0, 9),
        ("2m:100", 10.0, 12),
        ("179s:1", 20.0, 9),
        ("3m:1", 60.0, 3),
        ("24h:1", 60.0, 1_440),
        # A remainder is joined to the span before it.
        ("1ms:5,8s:5", 1.0, 8),
        ("190s:1", 60.0, 3),
        ("230s:1", 60.0, 4),
    ],
)
def test_spans_last_a_minute_and_less_in_a_short_test(text: str, span_s: float, count: int) -> None:
    read = Stages.parse(text)
    spans = list(read.spans())
    assert (read.span_s, len(spans)) == (span_s, count)
    assert spans[0][0] == 0
    assert spans[-1][1] == read.lasts_s
    assert all(one[1] == other[0] for one, other in pairwise(spans))


def test_stage_may_have_users_instead_of_a_rate() -> None:
    read = Stages.parse("10s:100 users,20s:100user, 5s:0 users")
    assert (read.of_users, read.highest, read.lasts_s) == (True, 100, 35)
    assert Stages.parse(str(read)) == read
    # A test begins with one user, and has at least one to its end.
    assert [read.users_at(at) for at in (0, 0.04, 5, 10, 29, 32.5, 35, 90)] == [
        *(1, 1, 50, 100, 100, 50, 1, 1)
    ]
    assert read.name == "stages 10s:100 users, 20s:100 users, 5s:0 users"
    assert Stages.parse(",".join(["1s:1k users"] * 6)).name == "6 stages, up to 1,000 users"


def test_few_stages_are_named_in_full_and_many_by_number() -> None:
    assert Stages.parse("1s:5,2s:5,3s:5,4s:5,5s:0").name == "stages 1s:5, 2s:5, 3s:5, 4s:5, 5s:0"
    assert Stages.parse(",".join(["1s:5"] * 6)).name == "6 stages, up to 5/s"


def test_day_of_one_minute_stages_is_accepted() -> None:
    assert len(Stages.parse(",".join(["1s:1"] * 1_500)).stages) == 1_500


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is no stage"),
        ("30s", "'30s' is no stage"),
        ("30s:100,", "'' is no stage"),
        ("soon:100", "stage 'soon:100': unknown duration 'soon'"),
        ("-30s:100", "stage '-30s:100': unknown duration"),
        ("0s:100", "stage '0s:100' is shorter than 1 ms"),
        ("10us:100", "stage '10us:100' is shorter than 1 ms"),
        ("30s:-5", "stage '30s:-5': rate '-5' is not above zero; "),
        ("30s:nan", "stage '30s:nan': rate 'nan' is not above zero"),
        ("30s:inf", "is not above zero"),
        ("30s:fast", "unknown rate 'fast'"),
        ("30s:100m", "is above 10m/s"),
        ("30s:0,1m:0/s", "every rate is 0"),
        ("30s:0 users", "every number of users is 0"),
        ("30s:5,1m:5 users", "rates and users"),
        ("30s:-5 users", "stage '30s:-5 users': "),
        ("30s:2.5 users", "stage '30s:2.5 users': "),
        ("30s: users", "stage '30s: users': "),
        ("13h:5,12h:5", "they last 25 hours in all"),
        (",".join(["1s:1"] * 1_501), "1,501 stages are too many"),
    ],
)
def test_invalid_stages_are_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UnknownValue) as refused:
        Stages.from_option(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(refused.value.message) < 300


def test_file_of_minutes_and_rates_equals_the_list_of_stages(tmp_path: Path) -> None:
    file = tmp_path / "monday.csv"
    file.write_text("minute,rate\n0.5,100\n1.5, 500\n\n")
    assert Stages.from_option(f"@{file}") == Stages.parse("30s:100,1m:500")


@pytest.mark.parametrize("before", ["\ufeff", "\ufeffminute,rate\n", "\n \nminute,rate\n"])
def test_stages_file_may_begin_with_byte_order_mark_or_header(before: str, tmp_path: Path) -> None:
    file = tmp_path / "monday.csv"
    file.write_text(f"{before}0.5,100\n1.5,500\n", encoding="utf-8")
    assert Stages.from_option(f"@{file}") == Stages.parse("30s:100,1m:500")


@pytest.mark.parametrize("parted", [";", "\t", " ; "])
def test_stages_file_may_use_the_separators_of_spreadsheets(parted: str, tmp_path: Path) -> None:
    file = tmp_path / "monday.csv"
    file.write_text(f"minute{parted}rate\n0.5{parted}100\n1.5{parted}500\n")
    assert Stages.from_option(f"@{file}") == Stages.parse("30s:100,1m:500")


def test_row_of_minute_0_is_the_initial_rate(tmp_path: Path) -> None:
    file = tmp_path / "monday.csv"
    file.write_text("0,100\n1,100\n2,0\n")
    read = Stages.from_option(f"@{file}")
    assert str(read) == "1ms:100,59999ms:100,1m:0"
    assert read.lasts_s == 120
    assert read.due(60) == pytest.approx(6_000, abs=0.1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "monday.csv has no row"),
        ("minute,rate\n", "has no row"),
        ("1,100\n2\n", "monday.csv:2: '2' is not a minute and a rate"),
        ("1,100\nlater,5\n", "monday.csv:2: 'later,5' is not a minute"),
        ("09:00,500\n09:01,700\n", "count the minutes from the first row"),
        ("1;100\n2;x;3\n", "monday.csv:2: '2;x;3' is not a minute"),
        ("1,100\n1,200\n", "monday.csv:2: '1,200' is not after the minute before"),
        ("2,100\n1,200\n", "is not after the minute before"),
        ("1,-5\n", "rate '-5' is not above zero"),
        ("1,many\n", "monday.csv:1: '1,many'"),
        ("1,0\n", "every rate is 0"),
        ("2000,5\n", "they last 33.3 hours"),
        (f"1,{'5' * 200_000}\n", "monday.csv is no CSV file: field larger than"),
    ],
)
def test_error_in_a_stages_file_is_reported_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "monday.csv").write_text(text)
    with pytest.raises(BadInput) as refused:
        Stages.from_option(f"@{tmp_path}/monday.csv")
    assert said in str(refused.value)


def test_missing_file_of_stages_is_named() -> None:
    with pytest.raises(BadFile, match=r"cannot read the stages nowhere\.csv: No such file"):
        Stages.from_option("@nowhere.csv")


def test_stages_in_a_run_file_cannot_refer_to_a_file() -> None:
    """A stranger's run file could make sitebench read a local file."""
    with pytest.raises(UnknownValue, match="is no stage"):
        Stages.parse("@/etc/passwd")
