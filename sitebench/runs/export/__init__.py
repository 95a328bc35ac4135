"""Run files as other programs read them: one format per file."""
