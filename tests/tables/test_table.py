from sitebench.tables.html import to_html
from sitebench.tables.markdown import to_markdown
from sitebench.tables.table import Cell, Mark, Table

TABLE = Table(
    "Rates | of <all>",
    ("Point", "ops/s"),
    [
        ["lookup *fast*", "1,000"],
        ["a|b", Cell("77", Mark.INVALID, 'generator: "busy" <100%>')],
        ["", Cell("n/a", why="n=3")],
    ],
    notes=["seen_once"],
)


def test_markdown_table_is_not_broken_by_any_text() -> None:
    assert to_markdown(TABLE) == (
        "### Rates \\| of &lt;all\\>\n"
        "\n"
        "| Point | ops/s |\n"
        "| --- | ---: |\n"
        "| lookup \\*fast\\* | 1,000 |\n"
        "| a\\|b | 77 (not usable) |\n"
        "|  | n/a |\n"
        "\n"
        "seen\\_once\n"
    )


def test_html_escapes_every_text_and_names_grades_beside_colours() -> None:
    page = to_html(TABLE)
    assert "<all>" not in page
    assert "<100%>" not in page
    assert '<span class="mark invalid" title="generator: &quot;busy&quot; &lt;100%&gt;">77' in page
    assert '<tr class="more"><th scope="row">' in page
    assert page.count("<tr") == 4


def test_lower_bound_has_a_star_or_a_greater_than_sign_in_markdown() -> None:
    cells = (Cell("98%", Mark.BOUND, "why"), Cell(">= 400", Mark.BOUND, "why"))
    assert "| CPU | 98% \\* | \\>= 400 |" in to_markdown(
        Table("t", ("a", "b", "c"), [["CPU", *cells]])
    )
