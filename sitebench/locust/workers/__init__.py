"""Processes, on one machine or several, that make the load of one test, as Locust's workers."""
