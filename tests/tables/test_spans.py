import pytest
from msgspec.structs import replace

from sitebench._engine import Histogram
from sitebench.counts.durations import Durations
from sitebench.counts.spans import Span
from sitebench.counts.stages import Stages
from sitebench.tables.spans import columns, spans_table

STAGES = Stages.parse("2m:200")


def test_table_of_spans_has_a_column_of_thinking_operations_if_any_exist() -> None:
    idle = Span(0.0, 60.0, 90, 0, Durations(), Durations(), asked=90.0)
    thinks = Span(60.0, 60.0, 90, 0, Durations(), Durations(), asked=90.0, thinking=30)
    assert "thinking" not in columns(STAGES, [idle])
    shown = columns(STAGES, [idle, thinks])
    cells = [shown["thinking"](each) for each in (idle, thinks)]
    assert (cells, shown["answered/s"](thinks)) == (["0", "30"], "1")
    for spans in ([idle, thinks], [idle]):
        notes = spans_table("login", STAGES, spans).notes
        assert any(note.startswith("Thinking:") for note in notes) == (thinks in spans)


@pytest.mark.parametrize("answers", [100_000, 10])
@pytest.mark.parametrize("unanswered", [True, False])
def test_signs_are_explained_only_where_a_cell_has_them(answers: int, unanswered: bool) -> None:
    times = Histogram()
    times.record(10**6, answers)
    latency = replace(Durations.of(times), at_least=("max",) if unanswered else ())
    span = Span(0.0, 60.0, answers, 0, latency, Durations.of(times), asked=1.0)
    table = spans_table("login", STAGES, [span])
    (row,) = table.rows
    signs = {sign: any(sign in str(cell) for cell in row) for sign in ("n/a", ">=")}
    assert signs == {"n/a": answers == 10, ">=": unanswered}
    for sign, present in signs.items():
        assert any(note.startswith(f"{sign}:") for note in table.notes) == present
