"""Targets: the embedded site, in its own process or in this one, or the user's site."""
