"""Common parts of the suites: options, commands, points, and the part of a Locust test."""
