"""Our part of Locust's web UI, in the process that commands tests: tabs, live charts, run file."""
