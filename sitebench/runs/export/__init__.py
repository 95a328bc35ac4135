"""Run files as other programs read them, and back: one format per file."""
