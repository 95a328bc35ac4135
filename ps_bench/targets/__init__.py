"""Targets: the embedded site, in a process of its own or in this process, or the user's site."""
