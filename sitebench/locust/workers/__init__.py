"""Processes, on one machine or many, that make the load of one test, as Locust's workers."""
