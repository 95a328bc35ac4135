"""Targets: the embedded site, in a process of its own or in this one, or a site of the user's."""
