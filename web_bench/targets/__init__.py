"""Targets: the embedded web server, nginx and apache started here, or a server of the user's."""
