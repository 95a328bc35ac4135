"""Targets: the embedded web server, nginx and apache started here, or the user's server."""
