"""Real clients against the embedded directory and against slapd: the same tests for both."""
