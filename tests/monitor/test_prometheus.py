import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench.monitor.prometheus import Metric, NotPrometheus, metrics

# The format's own example (prometheus.io/docs/instrumenting/exposition_formats).
EXAMPLE = r"""
# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000

# Escaping in label values:
msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} \
1.458255915e9

# Minimalistic line:
metric_without_timestamp_and_labels 12.47

# A weird metric from before the epoch:
something_weird{problem="division by zero"} +Inf -3982045
""".replace("\\\n", "")


def test_the_formats_own_example() -> None:
    wanted = (
        *("http_requests_total", "msdos_file_access_time_seconds"),
        *("metric_without_timestamp_and_labels", "something_weird"),
    )
    found = metrics(EXAMPLE, wanted)
    assert found["http_requests_total"] == [
        Metric({"method": "post", "code": "200"}, 1027),
        Metric({"method": "post", "code": "400"}, 3),
    ]
    (escaped,) = found["msdos_file_access_time_seconds"]
    assert escaped.labels["path"] == r"C:\DIR\FILE.TXT"
    assert escaped.labels["error"] == 'Cannot find file:\n"FILE.TXT"'
    assert found["metric_without_timestamp_and_labels"] == [Metric({}, 12.47)]
    assert found["something_weird"] == [Metric({"problem": "division by zero"}, float("inf"))]


def test_only_what_is_wanted_is_read() -> None:
    assert set(metrics(EXAMPLE, ("something_weird",))) == {"something_weird"}


def test_labels_may_end_in_a_comma_and_hold_braces() -> None:
    assert metrics('a{b="}",c="{",} 1', ("a",)) == {"a": [Metric({"b": "}", "c": "{"}, 1)]}


@pytest.mark.parametrize(
    "text",
    ["<!doctype html>\n<html>", "a", "a{b=1} 2", 'a{b="c} 2', "a{} ", "a b", 'a{b="c"', "{} 1"],
)
def test_what_is_not_of_the_format_is_refused(text: str) -> None:
    with pytest.raises(NotPrometheus):
        metrics(text, ("a", "<!doctype", "<html>"))


def _written(labels: dict[str, str]) -> str:
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return ",".join(f'{name}="{value.translate(escapes)}"' for name, value in labels.items())


LABELS = st.dictionaries(
    st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]*", fullmatch=True),
    st.text(),
)


@given(LABELS, st.floats(allow_nan=False))
def test_what_is_written_is_read(labels: dict[str, str], value: float) -> None:
    line = f"m{{{_written(labels)}}} {value!r}"
    assert metrics(line, ("m",)) == {"m": [Metric(labels, value)]}


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(NotPrometheus):
        metrics(text, ("a",))
