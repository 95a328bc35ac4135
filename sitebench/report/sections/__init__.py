"""The parts of a report, one per module, each a `section(report)`."""
