"""`help` documents the engine: the stub has signatures only."""

from collections.abc import Iterator

from sitebench import _engine


def documented() -> Iterator[tuple[str, str | None]]:
    """Return every public name of the engine with its documentation."""
    yield "_engine", _engine.__doc__
    for name in _engine.__all__:
        item = getattr(_engine, name)
        yield name, item.__doc__
        members = vars(item) if isinstance(item, type) else ()
        for member in members:
            if not member.startswith("_"):
                yield f"{name}.{member}", getattr(item, member).__doc__


def test_every_public_name_of_the_engine_is_documented() -> None:
    docs = dict(documented())
    assert len(docs) > 150
    assert [name for name, doc in docs.items() if not doc] == []
