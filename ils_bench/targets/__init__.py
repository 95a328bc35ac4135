"""Targets: the embedded directory, a slapd started for the test, or the user's directory."""
