"""Our part of Locust's web UI, in the commanding process: tabs, live charts, run file."""
