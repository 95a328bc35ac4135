from sitebench.counts.durations import Durations
from sitebench.counts.spans import Span
from sitebench.counts.stages import Stages
from sitebench.tables.spans import columns, notes

STAGES = Stages.parse("2m:200")


def test_row_of_a_span_states_its_thinking_operations_if_any() -> None:
    idle = Span(0.0, 60.0, 90, 0, Durations(), Durations(), asked=90.0)
    thinks = Span(60.0, 60.0, 90, 0, Durations(), Durations(), asked=90.0, thinking=30)
    assert "thinking" not in columns(STAGES, [idle])
    shown = columns(STAGES, [idle, thinks])
    cells = [shown["thinking"](each) for each in (idle, thinks)]
    assert (cells, shown["answered/s"](thinks)) == (["0", "30"], "1")
    assert any(note.startswith("Thinking:") for note in notes([(STAGES, [idle, thinks])]))
    assert not any(note.startswith("Thinking:") for note in notes([(STAGES, [idle])]))
