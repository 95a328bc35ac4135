"""Everything that touches Locust: users, lanes, events, statistics, workers, web UI."""
