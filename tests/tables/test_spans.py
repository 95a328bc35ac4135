from sitebench.counts.durations import Durations
from sitebench.counts.spans import Span
from sitebench.counts.stages import Stages
from sitebench.tables.spans import columns, notes

STAGES = Stages.parse("2m:200")


def test_table_of_spans_has_a_column_of_thinking_operations_if_any_exist() -> None:
    idle = Span(0.0, 60.0, 90, 0, Durations(), Durations(), asked=90.0)
    thinks = Span(60.0, 60.0, 90, 0, Durations(), Durations(), asked=90.0, thinking=30)
    assert "thinking" not in columns(STAGES, [idle])
    shown = columns(STAGES, [idle, thinks])
    cells = [shown["thinking"](each) for each in (idle, thinks)]
    assert (cells, shown["answered/s"](thinks)) == (["0", "30"], "1")
    assert any(note.startswith("Thinking:") for note in notes([(STAGES, [idle, thinks])]))
    assert not any(note.startswith("Thinking:") for note in notes([(STAGES, [idle])]))
