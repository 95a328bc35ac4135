from __future__ import annotations


def version() -> str:
    # Imported late: the import takes half of the time of `--version`.
    from importlib.metadata import version as of

    return of("sitebench")


def say_version() -> None:
    print(f"sitebench {version()}")
