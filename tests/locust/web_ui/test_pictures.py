"""The pictures of the docs: all of them used, and small."""

from tests.docs.cli_page import ROOT

MOST_BYTES = 150_000


def test_every_picture_of_the_web_ui_is_used_and_small() -> None:
    page = (ROOT / "docs" / "web-ui.md").read_text()
    pictures = sorted((ROOT / "docs" / "images").glob("ui-*.png"))
    assert pictures
    for picture in pictures:
        assert f"(images/{picture.name})" in page
        assert picture.stat().st_size < MOST_BYTES, picture.name
