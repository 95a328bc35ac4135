"""Targets: the embedded directory, a slapd started for the test, or a directory of the user's."""
