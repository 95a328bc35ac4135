"""The console script: Ctrl-C ends it quietly, also while the command line is imported."""

from __future__ import annotations

from sitebench.system.interrupt import EndingQuietly


def main() -> None:
    """Import the command line and run it."""
    with EndingQuietly():
        from sitebench.cli.main import main as run
    run()


if __name__ == "__main__":
    main()
