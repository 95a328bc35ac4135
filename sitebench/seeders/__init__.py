"""People for what is measured: name pools, populations, LDIF.

Entry `i` of a population is a pure function of (seed, i); see `native/shared/people` for how.
"""

DEFAULT_BASE = "ou=Dynamic,o=Intranet"
"""Where people are in a directory."""
