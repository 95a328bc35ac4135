"""What is measured: the embedded directory, a slapd of our own, or a directory of the user's."""
