"""Real clients and the same tests for the embedded directory and slapd."""
